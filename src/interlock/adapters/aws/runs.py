"""Runs: run records, each written together with everything that depends on it."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from interlock.adapters.aws import keys
from interlock.adapters.aws.claims import baseline_from, baseline_item, watch_item
from interlock.adapters.aws.keys import run_of
from interlock.adapters.aws.outbox import box_of, joined, put_with_box
from interlock.adapters.aws.reruns import NEWER, record_item, request_item
from interlock.adapters.aws.row_cache import Notes, Use
from interlock.adapters.aws.rows import (
    ABSENT,
    KEPT,
    WATCH,
    as_of,
    due_keys,
    expiry,
    is_live,
    listed,
    listed_keys,
    text,
)
from interlock.adapters.aws.run_items import run_from, run_item
from interlock.adapters.aws.table import Key, ReadOrder, Table, TransactionWrite, WriteResult
from interlock.adapters.aws.values import Item
from interlock.domain.baseline import Baseline
from interlock.domain.event import Event
from interlock.domain.rerun_request import RerunRecord, RerunRequest
from interlock.domain.run import (
    FINAL,
    OPEN,
    Run,
    RunKey,
    Status,
    predecessors,
    unreadable_run,
)
from interlock.domain.sla import SlaWatch
from interlock.domain.unreadable import RowKind, UnreadableRow, unreadable_error
from interlock.domain.watching import watch_at
from interlock.errors import NotFoundError
from interlock.ports.engine import Clock

_TRIES = 4
_FEW = 4
_NEWEST = ReadOrder(backwards=True, limit=1)
#: A tuple, because a row may hold anything: looking up an unhashable value in a set raises.
_OPEN = tuple(OPEN)


class DynamoRuns:
    """An expired run counts as absent: its date can be opened again."""

    def __init__(self, control: Table, rerun: Table, notes: Notes, clock: Clock) -> None:
        self._control = control
        self._rerun = rerun
        self._notes = notes
        self._clock = clock

    def get(self, key: RunKey) -> Run:
        place = keys.run_key(key)
        noted = self._notes.has(Use.RUN, place)
        item = self._notes.take(Use.RUN, place) if noted else self._control.get(place)
        if item is None or not is_live(item, self._clock()):
            raise NotFoundError(f"{key} has no run")
        self._notes.keep(place, item, Use.OUTBOX)
        found = self._control.read(item, run_from, RowKind.RUN)
        if isinstance(found, UnreadableRow):
            raise unreadable_error(f"the stored row of {key}", found.problem)
        return found

    def find(self, keys_: Collection[RunKey]) -> dict[RunKey, Run]:
        wanted = {keys.run_key(key): key for key in keys_}
        if wanted and all(self._notes.has(Use.AHEAD, place) for place in wanted):
            noted = (self._notes.take(Use.AHEAD, place) for place in wanted)
            found = [row for row in noted if row is not None]
        else:
            rows = self._read(keys_)
            found = [rows[place] for place in wanted if place in rows]
        return {run.key: run for run in self._live(found)}

    def open(self, run: Run, events: Sequence[Event] = ()) -> bool:
        return self._put(run, box_of(events, run.changed_at), ABSENT, **as_of(self._clock()))

    def save(
        self,
        run: Run,
        events: Sequence[Event] = (),
        *,
        baseline: Baseline | None = None,
        rerun: RerunRecord | None = None,
        request: RerunRequest | None = None,
    ) -> bool:
        box = box_of(events, run.changed_at)
        condition, values = _legal(run)
        if baseline is None and rerun is None and request is None:
            return self._put(run, box, condition, **values)
        also: list[TransactionWrite] = []
        if baseline is not None:
            kept = expiry(run.changed_at + KEPT)
            also.append(self._control.putting(baseline_item(run.key, baseline, kept)))
        if rerun is not None:
            also.append(self._rerun.putting(record_item(rerun)))
        return self._transact(run, box, also, request)

    def remove(self, run: Run, watch: SlaWatch, events: Sequence[Event] = ()) -> bool:
        """What stays of the row counts as absent until DynamoDB removes it."""
        now, place = self._clock(), keys.run_key(run.key)
        self._notes.drop(place)
        self._notes.drop(keys.watch_key(run.key))
        gone = {"PK": place[0], "SK": place[1], "removedAt": text(now), **expiry(now + KEPT)}
        known = {"version": run.version, "status": run.status}
        stored = f"#version = :version AND #status = :status AND {_TOLD}"
        first = watch.version == 1
        next_one, seen = (ABSENT, as_of(now)) if first else (f"{_NEXT} AND {_TOLD}", _before(watch))
        item = watch_item(watch, box_of(events, now), now)
        answers = self._control.transact(
            [
                self._control.putting(gone, stored, **known),
                self._control.putting(item, next_one, **seen),
            ]
        )
        return all(answer.won for answer in answers)

    def baseline(self, key: RunKey) -> Baseline | None:
        item = self._control.get(keys.baseline_key(key))
        live = item is not None and is_live(item, self._clock())
        items = [item] if item is not None and live else []
        return next(self._control.readable(items, baseline_from), None)

    def due(self, now: datetime) -> list[Run]:
        """In the order in which they became due; runs with unpublished events come first."""
        items = self._run_items(due_keys(self._control, now))
        found = []
        for item, run in self._readable(items):
            untold = "outbox" in item
            at = watch_at(run, untold)
            if is_live(item, now) and at is not None and at <= now:
                found.append((not untold, at, run))
        return [run for _, _, run in sorted(found, key=lambda each: each[:2])]

    def failed_since(self, key: RunKey) -> list[Run]:
        place, first = keys.run_key(key)
        last = first.removesuffix(key.date) + keys.AFTER
        failed = Status.FAILED
        rows = self._control.query(place, first, last, keep="#status = :failed", failed=failed)
        return list(self._live(rows))

    def active(self, idle_for: timedelta | None = None) -> list[Run]:
        """Runs with nothing due only if they were opened within `idle_for`: the number of dates that failed
        and were left so only grows.
        """
        now = self._clock()
        since = None if idle_for is None else now - idle_for
        idle = listed_keys(self._control, "IDLE", since=since)
        items = self._run_items([*listed_keys(self._control, "RUN"), *idle])
        live = (run for item, run in self._readable(items) if is_live(item, now))
        return sorted(
            (run for run in live if run.status not in FINAL), key=lambda run: run.opened_at
        )

    def open_executions(self) -> dict[str, RunKey]:
        """From the index alone, which projects what is needed. A row that names no execution has none."""
        rows = (
            (item.get("executionName"), run_of((item["PK"], item["SK"])))
            for item in listed(self._control, "RUN")
            if item.get("status") in _OPEN and is_live(item, self._clock())
        )
        return {name: key for name, key in rows if isinstance(name, str) and key is not None}

    def of_pipeline(self, pipeline_id: str | None, since: str, until: str, limit: int) -> list[Run]:
        """`until` includes the hours of that day."""
        return self.page(pipeline_id, since, until, None, limit)

    def page(
        self, pipeline_id: str | None, since: str, until: str, after: RunKey | None, limit: int
    ) -> list[Run]:
        """Like `of_pipeline`, starting after a run. Reads each schedule backwards, as far as needed."""
        last = until + keys.AFTER if after is None else min(until + keys.AFTER, after.date)
        items = (
            item
            for each in self._pipelines(pipeline_id)
            for prefix in (keys.RUN, keys.DRY_RUN)
            for item in self._newest(keys.partition(each), prefix, since, last, limit)
        )
        runs = sorted(self._live(items), key=_by_place)
        runs.sort(key=lambda run: run.key.date, reverse=True)
        behind = runs if after is None else [run for run in runs if _is_behind(run, after)]
        return behind[:limit]

    def find_with(self, also: Key, keys_: Collection[RunKey]) -> Item | None:
        """Read another row and, ahead of a search for them, these runs, in one request."""
        rows = self._read(keys_, also)
        for place in map(keys.run_key, keys_):
            self._notes.keep(place, rows.get(place), Use.AHEAD)
        return rows.get(also)

    def prefetch(self, key: RunKey, sensor_keys: Collection[str] = ()) -> None:
        """Read a run and the readings that it will be judged by in one request."""
        place = keys.run_key(key)
        readings = [keys.sensor_key(key.pipeline_id, name) for name in sensor_keys]
        found = self._control.get_many([place, *readings])
        self._notes.keep(place, found.get(place), Use.RUN)
        for reading in readings:
            self._notes.keep(reading, found.get(reading), Use.READING)

    def _read(self, keys_: Collection[RunKey], *also: Key) -> dict[Key, Item]:
        """For a few dates, also reads their watches: a caller that finds no run asks for its watch next."""
        watches = [keys.watch_key(key) for key in keys_] if len(keys_) <= _FEW else []
        rows = self._control.get_many([*also, *map(keys.run_key, keys_), *watches])
        for watch in watches:
            self._notes.keep(watch, rows.get(watch), Use.WATCH)
        return rows

    def _put(self, run: Run, box: Item, condition: str, **values: Any) -> bool:
        place = keys.run_key(run.key)
        self._notes.drop(place)
        stored = put_with_box(
            self._control, lambda full: run_item(run, full), box, condition, **values
        )
        if stored is not None:
            self._notes.keep(place, stored, Use.OUTBOX, Use.RUN)
        return stored is not None

    def _transact(
        self, run: Run, box: Item, also: Sequence[TransactionWrite], request: RerunRequest | None
    ) -> bool:
        """Write the run and what depends on it. An existing request is left as it is."""
        condition, values = _legal(run)
        condition, unseen = f"{condition} AND attribute_not_exists(#outbox)", condition
        place = keys.run_key(run.key)
        self._notes.drop(place)
        for _ in range(_TRIES):
            item = run_item(run, box)
            parts = [self._control.putting(item, condition, **values), *also]
            if request is not None:
                asked = request_item(request)
                parts.append(self._control.putting(asked, NEWER, at=asked["requestedAt"]))
            answers = self._control.transact(parts)
            if all(answer.won for answer in answers):
                self._notes.keep(place, item, Use.OUTBOX, Use.RUN)
                return True
            if not answers[0].won:
                left = _left_to_tell(answers[0], values.get("seen"))
                if left is None:
                    return False  # another writer got there first
                box, values = joined(left, box), values | {"seen": left["outbox"]}
                condition = f"{unseen} AND #outbox = :seen"
            else:
                request = None
        return False

    def _live(self, items: Iterable[Item]) -> Iterator[Run]:
        """An unreadable run with a valid date has the status UNREADABLE."""
        now = self._clock()
        for item in items:
            if not is_live(item, now):
                continue
            found = self._control.read(item, run_from, RowKind.RUN)
            key = keys.run_of((item["PK"], item["SK"]))
            if not isinstance(found, UnreadableRow):
                yield found
            elif key is not None:
                yield unreadable_run(key, found.problem)

    def _readable(self, items: Iterable[Item]) -> Iterator[tuple[Item, Run]]:
        return self._control.readable(items, lambda item: (item, run_from(item)), RowKind.RUN)

    def _run_items(self, places: Iterable[Key]) -> Collection[Item]:
        return self._control.get_many([key for key in places if keys.is_run(key)]).values()

    def _pipelines(self, pipeline_id: str | None) -> Iterable[str]:
        """Those in force, and those with work in progress."""
        if pipeline_id is not None:
            return [pipeline_id]
        active = (item["PK"] for item in self._control.query("ACTIVE", index=WATCH))
        open_ = (key[0] for key in listed_keys(self._control, "RUN", "IDLE"))
        return sorted({keys.pipeline_of(each) for each in (*active, *open_)} - {keys.SYSTEM})

    def _newest(
        self, partition: str, prefix: str, since: str, until: str, limit: int
    ) -> Iterator[Item]:
        """The newest run of each schedule with rows, found by jumping from one schedule to the next."""
        last = prefix + keys.LAST
        while last > prefix:
            found = self._control.query(partition, prefix, last, order=_NEWEST)
            item = next(found, None)
            if item is None:
                return
            schedule = f"{prefix}{item['SK'].removeprefix(prefix).split('#')[0]}#"
            rows = self._control.query(
                partition,
                schedule + since,
                schedule + until,
                order=ReadOrder(backwards=True, limit=limit),
            )
            yield from islice(rows, limit)
            last = keys.before(schedule[:-1])


_TOLD = "attribute_not_exists(#outbox)"
_NEXT = "#version = :before"


def _before(watch: SlaWatch) -> Item:
    return {"before": watch.version - 1}


def _legal(run: Run) -> tuple[str, Item]:
    """The condition on what a run may have been before this version. A row written by others has no
    version before the first, and may have no attempt.
    """
    before: dict[int, list[str]] = {}
    for attempt, status in sorted(predecessors(run)):
        before.setdefault(attempt, []).append(status)
    bare = run.version == 1
    version = _equal_or_absent("#version = :before", bare)
    clauses, values = [], Item({"before": run.version - 1})
    for n, (attempt, statuses) in enumerate(before.items()):
        names = [f":s{n}_{m}" for m in range(len(statuses))]
        of_attempt = _equal_or_absent(f"#attempt = :a{n}", bare and attempt == 0)
        clauses.append(f"{of_attempt} AND #status IN ({', '.join(names)})")
        values |= {f"a{n}": attempt}
        values |= {name[1:]: status for name, status in zip(names, statuses, strict=True)}
    if len(clauses) == 1:
        return f"{version} AND {clauses[0]}", values
    either = " OR ".join(f"({clause})" for clause in clauses)
    return f"{version} AND ({either})", values


def _equal_or_absent(clause: str, absent: bool) -> str:
    name = clause.partition(" ")[0]
    return f"({clause} OR attribute_not_exists({name}))" if absent else clause


def _left_to_tell(answer: WriteResult, seen: object) -> Item | None:
    """The row in the way, if it lost only because of an outbox we did not know about."""
    found = answer.found
    if found is None or "outbox" not in found or found["outbox"] == seen:
        return None
    return found


def _by_place(run: Run) -> tuple[str, str, bool]:
    return run.key.pipeline_id, run.key.schedule_id, run.key.dry


def _is_behind(run: Run, after: RunKey) -> bool:
    if run.key.date != after.date:
        return run.key.date < after.date
    return _by_place(run) > (after.pipeline_id, after.schedule_id, after.dry)
