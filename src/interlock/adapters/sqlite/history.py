"""History: the lists that people look at, each read from its own index.

Timeline cells are read from the index alone: the text of a run is ten times as long.
"""

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.events import EVENTS, told_of
from interlock.adapters.sqlite.rows import Row, listed, micros, run_columns
from interlock.adapters.sqlite.runs import RUNS, has_date, runs_of
from interlock.domain import canonical, timestamp
from interlock.domain.deadline import SlaVerdict
from interlock.domain.history import EventFilter, Glance, LoggedEvent, Tally
from interlock.domain.run import RETRYING, Run, RunKey, Status
from interlock.ports.engine import Clock

#: A character after every character of a date.
_AFTER = "~"
#: After every date: they begin with a digit.
_AFTER_DATES = ":"
_LIVE = "(expires_at IS NULL OR expires_at > ?)"
#: The first part is the condition of the index.
_ACTIVE = "status NOT IN ('COMPLETED', 'FAILED_FINAL') AND status <> 'SKIPPED'"
_IN_RANGE = f"date BETWEEN ? AND ? AND {_LIVE}"

#: Whether the next attempt of a failed run is due. Only the rows of failed runs are read for it: the rest
#: comes from the index.
_RETRYING = "CASE WHEN status = 'FAILED' AND json_valid(run) THEN run ->> '$.retryAt' IS NOT NULL ELSE 0 END"
_GLANCE = f"pipeline, schedule, date, dry, status, attempt, sla_verdict, slack, {_RETRYING}"

_UP = timedelta(seconds=1)

#: How many events one text search covers at a time.
SEARCHED = 20_000
#: How many events are counted at once.
COUNTED = 100_000
_HOUR_SECONDS = 3600
_HOUR = _HOUR_SECONDS * 1_000_000


class SqliteHistory:
    """An expired run counts as absent."""

    searched = SEARCHED

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def glances(self, pipeline_ids: Collection[str], since: str, until: str) -> list[Glance]:
        rows = self._rows(
            f"SELECT {_GLANCE}"
            f" FROM json_each(?) AS wanted CROSS JOIN runs ON pipeline = wanted.value AND {_IN_RANGE}"
            " ORDER BY wanted.key, date DESC, schedule, dry",
            (listed(pipeline_ids), since, until + _AFTER, self._now()),
        )
        return [_glance(row) for row in rows if has_date(row)]

    def tallies(self, pipeline_ids: Collection[str], since: str, until: str) -> list[Tally]:
        rows = self._rows(
            "SELECT pipeline, schedule, max(date), dry, status, sla_verdict, count(*), sum(slack),"
            f" {_RETRYING} AS retrying"
            f" FROM json_each(?) AS wanted CROSS JOIN runs ON pipeline = wanted.value AND {_IN_RANGE}"
            " GROUP BY wanted.key, substr(date, 1, 10), schedule, dry, status, sla_verdict, retrying",
            (listed(pipeline_ids), since, until + _AFTER, self._now()),
        )
        return [_tally(row) for row in rows if has_date(row)]

    def newest(self, until: Mapping[str, str]) -> dict[str, Glance]:
        now = self._now()
        rows = self._rows(
            f"SELECT {_GLANCE} FROM json_each(?) AS wanted CROSS JOIN runs"
            " ON pipeline = wanted.key AND date = coalesce("
            "(SELECT max(date) FROM runs AS other WHERE other.pipeline = wanted.key"
            f" AND date <= wanted.value AND {_LIVE}), "
            "(SELECT min(date) FROM runs AS other WHERE other.pipeline = wanted.key"
            f" AND date > wanted.value AND date < ? AND {_LIVE}))",
            (canonical.encode(dict(until)), now, _AFTER_DATES, now),
        )
        found = (_glance(row) for row in rows if has_date(row))
        return {glance.key.pipeline_id: glance for glance in found}

    def counts(self, since: str, until: str) -> dict[str, int]:
        now, last = self._now(), until + _AFTER
        rows = self._rows(
            f"SELECT status, 0, count(*) FROM runs WHERE {_IN_RANGE}"  # from the index alone
            " AND status NOT IN ('PENDING', 'TRIGGERING', 'RUNNING', 'FAILED') GROUP BY status"
            f" UNION ALL SELECT status, {_RETRYING} AS retrying, count(*) FROM runs WHERE {_IN_RANGE}"
            " AND status IN ('FAILED', 'FAILED_FINAL') AND status = 'FAILED' GROUP BY retrying"
            f" UNION ALL SELECT status, 0, count(*) FROM runs WHERE {_ACTIVE}"
            f" AND status IN ('PENDING', 'TRIGGERING', 'RUNNING') AND {_LIVE} GROUP BY status",
            (since, last, now, since, last, now, now),
        )
        counts = Counter[str]()
        for text, retrying, count in rows:
            counts[RETRYING if retrying else _status(text)] += count
        return dict(counts)

    def waiting(self, limit: int) -> list[Run]:
        return self._sound_runs(
            f"WHERE {_ACTIVE} AND status = 'PENDING' AND {_LIVE} ORDER BY opened_at LIMIT ?",
            self._now(),
            limit,
        )

    def due(self, since: datetime | None, until: datetime, limit: int) -> list[Run]:
        first = "" if since is None else _spelt(since)
        return self._sound_runs(
            f"WHERE {_ACTIVE} AND warning_at IS NOT NULL AND warning_at >= ? AND warning_at < ?"
            f" AND {_LIVE} ORDER BY warning_at LIMIT ?",
            first,
            _spelt(until),
            self._now(),
            limit,
        )

    def failed(self, since: str, limit: int) -> list[Run]:
        return self._sound_runs(
            "WHERE status IN ('FAILED', 'FAILED_FINAL') AND date >= ?"
            f" AND {_LIVE} ORDER BY date DESC LIMIT ?",
            since,
            self._now(),
            limit,
        )

    def runs(
        self,
        pipeline_id: str | None,
        since: str,
        until: str,
        after: RunKey | None,
        limit: int,
        state: str | None = None,
    ) -> list[Run]:
        index, narrowed = _in_state(state, pipeline_id)
        clauses, values = [_IN_RANGE, *narrowed], [since, until + _AFTER, self._now()]
        if pipeline_id is not None:
            clauses.append("pipeline = ?")
            values.append(pipeline_id)
        if after is not None:
            pipeline, schedule, date, dry = run_columns(after)
            clauses.append("(date < ? OR (date = ? AND (pipeline, schedule, dry) > (?, ?, ?)))")
            values += [date, date, pipeline, schedule, dry]
        return self._runs(
            f"{index}WHERE {' AND '.join(clauses)}"
            " ORDER BY date DESC, pipeline, schedule, dry LIMIT ?",
            *values,
            limit,
        )

    def events(
        self, wanted: EventFilter, before: tuple[datetime, int] | None, limit: int
    ) -> list[LoggedEvent]:
        """Skipped rows don't shorten a page: a short page would look like the last one."""
        place = None if before is None else (micros(before[0]), before[1])
        found: list[LoggedEvent] = []
        while True:
            missing = limit - len(found)
            rows = self._event_rows(wanted, place, missing)
            found += told_of(self._database, rows)
            if len(rows) < missing or len(found) >= limit or wanted.text is not None:
                return found
            place = rows[-1][6], rows[-1][0]

    def _event_rows(
        self, wanted: EventFilter, before: tuple[int, int] | None, limit: int
    ) -> list[Row]:
        clauses: dict[str, tuple[object, ...] | None] = {
            "pipeline = ?": None if wanted.pipeline_id is None else (wanted.pipeline_id,),
            "type = ?": None if wanted.kind is None else (wanted.kind,),
            "severity <> 'info'": () if wanted.of_note else None,
            "at >= ?": None if wanted.since is None else (micros(wanted.since),),
            "at < ?": None if wanted.until is None else (micros(wanted.until),),
            "(at, seq) < (?, ?)": before,
        }
        given = {clause: values for clause, values in clauses.items() if values is not None}
        where = f"WHERE {' AND '.join(given)}" if given else ""
        values = [value for values in given.values() for value in values]
        query = f"SELECT {EVENTS.columns} FROM events {where} ORDER BY at DESC, seq DESC LIMIT ?"
        if wanted.text is None:
            return self._rows(query, (*values, limit))
        query = f"SELECT * FROM ({query}) WHERE instr(lower(body), ?) LIMIT ?"
        return self._rows(query, (*values, SEARCHED, wanted.text.lower(), limit))

    def hours(
        self, kinds: Collection[str], since: datetime, until: datetime
    ) -> dict[tuple[str, datetime], int] | None:
        rows = self._rows(
            f"SELECT type, at / {_HOUR}, count(*) FROM (SELECT events.type, at FROM json_each(?) AS wanted"
            " CROSS JOIN events ON events.type = wanted.value AND at >= ? AND at < ? LIMIT ?)"
            " GROUP BY 1, 2",
            (listed(kinds), micros(since), micros(until), COUNTED),
        )
        if sum(count for _, _, count in rows) >= COUNTED:
            return None
        return {
            (kind, datetime.fromtimestamp(hour * _HOUR_SECONDS, UTC)): count
            for kind, hour, count in rows
        }

    def breaches(self, since: datetime, until: datetime) -> list[tuple[str, str]]:
        rows = self._rows(
            "SELECT pipeline, date FROM events"
            " WHERE type IN ('SLA_BREACH', 'RELATIVE_SLA_BREACH') AND at >= ? AND at < ?",
            (micros(since), micros(until)),
        )
        return [(pipeline or "", date or "") for pipeline, date in rows]

    def _now(self) -> int:
        return micros(self._clock())

    def _runs(self, rest: str, *given: object) -> list[Run]:
        return runs_of(self._database, self._rows(f"SELECT {RUNS.columns} FROM runs {rest}", given))

    def _sound_runs(self, rest: str, *given: object) -> list[Run]:
        """The runs in a given state, without unreadable ones, whose state is uncertain."""
        return [run for run in self._runs(rest, *given) if run.status is not Status.UNREADABLE]

    def _rows(self, query: str, given: Iterable[object]) -> list[Row]:
        def read(connection: sqlite3.Connection) -> list[Row]:
            return connection.execute(query, tuple(given)).fetchall()

        return self._database.read(read)


def _in_state(state: str | None, pipeline_id: str | None) -> tuple[str, list[str]]:
    """The index to read, and the clauses. An unreadable row may have any status."""
    statuses = _STORED_AS.get(state or "")
    if statuses is None:
        return "", []
    clauses = [f"status IN ({', '.join(repr(each) for each in statuses)})"]
    if pipeline_id is not None or "COMPLETED" in statuses:
        return "", clauses  # the index by date, or of the pipeline, has the status in it
    if statuses & {"FAILED", "FAILED_FINAL"}:
        return "INDEXED BY runs_failed ", [*clauses, "status IN ('FAILED', 'FAILED_FINAL')"]
    return "INDEXED BY runs_active ", [*clauses, _ACTIVE]


#: The statuses of the rows whose runs may be in a state.
_STORED_AS: dict[str, frozenset[str]] = {
    **{each: frozenset({each.value}) for each in Status if each is not Status.UNREADABLE},
    RETRYING: frozenset({"FAILED"}),
}


def _spelt(instant: datetime) -> str:
    """As spelled in the texts of runs, to the second: deadlines are whole seconds."""
    return timestamp.spell(instant.replace(microsecond=0) + _UP * bool(instant.microsecond))


def _glance(row: Row) -> Glance:
    pipeline, schedule, date, dry, status, attempt, verdict, slack, retrying = row
    return Glance(
        key=RunKey(pipeline, schedule, date, bool(dry)),
        status=_status(status),
        attempt=attempt,
        sla_verdict=_verdict(verdict),
        slack=slack,
        retrying=bool(retrying),
    )


def _tally(row: Row) -> Tally:
    pipeline, schedule, date, dry, status, verdict, count, slack, retrying = row
    return Tally(
        newest=RunKey(pipeline, schedule, date, bool(dry)),
        status=_status(status),
        sla_verdict=_verdict(verdict),
        count=count,
        slack=slack,
        retrying=bool(retrying),
    )


def _status(text: str) -> Status:
    return Status(text) if text in _STATUSES else Status.UNREADABLE


def _verdict(text: Any) -> SlaVerdict | None:
    return SlaVerdict(text) if text in _VERDICTS else None


_STATUSES, _VERDICTS = frozenset(Status), frozenset(SlaVerdict)
