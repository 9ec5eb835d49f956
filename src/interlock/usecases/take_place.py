"""Take a place: the limit on concurrent jobs of one pipeline. A place is taken by one conditional write on
a row that all dates of the pipeline share.
"""

from collections.abc import Callable, Iterable
from datetime import datetime

import msgspec

from interlock.domain.pipeline import Pipeline
from interlock.domain.places import Places, Seating, before, counted, is_full, leave, seat
from interlock.domain.run import OPEN, Run, RunKey
from interlock.domain.waiting_for import WaitingFor
from interlock.errors import TransientError
from interlock.usecases.ports import Ports

Decide = Callable[[Places], Seating]

_TRIES = 8
#: How many of the newest dates are searched for jobs that started under a file without a limit.
_NEWEST = 50


def take_place(run: Run, pipeline: Pipeline, now: datetime, ports: Ports) -> tuple[RunKey, ...]:
    """The runs that it must wait for; none when it has its place, or needs none. Asking again is
    harmless: a run that has its place keeps it.
    """
    most = pipeline.job.max_concurrent
    if most is None or run.key.dry:
        return ()

    def decide(places: Places) -> Seating:
        runs = _found(places.keys(places.holders), ports)
        if not is_full(places, run, runs, most):
            newest = ports.runs.of_pipeline(places.pipeline_id, "0000", "9999", _NEWEST)
            places = counted(places, newest)
            runs |= {each.key: each for each in newest}
            runs |= _found(places.keys(before(places, run)), ports)
        return seat(places, run, runs, most, now)

    return _settle(run, decide, ports)


def leave_place(run: Run, pipeline: Pipeline, ports: Ports) -> tuple[RunKey, ...]:
    """The run needs no place for now: its rules don't hold. Returns the runs it would have to wait for."""
    most = pipeline.job.max_concurrent
    if most is None or run.key.dry:
        return ()

    def decide(places: Places) -> Seating:
        return leave(places, run, _found(places.keys(places.holders), ports), most)

    return _settle(run, decide, ports)


def call_next(run: Run, pipeline: Pipeline, ports: Ports) -> None:
    """The run has no job any more: runs that wait for a place check at once, where they can be woken."""
    if pipeline.job.max_concurrent is not None and run.status not in OPEN:
        ports.workflows.wake(run.key.pipeline_id, WaitingFor.RULES)


def _settle(run: Run, decide: Decide, ports: Ports) -> tuple[RunKey, ...]:
    for _ in range(_TRIES):
        pipeline_id = run.key.pipeline_id
        places = ports.claims.places(pipeline_id) or Places(pipeline_id=pipeline_id)
        seating = decide(places)
        if seating.places == places or _save(seating.places, ports):
            return seating.behind
    raise TransientError(f"{run.key}: other runs took its place first, {_TRIES} times in a row")


def _save(places: Places, ports: Ports) -> bool:
    return ports.claims.save_places(msgspec.structs.replace(places, version=places.version + 1))


def _found(keys: Iterable[RunKey], ports: Ports) -> dict[RunKey, Run]:
    wanted = list(keys)
    return ports.runs.find(wanted) if wanted else {}
