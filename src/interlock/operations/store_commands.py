"""Store commands: implements `Commands` over the ports of a backend, on behalf of one caller."""

from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from typing import Any

from interlock.domain.callers import AuditEntry
from interlock.domain.config import Config
from interlock.domain.lineage import LineageEvent, LineageSource, sources_of
from interlock.domain.rerun_request import RerunRequest
from interlock.domain.run import RunKey
from interlock.domain.sensor import Reading
from interlock.errors import ConfigError, ConflictError, NotFoundError
from interlock.operations.requests import (
    NewPause,
    NewPrune,
    NewReading,
    NewRerun,
    NewResume,
    NewRetirement,
    NewRetry,
    NewToken,
    Waiting,
    WatchQuery,
    label_of,
)
from interlock.operations.results import Pruned, ReadingAnswer, Retried
from interlock.operations.store_queries import state_file
from interlock.operations.tokens import TokenShown, make_token, new_secret, shown
from interlock.ports.state_file import StateFile
from interlock.queries.paging import Page
from interlock.queries.stored_reading import StoredReading, in_words, stored
from interlock.queries.watchdog_pass import WatchdogPass, pass_in_words
from interlock.usecases.admit_reading import foresee_reading
from interlock.usecases.pause import pause, resume
from interlock.usecases.ports import Ports
from interlock.usecases.put_reading import admissible_reading
from interlock.usecases.request_rerun import RerunOrder, request_rerun
from interlock.usecases.take_lineage import take_lineage
from interlock.usecases.unknown_pipeline import unknown_pipeline
from interlock.usecases.watch import watch


class StoreCommands:
    """The commands of one caller. `file` is the state file, which has the audit log; AWS has none."""

    def __init__(
        self,
        actor: str,
        ports: Ports,
        watchdog_every: timedelta,
        file: StateFile | None = None,
        lineage: Sequence[LineageSource] = (),
    ) -> None:
        self._actor, self._ports, self._every = actor, ports, watchdog_every
        self._file, self._lineage = file, lineage

    # --- readings

    def put(
        self, pipeline: str, key: str, fields: dict[str, Any], query: Waiting = Waiting()
    ) -> StoredReading:
        """Predicts what the reading leads to; the controller acts on it when it gets the change."""
        now, config = self._ports.clock(), self._ports.pipelines.find(pipeline)
        reading = admissible_reading(pipeline, key, fields, config, now)
        led_to = () if query.wait is None else in_words(foresee_reading(reading, self._ports))
        self._ports.sensors.put(reading)
        return stored(reading, led_to)

    def put_all(self, readings: list[NewReading]) -> Page[ReadingAnswer]:
        """An invalid reading does not stop the others."""
        answers: list[ReadingAnswer] = []
        good: list[Reading] = []
        config, now = cache(self._ports.pipelines.find), self._ports.clock()
        for each in readings:
            name, key = each.pipeline_id, each.key
            try:
                reading = admissible_reading(name, key, each.fields, config(name), now)
            except (ConfigError, NotFoundError) as error:
                answers.append(ReadingAnswer(pipeline_id=name, key=key, problem=str(error)))
                continue
            good.append(reading)
            answers.append(
                ReadingAnswer(
                    pipeline_id=name,
                    key=key,
                    received_at=reading.received_at,
                    version=reading.version,
                )
            )
        if good:
            self._ports.sensors.put_all(good)
        return Page(answers)

    def put_lineage(self, event: LineageEvent) -> Page[StoredReading]:
        sources = sources_of(event, self._lineage)
        return Page([stored(reading) for reading in take_lineage(event, sources, self._ports)])

    # --- runs and pipelines

    def rerun(self, pipeline: str, wanted: NewRerun) -> RerunRequest:
        self._check(pipeline)
        key = RunKey(pipeline, wanted.schedule or "-", str(label_of(wanted.date)))
        self._note("rerun", str(key), wanted.reason)
        order = RerunOrder(
            pipeline, wanted.date, wanted.schedule, wanted.reason, wanted.force, self._actor
        )
        return request_rerun(order, self._ports)

    def pause(self, pipeline: str, wanted: NewPause = NewPause()) -> Config:
        self._check(pipeline)
        self._note("pause", pipeline, wanted.reason)
        return pause(pipeline, self._ports, wanted.until)

    def resume(self, pipeline: str, wanted: NewResume = NewResume()) -> Config:
        self._check(pipeline)
        self._note("resume", pipeline, wanted.reason)
        return resume(pipeline, self._ports)

    def retire(self, pipeline: str, wanted: NewRetirement = NewRetirement()) -> Config:
        from interlock.usecases.retire_pipeline import retire_pipeline  # imports the file checks

        if self._file is None:
            raise ConfigError("on AWS, apply without the pipeline's file: that retires it at once")
        self._check(pipeline)
        self._note("retire", pipeline, wanted.reason)
        return retire_pipeline(pipeline, self._file.missing_files, self._ports)

    # --- upkeep

    def watch(self, query: WatchQuery = WatchQuery()) -> WatchdogPass | None:
        self._note("watchdog", "-")
        report = watch(self._every, self._ports, query.since)
        return None if report is None else pass_in_words(report)

    def prune(self, wanted: NewPrune = NewPrune()) -> Pruned:
        retention, now = state_file(self._file).retention, self._ports.clock()
        day = None if wanted.before is None else label_of(wanted.before).day.isoformat()
        self._note("prune", wanted.before or "-", wanted.reason)
        removed = retention.sweep(now)
        if day is not None:
            removed["runs"] += retention.prune(day, now)
        return Pruned(removed)

    def retry_parked(self, wanted: NewRetry = NewRetry()) -> Retried:
        changes = state_file(self._file).changes
        self._note("retry", "parked changes", wanted.reason)
        return Retried(changes.retry_parked(self._ports.clock()))

    def create_token(self, wanted: NewToken) -> TokenShown:
        file, secret = state_file(self._file), new_secret()
        now = self._ports.clock()
        token = make_token(wanted.name, wanted.scopes, wanted.pipelines, secret, now)
        self._note("token create", wanted.name, " ".join(wanted.scopes))
        if not file.tokens.create(token):
            raise ConflictError(f"a token named {wanted.name} already exists")
        return shown(token, secret)

    def revoke_token(self, name: str) -> None:
        file = state_file(self._file)
        self._note("token revoke", name)
        if not file.tokens.revoke(name):
            raise NotFoundError(f"there is no token {name}")

    def _check(self, pipeline: str) -> None:
        """Requests for missing objects are not audited."""
        if self._ports.pipelines.find(pipeline) is None:
            raise unknown_pipeline(pipeline, self._ports)

    def _note(self, action: str, target: str, reason: str = "") -> None:
        """Written beforehand, so that the request is recorded whatever its outcome."""
        if self._file is None:
            return
        now = self._ports.clock()
        self._file.audit.note(
            AuditEntry(at=now, actor=self._actor, action=action, target=target, reason=reason)
        )
