"""Flows: what is deployed does on the emulator what it promises, from a row in a table to a message in Slack.

All of them are under way when the first test begins; what takes a minute there takes it once.
"""

import json
from typing import Any

import pytest

from aws.homes import MACHINE, NAMES
from emulated.applied import Applied
from emulated.conftest import CHANNEL, DATE, Home
from emulated.installation import Installation, machine_definition
from emulated.project import Project
from emulated.surroundings import FUNCTION, Etl
from emulated.waiting import wait_for
from slack_stand_in import SlackStandIn

#: How each flow ends: the event that comes last.
ENDS = {
    "by-lambda": ("JOB_COMPLETED", 1),
    "by-http": ("SLA_MET", 1),
    "by-cron": ("JOB_COMPLETED", 1),
    "retried": ("JOB_COMPLETED", 1),
    "drifting": ("JOB_COMPLETED", 2),
    "by-hand": ("JOB_COMPLETED", 1),
    "too-late": ("RELATIVE_SLA_BREACH", 1),
}

#: What the emulator does not give back as it was made.
NOT_GIVEN_BACK = (
    "aws_cloudwatch_metric_alarm.",
    "aws_cloudwatch_event_bus_policy.",
    "aws_sfn_state_machine.",  # without its tracing
)


def test_a_withdrawn_file_retires_its_pipeline_and_no_other(home: Home, project: Project) -> None:
    there = home.there
    before = {name: _in_force(there, name) for name in ("by-lambda", "by-http", "withdrawn")}
    _wait_for_timer(there, "cron", "withdrawn", armed=True)

    project.withdraw("withdrawn")
    project.describe("by-lambda", "now with a description")
    home.way.load(project)

    if isinstance(home.way, Applied):
        assert _changed(home.way) == {
            "terraform_data.compiled",
            'aws_dynamodb_table_item.pipeline["withdrawn"]',
            'aws_dynamodb_table_item.pipeline["by-lambda"]',
        }
    there.wait_for_event("withdrawn", "CONFIG_ADOPTED", count=2)
    assert there.events("withdrawn")[-1]["detail"]["change"] == "retired"
    assert "retiredAt" in _in_force(there, "withdrawn")
    _wait_for_timer(there, "cron", "withdrawn", armed=False)

    there.wait_for_event("by-lambda", "CONFIG_ADOPTED", count=2)
    adopted = _in_force(there, "by-lambda")
    assert "now with a description" in adopted["config"]
    assert adopted["configHash"] != before["by-lambda"]["configHash"]
    assert adopted["activeSince"] == before["by-lambda"]["activeSince"]
    untouched = _in_force(there, "by-http")
    for name in ("config", "configHash", "activeSince", "adoptedAt"):
        assert untouched[name] == before["by-http"][name]


def test_a_reading_in_the_table_runs_a_job_that_is_a_function(home: Home) -> None:
    run = home.there.wait_for_run("by-lambda", "COMPLETED")
    assert run["SK"] == f"TRIGGER#stream#{DATE}"
    home.there.wait_for_event("by-lambda", "JOB_COMPLETED")
    assert home.there.story("by-lambda") == [
        "TRIGGER_STARTED",
        "VALIDATION_PASSED",
        "JOB_TRIGGERED",
        "JOB_COMPLETED",
    ]


def test_the_file_of_the_state_machine_is_what_runs_there(home: Home) -> None:
    machine = home.there.emulator.client("stepfunctions").describe_state_machine(
        stateMachineArn=MACHINE
    )
    assert json.loads(machine["definition"]) == json.loads(machine_definition())

    home.there.wait_for_event("by-http", "SLA_MET")
    (execution,) = wait_for(
        lambda: _executions(home.there, f"by-http-stream-{DATE}", "SUCCEEDED"),
        "the execution of by-http at its end",
        lambda: home.there.told("by-http"),
    )
    assert _path(home.there.history(execution)) == [
        "InitEvalLoop", "Evaluate", "IsReady", "Trigger", "HasTriggerResult", "CheckSLA",
        "InitJobPollLoop", "WaitForJob", "CheckJob", "IsJobDone", "WaitForJob", "CheckJob", "IsJobDone",
        "CompleteTrigger", "CheckCancelSLA", "CancelSLASchedules", "Done",
    ]  # fmt: skip


def test_a_service_is_asked_once_to_start_a_job_and_then_how_it_goes(home: Home, etl: Etl) -> None:
    run = home.there.wait_for_run("by-http", "COMPLETED")
    bodies = [body for token, body in etl.started.items() if token == run["runId"]]
    assert bodies == [{"table": "orders", "day": DATE}]
    met = home.there.wait_for_event("by-http", "SLA_MET")
    assert met["detail"]["marginSeconds"] > 0
    for kind in ("rel-warning", "rel-breach"):
        _wait_for_timer(home.there, kind, "by-http", armed=False)


def test_events_lie_in_their_table_as_dashboards_read_them(home: Home) -> None:
    event = home.there.wait_for_event("by-lambda", "JOB_COMPLETED")
    at = int(event["timestamp"])
    assert event["PK"] == "PIPELINE#by-lambda"
    assert event["SK"] == f"{at:013}#JOB_COMPLETED#by-lambda/stream/{DATE}/JOB_COMPLETED/0"
    assert event["ttl"] - 90 * 86400 in (at // 1000, at // 1000 + 1)
    assert event["owner"] == "data-platform" and event["tags"] == {"tier": "1"}
    assert event["detail"]["attempts"] == 1
    found = home.there.emulator.client("dynamodb").query(
        TableName=NAMES.events,
        IndexName="GSI1",
        KeyConditionExpression="eventType = :type AND #at = :at",
        ExpressionAttributeNames={"#at": "timestamp"},
        ExpressionAttributeValues={":type": {"S": "JOB_COMPLETED"}, ":at": {"N": str(at)}},
    )
    assert "by-lambda/stream" in str(found["Items"])


def test_a_function_without_the_right_is_refused(home: Home) -> None:
    """Else the flows would say nothing about the rights of the others."""
    asked = json.dumps({"reads": NAMES.control})
    answer = home.there.emulator.client("lambda").invoke(FunctionName=FUNCTION, Payload=asked)
    assert json.load(answer["Payload"]) == {"answer": "AccessDeniedException"}


def test_the_command_line_looks_and_acts_there(home: Home, project: Project) -> None:
    (project.folder / "interlock.toml").write_text(home.way.toml())

    def say(*arguments: str) -> Any:
        given = ("--backend", "aws", *arguments, "--json")
        return json.loads(project.interlock(*given, environment=home.there.emulator.environment))

    home.there.wait_for_event("by-hand", "JOB_COMPLETED")
    _wait_for_watchdog(home.there)  # until it has passed, a status is not fine
    assert "too-late" in json.dumps(say("status"))
    assert "payments" in json.dumps(say("why", "too-late", DATE))
    told = json.dumps(say("events", "--pipeline", "by-hand", "--since", "12h"))
    assert "JOB_TRIGGERED" in told and "JOB_COMPLETED" in told
    say("rerun", "by-hand", DATE, "--force", "--reason", "a better file", "--wait", "300")
    home.there.wait_for_run("by-hand", "COMPLETED", attempt=1)
    accepted = home.there.wait_for_event("by-hand", "RERUN_ACCEPTED")
    assert accepted["detail"]["forced"] is True


def test_drift_after_completion_runs_the_date_again(home: Home) -> None:
    home.there.wait_for_run("drifting", "COMPLETED", attempt=1)
    drift = home.there.wait_for_event("drifting", "POST_RUN_DRIFT")
    assert (drift["detail"]["baseline"], drift["detail"]["current"]) == (100, 500)
    home.there.wait_for_event("drifting", "JOB_COMPLETED", count=2)
    assert home.there.types("drifting").count("RERUN_ACCEPTED") == 1


def test_scheduler_fires_a_cron_moment_and_the_next_is_armed(home: Home) -> None:
    home.there.wait_for_event("by-cron", "JOB_COMPLETED")
    started = [row for row in home.there.events("by-cron") if row["eventType"] == "TRIGGER_STARTED"]
    assert started[0]["detail"]["openedBy"] == "cron"
    _wait_for_timer(home.there, "cron", "by-cron", armed=True)


def test_scheduler_tells_of_a_deadline_that_was_missed(home: Home) -> None:
    breach = home.there.wait_for_event("too-late", "RELATIVE_SLA_BREACH")
    assert breach["severity"] == "critical"
    assert "payments" in str(breach["detail"]["blockedBy"])
    run = home.there.wait_for_run("too-late", "PENDING")
    assert run["slaVerdict"] == "BREACHED"


def test_a_job_that_failed_is_tried_again(home: Home) -> None:
    run = home.there.wait_for_run("retried", "COMPLETED", attempt=1)
    failed = home.there.wait_for_event("retried", "JOB_FAILED")
    assert failed["detail"]["willRetry"] is True and "out of memory" in failed["message"]
    (kept,) = home.there.rows(NAMES.rerun, "retried")
    assert kept["SK"] == f"RERUN#stream#{DATE}#1" and kept["source"] == "job"
    logged = [row["event"] for row in home.there.rows(NAMES.joblog, "retried", "JOB#")]
    assert logged == ["triggered", "fail", "triggered", "success"]
    assert run["version"] > 1


def test_what_happened_to_one_date_is_one_thread_in_slack(home: Home, slack: SlackStandIn) -> None:
    """A failure opens it, and its end shows there and on the card at the top."""
    home.there.wait_for_event("retried", "JOB_COMPLETED")

    def ended() -> list[dict[str, Any]]:
        roots = [each for each in slack.roots if "retried" in each["text"]]
        return [root for root in roots if "done" in json.dumps(root["blocks"]).lower()]

    roots = wait_for(ended, "a card that is done", lambda: _messages(slack) + home.there.logs())
    (root,) = roots
    replies = [each["text"] for each in slack.replies if each["thread_ts"] == root["ts"]]
    assert any("succeeded" in text for text in replies), _messages(slack)
    thread = home.there.row(NAMES.events, "retried", f"THREAD#stream#{DATE}")
    assert thread is not None
    assert (thread["threadTs"], thread["channelId"]) == (root["ts"], CHANNEL)


def test_the_watchdog_passes_and_finds_nothing_wrong(home: Home) -> None:
    _wait_for_watchdog(home.there)
    assert "WATCHDOG_DEGRADED" not in home.there.types("_system")


@pytest.mark.parametrize("pipeline", ENDS)
def test_nothing_failed_on_the_way(home: Home, pipeline: str) -> None:
    kind, count = ENDS[pipeline]
    home.there.wait_for_event(pipeline, kind, count)
    assert home.there.dead_letters() == {}
    failed = [each for each in home.there.executions() if each["status"] in ("FAILED", "TIMED_OUT")]
    assert failed == [], home.there.told(pipeline)
    assert "INFRA_FAILURE" not in home.there.types(pipeline)
    assert "AccessDenied" not in home.there.logs(last=0)


def _changed(way: Applied) -> set[str]:
    (changed,) = way.changes
    return {address for address in changed if not address.startswith(NOT_GIVEN_BACK)}


def _in_force(there: Installation, pipeline: str) -> dict[str, Any]:
    """Once it has been told that it is."""
    there.wait_for_event(pipeline, "CONFIG_ADOPTED")
    found = there.row(NAMES.control, pipeline, "CONFIG#ACTIVE")
    assert found is not None
    return found


def _wait_for_timer(there: Installation, kind: str, pipeline: str, armed: bool) -> None:
    def holds() -> bool:
        return any(name.startswith(f"{kind}.{pipeline}.") for name in there.entries()) is armed

    what = f"{kind} of {pipeline} {'armed' if armed else 'gone'}"
    wait_for(holds, what, lambda: there.told(pipeline))


def _wait_for_watchdog(there: Installation) -> None:
    def passed() -> Any:
        return (there.row(NAMES.control, "_system", "WATCHDOG") or {}).get("lastOkAt")

    wait_for(passed, "a pass of the watchdog", there.logs)


def _executions(there: Installation, name: str, status: str) -> list[dict[str, Any]]:
    return [e for e in there.executions() if e["name"] == name and e["status"] == status]


def _path(history: list[dict[str, Any]]) -> list[str]:
    entered = (event.get("stateEnteredEventDetails") for event in history)
    return [details["name"] for details in entered if details]


def _messages(slack: SlackStandIn) -> str:
    return json.dumps(list(slack.messages.values()), indent=1)
