"""Edited schedules: that an edit makes nothing due that lies before its adoption (I10).

It looks at the files in force from outside and determines for itself since when each schedule has had its
form, so that stored data can't hide a defect.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from interlock.adapters.sqlite.store import Store
from interlock.domain.config import Config
from interlock.domain.event import Event, EventType
from interlock.domain.partition import Label
from interlock.domain.pipeline import Calendar, Pipeline, Schedule
from interlock.domain.run import OpenedBy, Run, RunKey
from interlock.domain.schedule import expected_start
from interlock.domain.standing import deadlines_of, moments_of
from interlock.simulation.scenario import instant

_AT_ONCE = 10_000

#: A pipeline, and the id of one of its schedules.
Place = tuple[str, str]


class Form(msgspec.Struct, frozen=True):
    """A schedule as a file had it, and since when."""

    schedule: Schedule
    calendars: Mapping[str, Calendar]
    moments: dict[str, Any]
    deadlines: dict[str, Any]
    since: datetime
    deadlines_since: datetime
    #: The first id under which the schedule was seen.
    root: str
    #: Whether its pipeline began with it: then readings that waited may open its dates.
    first: bool

    @classmethod
    def of(cls, schedule: Schedule, pipeline: Pipeline, at: datetime, first: bool) -> "Form":
        moments = moments_of(schedule, pipeline.calendars)
        promised = {**moments, **deadlines_of(pipeline)}
        return cls(
            schedule, pipeline.calendars, moments, promised, at, at, schedule.id, first=first
        )

    def after(self, before: "Form") -> "Form":
        """This form as the successor of another; what is the same goes on."""
        same = self.moments == before.moments
        promised = self.deadlines == before.deadlines
        return msgspec.structs.replace(
            self,
            root=before.root,
            first=before.first and same,
            since=before.since if same else self.since,
            deadlines_since=before.deadlines_since if promised else self.deadlines_since,
        )


class EditedSchedules:
    """Follows the files in force, and the event log."""

    def __init__(self) -> None:
        #: The forms in force, and those that the files in force before had.
        self.forms: dict[Place, Form] = {}
        self.replaced: dict[Place, Form] = {}
        self._adopted: dict[str, tuple[str, datetime]] = {}
        self._by_file: dict[tuple[str, str, str], Form] = {}
        self._opened: dict[tuple[str, str, str, bool], RunKey] = {}
        self._heard = 0

    def check(self, store: Store) -> Iterator[str]:
        self._look(store)
        told = store.events.after(self._heard, _AT_ONCE)
        for each in told:
            self._heard = each.seq
            event = each.event
            if event.pipeline_id and event.schedule_id and event.date:
                yield from self._judge(event, store)

    def names(self, place: Place) -> list[str]:
        """Every id that a schedule has had."""
        pipeline_id, name = place
        known = {**self.replaced, **self.forms}
        root = known[place].root
        return [
            other
            for (owner, other), form in known.items()
            if owner == pipeline_id and form.root == root
        ] or [name]

    def _look(self, store: Store) -> None:
        configs = store.pipelines.in_force()
        for config in configs:
            adopted = (config.config_hash, config.adopted_at)
            if self._adopted.get(config.pipeline.id) != adopted:
                self._adopt(config, config.pipeline.id in self._adopted)
                self._adopted[config.pipeline.id] = adopted
        for gone in self._adopted.keys() - {config.pipeline.id for config in configs}:
            del self._adopted[gone]

    def _adopt(self, config: Config, known: bool) -> None:
        name, pipeline = config.pipeline.id, config.pipeline
        before = {place: form for place, form in self.forms.items() if place[0] == name}
        for place in before:
            del self.forms[place]
        if not known:
            before = {}
        fresh = [
            Form.of(each, pipeline, config.adopted_at, not known) for each in pipeline.schedules
        ]
        ids = {form.schedule.id for form in fresh}
        for form in fresh:
            place = name, form.schedule.id
            former = before.get(place) or next(
                (
                    each
                    for (_, old), each in before.items()
                    if old not in ids and each.moments == form.moments
                ),
                None,
            )
            self.forms[place] = form if former is None else form.after(former)
            self._by_file[name, form.schedule.id, config.config_hash] = self.forms[place]
        self.replaced |= before

    def _judge(self, event: Event, store: Store) -> Iterator[str]:
        assert event.pipeline_id and event.schedule_id and event.date
        key = RunKey(
            event.pipeline_id, event.schedule_id, event.date, dry=event.type.startswith("DRY_RUN_")
        )
        run = store.runs.find([key]).get(key)
        if event.type is EventType.TRIGGER_STARTED and event.attempt == 0:
            yield from self._opened_once(key)
            if run is not None and run.attempt == 0:
                yield from self._opened_ahead(run)
        form = self.forms.get((key.pipeline_id, key.schedule_id))
        if form is not None and event.type in _MOMENTS:
            yield from self._told_ahead(event, form, run)

    def _opened_once(self, key: RunKey) -> Iterator[str]:
        form = self.forms.get((key.pipeline_id, key.schedule_id))
        root = key.schedule_id if form is None else form.root
        other = self._opened.setdefault((key.pipeline_id, root, key.date, key.dry), key)
        if other != key:
            yield f"I10: {key} was opened, and the same date of its schedule ran as {other}"

    def _opened_ahead(self, run: Run) -> Iterator[str]:
        """What a file opens lies after its adoption, and so does what opens it."""
        key = run.key
        form = self._by_file.get((key.pipeline_id, key.schedule_id, run.config_hash))
        if form is None:
            return
        if run.opened_by is OpenedBy.CRON:
            due_at = expected_start(form.schedule, Label.parse(key.date))
            if due_at is not None and due_at < form.since:
                yield f"I10: {key} was opened for {due_at}, and its file is of {form.since}"
        came = run.first_sensor_at
        by_reading = run.opened_by in (OpenedBy.SENSOR, OpenedBy.CASCADE) and not form.first
        if by_reading and came is not None and came < form.since:
            yield f"I10: {key} was opened by a reading of {came}, and its file is of {form.since}"

    def _told_ahead(self, event: Event, form: Form, run: Run | None) -> Iterator[str]:
        """What the previous form left is published by the edit; an open run keeps its deadlines."""
        name, of_deadline = _MOMENTS[event.type]
        since = form.deadlines_since if of_deadline else form.since
        at = event.detail.get(name)
        if at is None or event.timestamp <= since:
            return
        if of_deadline and run is not None and self._keeps_deadlines(run, since):
            return
        if instant(at) < since:
            yield f"I10: {event.event_id} was told of {at}, and its file is of {since}"

    def _keeps_deadlines(self, run: Run, since: datetime) -> bool:
        """Whether a run was opened by a file before; that may be in the very moment of the edit."""
        key = run.key
        opened_by = self._by_file.get((key.pipeline_id, key.schedule_id, run.config_hash))
        is_older = opened_by is not None and opened_by.deadlines_since < since
        return run.opened_at < since or (run.opened_at == since and is_older)


#: The events of moments, the detail that names the moment, and whether it is a deadline.
_MOMENTS = {
    EventType.SCHEDULE_MISSED: ("due", False),
    EventType.IRREGULAR_SCHEDULE_MISSED: ("due", False),
    EventType.SENSOR_DEADLINE_EXPIRED: ("deadlineAt", False),
    EventType.SLA_WARNING: ("warningAt", True),
    EventType.SLA_BREACH: ("breachAt", True),
    EventType.READINESS_MISSED: ("readinessAt", True),
}
