"""Backfill invariants: never more dates at work than allowed, none requested twice, none lost (I11)."""

from collections import Counter
from collections.abc import Collection, Iterator

from interlock.adapters.sqlite.store import Store
from interlock.domain.backfill import Backfill, BackfillState, DateEnding
from interlock.domain.event import EventType

_MANY = 1000
_AT_ONCE = 10_000
_REASON = "backfill: "


class BackfillInvariants:
    """Remembers how far each backfill was, and which reruns were accepted."""

    def __init__(self) -> None:
        self._heard = 0
        self._accepted: Counter[tuple[str, ...]] = Counter()
        self._begun: dict[str, set[str]] = {}
        self._ended: dict[str, dict[str, DateEnding]] = {}

    def check(self, store: Store) -> Iterator[str]:
        backfills = store.backfills.newest(_MANY)
        if not backfills:
            return
        busy = Counter(
            run.backfill for run in store.runs.active() if run.is_open or run.awaits_retry
        )
        for each in backfills:
            for number in (len(each.begun), busy[each.id]):
                if number > each.max_concurrent:
                    yield f"I11: {each.id} may run {each.max_concurrent} at once, but runs {number}"
            yield from self._loses_nothing(each)
        yield from self._requested_once(store, backfills)

    def _loses_nothing(self, found: Backfill) -> Iterator[str]:
        """A begun date stays begun until it ends, and an ended one keeps its ending."""
        begun, ended = self._begun.get(found.id, set()), self._ended.get(found.id, {})
        for date in sorted(begun - found.begun.keys() - found.ended.keys()):
            yield f"I11: {found.id} has lost {date}, which had begun"
        for date, ending in ended.items():
            if found.ended.get(date) is not ending:
                yield f"I11: {found.id} changed the ending of {date} from {ending}"
        if found.state is BackfillState.DONE and len(found.ended) != len(found.dates):
            yield f"I11: {found.id} is done with {len(found.ended)} of {len(found.dates)} dates"
        self._begun[found.id], self._ended[found.id] = set(found.begun), found.ended

    def _requested_once(self, store: Store, backfills: Collection[Backfill]) -> Iterator[str]:
        """Each backfill is granted one attempt of a date at most."""
        for told in store.events.after(self._heard, _AT_ONCE):
            self._heard = told.seq
            event, reason = told.event, str(told.event.detail.get("reason", ""))
            if event.type is not EventType.RERUN_ACCEPTED or not reason.startswith(_REASON):
                continue
            place = (event.pipeline_id or "", event.date or "", reason)
            self._accepted[place] += 1
            wanted = sum(_wants(each, place) for each in backfills)
            if self._accepted[place] > wanted:
                yield f"I11: {place} was granted {self._accepted[place]} times, asked {wanted}"


def backfills_with_room(store: Store, served: Collection[str]) -> Iterator[str]:
    """The running backfills that could begin a date now; `served` are the pipelines that are not paused."""
    for each in store.backfills.unsettled():
        is_running = each.state is BackfillState.RUNNING
        if is_running and each.room and each.waiting and each.pipeline_id in served:
            yield f"{each.waiting[0]} of the backfill {each.id}"


def _wants(backfill: Backfill, place: tuple[str, ...]) -> bool:
    pipeline_id, date, reason = place
    same = backfill.pipeline_id == pipeline_id and f"{_REASON}{backfill.reason}" == reason
    return same and date in backfill.dates
