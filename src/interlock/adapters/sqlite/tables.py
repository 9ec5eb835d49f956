"""Schema: the tables of the state file, as numbered scripts.

A released script is never changed; a change to the schema is a new script. Instants are integer
microseconds, and structs are canonical JSON. Partial indexes find what is due, so history costs nothing.
"""

_FIRST = """
CREATE TABLE meta (
  key TEXT PRIMARY KEY, value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE pipelines (
  id TEXT PRIMARY KEY,
  wanted TEXT, wanted_hash TEXT, wanted_at INTEGER,
  active TEXT, active_hash TEXT, adopted_at INTEGER, active_since INTEGER,
  rejected_hash TEXT, retired_at INTEGER, paused_since INTEGER, paused_until INTEGER,
  armed TEXT NOT NULL DEFAULT '{}',
  version INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX pipelines_in_force ON pipelines (id, version)
  WHERE active IS NOT NULL AND retired_at IS NULL;
CREATE INDEX pipelines_unadopted ON pipelines (id) WHERE wanted_at IS NOT NULL AND CASE
  WHEN wanted IS NULL THEN active IS NOT NULL AND retired_at IS NULL
  ELSE wanted_hash IS NOT rejected_hash
    AND (wanted_hash IS NOT active_hash OR retired_at IS NOT NULL) END;

CREATE TABLE downstreams (
  upstream TEXT NOT NULL, pipeline TEXT NOT NULL, schedule TEXT NOT NULL,
  whole_day INTEGER NOT NULL,
  PRIMARY KEY (upstream, pipeline, schedule)
) STRICT, WITHOUT ROWID;
CREATE INDEX downstreams_of ON downstreams (pipeline);

CREATE TABLE sensors (
  pipeline TEXT NOT NULL, key TEXT NOT NULL,
  reading TEXT NOT NULL, content TEXT NOT NULL, received_at INTEGER NOT NULL,
  expires_at INTEGER,
  PRIMARY KEY (pipeline, key)
) STRICT;
CREATE INDEX sensors_expiring ON sensors (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE runs (
  pipeline TEXT NOT NULL, schedule TEXT NOT NULL, date TEXT NOT NULL, dry INTEGER NOT NULL,
  status TEXT NOT NULL, version INTEGER NOT NULL, attempt INTEGER NOT NULL,
  execution_name TEXT NOT NULL UNIQUE,
  opened_at INTEGER NOT NULL, watch_at INTEGER, expires_at INTEGER,
  run TEXT NOT NULL,
  PRIMARY KEY (pipeline, schedule, date, dry)
) STRICT;
CREATE INDEX runs_watched ON runs (watch_at) WHERE watch_at IS NOT NULL;
CREATE INDEX runs_active ON runs (opened_at) WHERE status NOT IN ('COMPLETED', 'FAILED_FINAL');
CREATE INDEX runs_expiring ON runs (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX runs_of_pipeline ON runs (pipeline, date);
CREATE INDEX runs_by_date ON runs (date);

CREATE TABLE job_log (
  seq INTEGER PRIMARY KEY,
  pipeline TEXT NOT NULL, schedule TEXT NOT NULL, date TEXT NOT NULL, dry INTEGER NOT NULL,
  at INTEGER NOT NULL, attempt INTEGER, event TEXT NOT NULL,
  record TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX job_log_attempts ON job_log (pipeline, schedule, date, dry, attempt, event)
  WHERE attempt IS NOT NULL;
CREATE UNIQUE INDEX job_log_of_run ON job_log (
  pipeline, schedule, date, dry, at, event, coalesce(attempt, -1));
CREATE INDEX job_log_by_time ON job_log (at);

CREATE TABLE reruns (
  pipeline TEXT NOT NULL, schedule TEXT NOT NULL, date TEXT NOT NULL, dry INTEGER NOT NULL,
  attempt INTEGER NOT NULL, at INTEGER NOT NULL, record TEXT NOT NULL,
  PRIMARY KEY (pipeline, schedule, date, dry, attempt)
) STRICT;
CREATE INDEX reruns_by_time ON reruns (at);

CREATE TABLE rerun_requests (
  pipeline TEXT NOT NULL, schedule TEXT NOT NULL, date TEXT NOT NULL, dry INTEGER NOT NULL,
  requested_at INTEGER NOT NULL, judged INTEGER NOT NULL DEFAULT 0, request TEXT NOT NULL,
  PRIMARY KEY (pipeline, schedule, date, dry)
) STRICT;
CREATE INDEX rerun_requests_unjudged ON rerun_requests (requested_at) WHERE judged = 0;
CREATE INDEX rerun_requests_by_time ON rerun_requests (requested_at);

CREATE TABLE marks (
  pipeline TEXT NOT NULL, name TEXT NOT NULL,
  body TEXT NOT NULL, version INTEGER NOT NULL, at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
  PRIMARY KEY (pipeline, name)
) STRICT;
CREATE INDEX marks_expiring ON marks (expires_at);

CREATE TABLE events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  pipeline TEXT, schedule TEXT, date TEXT, type TEXT NOT NULL, at INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_time ON events (at);
CREATE INDEX events_of_pipeline ON events (pipeline, at);
CREATE INDEX events_of_type ON events (type, at);
CREATE INDEX events_of_run ON events (pipeline, schedule, date, at);

CREATE TABLE outbox (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  owner TEXT NOT NULL, of_run INTEGER NOT NULL, event_id TEXT NOT NULL UNIQUE,
  body TEXT NOT NULL, at INTEGER NOT NULL
) STRICT;
CREATE INDEX outbox_of ON outbox (owner);
CREATE INDEX outbox_by_time ON outbox (at);

CREATE TABLE changes (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL, pipeline TEXT NOT NULL, key TEXT NOT NULL,
  body TEXT, removed INTEGER NOT NULL, at INTEGER NOT NULL
) STRICT;

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
CREATE INDEX dead_changes_due ON dead_changes (consumer, next_try_at)
  WHERE next_try_at IS NOT NULL;

CREATE TABLE timers (
  name TEXT PRIMARY KEY,
  kind TEXT NOT NULL, payload TEXT NOT NULL, due_at INTEGER NOT NULL,
  state TEXT NOT NULL, settled_at INTEGER
) STRICT;
CREATE INDEX timers_due ON timers (due_at) WHERE state = 'armed';
CREATE INDEX timers_settled ON timers (settled_at) WHERE settled_at IS NOT NULL;

CREATE TABLE timer_log (
  seq INTEGER PRIMARY KEY,
  name TEXT NOT NULL, due_at INTEGER NOT NULL, state TEXT NOT NULL, at INTEGER NOT NULL
) STRICT;
CREATE INDEX timer_log_by_time ON timer_log (at);

CREATE TABLE definitions (
  hash TEXT PRIMARY KEY, text TEXT NOT NULL
) STRICT;

CREATE TABLE executions (
  name TEXT PRIMARY KEY, pipeline TEXT NOT NULL,
  given TEXT NOT NULL, definition TEXT REFERENCES definitions (hash), snapshot TEXT,
  status TEXT NOT NULL, state TEXT NOT NULL DEFAULT '', waiting_for TEXT,
  wake_at INTEGER NOT NULL, started_at INTEGER NOT NULL, ended_at INTEGER, error TEXT, cause TEXT
) STRICT;
CREATE INDEX executions_due ON executions (wake_at) WHERE status = 'RUNNING';
CREATE INDEX executions_running ON executions (pipeline) WHERE status = 'RUNNING';
CREATE INDEX executions_ended ON executions (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX executions_under ON executions (definition);

CREATE TABLE execution_log (
  execution TEXT NOT NULL REFERENCES executions (name) ON DELETE CASCADE, n INTEGER NOT NULL,
  at INTEGER NOT NULL, state TEXT NOT NULL, kind TEXT NOT NULL, note TEXT NOT NULL,
  PRIMARY KEY (execution, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE alerts (
  id INTEGER PRIMARY KEY,
  sink TEXT NOT NULL, channel TEXT NOT NULL, event_id TEXT NOT NULL,
  body TEXT NOT NULL, state TEXT NOT NULL, due_at INTEGER NOT NULL,
  tries INTEGER NOT NULL, error TEXT, receipt TEXT,
  quiet INTEGER NOT NULL, released INTEGER NOT NULL, note TEXT NOT NULL,
  version INTEGER NOT NULL, settled_at INTEGER,
  UNIQUE (sink, channel, event_id)
) STRICT;
CREATE INDEX alerts_due ON alerts (due_at) WHERE state IN ('queued', 'sending', 'given_up');
CREATE INDEX alerts_held ON alerts (due_at) WHERE state = 'held';
CREATE INDEX alerts_held_for ON alerts (sink, channel, due_at) WHERE state = 'held';
CREATE INDEX alerts_of_event ON alerts (event_id);
CREATE INDEX alerts_settled ON alerts (settled_at) WHERE settled_at IS NOT NULL;

CREATE TABLE threads (
  pipeline TEXT NOT NULL, schedule TEXT NOT NULL, date TEXT NOT NULL, channel TEXT NOT NULL,
  sink TEXT NOT NULL, thread_ts TEXT, claimed_by TEXT NOT NULL, claim_until INTEGER NOT NULL,
  state TEXT NOT NULL, state_at INTEGER, severity TEXT NOT NULL,
  first TEXT NOT NULL, latest TEXT NOT NULL, root_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL, version INTEGER NOT NULL,
  PRIMARY KEY (pipeline, schedule, date, channel)
) STRICT;
CREATE INDEX threads_by_time ON threads (created_at);

CREATE TABLE paces (
  channel TEXT PRIMARY KEY, next_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE switches (
  sink TEXT PRIMARY KEY, declared TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tokens (
  name TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, token TEXT NOT NULL
) STRICT;

CREATE TABLE audit (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, entry TEXT NOT NULL
) STRICT;
"""

_LOOKED_AT = """
ALTER TABLE runs ADD COLUMN sla_verdict TEXT AS (run ->> '$.slaVerdict');
ALTER TABLE runs ADD COLUMN breach_at TEXT AS (min(
  coalesce(run ->> '$.breachAt', run ->> '$.relativeBreachAt'),
  coalesce(run ->> '$.relativeBreachAt', run ->> '$.breachAt')));
ALTER TABLE runs ADD COLUMN warning_at TEXT AS (min(
  coalesce(run ->> '$.warningAt', run ->> '$.relativeWarningAt'),
  coalesce(run ->> '$.relativeWarningAt', run ->> '$.warningAt')));
ALTER TABLE runs ADD COLUMN slack INTEGER AS (CASE status WHEN 'COMPLETED'
  THEN unixepoch(breach_at) - unixepoch(run ->> '$.completedAt') END);
DROP INDEX runs_of_pipeline;
CREATE INDEX runs_of_pipeline ON runs (
  pipeline, date DESC, schedule, dry, status, attempt, sla_verdict, slack, expires_at);
DROP INDEX runs_by_date;
CREATE INDEX runs_by_date ON runs (date DESC, pipeline, schedule, dry, status, expires_at);
CREATE INDEX runs_failed ON runs (date) WHERE status IN ('FAILED', 'FAILED_FINAL');
CREATE INDEX runs_due ON runs (warning_at)
  WHERE status NOT IN ('COMPLETED', 'FAILED_FINAL') AND warning_at IS NOT NULL;
ALTER TABLE events ADD COLUMN severity TEXT AS (body ->> '$.severity');
CREATE INDEX events_of_note ON events (at) WHERE severity <> 'info';
CREATE INDEX events_of_breaches ON events (at, pipeline, date)
  WHERE type IN ('SLA_BREACH', 'RELATIVE_SLA_BREACH');
"""

#: The same columns, but NULL for damaged text: it must not keep a statement from its row.
_OF_SOUND_TEXTS = """
DROP INDEX runs_of_pipeline;
DROP INDEX runs_due;
DROP INDEX events_of_note;
ALTER TABLE runs DROP COLUMN slack;
ALTER TABLE runs DROP COLUMN warning_at;
ALTER TABLE runs DROP COLUMN breach_at;
ALTER TABLE runs DROP COLUMN sla_verdict;
ALTER TABLE events DROP COLUMN severity;
ALTER TABLE runs ADD COLUMN sound TEXT AS (CASE WHEN json_valid(run) THEN run END);
ALTER TABLE runs ADD COLUMN sla_verdict TEXT AS (sound ->> '$.slaVerdict');
ALTER TABLE runs ADD COLUMN breach_at TEXT AS (min(
  coalesce(sound ->> '$.breachAt', sound ->> '$.relativeBreachAt'),
  coalesce(sound ->> '$.relativeBreachAt', sound ->> '$.breachAt')));
ALTER TABLE runs ADD COLUMN warning_at TEXT AS (min(
  coalesce(sound ->> '$.warningAt', sound ->> '$.relativeWarningAt'),
  coalesce(sound ->> '$.relativeWarningAt', sound ->> '$.warningAt')));
ALTER TABLE runs ADD COLUMN slack INTEGER AS (CASE status WHEN 'COMPLETED'
  THEN unixepoch(breach_at) - unixepoch(sound ->> '$.completedAt') END);
CREATE INDEX runs_of_pipeline ON runs (
  pipeline, date DESC, schedule, dry, status, attempt, sla_verdict, slack, expires_at);
CREATE INDEX runs_due ON runs (warning_at)
  WHERE status NOT IN ('COMPLETED', 'FAILED_FINAL') AND warning_at IS NOT NULL;
ALTER TABLE events ADD COLUMN severity TEXT AS (
  CASE WHEN json_valid(body) THEN body ->> '$.severity' END);
CREATE INDEX events_of_note ON events (at) WHERE severity <> 'info';
"""

_STANDINGS = """
ALTER TABLE pipelines ADD COLUMN standings TEXT NOT NULL DEFAULT '{}';
"""

#: Only finished dry runs expire, and later than before: 91 days after their last change, not 7.
_RUNS_STAY = """
UPDATE runs SET expires_at = NULL
  WHERE dry = 0 OR status IN ('PENDING', 'TRIGGERING', 'RUNNING');
UPDATE runs SET expires_at = expires_at + 84 * 86400000000 WHERE expires_at IS NOT NULL;
"""

#: Audit entries from before `pipelineId` name their pipeline in the target, up to the first slash.
_WHO_AND_WHY = """
ALTER TABLE pipelines ADD COLUMN paused_by TEXT;
ALTER TABLE pipelines ADD COLUMN paused_reason TEXT;
ALTER TABLE audit ADD COLUMN outcome TEXT;
ALTER TABLE audit ADD COLUMN problem TEXT;
ALTER TABLE audit ADD COLUMN sound TEXT AS (CASE WHEN json_valid(entry) THEN entry END);
ALTER TABLE audit ADD COLUMN actor TEXT AS (sound ->> '$.actor');
ALTER TABLE audit ADD COLUMN action TEXT AS (sound ->> '$.action');
ALTER TABLE audit ADD COLUMN pipeline TEXT AS (coalesce(sound ->> '$.pipelineId',
  CASE WHEN sound ->> '$.action' IN ('rerun', 'pause', 'resume', 'retire') THEN
    substr(sound ->> '$.target', 1, instr(sound ->> '$.target' || '/', '/') - 1) END));
CREATE INDEX audit_of_actor ON audit (actor);
CREATE INDEX audit_of_action ON audit (action);
CREATE INDEX audit_of_pipeline ON audit (pipeline);
"""

#: A finished backfill has `ended_at`; one that needs no attention for now has no `look`.
_BACKFILLS = """
CREATE TABLE backfills (
  id TEXT PRIMARY KEY, pipeline TEXT NOT NULL, version INTEGER NOT NULL,
  look INTEGER, ended_at INTEGER, body TEXT NOT NULL
) STRICT;
CREATE INDEX backfills_unsettled ON backfills (id) WHERE look IS NOT NULL;
CREATE INDEX backfills_of_pipeline ON backfills (pipeline, id);
CREATE INDEX backfills_ended ON backfills (ended_at) WHERE ended_at IS NOT NULL;
ALTER TABLE rerun_requests ADD COLUMN refused TEXT;
"""

#: An escalation waits as a row of its own state; open threads are found without the closed ones.
_HANDLED = """
CREATE TABLE handlings (
  pipeline TEXT NOT NULL, schedule TEXT NOT NULL, date TEXT NOT NULL,
  body TEXT NOT NULL, changed_at INTEGER NOT NULL, version INTEGER NOT NULL,
  PRIMARY KEY (pipeline, schedule, date)
) STRICT;
CREATE INDEX handlings_by_time ON handlings (changed_at);
ALTER TABLE threads ADD COLUMN handled TEXT NOT NULL DEFAULT '';
CREATE INDEX threads_open ON threads (created_at) WHERE state <> 'done';
ALTER TABLE alerts ADD COLUMN escalates TEXT NOT NULL DEFAULT '';
CREATE INDEX alerts_of_sink ON alerts (sink, state, due_at);
CREATE INDEX alerts_failed ON alerts (sink, due_at)
  WHERE error IS NOT NULL AND state <> 'cancelled';
DROP INDEX alerts_due;
CREATE INDEX alerts_due ON alerts (due_at)
  WHERE state IN ('queued', 'sending', 'given_up', 'waiting');
"""

SCRIPTS: tuple[str, ...] = (
    _FIRST,
    _LOOKED_AT,
    _OF_SOUND_TEXTS,
    _STANDINGS,
    _RUNS_STAY,
    _WHO_AND_WHY,
    _BACKFILLS,
    _HANDLED,
)
