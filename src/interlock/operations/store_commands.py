"""Store commands: implements `Commands` over the ports of a backend, on behalf of one caller."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from typing import Any

from interlock.domain import duration
from interlock.domain.alerting.handling import Handling
from interlock.domain.alerting.threads import SYSTEM, AlertKey
from interlock.domain.alerting.trial import said, trial_note, trial_targets
from interlock.domain.backfill import BackfillState
from interlock.domain.callers import AuditEntry, RequestOutcome
from interlock.domain.cancellation import Cancellation
from interlock.domain.config import Config
from interlock.domain.event import clean
from interlock.domain.lineage import LineageEvent, LineageSource, sources_of
from interlock.domain.rerun_request import RerunRequest
from interlock.domain.run import MarkedAs, Run, RunKey
from interlock.domain.sensor import Reading
from interlock.errors import ConfigError, ConflictError, InterlockError, NotFoundError
from interlock.operations.alert_access import AlertAccess
from interlock.operations.many_dates import OrderedDate, ordered_dates
from interlock.operations.requests import (
    NewAcknowledgement,
    NewAlertTest,
    NewBackfill,
    NewBackfillTurn,
    NewCancellation,
    NewDates,
    NewHandReading,
    NewMark,
    NewPause,
    NewPrune,
    NewReading,
    NewRerun,
    NewResume,
    NewRetirement,
    NewRetry,
    NewSkip,
    NewSnooze,
    NewToken,
    NewUnskip,
    NewUnsnooze,
    Waiting,
    WatchQuery,
    label_of,
)
from interlock.operations.results import DateAnswer, Pruned, ReadingAnswer, Retried, TrialResult
from interlock.operations.store_queries import state_file
from interlock.operations.tokens import TokenShown, make_token, new_secret, shown
from interlock.ports.state_file import StateFile
from interlock.queries.backfill_progress import BackfillProgress, backfill_progress
from interlock.queries.paging import Page
from interlock.queries.stored_reading import StoredReading, in_words, stored
from interlock.queries.watchdog_pass import WatchdogPass, pass_in_words
from interlock.usecases.acknowledge_alert import acknowledge_alert
from interlock.usecases.admit_reading import foresee_reading
from interlock.usecases.cancel_run import cancel_run
from interlock.usecases.change_handling import AlertOrder
from interlock.usecases.mark_run import mark_run
from interlock.usecases.pause import pause, resume
from interlock.usecases.ports import Ports
from interlock.usecases.put_reading import admissible_reading
from interlock.usecases.request_rerun import RerunOrder, request_rerun
from interlock.usecases.run_order import RunOrder
from interlock.usecases.skip_run import skip_run
from interlock.usecases.snooze_alert import snooze_alert, unsnooze_alert
from interlock.usecases.start_backfill import BackfillOrder, start_backfill
from interlock.usecases.steer_backfill import BackfillTurn, found_backfill, steer_backfill
from interlock.usecases.take_lineage import take_lineage
from interlock.usecases.unknown_pipeline import unknown_pipeline
from interlock.usecases.unskip_run import unskip_run
from interlock.usecases.watch import watch

log = logging.getLogger(__name__)

#: As the HTTP API has it.
LONGEST_REASON = 1000
#: The caller's request was not acceptable; any other error is ours.
_REFUSALS = (ConfigError, NotFoundError)


class StoreCommands:
    """The commands of one caller. `file` is the state file, which has the audit log; AWS has none."""

    def __init__(
        self,
        actor: str,
        ports: Ports,
        alerts: AlertAccess,
        watchdog_every: timedelta,
        file: StateFile | None = None,
        lineage: Sequence[LineageSource] = (),
    ) -> None:
        self._actor, self._ports, self._every = actor, ports, watchdog_every
        self._alerts = alerts
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

    def put_by_hand(self, pipeline: str, wanted: NewHandReading) -> StoredReading:
        self._check(pipeline)
        _check_reason(wanted.reason)
        with self._audited("put reading", f"{pipeline}/{wanted.key}", wanted.reason, pipeline):
            return self.put(pipeline, wanted.key, wanted.fields, Waiting(wait="decision"))

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
        order = RerunOrder(
            pipeline,
            wanted.date,
            wanted.schedule,
            wanted.reason,
            wanted.force,
            self._actor,
            wanted.over_budget,
        )
        with self._audited("rerun", str(key), wanted.reason, pipeline):
            return request_rerun(order, self._ports)

    def act_on_dates(self, pipeline: str, wanted: NewDates) -> Page[DateAnswer]:
        """A refused date does not stop the others; each is audited by itself."""
        self._check(pipeline)
        config = self._ports.pipelines.find(pipeline)
        assert config is not None
        orders = ordered_dates(config, wanted, self._ports)
        return Page([self._act_on(each, wanted) for each in orders])

    def _act_on(self, date: OrderedDate, wanted: NewDates) -> DateAnswer:
        key = date.key
        try:
            if wanted.action == "skip":
                skip = NewSkip(reason=wanted.reason)
                self.skip(key.pipeline_id, key.schedule_id, key.date, skip)
                return date.answer(True, "skipped")
            again = NewRerun(
                date=key.date,
                schedule=key.schedule_id,
                reason=wanted.reason,
                force=wanted.force,
                over_budget=wanted.over_budget,
            )
            self.rerun(key.pipeline_id, again)
        except _REFUSALS as error:
            return date.answer(False, str(error))
        return date.answer(True, "rerun requested")

    def start_backfill(self, pipeline: str, wanted: NewBackfill) -> BackfillProgress:
        self._check(pipeline)
        first, last = str(label_of(wanted.since)), str(label_of(wanted.until))
        order = BackfillOrder(
            pipeline_id=pipeline,
            first=first,
            last=last,
            schedule_id=wanted.schedule,
            max_concurrent=wanted.max_concurrent,
            requested_by=self._actor,
            reason=wanted.reason,
        )
        target = f"{pipeline}/{wanted.schedule or '-'}/{first} to {last}"
        with self._audited("backfill", target, wanted.reason, pipeline):
            return backfill_progress(start_backfill(order, self._ports), self._ports)

    def pause_backfill(self, backfill: str, wanted: NewBackfillTurn) -> BackfillProgress:
        return self._steer("backfill pause", backfill, BackfillState.PAUSED, wanted.reason)

    def resume_backfill(self, backfill: str, wanted: NewBackfillTurn) -> BackfillProgress:
        return self._steer("backfill resume", backfill, BackfillState.RUNNING, wanted.reason)

    def cancel_backfill(self, backfill: str, wanted: NewBackfillTurn) -> BackfillProgress:
        return self._steer("backfill cancel", backfill, BackfillState.CANCELLED, wanted.reason)

    def _steer(
        self, action: str, backfill: str, state: BackfillState, reason: str
    ) -> BackfillProgress:
        pipeline = found_backfill(backfill, self._ports).pipeline_id
        turn = BackfillTurn(backfill, state, self._actor, reason)
        with self._audited(action, backfill, reason, pipeline):
            return backfill_progress(steer_backfill(turn, self._ports), self._ports)

    def cancel(
        self, pipeline: str, schedule: str, date: str, wanted: NewCancellation
    ) -> Cancellation:
        with self._ordered("cancel", (pipeline, schedule, date), wanted.reason) as order:
            return cancel_run(order, self._ports)

    def skip(self, pipeline: str, schedule: str, date: str, wanted: NewSkip) -> Run:
        with self._ordered("skip", (pipeline, schedule, date), wanted.reason) as order:
            return skip_run(order, self._ports)

    def unskip(self, pipeline: str, schedule: str, date: str, wanted: NewUnskip) -> Run | None:
        with self._ordered("unskip", (pipeline, schedule, date), wanted.reason) as order:
            return unskip_run(order, self._ports)

    def mark(self, pipeline: str, schedule: str, date: str, wanted: NewMark) -> Run:
        outcome = MarkedAs(wanted.outcome)
        place = pipeline, schedule, date
        with self._ordered(f"mark {outcome}", place, wanted.reason) as order:
            return mark_run(order, outcome, wanted.evidence, self._ports)

    # --- alerts

    def acknowledge(
        self, pipeline: str, schedule: str, date: str, wanted: NewAcknowledgement
    ) -> Handling:
        order = self._order(AlertKey(pipeline, schedule, date), wanted.reason)
        with self._audited("acknowledge", str(order.key), wanted.reason, pipeline):
            return acknowledge_alert(order, self._ports, self._alerts.stores)

    def snooze(self, pipeline: str, schedule: str, date: str, wanted: NewSnooze) -> Handling:
        order = self._order(AlertKey(pipeline, schedule, date), wanted.reason)
        with self._audited("snooze", str(order.key), wanted.reason, pipeline):
            critical = wanted.include_critical
            span, stores = _span(wanted.span), self._alerts.stores
            return snooze_alert(order, span, self._ports, stores, include_critical=critical)

    def unsnooze(self, pipeline: str, schedule: str, date: str, wanted: NewUnsnooze) -> Handling:
        order = self._order(AlertKey(pipeline, schedule, date), wanted.reason)
        with self._audited("unsnooze", str(order.key), wanted.reason, pipeline):
            return unsnooze_alert(order, self._ports, self._alerts.stores)

    def test_alert(self, wanted: NewAlertTest) -> Page[TrialResult]:
        _check_reason(wanted.reason)
        send, alerts = self._alerts.send_trial, self._alerts.in_force().alerts
        if send is None:
            raise ConfigError("on AWS, only the alert dispatcher has the settings of the sinks")
        note = trial_note(wanted.route, self._ports.clock())
        with self._audited("alert test", wanted.route, wanted.reason):
            targets = trial_targets(alerts, wanted.route)
            return Page([TrialResult(str(to), said(send(alerts, to, note))) for to in targets])

    def _order(self, key: AlertKey, reason: str) -> AlertOrder:
        """Alerts without a date belong to a type of event, and some to no pipeline."""
        _check_reason(reason)
        if key.pipeline != SYSTEM:
            self._check(key.pipeline)
        date = str(label_of(key.date))
        plain = clean(reason, LONGEST_REASON)
        return AlertOrder(AlertKey(key.pipeline, key.schedule, date), self._actor, plain)

    def pause(self, pipeline: str, wanted: NewPause = NewPause()) -> Config:
        self._check(pipeline)
        with self._audited("pause", pipeline, wanted.reason, pipeline):
            return pause(pipeline, self._ports, wanted.until, self._actor, wanted.reason)

    def resume(self, pipeline: str, wanted: NewResume = NewResume()) -> Config:
        self._check(pipeline)
        with self._audited("resume", pipeline, wanted.reason, pipeline):
            return resume(pipeline, self._ports, self._actor, wanted.reason)

    def retire(self, pipeline: str, wanted: NewRetirement = NewRetirement()) -> Config:
        from interlock.usecases.retire_pipeline import retire_pipeline  # imports the file checks

        if self._file is None:
            raise ConfigError("on AWS, apply without the pipeline's file: that retires it at once")
        self._check(pipeline)
        with self._audited("retire", pipeline, wanted.reason, pipeline):
            return retire_pipeline(pipeline, self._file.missing_files, self._ports)

    # --- upkeep

    def watch(self, query: WatchQuery = WatchQuery()) -> WatchdogPass | None:
        with self._audited("watchdog", "-"):
            report = watch(self._every, self._ports, query.since)
        return None if report is None else pass_in_words(report)

    def prune(self, wanted: NewPrune = NewPrune()) -> Pruned:
        retention, now = state_file(self._file).retention, self._ports.clock()
        day = None if wanted.before is None else label_of(wanted.before).day.isoformat()
        with self._audited("prune", wanted.before or "-", wanted.reason):
            removed = retention.sweep(now)
            if day is not None:
                removed["runs"] += retention.prune(day, now)
        return Pruned(removed)

    def retry_parked(self, wanted: NewRetry = NewRetry()) -> Retried:
        changes = state_file(self._file).changes
        with self._audited("retry", "parked changes", wanted.reason):
            return Retried(changes.retry_parked(self._ports.clock()))

    def create_token(self, wanted: NewToken) -> TokenShown:
        file, secret = state_file(self._file), new_secret()
        now = self._ports.clock()
        token = make_token(wanted.name, wanted.scopes, wanted.pipelines, secret, now)
        with self._audited("token create", wanted.name, " ".join(wanted.scopes)):
            if not file.tokens.create(token):
                raise ConflictError(f"a token named {wanted.name} already exists")
        return shown(token, secret)

    def revoke_token(self, name: str) -> None:
        file = state_file(self._file)
        with self._audited("token revoke", name):
            if not file.tokens.revoke(name):
                raise NotFoundError(f"there is no token {name}")

    def _check(self, pipeline: str) -> None:
        """Requests for missing objects are not audited."""
        if self._ports.pipelines.find(pipeline) is None:
            raise unknown_pipeline(pipeline, self._ports)

    @contextmanager
    def _ordered(self, action: str, place: tuple[str, str, str], reason: str) -> Iterator[RunOrder]:
        """An order about a run of a pipeline, schedule and date, audited. Raises ConfigError without a
        reason.
        """
        pipeline, schedule, date = place
        config = self._ports.pipelines.find(pipeline)
        if config is None:
            raise unknown_pipeline(pipeline, self._ports)
        _check_reason(reason)
        key = RunKey(pipeline, schedule, str(label_of(date)), dry=config.pipeline.dry_run)
        with self._audited(action, str(key), reason, pipeline):
            yield RunOrder(key, self._actor, reason)

    @contextmanager
    def _audited(
        self, action: str, target: str, reason: str = "", pipeline: str = ""
    ) -> Iterator[None]:
        """The request is written beforehand, so that it is recorded whatever its outcome."""
        seq = self._note(action, target, reason, pipeline)
        try:
            yield
        except Exception as error:
            refused = isinstance(error, _REFUSALS)
            problem = str(error) if isinstance(error, InterlockError) else type(error).__name__
            self._settle(seq, RequestOutcome.REFUSED if refused else RequestOutcome.FAILED, problem)
            raise
        self._settle(seq, RequestOutcome.DONE)

    def _note(self, action: str, target: str, reason: str, pipeline: str) -> int | None:
        if self._file is None:
            return None
        entry = AuditEntry(
            at=self._ports.clock(),
            actor=self._actor,
            action=action,
            target=target,
            reason=reason,
            pipeline_id=pipeline,
        )
        return self._file.audit.note(entry)

    def _settle(self, seq: int | None, outcome: RequestOutcome, problem: str = "") -> None:
        """What was done stays done if its outcome can't be noted: then the outcome is unknown."""
        if self._file is None or seq is None:
            return
        try:
            self._file.audit.settle(seq, outcome, problem)
        except InterlockError:
            noted = {"action": "audit_outcome_lost", "entry": seq, "outcome": str(outcome)}
            log.warning("the outcome of a request could not be noted", extra=noted)


def _check_reason(reason: str) -> None:
    """Every entry point comes by here, also those that decode no request."""
    if not reason.strip():
        raise ConfigError("give a reason; it is recorded with your name")


def _span(text: str) -> timedelta:
    try:
        return duration.parse(text)
    except ValueError as error:
        raise ConfigError(str(error)) from None
