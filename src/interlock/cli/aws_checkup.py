"""AWS checkup: the checks of an installation on AWS, each with what it found and how to fix it.

A caller with partial permissions gets findings for those parts, and the missing permissions by name.
"""

import shlex
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple

from interlock.adapters.aws.failures import (
    explained,
    is_absent,
    is_denied,
    is_unreached,
    operation_of,
)
from interlock.adapters.aws.inspection import still_unreadable, unreadable_now
from interlock.adapters.aws.rows import WATCH
from interlock.adapters.aws.survey import Survey, TableSeen
from interlock.cli.checkup import (
    Finding,
    Level,
    heartbeat,
    python,
    refused_config,
    refused_files,
    short_holidays,
    unreadable_rows,
)
from interlock.cli.shown import count
from interlock.domain import canonical, duration
from interlock.domain.event import EventType
from interlock.domain.unreadable import UnreadableRow
from interlock.errors import InterlockError
from interlock.files import load_project, read_alerts
from interlock.operations.queries import Queries
from interlock.operations.requests import EventsQuery
from interlock.wiring.aws_ports import AwsBackend
from interlock.wiring.aws_settings import Function

COMMAND = "interlock --backend aws"
_APPLY = "`terraform apply` restores it"
_NAMES = "see [aws] in interlock.toml: `terraform output -raw interlock_toml` prints it"
_GIVE = "add it to your role: the module's output viewer_policy_json grants it"
_SHOWN = 5
#: How many reports of unreadable rows are checked.
_REPORTED = 100
_CLOCK_MARGIN = timedelta(seconds=30)

_STREAM = "NEW_IMAGE"
_ACTIVE = "ACTIVE"
_BY_TYPE = ("GSI1", "eventType", "timestamp")

#: The queues of messages that could not be handled, and what to do about them.
DEAD_LETTERS: dict[str, str] = {
    "control-dlq": f"`{COMMAND} watchdog` catches up on what the messages stand for; then purge the queue",
    "joblog-dlq": f"`{COMMAND} watchdog` catches up on what the messages stand for; then purge the queue",
    "alerts-dlq": "fix the sink named in the ALERT_UNDELIVERED event, then send the messages again:"
    " aws sqs start-message-move-task",
    "undelivered": "the log of the function named in a message says why it failed; the watchdog arms"
    " timers again; then purge the queue",
}
_UNDELIVERED = "undelivered"

#: The permission that each operation needs.
RIGHTS = {
    "DescribeTable": "dynamodb:DescribeTable",
    "DescribeTimeToLive": "dynamodb:DescribeTimeToLive",
    "GetItem": "dynamodb:GetItem",
    "BatchGetItem": "dynamodb:BatchGetItem",
    "Query": "dynamodb:Query",
    "DescribeEventBus": "events:DescribeEventBus",
    "DescribeStateMachine": "states:DescribeStateMachine",
    "GetFunctionConfiguration": "lambda:GetFunctionConfiguration",
    "GetScheduleGroup": "scheduler:GetScheduleGroup",
    "GetQueueUrl": "sqs:GetQueueUrl",
    "GetQueueAttributes": "sqs:GetQueueAttributes",
}


class AwsCheck(NamedTuple):
    """A check, what it looks at, and how."""

    check: str
    thing: str
    find: Callable[[], Iterable[Finding]]


class AwsCheckup:
    """All checks of one installation. A check that fails is itself a finding."""

    def __init__(self, backend: AwsBackend, queries: Queries, project: Path) -> None:
        self._backend = backend
        self._queries = queries
        self._project = project
        self._settings = backend.settings
        self._survey = Survey(backend.client, backend.ports.clock)
        self._now: datetime = backend.ports.clock()

    def findings(self) -> list[Finding]:
        """Raises UnavailableError or TransientError when AWS can't be reached at all."""
        self._reach()
        return [each for look in self._looks() for each in self._guarded(look)]

    def _reach(self) -> None:
        try:
            self._survey.table(self._settings.control_table)
        except InterlockError as error:
            if is_unreached(error.__cause__):
                raise explained(error) from error.__cause__

    def _looks(self) -> Iterator[AwsCheck]:
        settings, names = self._settings, self._backend.store.names
        yield AwsCheck("python", "python", lambda: [python()])
        yield AwsCheck("tables", names.control, partial(self._table, names.control, WATCH, True))
        yield AwsCheck("tables", names.joblog, partial(self._table, names.joblog, None, True))
        yield AwsCheck("tables", names.rerun, partial(self._table, names.rerun, None, False))
        yield AwsCheck("tables", names.events, partial(self._table, names.events, _BY_TYPE, False))
        yield AwsCheck("bus", settings.bus, self._bus)
        yield AwsCheck("state machine", _name(settings.machine_arn), self._machine)
        for arn in self._functions():
            yield AwsCheck("functions", _name(arn), partial(self._function, arn))
        yield AwsCheck("timers", settings.scheduler_group, self._timers)
        for arn in self._queues():
            yield AwsCheck("queues", _name(arn), partial(self._dead_letters, arn))
        yield AwsCheck("clock", "the AWS clock", self._clock)
        yield AwsCheck("watchdog", "the watchdog's row", self._watchdog)
        yield AwsCheck("configs", "the configs in force", self._configs)
        yield AwsCheck("rows", "the stored rows", self._rows)
        yield AwsCheck("files", "the configs in force", self._files)
        yield AwsCheck("alerts", "the alert routes", self._alerts)
        yield AwsCheck("holidays", "the configs in force", self._holidays)

    def _guarded(self, look: AwsCheck) -> Iterator[Finding]:
        try:
            yield from look.find()
        except InterlockError as error:
            yield _failed(look, error)
        except Exception as error:  # noqa: BLE001 - a check that breaks must not hide the others
            what = f"{look.thing}: the check itself failed: {type(error).__name__}: {error}"
            yield Finding(
                look.check, Level.WRONG, what, "run `interlock --backend aws --debug doctor`"
            )

    def _table(
        self, name: str, index: tuple[str, str, str] | None, streams: bool
    ) -> Iterator[Finding]:
        wrong = list(_wrong_with(self._survey.table(name), index, streams))
        for each in wrong:
            yield Finding("tables", Level.WRONG, f"{name}: {each}", _APPLY)
        if not wrong:
            yield Finding("tables", Level.FINE, f"{name} is set up correctly")

    def _bus(self) -> Iterator[Finding]:
        self._survey.bus(self._settings.bus)
        yield Finding("bus", Level.FINE, f"{self._settings.bus} exists")

    def _machine(self) -> Iterator[Finding]:
        arn = self._settings.machine_arn
        yield _standing("state machine", _name(arn), self._survey.machine(arn))

    def _function(self, arn: str) -> Iterator[Finding]:
        yield _standing("functions", _name(arn), self._survey.function(arn))

    def _timers(self) -> Iterator[Finding]:
        group = self._settings.scheduler_group
        yield _standing("timers", group, self._survey.timers(group))

    def _functions(self) -> list[str]:
        """All six if their names share a prefix; otherwise those that the settings name."""
        named = self._settings.stream_router_arn
        head = named.removesuffix(Function.STREAM_ROUTER)
        if head == named:
            return [named, self._settings.sla_monitor_arn]
        return [f"{head}{function}" for function in Function]

    def _queues(self) -> list[str]:
        named = self._settings.undelivered_queue_arn
        head = named.removesuffix(_UNDELIVERED)
        return [named] if head == named else [f"{head}{queue}" for queue in DEAD_LETTERS]

    def _dead_letters(self, arn: str) -> Iterator[Finding]:
        name, found = _name(arn), self._survey.messages(arn)
        if not found:
            yield Finding("queues", Level.FINE, f"{name} is empty")
            return
        remedy = next((each for end, each in DEAD_LETTERS.items() if name.endswith(end)), "")
        yield Finding("queues", Level.WRONG, f"{name} holds {count(found, 'message')}", remedy)

    def _clock(self) -> Iterator[Finding]:
        ahead = self._survey.clock_ahead(self._settings.control_table)
        if ahead is None:
            return
        if abs(ahead) <= _CLOCK_MARGIN:
            yield Finding("clock", Level.FINE, "the local clock and the AWS clock agree")
            return
        way = "ahead of" if ahead > timedelta() else "behind"
        what = f"the local clock is {duration.for_people(abs(ahead))} {way} the AWS clock"
        yield Finding("clock", Level.WRONG, what, "set the clock, and keep it in sync with NTP")

    def _watchdog(self) -> Iterator[Finding]:
        remedy = (
            f"check that {self._settings.environment_name}-interlock-watchdog is invoked, and read its log;"
            f" `{COMMAND} watchdog` runs a pass now"
        )
        yield heartbeat(self._queries.watchdog(), self._now, COMMAND, remedy)

    def _configs(self) -> Iterator[Finding]:
        pipelines = self._backend.store.pipelines
        pending, refused = pipelines.unadopted(), self._queries.refused().items
        for wanted in pending[:_SHOWN]:
            what = f"{wanted.pipeline_id}: the deployed config is not in force yet"
            remedy = f"the watchdog adopts it at its next pass; `{COMMAND} watchdog` runs one now"
            yield Finding("configs", Level.NOTE, what, remedy)
        if len(pending) > _SHOWN:
            more = f"and {len(pending) - _SHOWN} more not in force yet"
            yield Finding("configs", Level.NOTE, more)
        for each in refused:
            tells = f"{COMMAND} events --type CONFIG_REJECTED --pipeline {each.pipeline_id}"
            yield refused_config(each, tells)
        if not pending and not refused:
            there = count(len(pipelines.in_force()), "pipeline")
            yield Finding("configs", Level.FINE, f"{there} in force, as deployed")

    def _rows(self) -> Iterator[Finding]:
        """Unreadable rows: recent runs, everything in progress, and earlier reports that still hold."""
        found = {row.id: row for row in unreadable_now(self._backend.store, self._now)}
        events = self._queries.events(
            EventsQuery(type=EventType.ROW_UNREADABLE, limit=_REPORTED)
        ).items
        for row in still_unreadable(self._backend.store, events):
            found.setdefault(row.id, row)
        yield from unreadable_rows(list(found.values()), _delete_row)

    def _files(self) -> Iterator[Finding]:
        """Compare the project's files, where they are present, with what is in force."""
        project = load_project(self._project)
        yield from refused_files(project)
        in_force = {
            config.pipeline.id: config.config_hash
            for config in self._backend.store.pipelines.in_force()
        }
        for name, pipeline in sorted(project.pipelines.items()):
            if name not in in_force:
                what = f"{name} is declared here but not in force on AWS"
            elif canonical.content_hash(pipeline) != in_force[name]:
                what = f"{name} is declared differently here than it is in force on AWS"
            else:
                continue
            yield Finding("files", Level.NOTE, what, "`interlock compile`, then `terraform apply`")

    def _alerts(self) -> Iterator[Finding]:
        """Invalid routes leave the last good ones in force, and otherwise only the log reports it."""
        stored = self._backend.store.alert_routes.kept()
        problems = () if stored is None else read_alerts(stored)[1]
        for problem in problems:
            if problem.is_error:
                what = f"the alert routes are invalid: {problem}; the last good ones stay in force"
                remedy = "correct alerts.yaml or alert_routes, then `terraform apply`"
                yield Finding("alerts", Level.WRONG, what, remedy)

    def _holidays(self) -> Iterator[Finding]:
        configs = self._backend.store.pipelines.in_force()
        remedy = "update the package `holidays`; `interlock compile`, then `terraform apply`"
        yield from short_holidays(configs, self._now, remedy)


def _delete_row(row: UnreadableRow) -> str:
    partition, _, sort_key = row.key.partition(" ")
    key = canonical.encode({"PK": {"S": partition}, "SK": {"S": sort_key}})
    words = ["aws", "dynamodb", "delete-item", "--table-name", row.table, "--key", key]
    return f"run: {shlex.join(words)}"


def _wrong_with(
    seen: TableSeen, index: tuple[str, str, str] | None, streams: bool
) -> Iterator[str]:
    if seen.status != _ACTIVE:
        yield f"its status is {seen.status}"
    if seen.keys != ("PK", "SK"):
        yield f"its keys are {', '.join(seen.keys)}, but must be PK, SK"
    if index is not None:
        name, *keys = index
        if name not in seen.indexes:
            yield f"it has no index {name}"
        elif seen.indexes[name] != tuple(keys):
            yield f"its index {name} has the keys {', '.join(seen.indexes[name])}, not {', '.join(keys)}"
        elif name in seen.building:
            yield f"its index {name} is still being built"
    if streams and seen.stream != _STREAM:
        yield f"its stream is {seen.stream or 'off'}, but must be {_STREAM}"
    if seen.expires_by != "ttl":
        yield f"its TTL attribute is {seen.expires_by or 'not set'}, but must be ttl"


def _standing(check: str, name: str, state: str) -> Finding:
    if state.upper() == _ACTIVE:
        return Finding(check, Level.FINE, f"{name} exists")
    return Finding(check, Level.WRONG, f"{name} is {state}, but must be active", _APPLY)


def _failed(look: AwsCheck, error: InterlockError) -> Finding:
    cause = error.__cause__
    if is_denied(cause):
        operation = operation_of(cause)
        right = RIGHTS.get(operation, operation)
        what = f"can't check {look.thing}: the permission {right} is missing"
        return Finding(look.check, Level.NOTE, what, _GIVE)
    if is_absent(cause):
        what = f"{look.thing} does not exist"
        return Finding(look.check, Level.WRONG, what, f"{_APPLY}; or {_NAMES}")
    first, _, remedy = str(explained(error)).partition("\n")
    return Finding(look.check, Level.WRONG, f"{look.thing}: {first}", remedy)


def _name(arn: str) -> str:
    return arn.rpartition(":")[2]
