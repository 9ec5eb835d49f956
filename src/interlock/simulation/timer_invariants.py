"""Timer invariants: every armed timer ends once (I3), every expected occurrence is accounted for (I4): it
has a run, it was skipped, or it was reported.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from interlock.adapters.sqlite.store import Store
from interlock.adapters.sqlite.timers import TimerState
from interlock.domain.config import Config
from interlock.domain.due_dates import Expected, missed_at
from interlock.domain.event import EventType
from interlock.domain.partition import Label
from interlock.domain.pipeline import Schedule
from interlock.domain.run import RunKey
from interlock.domain.schedule import occurrences, sensor_driven, watched_on
from interlock.simulation.edited_schedules import EditedSchedules, Form
from interlock.simulation.scenario import instant

_MISSED = {EventType.SCHEDULE_MISSED, EventType.IRREGULAR_SCHEDULE_MISSED}
_LOOK_BACK = 10_000
_EVER = datetime.max.replace(tzinfo=UTC)


class EndedTimers:
    """Follows the log of timers."""

    def __init__(self) -> None:
        self._read = 0
        self._open: dict[tuple[str, datetime], int] = {}

    def check(self, store: Store) -> Iterator[str]:
        for note in store.timers.log(self._read):
            self._read = note.seq
            armed = (note.name, note.due_at)
            count = self._open.pop(armed, 0) + (1 if note.state is TimerState.ARMED else -1)
            if count not in (0, 1):
                yield f"I3: timer {note.name} ended more than once, or was armed twice"
            if count:
                self._open[armed] = count

    def overdue(self, now: datetime) -> Iterator[str]:
        """Timers that were due before the end, and did not end."""
        for name, due_at in self._open:
            if due_at < now:
                yield f"I3: timer {name} was due at {due_at} and has not ended"


class HandledOccurrences:
    """Follows the watchdog: by the end of a good pass, every past occurrence has a run or was reported."""

    def __init__(self, edits: EditedSchedules) -> None:
        self._edits = edits
        self._pass: datetime | None = None
        self._until: dict[tuple[str, str, datetime], datetime] = {}
        self._judged: set[str] = set()

    def check(self, store: Store) -> Iterator[str]:
        state = store.watch.load()
        if state.last_ok_at is None or state.last_ok_at == self._pass or state.pass_until:
            return
        self._pass = state.last_ok_at
        unwatched = _not_watched(store)
        yield from self._undone_skips(state.last_ok_at, store)
        for config in store.pipelines.in_force():
            if config.pipeline.dry_run or config.paused_since is not None:
                continue
            for schedule in config.pipeline.schedules:
                if not sensor_driven(schedule):
                    yield from self._handled(config, schedule, state.last_ok_at, unwatched, store)

    def _undone_skips(self, until: datetime, store: Store) -> Iterator[str]:
        """Dates whose skip was undone are expected again, however long ago they were due."""
        for event in store.events.newest(kind=EventType.RUN_UNSKIPPED, limit=_LOOK_BACK):
            assert event.pipeline_id and event.schedule_id and event.date
            config = store.pipelines.find(event.pipeline_id)
            if event.event_id in self._judged or event.timestamp >= until or config is None:
                continue
            place = (event.pipeline_id, event.schedule_id)
            form = self._edits.forms.get(place)
            if config.is_paused(until) or config.is_retired or form is None:
                continue
            moment = _moment(form, event.date)
            over = moment is not None and missed_at(form.schedule, moment) < until
            if moment is None or not over:
                continue
            self._judged.add(event.event_id)
            key = RunKey(*place, event.date)
            if moment.due_at >= form.since and not _is_accounted_for(key, store):
                yield f"I4: the skip of {key} was undone, but it has neither a run nor an event"

    def _handled(
        self,
        config: Config,
        schedule: Schedule,
        until: datetime,
        unwatched: list[tuple[datetime, datetime]],
        store: Store,
    ) -> Iterator[str]:
        place = config.pipeline.id, schedule.id
        form = self._edits.forms[place]
        name = (config.pipeline.id, form.root, form.since)
        since = max(self._until.get(name, form.since), config.active_since)  # it may have been away
        over = since
        for moment in occurrences(schedule, config.pipeline.calendars, since, until):
            if missed_at(schedule, Expected(moment.date, moment.due_at)) >= until:
                break
            over = moment.due_at
            if any(begin <= moment.due_at < end for begin, end in unwatched):
                continue
            keys = [RunKey(place[0], each, moment.date) for each in self._edits.names(place)]
            handled = any(_is_accounted_for(key, store) for key in keys)
            if not handled and not _is_repeated(place[0], moment.date, store):
                yield f"I4: {keys[0]} was expected, but has neither a run nor an event"
        self._until[name] = over


def _moment(form: Form, date: str) -> Expected | None:
    """When a date is due, if the schedule expects it."""
    watched = watched_on(form.schedule, form.calendars, Label.parse(date).day)
    found = (each for each in watched if each.date == date and each.due_at is not None)
    return next((Expected(each.date, each.due_at) for each in found if each.due_at), None)


def _is_accounted_for(key: RunKey, store: Store) -> bool:
    if key in store.runs.find([key]):
        return True
    return any(event.type in _MISSED for event in store.events.of_run(key))


def _is_repeated(pipeline_id: str, date: str, store: Store) -> bool:
    """Whether an event said that the date has a run from before an edit, under any name."""
    told = store.events.newest(kind=EventType.DATE_ALREADY_RUN, limit=_LOOK_BACK)
    return any((each.pipeline_id, each.date) == (pipeline_id, date) for each in told)


def _not_watched(store: Store) -> list[tuple[datetime, datetime]]:
    """The spans that the watchdog has reported, or is about to report, as too far back to check."""
    told = store.events.newest(kind=EventType.WATCHDOG_RECOVERED, limit=_LOOK_BACK)
    stored = store.outbox.leftovers(_EVER)
    return [
        (instant(event.detail["from"]), instant(event.detail["notWatched"]))
        for event in (*told, *stored)
        if event.type is EventType.WATCHDOG_RECOVERED and "notWatched" in event.detail
    ]
