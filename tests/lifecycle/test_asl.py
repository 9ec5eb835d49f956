"""The interpreter: what each kind of state does, and what becomes of an execution."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from interlock.domain import canonical
from interlock.errors import ConfigError
from interlock.lifecycle import asl
from interlock.lifecycle.asl import (
    Advance,
    Do,
    Ended,
    EntryKind,
    Execution,
    ExecutionStatus,
    Machine,
    Sleep,
)

NOON = datetime(2026, 3, 3, 12, tzinfo=UTC)
END = {"Type": "Succeed"}


def later(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def machine(first: dict[str, Any], timeout: int | None = None, **others: Any) -> Machine:
    """A machine that starts in `First`; what it leads to stands in `others`."""
    document: dict[str, Any] = {"StartAt": "First", "States": {"First": first, **others}}
    if timeout is not None:
        document["TimeoutSeconds"] = timeout
    return asl.parse(json.dumps(document))


def task(**fields: Any) -> dict[str, Any]:
    way_on = {} if "Next" in fields else {"End": True}
    return {"Type": "Task", "Resource": "function", **way_on, **fields}


def retrier(*errors: str, **fields: Any) -> dict[str, Any]:
    return {"ErrorEquals": list(errors), **fields}


def one(first: dict[str, Any], given: Any, **others: Any) -> Execution:
    """An execution as far as it gets by itself."""
    return asl.begin(machine(first, **others), given, NOON)


def failing(built: Machine, *errors: str, now: datetime = NOON) -> Execution:
    """An execution whose first task has failed with these errors, each told at the same moment."""
    execution = asl.begin(built, {"n": 1}, NOON)
    for error in errors:
        execution = asl.task_failed(built, execution, error, "because", now)
    return execution


def history(execution: Execution) -> list[tuple[str, str, str]]:
    return [(entry.state, entry.kind, entry.note) for entry in execution.log]


# -- Pass ---------------------------------------------------------------------------------------


def test_a_pass_without_fields_hands_its_input_on() -> None:
    ended = one({"Type": "Pass", "End": True}, {"n": 1})
    assert (ended.status, ended.data) == (ExecutionStatus.SUCCEEDED, {"n": 1})


def test_a_pass_writes_its_result_where_it_says() -> None:
    first = {"Type": "Pass", "Result": {"elapsed": 0}, "ResultPath": "$.loop", "End": True}
    assert one(first, {"n": 1}).data == {"n": 1, "loop": {"elapsed": 0}}


def test_a_result_of_null_is_a_result() -> None:
    assert one({"Type": "Pass", "Result": None, "End": True}, {"n": 1}).data is None


def test_a_pass_without_a_result_writes_its_parameters() -> None:
    first = {
        "Type": "Pass",
        "Parameters": {"kept": [{"deep.$": "$.n"}, 7], "was.$": "$.n"},
        "ResultPath": "$.made",
        "End": True,
    }
    assert one(first, {"n": 1}).data == {"n": 1, "made": {"kept": [{"deep": 1}, 7], "was": 1}}


def test_a_result_path_of_null_drops_the_result() -> None:
    first = {"Type": "Pass", "Result": 5, "ResultPath": None, "End": True}
    assert one(first, {"n": 1}).data == {"n": 1}


def test_objects_missing_on_a_result_path_are_made() -> None:
    first = {"Type": "Pass", "Result": 5, "ResultPath": "$.a.b['c d']", "End": True}
    assert one(first, {"n": 1}).data == {"n": 1, "a": {"b": {"c d": 5}}}


def test_a_result_path_replaces_an_item_of_a_list() -> None:
    first = {"Type": "Pass", "Result": 5, "ResultPath": "$.rows[1].n", "End": True}
    assert one(first, {"rows": [1, {"m": 2}, 3]}).data == {"rows": [1, {"m": 2, "n": 5}, 3]}


@pytest.mark.parametrize("path", ["$.n.b", "$.rows[1]", "$.rows.a", "$[0]"])
def test_a_result_path_through_something_else_is_a_failure(path: str) -> None:
    first = {"Type": "Pass", "Result": 5, "ResultPath": path, "End": True}
    ended = one(first, {"n": 1, "rows": [0]})
    assert (ended.status, ended.error) == ("FAILED", "States.ResultPathMatchFailure")


def test_writing_leaves_the_older_snapshot_as_it_was() -> None:
    first = task(ResultPath="$.a.b", Next="Second")
    built = machine(first, Second=task())
    before = asl.begin(built, {"a": {"b": 1}}, NOON)
    asl.task_succeeded(built, before, 2, NOON)
    assert before.data == {"a": {"b": 1}}


# -- paths and templates ------------------------------------------------------------------------


def test_input_and_output_paths_narrow_what_goes_in_and_out() -> None:
    first = {
        "Type": "Pass",
        "InputPath": "$.a",
        "Parameters": {"inner.$": "$.b"},
        "ResultPath": "$.c",
        "OutputPath": "$.c",
        "End": True,
    }
    assert one(first, {"a": {"b": 3}}).data == {"inner": 3}


def test_paths_of_null_mean_an_empty_object() -> None:
    assert one({"Type": "Pass", "InputPath": None, "End": True}, {"n": 1}).data == {}
    assert one({"Type": "Pass", "OutputPath": None, "End": True}, {"n": 1}).data == {}


def test_a_path_reads_names_and_indexes() -> None:
    first = {"Type": "Pass", "OutputPath": "$.rows[1]['a b'].c", "End": True}
    assert one(first, {"rows": [0, {"a b": {"c": 5}}]}).data == 5


@pytest.mark.parametrize(
    "path",
    ["$.missing", "$.n.deeper", "$.rows[2]", "$.rows.name", "$.n[0]", "$[0]"],
)
@pytest.mark.parametrize(
    "field", [{"Parameters": {"x.$": "PATH"}}, {"InputPath": "PATH"}, {"OutputPath": "PATH"}]
)
def test_a_path_that_leads_to_nothing_fails_and_is_never_null(
    path: str, field: dict[str, Any]
) -> None:
    field = json.loads(json.dumps(field).replace("PATH", path))
    ended = one({"Type": "Pass", **field, "End": True}, {"n": 1, "rows": [1, 2]})
    assert (ended.status, ended.error) == ("FAILED", "States.Runtime")
    assert ended.cause is not None
    assert path in ended.cause


def test_a_null_that_is_there_is_found() -> None:
    assert one({"Type": "Pass", "OutputPath": "$.n", "End": True}, {"n": None}).data is None


@pytest.mark.parametrize(
    ("call", "total"),
    [("States.MathAdd($.n, $.m)", 12), ("States.MathAdd($.n,-3)", 2), ("States.MathAdd(1, 2)", 3)],
)
def test_math_add_adds_whole_numbers(call: str, total: int) -> None:
    first = {"Type": "Pass", "Parameters": {"sum.$": call}, "End": True}
    assert one(first, {"n": 5, "m": 7}).data == {"sum": total}


@pytest.mark.parametrize("odd", ["5", True, None, 2.5])
def test_math_add_refuses_anything_else(odd: Any) -> None:
    first = {"Type": "Pass", "Parameters": {"sum.$": "States.MathAdd(1, $.n)"}, "End": True}
    assert one(first, {"n": odd}).error == "States.IntrinsicFailure"
    first = {"Type": "Pass", "Parameters": {"sum.$": "States.MathAdd($.n, 1)"}, "End": True}
    assert one(first, {"n": odd}).error == "States.IntrinsicFailure"


# -- Choice -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        ({"Variable": "$.yes", "BooleanEquals": True}, True),
        ({"Variable": "$.yes", "BooleanEquals": False}, False),
        ({"Variable": "$.one", "BooleanEquals": True}, False),  # 1 is not true
        ({"Variable": "$.text", "StringEquals": "a"}, True),
        ({"Variable": "$.text", "StringEquals": "b"}, False),
        ({"Variable": "$.one", "NumericEquals": 1}, True),
        ({"Variable": "$.yes", "NumericEquals": 1}, False),  # true is not 1
        ({"Variable": "$.text", "NumericGreaterThan": 0}, False),
        ({"Variable": "$.half", "NumericEquals": 0.5}, True),
        ({"Variable": "$.one", "NumericGreaterThan": 1}, False),
        ({"Variable": "$.one", "NumericGreaterThan": 0.5}, True),
        ({"Variable": "$.one", "NumericGreaterThanEquals": 1}, True),
        ({"Variable": "$.one", "NumericGreaterThanEquals": 2}, False),
        ({"Variable": "$.one", "NumericLessThan": 1}, False),
        ({"Variable": "$.one", "NumericLessThan": 2}, True),
        ({"Variable": "$.one", "NumericLessThanEquals": 1}, True),
        ({"Variable": "$.one", "NumericLessThanEquals": 0}, False),
        ({"Variable": "$.one", "NumericGreaterThanEqualsPath": "$.half"}, True),
        ({"Variable": "$.half", "NumericGreaterThanEqualsPath": "$.one"}, False),
        ({"Variable": "$.one", "NumericGreaterThanEqualsPath": "$.text"}, False),
        ({"Variable": "$.text", "StringEqualsPath": "$.text"}, True),
        ({"Variable": "$.none", "IsPresent": True}, True),  # a null is there
        ({"Variable": "$.gone", "IsPresent": True}, False),
        ({"Variable": "$.gone", "IsPresent": False}, True),
        ({"Not": {"Variable": "$.yes", "BooleanEquals": True}}, False),
        (
            {
                "And": [
                    {"Variable": "$.yes", "BooleanEquals": True},
                    {"Variable": "$.text", "StringEquals": "b"},
                ]
            },
            False,
        ),
        (
            {
                "Or": [
                    {"Variable": "$.yes", "BooleanEquals": False},
                    {"Not": {"Variable": "$.text", "StringEquals": "b"}},
                ]
            },
            True,
        ),
        (  # what is asked for first saves the second from failing
            {
                "And": [
                    {"Variable": "$.gone", "IsPresent": True},
                    {"Variable": "$.gone", "StringEquals": "b"},
                ]
            },
            False,
        ),
    ],
)
def test_a_rule_holds_or_not(rule: dict[str, Any], holds: bool) -> None:
    given = {"yes": True, "one": 1, "half": 0.5, "text": "a", "none": None}
    first = {"Type": "Choice", "Choices": [{**rule, "Next": "Yes"}], "Default": "No"}
    ended = one(first, given, Yes=END, No=END)
    assert ended.state == ("Yes" if holds else "No")
    assert ended.data == given | {"half": Decimal("0.5")}


def test_the_first_rule_that_holds_decides() -> None:
    rule = {"Variable": "$.n", "NumericEquals": 1}
    first = {"Type": "Choice", "Choices": [{**rule, "Next": "A"}, {**rule, "Next": "B"}]}
    assert one(first, {"n": 1}, A=END, B=END).state == "A"


def test_a_choice_without_a_match_fails() -> None:
    first = {"Type": "Choice", "Choices": [{"Variable": "$.n", "NumericEquals": 2, "Next": "A"}]}
    ended = one(first, {"n": 1}, A=END)
    assert (ended.status, ended.error) == ("FAILED", "States.NoChoiceMatched")


@pytest.mark.parametrize(
    "rule",
    [
        {"Variable": "$.gone", "BooleanEquals": True},
        {"Variable": "$.n", "NumericEqualsPath": "$.gone"},
    ],
)
def test_a_choice_about_something_missing_fails_and_takes_no_default(rule: Any) -> None:
    first = {"Type": "Choice", "Choices": [{**rule, "Next": "A"}], "Default": "A"}
    ended = one(first, {"n": 1}, A=END)
    assert (ended.state, ended.error) == ("First", "States.Runtime")


def test_a_choice_looks_at_its_input_path_and_hands_on_its_output_path() -> None:
    first = {
        "Type": "Choice",
        "InputPath": "$.a",
        "OutputPath": "$.b",
        "Choices": [{"Variable": "$.b", "NumericEquals": 3, "Next": "A"}],
    }
    assert one(first, {"a": {"b": 3}}, A=END).data == 3


# -- the ends -----------------------------------------------------------------------------------


def test_succeed_ends_with_its_output() -> None:
    ended = one({"Type": "Succeed", "InputPath": "$.a", "OutputPath": "$.b"}, {"a": {"b": 3}})
    assert (ended.status, ended.data, ended.ended_at) == ("SUCCEEDED", 3, NOON)
    assert history(ended) == [("First", "entered", ""), ("First", "succeeded", "")]


def test_fail_ends_with_its_error() -> None:
    ended = one({"Type": "Fail", "Error": "Infra", "Cause": "why"}, {})
    assert (ended.status, ended.error, ended.cause) == ("FAILED", "Infra", "why")
    assert ended.ended_at == NOON
    assert history(ended) == [("First", "entered", ""), ("First", "failed", "Infra")]


def test_an_ended_execution_stays_as_it_is() -> None:
    built = machine(END, timeout=1)
    ended = asl.begin(built, {}, NOON)
    assert asl.next_step(built, ended, later(5)) == Ended(ended)
    assert asl.task_succeeded(built, ended, {}, later(5)) is ended
    assert asl.task_failed(built, ended, "E", "", later(5)) is ended
    assert asl.wake(built, ended, later(5)) is ended


# -- Wait ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("pause", [{"Seconds": 60}, {"SecondsPath": "$.wait"}])
def test_a_wait_sleeps_until_its_time_and_then_goes_on(pause: dict[str, Any]) -> None:
    built = machine({"Type": "Wait", **pause, "Next": "Second"}, Second=task())
    waiting = asl.begin(built, {"wait": 60}, NOON)
    assert waiting.state == "First"
    assert asl.next_step(built, waiting, later(59)) == Sleep(later(60))
    step = asl.next_step(built, waiting, later(60))
    assert isinstance(step, Advance)
    assert step.execution.state == "Second"
    assert step.execution.entered_at == later(60)
    assert history(step.execution) == [("Second", "entered", "")]


def test_a_wait_of_no_seconds_goes_on_at_once() -> None:
    built = machine({"Type": "Wait", "Seconds": 0, "End": True})
    step = asl.next_step(built, asl.begin(built, {}, NOON), NOON)
    assert isinstance(step, Advance)
    assert step.execution.status == "SUCCEEDED"


@pytest.mark.parametrize("odd", [-1, 1.5, "5", True, None, 100_000_000])
def test_a_wait_takes_only_whole_seconds(odd: Any) -> None:
    first = {"Type": "Wait", "SecondsPath": "$.wait", "End": True}
    assert one(first, {"wait": odd}).error == "States.Runtime"


def test_a_wait_reads_its_seconds_from_its_input_path_and_hands_on_its_output_path() -> None:
    paths = {"InputPath": "$.a", "OutputPath": "$.b", "SecondsPath": "$.b"}
    built = machine({"Type": "Wait", **paths, "End": True})
    waiting = asl.begin(built, {"a": {"b": 3}}, NOON)
    assert waiting.wake_at == later(3)
    step = asl.next_step(built, waiting, later(3))
    assert isinstance(step, Advance)
    assert step.execution.data == 3


def test_a_wait_whose_output_path_leads_nowhere_fails() -> None:
    built = machine({"Type": "Wait", "Seconds": 0, "OutputPath": "$.x", "End": True})
    step = asl.next_step(built, asl.begin(built, {}, NOON), NOON)
    assert isinstance(step, Advance)
    assert step.execution.error == "States.Runtime"


def test_waking_cuts_a_wait_short() -> None:
    built = machine({"Type": "Wait", "Seconds": 60, "End": True})
    woken = asl.wake(built, asl.begin(built, {}, NOON), later(10))
    assert isinstance(asl.next_step(built, woken, later(10)), Advance)
    assert woken.log == ()


def test_waking_never_puts_a_wait_off() -> None:
    built = machine({"Type": "Wait", "Seconds": 60, "End": True})
    assert asl.wake(built, asl.begin(built, {}, NOON), later(90)).wake_at == later(60)


def test_waking_leaves_the_pause_before_a_retry() -> None:
    built = machine(task(Retry=[retrier("E", IntervalSeconds=60)]))
    failed = failing(built, "E")
    assert asl.wake(built, failed, later(1)) is failed


def test_waking_gives_the_pause_before_a_retry_no_more_than_its_length() -> None:
    """The clock was a day ahead when it began."""
    built = machine(task(Retry=[retrier("E", IntervalSeconds=60)]))
    failed = failing(built, "E")
    assert asl.wake(built, failed, later(-86400)).wake_at == later(-86340)


# -- Task ---------------------------------------------------------------------------------------


def test_a_task_is_asked_with_its_parameters() -> None:
    built = machine(task(Parameters={"mode": "evaluate", "m.$": "$.n"}))
    execution = asl.begin(built, {"n": 1}, NOON)
    assert asl.next_step(built, execution, NOON) == Do(
        "function", {"mode": "evaluate", "m": 1}, None
    )


def test_a_task_without_parameters_is_asked_with_its_input() -> None:
    built = machine(task(InputPath="$.a"))
    assert asl.next_step(built, asl.begin(built, {"a": 1}, NOON), NOON) == Do("function", 1, None)


def test_asking_what_to_do_changes_nothing() -> None:
    built = machine(task())
    execution = asl.begin(built, {}, NOON)
    assert asl.next_step(built, execution, NOON) == asl.next_step(built, execution, NOON)


def test_a_tasks_answer_is_selected_written_and_handed_on() -> None:
    first = task(
        ResultSelector={"only.$": "$.kept"}, ResultPath="$.a.eval", OutputPath="$.a", Next="Second"
    )
    built = machine(first, Second=END)
    ended = asl.task_succeeded(
        built, asl.begin(built, {"n": 1}, NOON), {"kept": 1, "dropped": 2}, later(5)
    )
    assert ended.data == {"eval": {"only": 1}}
    assert (ended.state, ended.ended_at) == ("Second", later(5))
    assert history(ended) == [("Second", "entered", ""), ("Second", "succeeded", "")]


def test_states_that_do_not_wait_are_passed_in_one_move() -> None:
    built = machine(
        {"Type": "Pass", "Next": "Which"},
        Which={"Type": "Choice", "Choices": [{"Variable": "$.n", "NumericEquals": 1, "Next": "T"}]},
        T=task(),
    )
    execution = asl.begin(built, {"n": 1}, NOON)
    assert [entry.state for entry in execution.log] == ["First", "Which", "T"]
    assert execution.status == "RUNNING"


def test_an_answer_is_kept_as_json_would_carry_it() -> None:
    built = machine(task())
    answer = {"n": 0.1, "list": (1, 2), "day": NOON.date()}
    ended = asl.task_succeeded(built, asl.begin(built, {}, NOON), answer, NOON)
    assert ended.data == {"n": Decimal("0.1"), "list": [1, 2], "day": "2026-03-03"}


def test_an_answer_that_json_can_not_carry_is_a_failure_of_the_task() -> None:
    built = machine(task(Catch=[retrier("Runtime.MarshalError", Next="Caught")]), Caught=END)
    ended = asl.task_succeeded(built, asl.begin(built, {}, NOON), {"x": object()}, NOON)
    assert ended.state == "Caught"


def test_an_answer_that_can_not_be_written_is_a_failure_of_the_task() -> None:
    first = task(ResultPath="$.n.x", Catch=[retrier("States.ALL", ResultPath="$.e", Next="Caught")])
    built = machine(first, Caught=END)
    ended = asl.task_succeeded(built, asl.begin(built, {"n": 1}, NOON), 5, NOON)
    assert ended.data["e"]["Error"] == "States.ResultPathMatchFailure"


def test_an_answer_without_a_field_that_is_selected_fails_the_execution() -> None:
    built = machine(task(ResultSelector={"a.$": "$.gone"}))
    ended = asl.task_succeeded(built, asl.begin(built, {}, NOON), {}, NOON)
    assert (ended.status, ended.error) == ("FAILED", "States.Runtime")


def test_a_task_that_reads_what_is_missing_fails_the_execution_past_every_retry_and_catch() -> None:
    first = task(
        Parameters={"x.$": "$.gone"},
        Retry=[retrier("States.Runtime"), retrier("States.ALL")],
        Catch=[retrier("States.ALL", Next="Caught")],
    )
    built = machine(first, Caught=END)
    step = asl.next_step(built, asl.begin(built, {}, NOON), later(3))
    assert isinstance(step, Advance)
    assert (step.execution.status, step.execution.error) == ("FAILED", "States.Runtime")
    assert step.execution.ended_at == later(3)
    assert history(step.execution) == [("First", "failed", "States.Runtime")]


def test_only_a_task_has_an_outcome() -> None:
    built = machine({"Type": "Wait", "Seconds": 5, "End": True})
    waiting = asl.begin(built, {}, NOON)
    with pytest.raises(ValueError, match="First is not a Task"):
        asl.task_succeeded(built, waiting, {}, NOON)
    with pytest.raises(ValueError, match="First is not a Task"):
        asl.task_failed(built, waiting, "E", "", NOON)


# -- Retry --------------------------------------------------------------------------------------


def test_a_retried_task_is_asked_again_after_a_pause_that_doubles() -> None:
    built = machine(task(Retry=[retrier("E", IntervalSeconds=30, MaxAttempts=3)]))
    execution, now, pauses = asl.begin(built, {"n": 1}, NOON), NOON, []
    for _ in range(3):
        execution = asl.task_failed(built, execution, "E", "", now)
        assert history(execution) == [("First", "retried", "E")]
        step = asl.next_step(built, execution, now)
        assert isinstance(step, Sleep)
        pauses.append((step.until - now).total_seconds())
        now = step.until
        assert asl.next_step(built, execution, now) == Do("function", {"n": 1}, None)
    assert pauses == [30, 60, 120]


def test_the_last_retry_may_succeed() -> None:
    built = machine(task(Retry=[retrier("E", MaxAttempts=1)]))
    assert asl.task_succeeded(built, failing(built, "E"), {}, later(9)).status == "SUCCEEDED"


def test_a_task_fails_once_its_retries_are_spent() -> None:
    built = machine(task(Retry=[retrier("E", MaxAttempts=2)]))
    assert failing(built, "E", "E").status == "RUNNING"
    ended = failing(built, "E", "E", "E", now=later(7))
    assert (ended.status, ended.error, ended.cause) == ("FAILED", "E", "because")
    assert ended.ended_at == later(7)


def test_by_default_there_are_three_retries_after_one_two_and_four_seconds() -> None:
    built = machine(task(Retry=[retrier("E")]))
    pauses = [(failing(built, *["E"] * n).wake_at - NOON).total_seconds() for n in (1, 2, 3)]
    assert pauses == [1, 2, 4]
    assert failing(built, *["E"] * 4).status == "FAILED"


def test_a_pause_grows_by_its_rate_up_to_its_limit() -> None:
    rate = {"IntervalSeconds": 3, "BackoffRate": 1.5, "MaxDelaySeconds": 5, "MaxAttempts": 5}
    built = machine(task(Retry=[retrier("E", **rate)]))
    pauses = [(failing(built, *["E"] * n).wake_at - NOON).total_seconds() for n in (1, 2, 3)]
    assert pauses == [3, 4.5, 5]


def test_a_rate_of_one_keeps_the_pause_as_it_is() -> None:
    built = machine(task(Retry=[retrier("E", IntervalSeconds=3, BackoffRate=1)]))
    assert failing(built, "E", "E").wake_at == later(3)


def test_no_retries_means_none_even_if_a_later_retrier_would_have_some() -> None:
    built = machine(task(Retry=[retrier("E", MaxAttempts=0), retrier("States.TaskFailed")]))
    assert failing(built, "E").status == "FAILED"
    assert failing(built, "F").status == "RUNNING"


def test_each_retrier_counts_for_itself() -> None:
    retriers = [
        retrier("A", "B", IntervalSeconds=1, MaxAttempts=2),
        retrier("C", IntervalSeconds=5),
    ]
    built = machine(task(Retry=retriers))
    assert failing(built, "A", "B", "C").wake_at == later(5)
    assert failing(built, "A", "B", "C").retries == (2, 1)
    assert failing(built, "A", "C", "B").wake_at == later(2)
    assert failing(built, "A", "B", "C", "B").status == "FAILED"


def test_retries_are_counted_from_zero_each_time_a_state_is_entered() -> None:
    first = task(Retry=[retrier("E", MaxAttempts=1)], Next="Pause")
    built = machine(first, Pause={"Type": "Wait", "Seconds": 0, "Next": "First"})
    again = asl.task_succeeded(built, failing(built, "E"), {}, later(9))
    step = asl.next_step(built, again, later(9))
    assert isinstance(step, Advance)
    assert step.execution.retries == (0,)


@pytest.mark.parametrize(
    ("names", "error", "covered"),
    [
        (["E"], "E", True),
        (["E"], "F", False),
        (["States.TaskFailed"], "E", True),
        (["States.TaskFailed"], "States.Timeout", False),
        (["E", "States.TaskFailed"], "F", True),
        (["States.Timeout"], "States.Timeout", True),
        (["States.ALL"], "States.Timeout", True),
        (["States.ALL"], "E", True),
        (["States.ALL"], "States.Runtime", False),
        (["States.TaskFailed"], "States.Runtime", False),
        (["States.Runtime"], "States.Runtime", False),
    ],
)
def test_a_list_of_errors_covers_an_error_or_not(
    names: list[str], error: str, covered: bool
) -> None:
    retried = machine(task(Retry=[retrier(*names)]))
    assert (failing(retried, error).status == "RUNNING") is covered
    caught = machine(task(Catch=[retrier(*names, Next="Caught")]), Caught=END)
    assert (failing(caught, error).status == "SUCCEEDED") is covered


# -- Catch --------------------------------------------------------------------------------------


def test_a_caught_error_is_written_beside_the_input() -> None:
    catch = [retrier("States.ALL", ResultPath="$.errors.First", Next="Caught")]
    ended = failing(machine(task(Catch=catch), Caught=END), "E", now=later(4))
    assert ended.data == {"n": 1, "errors": {"First": {"Error": "E", "Cause": "because"}}}
    assert ended.entered_at == later(4)
    assert history(ended) == [
        ("First", "caught", "E"),
        ("Caught", "entered", ""),
        ("Caught", "succeeded", ""),
    ]


def test_a_second_caught_error_stands_beside_the_first() -> None:
    catch = [retrier("States.ALL", ResultPath="$.errors.First", Next="Caught")]
    built = machine(task(Catch=catch), Caught=END)
    execution = asl.begin(built, {"errors": {"Before": 1}}, NOON)
    assert asl.task_failed(built, execution, "E", "", NOON).data["errors"].keys() == {
        "Before",
        "First",
    }


def test_without_a_path_the_error_replaces_the_input_and_null_drops_it() -> None:
    built = machine(task(Catch=[retrier("E", Next="Caught")]), Caught=END)
    assert failing(built, "E").data == {"Error": "E", "Cause": "because"}
    built = machine(task(Catch=[retrier("E", ResultPath=None, Next="Caught")]), Caught=END)
    assert failing(built, "E").data == {"n": 1}


def test_the_first_catcher_that_covers_an_error_takes_it() -> None:
    catch = [retrier("E", Next="A"), retrier("States.ALL", Next="B")]
    built = machine(task(Catch=catch), A=END, B=END)
    assert failing(built, "E").state == "A"
    assert failing(built, "F").state == "B"


def test_retries_come_before_the_catch() -> None:
    first = task(Retry=[retrier("E", MaxAttempts=1)], Catch=[retrier("E", Next="Caught")])
    built = machine(first, Caught=END)
    assert failing(built, "E").state == "First"
    assert failing(built, "E", "E").state == "Caught"


def test_an_error_that_can_not_be_written_fails_the_execution() -> None:
    catch = [retrier("E", ResultPath="$.n.x", Next="Caught")]
    ended = failing(machine(task(Catch=catch), Caught=END), "E")
    assert (ended.status, ended.error) == ("FAILED", "States.ResultPathMatchFailure")


# -- time ---------------------------------------------------------------------------------------


def test_a_task_has_until_its_timeout() -> None:
    built = machine(task(TimeoutSeconds=960))
    step = asl.next_step(built, asl.begin(built, {}, NOON), later(100))
    assert isinstance(step, Do)
    assert step.until == later(1060)


def test_a_task_has_no_longer_than_the_machine() -> None:
    built = machine(task(TimeoutSeconds=960), timeout=600)
    step = asl.next_step(built, asl.begin(built, {}, NOON), later(100))
    assert isinstance(step, Do)
    assert step.until == later(600)


def test_a_task_without_a_timeout_has_as_long_as_the_machine() -> None:
    built = machine(task(), timeout=600)
    step = asl.next_step(built, asl.begin(built, {}, NOON), NOON)
    assert isinstance(step, Do)
    assert step.until == later(600)


def test_a_machine_that_runs_too_long_times_out() -> None:
    built = machine(task(), timeout=600)
    execution = asl.begin(built, {}, NOON)
    assert isinstance(asl.next_step(built, execution, later(599)), Do)
    step = asl.next_step(built, execution, later(600))
    assert isinstance(step, Advance)
    ended = step.execution
    assert (ended.status, ended.error, ended.ended_at) == (
        "TIMED_OUT",
        "States.Timeout",
        later(600),
    )
    assert history(ended) == [("First", "timed-out", "")]
    assert asl.next_step(built, ended, later(600)) == Ended(ended)


def test_an_outcome_that_comes_after_the_machine_timed_out_changes_nothing_else() -> None:
    built = machine(task(Catch=[retrier("E", Next="Caught")]), timeout=600, Caught=END)
    execution = asl.begin(built, {"n": 1}, NOON)
    for ended in (
        asl.task_succeeded(built, execution, {}, later(600)),
        asl.task_failed(built, execution, "E", "", later(600)),
    ):
        assert (ended.status, ended.state, ended.data) == ("TIMED_OUT", "First", {"n": 1})


def test_no_execution_sleeps_longer_than_the_machine_may_run() -> None:
    built = machine({"Type": "Wait", "Seconds": 900, "End": True}, timeout=600)
    assert asl.next_step(built, asl.begin(built, {}, NOON), NOON) == Sleep(later(600))
    built = machine(task(Retry=[retrier("E", IntervalSeconds=900)]), timeout=600)
    assert failing(built, "E").wake_at == later(600)


def test_the_longest_wait_is_taken() -> None:
    first = {"Type": "Wait", "SecondsPath": "$.wait", "End": True}
    assert one(first, {"wait": 99_999_999}).wake_at == later(99_999_999)


# -- snapshots ----------------------------------------------------------------------------------


def test_a_snapshot_goes_through_json_and_back() -> None:
    built = machine(task(Retry=[retrier("E")]), timeout=600)
    execution = asl.begin(built, {"n": Decimal("0.1"), "config": {"a": [1, None]}}, NOON)
    failed = asl.task_failed(built, execution, "E", "", later(1))
    text = canonical.encode(failed)
    assert msgspec.convert(canonical.decode(text), Execution) == failed


def test_an_execution_shares_nothing_with_what_it_was_given() -> None:
    given: dict[str, Any] = {"list": []}
    execution = one(task(), given)
    given["list"].append(1)
    assert execution.data == {"list": []}


def test_a_move_logs_only_itself() -> None:
    built = machine(task(Next="Second"), Second=task())
    moved = asl.task_succeeded(built, asl.begin(built, {}, NOON), {}, later(1))
    assert [(e.at, e.state, e.kind) for e in moved.log] == [(later(1), "Second", EntryKind.ENTERED)]


def test_a_machine_is_known_by_the_hash_of_what_it_says() -> None:
    text = json.dumps({"StartAt": "A", "States": {"A": END}})
    assert asl.parse(text).hash == asl.parse(json.dumps(json.loads(text), indent=4)).hash
    assert asl.parse(text).hash != asl.parse(text.replace('"A"', '"B"')).hash
    assert asl.parse(text).text == text


# -- refusals -----------------------------------------------------------------------------------

RULE = {"Variable": "$.n", "NumericEquals": 1, "Next": "Second"}


@pytest.mark.parametrize(
    ("first", "problem"),
    [
        ({"Type": "Parallel", "End": True}, r"state First: .*Parallel.*Type"),
        ({"End": True}, r"state First: .*Type"),
        (task(HeartbeatSeconds=5), r"state First: .*HeartbeatSeconds"),
        ({"Type": "Task", "End": True}, r"state First: .*Resource"),
        (task(TimeoutSeconds=0), r"state First: .*TimeoutSeconds"),
        (task(Next="Nowhere"), r"state First: Next: there is no state Nowhere"),
        (task(Next="Second", End=True), r"state First: needs either Next or End"),
        (task(Next=None, End=False), r"state First: needs either Next or End"),
        (task(Catch=[retrier("E", Next="Nowhere")]), r"state First: Catch\[0\].Next: .*Nowhere"),
        (task(Catch=[retrier("E")]), r"state First: .*Next.*Catch\[0\]"),
        (task(Catch=[retrier(Next="Second")]), r"state First: .*Catch\[0\].ErrorEquals"),
        (task(Catch=[retrier("E", Next="Second", Out=1)]), r"state First: .*Out.*Catch\[0\]"),
        (task(Retry=[retrier("E", JitterStrategy="FULL")]), r"state First: .*JitterStrategy"),
        (task(Retry=[retrier("E", IntervalSeconds=0)]), r"Retry\[0\].IntervalSeconds"),
        (task(Retry=[retrier("E", MaxAttempts=-1)]), r"Retry\[0\].MaxAttempts"),
        (task(Retry=[retrier("E", BackoffRate=0.5)]), r"Retry\[0\].BackoffRate"),
        (task(Retry=[retrier("E", "States.ALL")]), r"Retry\[0\].ErrorEquals: States.ALL"),
        (
            task(Retry=[retrier("States.ALL"), retrier("E")]),
            r"Retry\[0\].ErrorEquals: States.ALL",
        ),
        (
            task(Catch=[retrier("E", "States.ALL", Next="Second")]),
            r"Catch\[0\].ErrorEquals: States.ALL",
        ),
        (task(ResultPath="$.a[*]"), r"state First: .*\$\.a\[\*\].*ResultPath"),
        (task(ResultPath="a.b"), r"state First: .*a\.b.*ResultPath"),
        (task(ResultPath=5), r"state First: .*ResultPath"),
        (task(InputPath="$$.State.Name"), r"state First: .*\$\$\.State.*InputPath"),
        (task(Parameters={"x": [{"y.$": "$..z"}]}), r"state First: .*\$\.\.z.*Parameters"),
        (task(Parameters={"x.$": 5}), r"state First: .*x\.\$.*Parameters"),
        (task(Parameters={"x.$": "$.a", "x": 1}), r"state First: .*Parameters"),
        (task(Parameters={"x.$": "States.UUID()"}), r"state First: .*States\.UUID.*Parameters"),
        (task(Parameters={"x.$": "States.MathAdd(1)"}), r"arguments.*Parameters"),
        (task(Parameters={"x.$": "States.MathAdd(1, 'a')"}), r"'a'.*Parameters"),
        (task(ResultSelector={"x.$": "nonsense"}), r"state First: .*nonsense.*ResultSelector"),
        ({"Type": "Pass", "Next": "Nowhere"}, r"state First: Next: .*Nowhere"),
        ({"Type": "Pass", "Retry": [], "End": True}, r"state First: .*Retry"),
        ({"Type": "Wait", "Seconds": 1}, r"state First: needs either Next or End"),
        ({"Type": "Wait", "End": True}, r"state First: needs either Seconds or SecondsPath"),
        (
            {"Type": "Wait", "Seconds": 1, "SecondsPath": "$.n", "End": True},
            r"state First: needs either Seconds or SecondsPath",
        ),
        ({"Type": "Wait", "Timestamp": "2026-03-03T00:00:00Z", "End": True}, r"Timestamp"),
        ({"Type": "Wait", "Seconds": -1, "End": True}, r"state First: .*Seconds"),
        ({"Type": "Choice", "Choices": []}, r"state First: .*Choices"),
        ({"Type": "Choice", "Choices": [5]}, r"state First: .*Choices\[0\]"),
        ({"Type": "Choice", "Choices": [{**RULE, "Next": "Nowhere"}]}, r"Choices\[0\].Next: .*Now"),
        ({"Type": "Choice", "Choices": [{**RULE, "Next": 5}]}, r"Next.*Choices\[0\]"),
        ({"Type": "Choice", "Choices": [RULE], "Default": "Nowhere"}, r"Default: .*Nowhere"),
        (
            {"Type": "Choice", "Choices": [{"Variable": "$.n", "StringMatches": "*", **RULE}]},
            r"Choices\[0\]",
        ),
        (
            {"Type": "Choice", "Choices": [{"Variable": "$.n", "IsNull": True, "Next": "Second"}]},
            r"state First: unknown comparison IsNull.*Choices\[0\]",
        ),
        (
            {"Type": "Choice", "Choices": [{**RULE, "NumericEquals": "1"}]},
            r"NumericEquals.*'1'.*Choices\[0\]",
        ),
        (
            {"Type": "Choice", "Choices": [{**RULE, "Variable": "n"}]},
            r"'n' is not a reference path.*Choices\[0\]",
        ),
        (
            {"Type": "Choice", "Choices": [{"And": [], "Next": "Second"}]},
            r"state First: .*And.*Choices\[0\]",
        ),
        (
            {"Type": "Choice", "Choices": [{"Not": RULE, "Next": "Second"}]},
            r"state First: .*Choices\[0\]",  # only a whole rule has a Next
        ),
        ({"Type": "Succeed", "Next": "Second"}, r"state First: .*Next"),
        ({"Type": "Fail", "ErrorPath": "$.e"}, r"state First: .*ErrorPath"),
        (task(), r"state Second: nothing leads here"),
        ({"Type": "Pass", "Next": "First"}, r"a loop without a Task or a Wait: First"),
    ],
)
def test_what_is_not_known_or_does_not_fit_is_refused_by_name(
    first: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        machine(first, Second=END)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not a state machine"),
        ("[]", "not a state machine"),
        ('{"StartAt": "A"}', "States"),
        ('{"StartAt": "A", "States": {}}', "StartAt: there is no state A"),
        ('{"StartAt": "A", "States": {}, "QueryLanguage": "JSONata"}', "QueryLanguage"),
        ('{"StartAt": "A", "States": {}, "TimeoutSeconds": 0}', "TimeoutSeconds"),
        ('{"StartAt": "A", "States": {}, "TimeoutSeconds": ${t}}', "not a state machine"),
    ],
)
def test_a_text_that_is_no_machine_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        asl.parse(text)


def test_every_problem_is_reported_at_once() -> None:
    with pytest.raises(ConfigError, match=r"state First: .*state Second: "):
        machine(task(Next="A"), Second=task(Next="B"))


def test_a_loop_with_a_wait_in_it_is_fine() -> None:
    first = {"Type": "Choice", "Choices": [{**RULE, "Next": "Pause"}], "Default": "Second"}
    pause = {"Type": "Wait", "Seconds": 1, "Next": "First"}
    assert machine(first, Pause=pause, Second=END).start_at == "First"


def test_comments_are_allowed() -> None:
    rule = {**RULE, "Comment": "why"}
    first = {"Type": "Choice", "Comment": "what", "Choices": [rule], "Default": "Second"}
    assert machine(first, Second=END).states.keys() == {"First", "Second"}
