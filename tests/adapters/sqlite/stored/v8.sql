BEGIN TRANSACTION;
CREATE TABLE alerts (
  id INTEGER PRIMARY KEY,
  sink TEXT NOT NULL, channel TEXT NOT NULL, event_id TEXT NOT NULL,
  body TEXT NOT NULL, state TEXT NOT NULL, due_at INTEGER NOT NULL,
  tries INTEGER NOT NULL, error TEXT, receipt TEXT,
  quiet INTEGER NOT NULL, released INTEGER NOT NULL, note TEXT NOT NULL,
  version INTEGER NOT NULL, settled_at INTEGER, escalates TEXT NOT NULL DEFAULT '',
  UNIQUE (sink, channel, event_id)
) STRICT;
CREATE TABLE audit (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, entry TEXT NOT NULL
, outcome TEXT, problem TEXT, sound TEXT AS (CASE WHEN json_valid(entry) THEN entry END), actor TEXT AS (sound ->> '$.actor'), action TEXT AS (sound ->> '$.action'), pipeline TEXT AS (coalesce(sound ->> '$.pipelineId',
  CASE WHEN sound ->> '$.action' IN ('rerun', 'pause', 'resume', 'retire') THEN
    substr(sound ->> '$.target', 1, instr(sound ->> '$.target' || '/', '/') - 1) END))) STRICT;
CREATE TABLE backfills (
  id TEXT PRIMARY KEY, pipeline TEXT NOT NULL, version INTEGER NOT NULL,
  look INTEGER, ended_at INTEGER, body TEXT NOT NULL
) STRICT;
CREATE TABLE changes (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL, pipeline TEXT NOT NULL, key TEXT NOT NULL,
  body TEXT, removed INTEGER NOT NULL, at INTEGER NOT NULL
) STRICT;
INSERT INTO "changes" VALUES(1,'sensor','silver-orders','orders-landed','{"fields":{"count":4200},"key":"orders-landed","own":false,"pipelineId":"silver-orders","receivedAt":"2026-03-03T10:00:00.123000Z","timed":true,"version":"27911ac657ec83b0"}',0,1772532000123000);
CREATE TABLE cursors (
  feed TEXT NOT NULL, consumer TEXT NOT NULL, seq INTEGER NOT NULL,
  PRIMARY KEY (feed, consumer)
) STRICT, WITHOUT ROWID;
CREATE TABLE dead_changes (
  consumer TEXT NOT NULL, seq INTEGER NOT NULL,
  change TEXT NOT NULL, error TEXT NOT NULL, tries INTEGER NOT NULL,
  at INTEGER NOT NULL, next_try_at INTEGER,
  PRIMARY KEY (consumer, seq)
) STRICT;
CREATE TABLE definitions (
  hash TEXT PRIMARY KEY, text TEXT NOT NULL
) STRICT;
CREATE TABLE downstreams (
  upstream TEXT NOT NULL, pipeline TEXT NOT NULL, schedule TEXT NOT NULL,
  whole_day INTEGER NOT NULL,
  PRIMARY KEY (upstream, pipeline, schedule)
) STRICT, WITHOUT ROWID;
CREATE TABLE events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  pipeline TEXT, schedule TEXT, date TEXT, type TEXT NOT NULL, at INTEGER NOT NULL,
  body TEXT NOT NULL
, severity TEXT AS (
  CASE WHEN json_valid(body) THEN body ->> '$.severity' END)) STRICT;
CREATE TABLE execution_log (
  execution TEXT NOT NULL REFERENCES executions (name) ON DELETE CASCADE, n INTEGER NOT NULL,
  at INTEGER NOT NULL, state TEXT NOT NULL, kind TEXT NOT NULL, note TEXT NOT NULL,
  PRIMARY KEY (execution, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE executions (
  name TEXT PRIMARY KEY, pipeline TEXT NOT NULL,
  given TEXT NOT NULL, definition TEXT REFERENCES definitions (hash), snapshot TEXT,
  status TEXT NOT NULL, state TEXT NOT NULL DEFAULT '', waiting_for TEXT,
  wake_at INTEGER NOT NULL, started_at INTEGER NOT NULL, ended_at INTEGER, error TEXT, cause TEXT
) STRICT;
CREATE TABLE handlings (
  pipeline TEXT NOT NULL, schedule TEXT NOT NULL, date TEXT NOT NULL,
  body TEXT NOT NULL, changed_at INTEGER NOT NULL, version INTEGER NOT NULL,
  PRIMARY KEY (pipeline, schedule, date)
) STRICT;
CREATE TABLE job_log (
  seq INTEGER PRIMARY KEY,
  pipeline TEXT NOT NULL, schedule TEXT NOT NULL, date TEXT NOT NULL, dry INTEGER NOT NULL,
  at INTEGER NOT NULL, attempt INTEGER, event TEXT NOT NULL,
  record TEXT NOT NULL
) STRICT;
CREATE TABLE marks (
  pipeline TEXT NOT NULL, name TEXT NOT NULL,
  body TEXT NOT NULL, version INTEGER NOT NULL, at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
  PRIMARY KEY (pipeline, name)
) STRICT;
CREATE TABLE meta (
  key TEXT PRIMARY KEY, value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE outbox (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  owner TEXT NOT NULL, of_run INTEGER NOT NULL, event_id TEXT NOT NULL UNIQUE,
  body TEXT NOT NULL, at INTEGER NOT NULL
) STRICT;
CREATE TABLE paces (
  channel TEXT PRIMARY KEY, next_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE pipelines (
  id TEXT PRIMARY KEY,
  wanted TEXT, wanted_hash TEXT, wanted_at INTEGER,
  active TEXT, active_hash TEXT, adopted_at INTEGER, active_since INTEGER,
  rejected_hash TEXT, retired_at INTEGER, paused_since INTEGER, paused_until INTEGER,
  armed TEXT NOT NULL DEFAULT '{}',
  version INTEGER NOT NULL DEFAULT 0
, standings TEXT NOT NULL DEFAULT '{}', paused_by TEXT, paused_reason TEXT) STRICT;
INSERT INTO "pipelines" VALUES('silver-orders',NULL,NULL,NULL,'{"calendars":{},"dryRun":false,"holidaysUntil":null,"job":{"config":{"run":"true"},"jobPollWindowSeconds":3600,"maxCodeRetries":1,"maxConcurrent":null,"maxDriftReruns":1,"maxManualReruns":1,"maxRetries":0,"pollInterval":null,"type":"command"},"pipeline":{"description":null,"id":"silver-orders","owner":"orders-team","tags":{"tier":"1"}},"postRun":{"driftField":null,"driftThreshold":0.05,"evaluation":{"interval":null,"window":"24h"},"lateWindow":null,"rules":[{"check":"exists","field":null,"key":"audit","maxAge":null,"value":null}],"sensorTimeout":"2h"},"schedules":[{"calendar":null,"cron":null,"dayOffset":1,"evaluation":{"interval":null,"window":"1h"},"exclude":null,"grace":"10m","horizon":null,"id":"stream","include":null,"time":null,"timezone":"UTC","trigger":{"check":"exists","deadline":null,"field":null,"hours":null,"key":"orders-landed","pipeline":null,"value":null}}],"sla":null,"validation":{"maxAge":null,"rules":[{"check":"gte","field":"count","key":"orders-count","maxAge":null,"value":0.10}],"trigger":"ALL"}}','392c0694d9a32c1f7e4905c2010a4ca3dc09ee8c3232a440f7e15b90b50001c1',1772532000123000,1772532000123000,NULL,NULL,NULL,NULL,'{}',1,'{}',NULL,NULL);
CREATE TABLE rerun_requests (
  pipeline TEXT NOT NULL, schedule TEXT NOT NULL, date TEXT NOT NULL, dry INTEGER NOT NULL,
  requested_at INTEGER NOT NULL, judged INTEGER NOT NULL DEFAULT 0, request TEXT NOT NULL, refused TEXT,
  PRIMARY KEY (pipeline, schedule, date, dry)
) STRICT;
CREATE TABLE reruns (
  pipeline TEXT NOT NULL, schedule TEXT NOT NULL, date TEXT NOT NULL, dry INTEGER NOT NULL,
  attempt INTEGER NOT NULL, at INTEGER NOT NULL, record TEXT NOT NULL,
  PRIMARY KEY (pipeline, schedule, date, dry, attempt)
) STRICT;
CREATE TABLE runs (
  pipeline TEXT NOT NULL, schedule TEXT NOT NULL, date TEXT NOT NULL, dry INTEGER NOT NULL,
  status TEXT NOT NULL, version INTEGER NOT NULL, attempt INTEGER NOT NULL,
  execution_name TEXT NOT NULL UNIQUE,
  opened_at INTEGER NOT NULL, watch_at INTEGER, expires_at INTEGER,
  run TEXT NOT NULL, sound TEXT AS (CASE WHEN json_valid(run) THEN run END), sla_verdict TEXT AS (sound ->> '$.slaVerdict'), breach_at TEXT AS (min(
  coalesce(sound ->> '$.breachAt', sound ->> '$.relativeBreachAt'),
  coalesce(sound ->> '$.relativeBreachAt', sound ->> '$.breachAt'))), warning_at TEXT AS (min(
  coalesce(sound ->> '$.warningAt', sound ->> '$.relativeWarningAt'),
  coalesce(sound ->> '$.relativeWarningAt', sound ->> '$.warningAt'))), slack INTEGER AS (CASE status WHEN 'COMPLETED'
  THEN unixepoch(breach_at) - unixepoch(sound ->> '$.completedAt') END),
  PRIMARY KEY (pipeline, schedule, date, dry)
) STRICT;
INSERT INTO "runs" VALUES('silver-orders','stream','2026-03-03',0,'PENDING',1,0,'silver-orders-stream-2026-03-03',1772532000123000,1772532120123000,NULL,'{"attempt":0,"backfill":null,"breachAt":null,"cascading":false,"changedAt":"2026-03-03T10:00:00.123000Z","completedAt":null,"configHash":"","evidence":{},"executionName":"silver-orders-stream-2026-03-03","executions":1,"failure":null,"firstRequest":null,"firstSensorAt":null,"handedOverAt":null,"handovers":0,"infraRetries":0,"job":{},"jobMessage":null,"jobType":null,"jobUnseen":false,"key":{"date":"2026-03-03","dry":false,"pipelineId":"silver-orders","scheduleId":"stream"},"lateTold":[],"launchedAt":null,"leaseUntil":"2026-03-03T14:30:00.123000Z","openedAt":"2026-03-03T10:00:00.123000Z","openedBy":"sensor","openedFor":"orders-landed","postRun":{"missingJudged":false,"n":0,"outcome":null,"seen":{},"told":[]},"postRunDueAt":null,"postRunLookAt":null,"readinessAt":null,"readyAt":null,"recovered":false,"relativeBreachAt":null,"relativeWarningAt":null,"retryAt":null,"runId":null,"slaArmed":{},"slaTold":[],"slaVerdict":null,"spending":{"codeRetries":0,"driftReruns":0,"manualReruns":0,"retries":0},"startedAt":null,"status":"PENDING","triggerVersion":null,"unaskedSince":null,"verdict":null,"version":1,"waitsAt":null,"waitsFor":[],"warningAt":null}');
CREATE TABLE sensors (
  pipeline TEXT NOT NULL, key TEXT NOT NULL,
  reading TEXT NOT NULL, content TEXT NOT NULL, received_at INTEGER NOT NULL,
  expires_at INTEGER,
  PRIMARY KEY (pipeline, key)
) STRICT;
INSERT INTO "sensors" VALUES('silver-orders','orders-landed','{"fields":{"count":4200},"key":"orders-landed","own":false,"pipelineId":"silver-orders","receivedAt":"2026-03-03T10:00:00.123000Z","timed":true,"version":"27911ac657ec83b0"}','27911ac657ec83b0',1772532000123000,NULL);
CREATE TABLE switches (
  sink TEXT PRIMARY KEY, declared TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE threads (
  pipeline TEXT NOT NULL, schedule TEXT NOT NULL, date TEXT NOT NULL, channel TEXT NOT NULL,
  sink TEXT NOT NULL, thread_ts TEXT, claimed_by TEXT NOT NULL, claim_until INTEGER NOT NULL,
  state TEXT NOT NULL, state_at INTEGER, severity TEXT NOT NULL,
  first TEXT NOT NULL, latest TEXT NOT NULL, root_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL, version INTEGER NOT NULL, handled TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (pipeline, schedule, date, channel)
) STRICT;
CREATE TABLE timer_log (
  seq INTEGER PRIMARY KEY,
  name TEXT NOT NULL, due_at INTEGER NOT NULL, state TEXT NOT NULL, at INTEGER NOT NULL
) STRICT;
INSERT INTO "timer_log" VALUES(1,'breach.silver-orders.stream.2026-03-03',1772535600123000,'armed',1772532000123000);
CREATE TABLE timers (
  name TEXT PRIMARY KEY,
  kind TEXT NOT NULL, payload TEXT NOT NULL, due_at INTEGER NOT NULL,
  state TEXT NOT NULL, settled_at INTEGER
) STRICT;
INSERT INTO "timers" VALUES('breach.silver-orders.stream.2026-03-03','breach','{"pipelineId":"silver-orders","share":0.5}',1772535600123000,'armed',NULL);
CREATE TABLE tokens (
  name TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, token TEXT NOT NULL
) STRICT;
CREATE INDEX pipelines_in_force ON pipelines (id, version)
  WHERE active IS NOT NULL AND retired_at IS NULL;
CREATE INDEX pipelines_unadopted ON pipelines (id) WHERE wanted_at IS NOT NULL AND CASE
  WHEN wanted IS NULL THEN active IS NOT NULL AND retired_at IS NULL
  ELSE wanted_hash IS NOT rejected_hash
    AND (wanted_hash IS NOT active_hash OR retired_at IS NOT NULL) END;
CREATE INDEX downstreams_of ON downstreams (pipeline);
CREATE INDEX sensors_expiring ON sensors (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX runs_watched ON runs (watch_at) WHERE watch_at IS NOT NULL;
CREATE INDEX runs_active ON runs (opened_at) WHERE status NOT IN ('COMPLETED', 'FAILED_FINAL');
CREATE INDEX runs_expiring ON runs (expires_at) WHERE expires_at IS NOT NULL;
CREATE UNIQUE INDEX job_log_attempts ON job_log (pipeline, schedule, date, dry, attempt, event)
  WHERE attempt IS NOT NULL;
CREATE UNIQUE INDEX job_log_of_run ON job_log (
  pipeline, schedule, date, dry, at, event, coalesce(attempt, -1));
CREATE INDEX job_log_by_time ON job_log (at);
CREATE INDEX reruns_by_time ON reruns (at);
CREATE INDEX rerun_requests_unjudged ON rerun_requests (requested_at) WHERE judged = 0;
CREATE INDEX rerun_requests_by_time ON rerun_requests (requested_at);
CREATE INDEX marks_expiring ON marks (expires_at);
CREATE INDEX events_by_time ON events (at);
CREATE INDEX events_of_pipeline ON events (pipeline, at);
CREATE INDEX events_of_type ON events (type, at);
CREATE INDEX events_of_run ON events (pipeline, schedule, date, at);
CREATE INDEX outbox_of ON outbox (owner);
CREATE INDEX outbox_by_time ON outbox (at);
CREATE INDEX dead_changes_due ON dead_changes (consumer, next_try_at)
  WHERE next_try_at IS NOT NULL;
CREATE INDEX timers_due ON timers (due_at) WHERE state = 'armed';
CREATE INDEX timers_settled ON timers (settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX timer_log_by_time ON timer_log (at);
CREATE INDEX executions_due ON executions (wake_at) WHERE status = 'RUNNING';
CREATE INDEX executions_running ON executions (pipeline) WHERE status = 'RUNNING';
CREATE INDEX executions_ended ON executions (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX executions_under ON executions (definition);
CREATE INDEX alerts_held ON alerts (due_at) WHERE state = 'held';
CREATE INDEX alerts_held_for ON alerts (sink, channel, due_at) WHERE state = 'held';
CREATE INDEX alerts_of_event ON alerts (event_id);
CREATE INDEX alerts_settled ON alerts (settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX threads_by_time ON threads (created_at);
CREATE INDEX runs_by_date ON runs (date DESC, pipeline, schedule, dry, status, expires_at);
CREATE INDEX runs_failed ON runs (date) WHERE status IN ('FAILED', 'FAILED_FINAL');
CREATE INDEX events_of_breaches ON events (at, pipeline, date)
  WHERE type IN ('SLA_BREACH', 'RELATIVE_SLA_BREACH');
CREATE INDEX runs_of_pipeline ON runs (
  pipeline, date DESC, schedule, dry, status, attempt, sla_verdict, slack, expires_at);
CREATE INDEX runs_due ON runs (warning_at)
  WHERE status NOT IN ('COMPLETED', 'FAILED_FINAL') AND warning_at IS NOT NULL;
CREATE INDEX events_of_note ON events (at) WHERE severity <> 'info';
CREATE INDEX audit_of_actor ON audit (actor);
CREATE INDEX audit_of_action ON audit (action);
CREATE INDEX audit_of_pipeline ON audit (pipeline);
CREATE INDEX backfills_unsettled ON backfills (id) WHERE look IS NOT NULL;
CREATE INDEX backfills_of_pipeline ON backfills (pipeline, id);
CREATE INDEX backfills_ended ON backfills (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX handlings_by_time ON handlings (changed_at);
CREATE INDEX threads_open ON threads (created_at) WHERE state <> 'done';
CREATE INDEX alerts_of_sink ON alerts (sink, state, due_at);
CREATE INDEX alerts_failed ON alerts (sink, due_at)
  WHERE error IS NOT NULL AND state <> 'cancelled';
CREATE INDEX alerts_due ON alerts (due_at)
  WHERE state IN ('queued', 'sending', 'given_up', 'waiting');
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('changes',1);
COMMIT;
PRAGMA user_version = 8;
