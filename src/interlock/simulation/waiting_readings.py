"""Waiting readings: readings that should open a date but have not yet; reads only what may have changed."""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timedelta

from interlock.adapters.sqlite.store import Store
from interlock.domain.admission import OpenRun, Reopen, admit, run_keys
from interlock.domain.config import Config
from interlock.domain.partition import Label
from interlock.domain.run import Run, RunKey, Status
from interlock.domain.sensor import Reading, period_keys
from interlock.usecases.find_runs import former_keys

_DAY = timedelta(days=1)

#: A pipeline, and the key of a reading of it.
Place = tuple[str, str]


class WaitingReadings:
    """Follows the change feed, and the attempts that ended without a job."""

    def __init__(self) -> None:
        self._seq = 0
        self._known: dict[str, tuple[int, bool]] = {}
        self._waiting: set[Place] = set()

    def find(
        self, store: Store, configs: Mapping[str, Config], served: Collection[str], now: datetime
    ) -> list[str]:
        """The readings that wait. `served` are the pipelines that are not paused."""
        candidates = self._waiting | self._put_since(store)
        candidates |= self._of_other_files(store, configs, served)
        candidates |= set(_of_failed(store.runs.active(), configs))
        self._waiting = {
            (name, key)
            for name, key in candidates
            if name in served and _opens(name, key, configs[name], store, now)
        }
        return [f"{key} of {name}" for name, key in self._waiting]

    def _put_since(self, store: Store) -> set[Place]:
        rows = store.database.read(
            lambda connection: connection.execute(
                "SELECT seq, pipeline, key FROM changes WHERE seq > ? AND kind = 'sensor'",
                (self._seq,),
            ).fetchall()
        )
        self._seq = max((seq for seq, _, _ in rows), default=self._seq)
        return {(pipeline, key) for _, pipeline, key in rows}

    def _of_other_files(
        self, store: Store, configs: Mapping[str, Config], served: Collection[str]
    ) -> set[Place]:
        """All readings of pipelines whose file has changed, or whose pause has ended."""
        now = {name: (config.version, name in served) for name, config in configs.items()}
        changed = [name for name, state in now.items() if self._known.get(name) != state]
        self._known = now
        return {
            (name, reading.key) for name in changed for reading in store.sensors.of_pipeline(name)
        }


def _of_failed(active: list[Run], configs: Mapping[str, Config]) -> Iterator[Place]:
    """The trigger readings of dates whose last attempt ended without a job: they may open the next."""
    for run in active:
        config = configs.get(run.key.pipeline_id)
        if run.status is not Status.FAILED or run.awaits_retry or config is None:
            continue
        if config.pipeline.has_schedule(run.key.schedule_id):
            trigger = config.pipeline.schedule(run.key.schedule_id).trigger
            keys = period_keys(trigger.rule.key, Label.parse(run.key.date)) if trigger else ()
            yield from ((run.key.pipeline_id, key) for key in keys)


def _opens(name: str, key: str, config: Config, store: Store, now: datetime) -> bool:
    reading = store.sensors.find(name, [key]).get(key)
    if reading is None or config.pipeline.dry_run:
        return False
    return any(_is_near(opened, now) for opened in _opened(reading, config, store, now))


def _opened(reading: Reading, config: Config, store: Store, now: datetime) -> Iterator[RunKey]:
    pipeline = config.pipeline
    wanted = run_keys(pipeline, reading)
    former = {old: key for key in wanted for old in former_keys(key, pipeline)}
    found = store.runs.find([*former, *wanted])
    runs = {former.get(key, key): run for key, run in found.items()}
    for admission in admit(config.pipeline, reading, runs, now, config.standings):
        match admission:
            case OpenRun(opened):
                yield opened
            case Reopen(run):
                yield run.key


def _is_near(key: RunKey, now: datetime) -> bool:
    """Whether the date is within the range that every pass checks, in any zone."""
    return f"{now - _DAY:%Y-%m-%d}" <= key.date[:10] <= f"{now:%Y-%m-%d}"
