"""The deployed file, run by our interpreter and by moto's: both must go the same way.

A story is what the handlers answer. Compared are the states entered, what each task was asked, every
pause, and the end; the path is also written out, so that both can't be wrong together unseen.
"""

import copy
import functools
import json
import random
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from interlock.domain import canonical
from interlock.lifecycle import asl, definition

_WHY = "the comparison needs moto's interpreter: pip install 'moto[stepfunctions]' boto3"
_MOTO = "moto.stepfunctions.parser"
boto3 = pytest.importorskip("boto3", reason=_WHY)
moto = pytest.importorskip("moto", reason=_WHY)
moto_threads = pytest.importorskip(f"{_MOTO}.utils", reason=_WHY).TMP_THREADS
moto_retrier = pytest.importorskip(f"{_MOTO}.asl.component.common.retry.retrier_decl", reason=_WHY)
moto_wait = pytest.importorskip(
    f"{_MOTO}.asl.component.state.wait.wait_function.wait_function", reason=_WHY
)
moto_lambda = pytest.importorskip(
    f"{_MOTO}.asl.component.state.exec.state_task.lambda_eval_utils", reason=_WHY
)
moto_language = pytest.importorskip(f"{_MOTO}.asl.parse.asl_parser", reason=_WHY)
moto_paths = pytest.importorskip(f"{_MOTO}.asl.utils.json_path", reason=_WHY)
moto_result = pytest.importorskip(f"{_MOTO}.asl.component.common.path.result_path", reason=_WHY)

NOON = datetime(2026, 3, 3, 12, tzinfo=UTC)
TEXT = definition.render(
    {
        "orchestrator_arn": "arn:aws:lambda:us-east-1:123456789012:function:orchestrator",
        "sla_monitor_arn": "arn:aws:lambda:us-east-1:123456789012:function:sla-monitor",
        "sfn_timeout_seconds": 14400,
        "trigger_max_attempts": 3,
    }
)
GIVEN = {
    "pipelineId": "silver-orders",
    "scheduleId": "daily",
    "date": "2026-03-03",
    "attempt": 0,
    "executionName": "silver-orders-daily-2026-03-03",
    "openedAt": "2026-03-03T12:00:00.000Z",
    "windowEnd": "2026-03-03T14:00:00.000Z",
    "config": {"pipeline": {"id": "silver-orders"}, "rules": [{"key": "orders", "value": 4.5}]},
}


class Raised(msgspec.Struct, frozen=True):
    """An answer that is an exception: its class and its message."""

    error: str
    message: str = "no"

    @property
    def cause(self) -> str:
        """As the Lambda runtime reports it, and Step Functions hands it on."""
        if self == TOO_LATE:
            return ""
        told = {"errorType": self.error, "errorMessage": self.message}
        return json.dumps(told, separators=(",", ":"))


TOO_LATE = Raised(asl.TIMEOUT)
Answer = Raised | dict[str, Any]
Script = Mapping[str, list[Answer]]


class Seen(msgspec.Struct):
    """What an observer of an execution can say about it."""

    path: list[str] = []
    asked: list[tuple[str, Any]] = []
    pauses: list[float] = []
    status: str = ""
    error: str | None = None
    output: Any = None


class Handlers:
    """Both functions: they answer from a script, by mode. A question too many is an error."""

    def __init__(self, script: Script, seen: Seen) -> None:
        self._left = {mode: list(answers) for mode, answers in script.items()}
        self._seen = seen

    def ask(self, resource: str, payload: Any) -> Answer:
        self._seen.asked.append((resource, copy.deepcopy(payload)))
        return self._left[payload["mode"]].pop(0)

    def left(self) -> int:
        return sum(map(len, self._left.values()))


# -- what the handlers say ----------------------------------------------------------------------


def evaluated(**told: Any) -> Answer:
    usual = {"current": True, "passed": False, "exhausted": False, "waitSeconds": 300}
    return {**usual, "elapsedSeconds": 0, "failing": [], **told}


def job(**told: Any) -> Answer:
    usual = {"current": True, "launched": True, "runId": "jr-1", "event": "", "exhausted": False}
    usual |= {
        "waitSeconds": 10,
        "pollWindowSeconds": 3600,
        "armSla": False,
        "watched": "",
        "ending": "",
    }
    return usual | told


def finished(outcome: str, **told: Any) -> Answer:
    return {"current": True, "outcome": outcome, "running": False, "settleSla": False, **told}


PASSED = evaluated(passed=True, waitSeconds=0)
SUPERSEDED = {"current": False, "outcome": "superseded", "running": False, "settleSla": False}
SUCCEEDED = {
    "evaluate": [PASSED],
    "trigger": [job()],
    "check-job": [job(event="success")],
    "complete-trigger": [finished("completed")],
}
BROKEN: list[Answer] = [Raised("TransientError")] * 4
LAUNCHED = "InitEvalLoop Evaluate IsReady Trigger HasTriggerResult CheckSLA"
POLLED = f"{LAUNCHED} InitJobPollLoop WaitForJob CheckJob"
BLIND = "IncrementJobPollElapsed CheckJobPollExhausted"
ENDED = "CompleteTrigger CheckCancelSLA Done"


class Story(msgspec.Struct, frozen=True):
    script: Script
    path: str
    status: str = "SUCCEEDED"
    pauses: tuple[int, ...] = (10,)


STORIES = {
    "success": Story(SUCCEEDED, f"{POLLED} IsJobDone {ENDED}"),
    "the rules hold at the third look": Story(
        {**SUCCEEDED, "evaluate": [evaluated(), evaluated(waitSeconds=60), PASSED]},
        f"InitEvalLoop Evaluate IsReady WaitInterval Evaluate IsReady WaitInterval"
        f" {POLLED.removeprefix('InitEvalLoop ')} IsJobDone {ENDED}",
        pauses=(300, 60, 10),
    ),
    "the window is over": Story(
        {
            "evaluate": [
                evaluated(),
                evaluated(exhausted=True, waitSeconds=0, elapsedSeconds=7200, failing=["late"]),
            ],
            "validation-exhausted": [finished("validation-exhausted")],
        },
        "InitEvalLoop Evaluate IsReady WaitInterval Evaluate IsReady IncrementElapsed"
        " CheckWindowExhausted ValidationExhausted CheckCancelSLA Done",
        pauses=(300,),
    ),
    "the launch is retried": Story(
        {**SUCCEEDED, "trigger": [Raised("TransientError"), Raised("KeyError"), job()]},
        f"{POLLED} IsJobDone {ENDED}",
        pauses=(30, 60, 10),
    ),
    "the launch is given up": Story(
        {
            "evaluate": [PASSED],
            "trigger": [Raised("TransientError", f"try {n}") for n in range(4)],
            "trigger-exhausted": [finished("launch-failed")],
        },
        "InitEvalLoop Evaluate IsReady Trigger TriggerRetryExhausted IsLaunched CheckCancelSLA Done",
        pauses=(30, 60, 120),
    ),
    "the launch fails for good at once": Story(
        {
            "evaluate": [PASSED],
            "trigger": [Raised("LaunchError", "no such job")],
            "trigger-exhausted": [finished("launch-failed")],
        },
        "InitEvalLoop Evaluate IsReady Trigger TriggerRetryExhausted IsLaunched CheckCancelSLA Done",
        pauses=(),
    ),
    "the launch is retried, then fails for good": Story(
        {
            "evaluate": [PASSED],
            "trigger": [Raised("Lambda.ServiceException"), Raised("ConfigError")],
            "trigger-exhausted": [finished("launch-failed")],
        },
        "InitEvalLoop Evaluate IsReady Trigger TriggerRetryExhausted IsLaunched CheckCancelSLA Done",
        pauses=(30,),
    ),
    "the last try launches the job and fails after it": Story(
        {
            **SUCCEEDED,
            "trigger": [*BROKEN, Raised("KeyError"), job()],
            "trigger-exhausted": [finished("failed", running=True)],
        },
        f"InitEvalLoop Evaluate IsReady Trigger TriggerRetryExhausted IsLaunched"
        f" {POLLED.removeprefix('InitEvalLoop Evaluate IsReady ')} IsJobDone {ENDED}",
        pauses=(30, 60, 120, 30, 10),
    ),
    "giving up the launch breaks too": Story(
        {
            "evaluate": [PASSED],
            "trigger": [Raised("LaunchError")],
            "trigger-exhausted": BROKEN,
            "infra-failure": [finished("infra-failure")],
        },
        "InitEvalLoop Evaluate IsReady Trigger TriggerRetryExhausted MarkInfraFailure InfraFailure",
        status="FAILED",
        pauses=(2, 4, 8),
    ),
    "the job fails": Story(
        {
            **SUCCEEDED,
            "check-job": [job(waitSeconds=30), job(event="fail")],
            "complete-trigger": [finished("retrying")],
        },
        f"{POLLED} IsJobDone WaitForJob CheckJob IsJobDone {ENDED}",
        pauses=(10, 30),
    ),
    "the job ended as it was launched": Story(
        {**SUCCEEDED, "trigger": [job(waitSeconds=0)]}, f"{POLLED} IsJobDone {ENDED}", pauses=()
    ),
    "the job itself times out": Story(
        {**SUCCEEDED, "check-job": [job(event="timeout")]}, f"{POLLED} IsJobDone {ENDED}"
    ),
    "the poll window is over": Story(
        {
            **SUCCEEDED,
            "check-job": [job(waitSeconds=20), job(exhausted=True, waitSeconds=0)],
            "job-poll-exhausted": [finished("poll-exhausted")],
            "complete-trigger": [finished("poll-exhausted")],
        },
        f"{POLLED} IsJobDone WaitForJob CheckJob IsJobDone {BLIND}"
        f" JobPollExhausted InjectTimeoutEvent {ENDED}",
        pauses=(10, 20),
    ),
    "the evaluation breaks": Story(
        {"evaluate": BROKEN, "infra-failure": [finished("infra-failure")]},
        "InitEvalLoop Evaluate MarkInfraFailure InfraFailure",
        status="FAILED",
        pauses=(2, 4, 8),
    ),
    "marking the failure breaks too": Story(
        {"evaluate": BROKEN, "infra-failure": BROKEN},
        "InitEvalLoop Evaluate MarkInfraFailure InfraFailure",
        status="FAILED",
        pauses=(2, 4, 8, 2, 4, 8),
    ),
    "the evaluation recovers": Story(
        {**SUCCEEDED, "evaluate": [Raised("Lambda.TooManyRequestsException"), PASSED]},
        f"{POLLED} IsJobDone {ENDED}",
        pauses=(2, 10),
    ),
    "the evaluation takes too long": Story(  # a timeout is not tried again
        {"evaluate": [TOO_LATE], "infra-failure": [finished("infra-failure")]},
        "InitEvalLoop Evaluate MarkInfraFailure InfraFailure",
        status="FAILED",
        pauses=(),
    ),
    "the evaluation forgets to say how long to wait": Story(
        {"evaluate": [{"current": True, "passed": False, "exhausted": False}]},
        "InitEvalLoop Evaluate IsReady WaitInterval",
        status="FAILED",
        pauses=(),
    ),
    "the job can't be seen for a while": Story(
        {**SUCCEEDED, "check-job": [*BROKEN, job(event="success")]},
        f"{POLLED} {BLIND} WaitForJob CheckJob IsJobDone {ENDED}",
        pauses=(10, 2, 4, 8, 10),
    ),
    "the job is never seen again": Story(
        {
            **SUCCEEDED,
            "trigger": [job(pollWindowSeconds=25)],
            "check-job": BROKEN * 3,
            "job-poll-exhausted": [finished("poll-exhausted")],
            "complete-trigger": [finished("poll-exhausted")],
        },
        f"{POLLED} {BLIND} WaitForJob CheckJob {BLIND} WaitForJob CheckJob {BLIND}"
        f" JobPollExhausted InjectTimeoutEvent {ENDED}",
        pauses=(10, 2, 4, 8) * 3,
    ),
    "superseded before the rules held": Story(
        {"evaluate": [evaluated(current=False)]}, "InitEvalLoop Evaluate IsReady Done", pauses=()
    ),
    "superseded at the launch": Story(
        {"evaluate": [PASSED], "trigger": [job(current=False, launched=False, runId="")]},
        "InitEvalLoop Evaluate IsReady Trigger HasTriggerResult Done",
        pauses=(),
    ),
    "superseded while the job ran": Story(
        {**SUCCEEDED, "check-job": [job(current=False)], "complete-trigger": []},
        f"{POLLED} IsJobDone Done",
    ),
    "superseded at the end": Story(
        {**SUCCEEDED, "complete-trigger": [SUPERSEDED]}, f"{POLLED} IsJobDone {ENDED}"
    ),
    "timers are armed at the launch": Story(
        {**SUCCEEDED, "trigger": [job(armSla=True)], "schedule": [{"armed": ["breach.x"]}]},
        f"{LAUNCHED} ScheduleSLAAlerts InitJobPollLoop WaitForJob CheckJob IsJobDone {ENDED}",
    ),
    "timers can't be armed": Story(
        {**SUCCEEDED, "trigger": [job(armSla=True)], "schedule": BROKEN},
        f"{LAUNCHED} ScheduleSLAAlerts InitJobPollLoop WaitForJob CheckJob IsJobDone {ENDED}",
        pauses=(2, 4, 8, 10),
    ),
    "the SLA is settled": Story(
        {
            **SUCCEEDED,
            "complete-trigger": [finished("completed", settleSla=True)],
            "cancel": [{"slaVerdict": "MET"}],
        },
        f"{POLLED} IsJobDone CompleteTrigger CheckCancelSLA CancelSLASchedules Done",
    ),
    "settling the SLA breaks": Story(
        {
            **SUCCEEDED,
            "complete-trigger": [finished("completed", settleSla=True)],
            "cancel": BROKEN,
            "infra-failure": [finished("infra-failure")],
        },
        f"{POLLED} IsJobDone CompleteTrigger CheckCancelSLA CancelSLASchedules MarkInfraFailure"
        " InfraFailure",
        status="FAILED",
        pauses=(10, 2, 4, 8),
    ),
}


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")


#: moto parses the whole file, and every path in it, each time it meets them.
PARSE_ONCE = [
    (owner, staticmethod(functools.cache(owner.parse)))
    for owner in (moto_language.AmazonStateLanguageParser, moto_paths, moto_result)
]


@pytest.fixture(autouse=True)
def parse_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, parse in PARSE_ONCE:
        monkeypatch.setattr(owner, "parse", parse)


@pytest.mark.parametrize("name", STORIES)
def test_both_interpreters_go_the_path_of_the_story(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = STORIES[name]
    ours = run_here(story.script)
    assert ours.path == story.path.split()
    assert ours.pauses == list(story.pauses)
    assert ours.status == story.status
    assert run_in_moto(story.script, monkeypatch) == ours


@pytest.mark.parametrize("seed", range(25))
def test_both_interpreters_agree_on_random_stories(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = improvised(random.Random(seed))
    assert run_in_moto(script, monkeypatch, all_told=False) == run_here(script, all_told=False)


def test_the_stories_enter_every_state() -> None:
    told = {state for story in STORIES.values() for state in story.path.split()}
    assert told == set(asl.parse(TEXT).states)


# -- ours ---------------------------------------------------------------------------------------


def run_here(script: Script, *, all_told: bool = True) -> Seen:
    """Drive an execution with a clock that jumps, and a store that holds nothing but JSON."""
    machine, now, seen = asl.parse(TEXT), NOON, Seen()
    handlers = Handlers(script, seen)
    execution = asl.begin(machine, GIVEN, now)
    seen.path += entered(execution)
    while True:
        execution = stored(execution)
        match asl.next_step(machine, execution, now):
            case asl.Do(resource, payload):
                answer = handlers.ask(resource, payload)
                execution = told(machine, execution, answer, now)
                seen.path += entered(execution)
            case asl.Advance(moved):
                execution = moved
                seen.path += entered(execution)
            case asl.Sleep(until):
                seen.pauses.append((until - now).total_seconds())
                now = until
            case asl.Ended():
                break
    assert not (all_told and handlers.left())
    seen.status, seen.error = execution.status.value, execution.error
    seen.output = execution.data if execution.status == "SUCCEEDED" else None
    return seen


def told(
    machine: asl.Machine, execution: asl.Execution, answer: Answer, now: datetime
) -> asl.Execution:
    if isinstance(answer, Raised):
        return asl.task_failed(machine, execution, answer.error, answer.cause, now)
    return asl.task_succeeded(machine, execution, answer, now)


def entered(execution: asl.Execution) -> list[str]:
    return [entry.state for entry in execution.log if entry.kind is asl.EntryKind.ENTERED]


def stored(execution: asl.Execution) -> asl.Execution:
    return msgspec.convert(canonical.decode(canonical.encode(execution)), asl.Execution)


# -- moto's -------------------------------------------------------------------------------------


def run_in_moto(script: Script, monkeypatch: pytest.MonkeyPatch, *, all_told: bool = True) -> Seen:
    """Let moto execute the file, with its sleeping and its calls of functions taken over."""
    seen = Seen()
    handlers = Handlers(script, seen)
    answer_calls(handlers, monkeypatch)
    record_pauses(seen, monkeypatch)
    with moto.mock_aws(config={"stepfunctions": {"execute_state_machine": True}}):
        client = boto3.client("stepfunctions", "us-east-1")
        role = "arn:aws:iam::123456789012:role/machine"
        machine = client.create_state_machine(name="pipeline", definition=TEXT, roleArn=role)
        started = client.start_execution(
            stateMachineArn=machine["stateMachineArn"], name="run", input=json.dumps(GIVEN)
        )
        for thread in moto_threads:  # a list that grows as we go
            thread.join(timeout=30)
        arn = started["executionArn"]
        seen.path = list(entered_in_moto(client.get_execution_history(executionArn=arn)))
        ended = client.describe_execution(executionArn=arn)
    moto_threads.clear()
    assert not (all_told and handlers.left())
    seen.status, seen.error = ended["status"], ended.get("error")
    seen.output = canonical.decode(ended["output"]) if "output" in ended else None
    return seen


def answer_calls(handlers: Handlers, monkeypatch: pytest.MonkeyPatch) -> None:
    def invoke(parameters: Any, **_: Any) -> dict[str, Any]:
        payload = canonical.decode(parameters["Payload"])
        answer = handlers.ask(parameters["FunctionName"], payload)
        if answer == TOO_LATE:
            raise TimeoutError
        if isinstance(answer, Raised):
            return {"FunctionError": "Unhandled", "Payload": json.loads(answer.cause)}
        return {"Payload": answer}

    monkeypatch.setattr(moto_lambda, "_invoke_lambda_function", invoke)


def record_pauses(seen: Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock:
        sleep = staticmethod(seen.pauses.append)

    def wait(_self: Any, env: Any, wait_seconds: int) -> None:
        if wait_seconds:
            seen.pauses.append(wait_seconds)

    monkeypatch.setattr(moto_retrier, "time", Clock)
    monkeypatch.setattr(moto_wait.WaitFunction, "_wait_interval", wait)


def entered_in_moto(history: Any) -> Iterator[str]:
    for event in history["events"]:
        if event["type"].endswith("StateEntered"):
            yield event["stateEnteredEventDetails"]["name"]


# -- improvisation ------------------------------------------------------------------------------


def improvised(chance: random.Random) -> Script:
    """Enough answers of every kind for any way through; what is not asked for is left."""
    trouble = chance.choice([0.1, 0.4, 0.8])

    def maybe(often: float = 0.5) -> bool:
        return chance.random() < often

    def answers(answer: Any, count: int = 40) -> list[Answer]:
        return [
            Raised(chance.choice(["TransientError", "LaunchError", "KeyError"]))
            if maybe(trouble)
            else answer()
            for _ in range(count)
        ]

    def polled() -> Answer:
        return job(
            current=maybe(0.95),
            launched=maybe(0.9),
            event=chance.choice(["", "", "success", "fail", "timeout"]),
            exhausted=maybe(0.2),
            waitSeconds=chance.randrange(0, 61),
            pollWindowSeconds=chance.randrange(1, 120),
            armSla=maybe(),
        )

    def looked() -> Answer:
        return evaluated(
            current=maybe(0.95),
            passed=maybe(0.7),
            exhausted=maybe(0.2),
            waitSeconds=chance.randrange(0, 301),
            elapsedSeconds=chance.randrange(0, 7200),
        )

    ends = ("validation-exhausted", "trigger-exhausted", "job-poll-exhausted", "infra-failure")
    script = {mode: answers(lambda: finished("whatever")) for mode in ends}
    script["trigger-exhausted"] = answers(lambda: finished("whatever", running=maybe(0.2)))
    script["complete-trigger"] = answers(lambda: finished("completed", settleSla=maybe()))
    script["schedule"] = answers(lambda: {"armed": []})
    script["cancel"] = answers(lambda: {"slaVerdict": "MET"})
    script["evaluate"] = answers(looked)
    script["trigger"] = answers(polled)
    script["check-job"] = answers(polled, 400)
    return script
