"""Find runs: those of dates, under whichever id their schedule had when they ran."""

from collections.abc import Iterable, Mapping

import msgspec

from interlock.domain.pipeline import Pipeline
from interlock.domain.run import Run, RunKey
from interlock.domain.sla import SlaWatch
from interlock.usecases.ports import Ports

#: One pipeline, or several by their ids.
Files = Pipeline | Mapping[str, Pipeline]


def find_runs(keys: Iterable[RunKey], files: Files, ports: Ports) -> dict[RunKey, Run]:
    """Each under the requested key; the run itself has the key under which it is stored."""
    wanted = list(keys)
    former = _former(wanted, files)
    found = ports.runs.find([*wanted, *former])
    inherited = {former[key]: run for key, run in found.items() if key in former}
    return inherited | {key: run for key, run in found.items() if key not in former}


def kept_key(key: RunKey, pipeline: Pipeline, ports: Ports) -> RunKey:
    """The key under which the run of a date is stored; without a run, that of the current id."""
    present = msgspec.structs.replace(key, schedule_id=pipeline.present_id(key.schedule_id))
    if not former_keys(present, pipeline):
        return present
    run = find_runs([present], pipeline, ports).get(present)
    return present if run is None else run.key


def find_watches(keys: Iterable[RunKey], files: Files, ports: Ports) -> dict[RunKey, SlaWatch]:
    """The deadline watches of dates without a run; one of a former id is taken over."""
    wanted = list(keys)
    former = _former(wanted, files)
    found = ports.claims.watches([*wanted, *former])
    inherited = {
        former[key]: msgspec.structs.replace(watch, key=former[key], version=0, armed={})
        for key, watch in found.items()
        if key in former
    }
    return inherited | {key: watch for key, watch in found.items() if key not in former}


def find_watch(key: RunKey, pipeline: Pipeline, ports: Ports) -> SlaWatch | None:
    if not former_keys(key, pipeline):
        return ports.claims.watch(key)
    return find_watches([key], pipeline, ports).get(key)


def former_keys(key: RunKey, pipeline: Pipeline) -> list[RunKey]:
    """The other keys under which the run of a date may be stored."""
    return [
        msgspec.structs.replace(key, schedule_id=name)
        for name in pipeline.former_ids(key.schedule_id)
    ]


def _former(keys: Iterable[RunKey], files: Files) -> dict[RunKey, RunKey]:
    """Where else the runs of these keys may be stored."""
    found = {}
    for key in keys:
        pipeline = files if isinstance(files, Pipeline) else files[key.pipeline_id]
        found.update(dict.fromkeys(former_keys(key, pipeline), key))
    return found
