"""History: the lists that people look at, each read by key or index, and no further than needed."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from heapq import merge
from itertools import chain, groupby, islice
from typing import Any

from interlock.adapters.aws.events import EventLog
from interlock.adapters.aws.parallel_reads import Fan
from interlock.adapters.aws.runs import DynamoRuns
from interlock.domain import canonical
from interlock.domain.event import Event, EventType, Severity
from interlock.domain.history import EventFilter, Glance, LoggedEvent, Tally
from interlock.domain.partition import Label
from interlock.domain.run import Run, RunKey, Status

#: The most runs of one schedule read for a range, and the most events searched.
_MOST = 10_000
_SEARCHED = 5_000
#: How many events one request of a search reads.
_PAGE = 1_000
_BREACHES = (EventType.SLA_BREACH, EventType.RELATIVE_SLA_BREACH)
#: The events of an attempt that ends badly, or of a date that is closed.
_FAILURES = (
    EventType.JOB_FAILED,
    EventType.JOB_POLL_EXHAUSTED,
    EventType.RUN_CANCELLED,
    EventType.RUN_MARKED,
    EventType.RETRY_EXHAUSTED,
    EventType.VALIDATION_EXHAUSTED,
    EventType.INFRA_FAILURE,
    EventType.SFN_TIMEOUT,
    EventType.SENSOR_DEADLINE_EXPIRED,
)
_HAS_FAILED = (Status.FAILED, Status.FAILED_FINAL)
#: The limit per type, when the newest of all types are wanted.
_LEAST_PAGE = 20
_DAY = timedelta(days=1)
#: The most future dates read to find the first of them.
_AHEAD = 100
_MILLISECOND = timedelta(milliseconds=1)


class DynamoHistory:
    """The AWS backend can't answer what would need a scan of every row: the answer is None."""

    searched = _SEARCHED

    def __init__(
        self, runs: DynamoRuns, log: EventLog, fan: Fan, active: Callable[[], list[Run]]
    ) -> None:
        """`active` returns the runs that are not final; its answer may be some seconds old."""
        self._runs = runs
        self._log = log
        self._fan = fan
        self._active = active

    def glances(self, pipeline_ids: Collection[str], since: str, until: str) -> list[Glance]:
        def of(name: str) -> list[Run]:
            return self._runs.of_pipeline(name, since, until, _MOST)

        return [_glance(run) for runs in self._fan.map(of, pipeline_ids) for run in runs]

    def tallies(self, pipeline_ids: Collection[str], since: str, until: str) -> list[Tally]:
        alike: dict[tuple[Any, ...], list[Glance]] = defaultdict(list)
        for glance in self.glances(pipeline_ids, since, until):
            key = glance.key
            place = (key.pipeline_id, key.date[:10], key.schedule_id, key.dry)
            alike[(*place, glance.status, glance.sla_verdict, glance.retrying)].append(glance)
        return [_tally(glances) for glances in alike.values()]

    def newest(self, until: Mapping[str, str]) -> dict[str, Glance]:
        def of(name: str) -> list[Run]:
            reached = self._runs.of_pipeline(name, "0000", until[name], 1)
            return reached or self._runs.of_pipeline(name, until[name], "9999", _AHEAD)[-1:]

        found = self._fan.map(of, until)
        return {runs[0].key.pipeline_id: _glance(runs[0]) for runs in found if runs}

    def counts(self, since: str, until: str) -> dict[str, int] | None:
        return None

    def waiting(self, limit: int) -> list[Run]:
        active = self._active()  # the oldest first
        return [run for run in active if run.status is Status.PENDING][:limit]

    def due(self, since: datetime | None, until: datetime, limit: int) -> list[Run]:
        found = [
            (warning, run)
            for run in self._active()
            if (warning := _warning(run)) is not None
            and warning < until
            and (since is None or warning >= since)
        ]
        return [run for _, run in sorted(found, key=lambda each: each[0])][:limit]

    def failed(self, since: str, limit: int) -> list[Run]:
        """Found through their events: a failed date has one, no older than a day before the date."""
        told_since = datetime.fromisoformat(f"{Label.parse(since).day}T00:00:00Z") - _DAY

        def of(kind: EventType) -> list[Event]:
            found = self._log.backwards(kind=kind, since=told_since, page=limit)
            return list(islice(found, limit))

        events = [event for events in self._fan.map(of, _FAILURES) for event in events]
        keys = {key: None for event in events if (key := _run_of(event)) and key.date >= since}
        runs = self._runs.find(list(keys)).values()
        failed = [run for run in runs if run.status in _HAS_FAILED]
        return sorted(failed, key=lambda run: run.changed_at, reverse=True)[:limit]

    def runs(
        self,
        pipeline_id: str | None,
        since: str,
        until: str,
        after: RunKey | None,
        limit: int,
        state: str | None = None,
    ) -> list[Run] | None:
        if pipeline_id is None:
            return None
        return self._runs.page(pipeline_id, since, until, after, limit)

    def events(
        self, wanted: EventFilter, before: tuple[datetime, int] | None, limit: int
    ) -> list[LoggedEvent]:
        ends = [at for at in (wanted.until, None if before is None else before[0]) if at]
        until = min(ends, default=None)
        page = min(_PAGE, limit) if _is_by_index(wanted) else _PAGE
        told = _placed(self._backwards(wanted, until, page))
        behind = (each for each in told if before is None or _place(each) < before)
        searched = islice(behind, _SEARCHED)
        return list(islice((each for each in searched if _is_wanted(each.event, wanted)), limit))

    def hours(
        self, kinds: Collection[str], since: datetime, until: datetime
    ) -> dict[tuple[str, datetime], int] | None:
        return None

    def breaches(self, since: datetime, until: datetime) -> list[tuple[str, str]]:
        return [
            (event.pipeline_id or "", event.date or "")
            for kind in _BREACHES
            for event in self._log.backwards(kind=kind, since=since, until=until - _MILLISECOND)
        ]

    def _backwards(self, wanted: EventFilter, until: datetime | None, page: int) -> Iterator[Event]:
        """By pipeline, or by type; with neither, the newest of every type that may be wanted."""
        since = wanted.since
        if wanted.pipeline_id is not None:
            name = wanted.pipeline_id
            return self._log.backwards(pipeline_id=name, since=since, until=until, page=page)
        if wanted.kind is not None:
            kind = wanted.kind
            return self._log.backwards(kind=kind, since=since, until=until, page=page)
        kinds = [kind for kind in EventType if not wanted.of_note or _can_be_of_note(kind)]
        few = max(_LEAST_PAGE, page // len(kinds))

        def begun(kind: EventType) -> Iterator[Event]:
            return _begun(self._log.backwards(kind=kind, since=since, until=until, page=few))

        each = self._fan.map(begun, kinds)
        return merge(*each, key=lambda event: event.timestamp, reverse=True)


def _glance(run: Run) -> Glance:
    return Glance(
        key=run.key,
        status=run.status,
        attempt=run.attempt,
        sla_verdict=run.sla_verdict,
        slack=_slack(run),
        retrying=run.awaits_retry,
    )


def _slack(run: Run) -> int | None:
    breaches = [at for at in (run.breach_at, run.relative_breach_at) if at is not None]
    if not breaches or run.completed_at is None:
        return None
    return int((min(breaches) - run.completed_at).total_seconds())


def _tally(alike: list[Glance]) -> Tally:
    newest = max(alike, key=lambda glance: glance.key.date)
    slacks = [glance.slack for glance in alike if glance.slack is not None]
    return Tally(
        newest=newest.key,
        status=newest.status,
        sla_verdict=newest.sla_verdict,
        count=len(alike),
        slack=sum(slacks) if slacks else None,
        retrying=newest.retrying,
    )


def _warning(run: Run) -> datetime | None:
    warnings = (run.warning_at, run.relative_warning_at)
    return min((at for at in warnings if at is not None), default=None)


def _can_be_of_note(kind: EventType) -> bool:
    return kind.spec.severity is not Severity.INFO


def _is_by_index(wanted: EventFilter) -> bool:
    """Whether keys alone find what is wanted."""
    both = wanted.pipeline_id is not None and wanted.kind is not None
    return wanted.text is None and not wanted.of_note and not both


def _is_wanted(event: Event, wanted: EventFilter) -> bool:
    if wanted.kind not in (None, event.type):
        return False
    if wanted.of_note and event.severity is Severity.INFO:
        return False
    if wanted.until is not None and event.timestamp >= wanted.until:
        return False
    return wanted.text is None or wanted.text.lower() in canonical.encode(event).lower()


def _run_of(event: Event) -> RunKey | None:
    if not event.pipeline_id or not event.schedule_id or not event.date:
        return None
    return RunKey(event.pipeline_id, event.schedule_id, event.date)


def _begun(events: Iterator[Event]) -> Iterator[Event]:
    """The same events, with the first page already read."""
    return chain(list(islice(events, 1)), events)


def _placed(events: Iterable[Event]) -> Iterator[LoggedEvent]:
    """Events of one instant are ordered by place, which derives from the id and so never changes."""
    for _, alike in groupby(events, key=lambda event: event.timestamp):
        told = [LoggedEvent(_seq(event), event) for event in alike]
        yield from sorted(told, key=lambda each: each.seq, reverse=True)


def _place(told: LoggedEvent) -> tuple[datetime, int]:
    return told.event.timestamp, told.seq


def _seq(event: Event) -> int:
    digest = hashlib.sha256(event.event_id.encode()).digest()
    return int.from_bytes(digest[:6])
