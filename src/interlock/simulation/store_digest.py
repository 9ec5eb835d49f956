"""Store digest: the state of a store without timestamps, to see whether a fault still makes a difference."""

import sqlite3

from interlock.adapters.sqlite.database import Database
from interlock.domain import canonical

_UNDER_WAY = (
    "SELECT (SELECT count(*) FROM executions WHERE status = 'RUNNING')"
    " + (SELECT count(*) FROM dead_changes WHERE next_try_at IS NOT NULL)"
    " + (SELECT count(*) FROM outbox)"
    " + (SELECT count(*) FROM alerts WHERE state NOT IN ('sent', 'dead'))"
)

#: What the future can depend on. Times appear only where they derive from files and dates.
_SHAPE = (
    "SELECT pipeline, schedule, date, dry, status, attempt, json_extract(run, '$.slaVerdict',"
    " '$.slaTold', '$.spending', '$.triggerVersion', '$.evidence', '$.postRun.outcome',"
    " '$.postRun.n', '$.postRun.told', '$.lateTold', '$.infraRetries', '$.slaArmed', '$.cascading',"
    " '$.backfill')"
    " FROM runs ORDER BY 1, 2, 3, 4",
    "SELECT id FROM events ORDER BY 1",
    "SELECT name, due_at FROM timers WHERE state = 'armed' ORDER BY 1",
    "SELECT pipeline, key, content FROM sensors ORDER BY 1, 2",
    "SELECT id, active_hash, rejected_hash, paused_since IS NULL, retired_at IS NULL FROM pipelines"
    " ORDER BY 1",
    "SELECT pipeline, name FROM marks ORDER BY 1, 2",
    "SELECT pipeline, schedule, date, judged FROM rerun_requests ORDER BY 1, 2, 3",
    "SELECT id, json_extract(body, '$.state', '$.turns', '$.ended', '$.dates') FROM backfills"
    " ORDER BY 1",
    "SELECT json_extract(value, '$.failures') FROM meta WHERE key = 'watchdog'",
    "SELECT value FROM meta WHERE key = 'missing' AND value <> '[]'",
)


def digest(database: Database) -> str | None:
    """None while work is in progress: then even equal states may diverge."""
    return database.read(_digest)


def _digest(connection: sqlite3.Connection) -> str | None:
    if connection.execute(_UNDER_WAY).fetchone()[0]:
        return None
    return canonical.content_hash([connection.execute(query).fetchall() for query in _SHAPE], 32)
