"""The plan: what the module would make, before anything is made."""

import json
from importlib import import_module
from typing import Any

from aws.quick_tables import WATCH_PROJECTION
from aws.recorded import payload
from deploy.planned import Plan, as_list, environment, resources, statements, waits_for
from interlock.adapters.aws.event_items import event_from_envelope
from interlock.cli.aws_checkup import RIGHTS
from interlock.domain.event import EventType, Severity
from interlock.lifecycle import asl
from interlock.wiring.aws_settings import COMMON, OPTIONAL, REQUIRED, Function

#: A token comes by another variable than its secret; alert_environment may hold the rest.
_ELSEWHERE = {"SLACK_BOT_TOKEN", "SLACK_API_URL", "INTERLOCK_PUBLIC_URL"}

_ALARM = {
    "alarm": "t-interlock-alarm-watchdog-errors",
    "state": "ALARM",
    "reason": 'Threshold Crossed: "1" of 1',
    "time": "2026-03-03T10:00:00Z",
}


def test_every_table_is_kept_safe(default_plan: Plan) -> None:
    tables = resources(default_plan, "aws_dynamodb_table")
    assert {made["name"] for made in tables.values()} == {
        f"t-interlock-{name}" for name in ("control", "joblog", "rerun", "events")
    }
    for made in tables.values():
        assert made["point_in_time_recovery"][0]["enabled"]
        assert made["ttl"] == [{"attribute_name": "ttl", "enabled": True}]
        assert made["server_side_encryption"][0]["enabled"]
        assert made["deletion_protection_enabled"] and made["billing_mode"] == "PAY_PER_REQUEST"


def test_streams_and_indexes_are_those_that_the_code_asks(default_plan: Plan) -> None:
    tables = resources(default_plan, "aws_dynamodb_table")
    streamed = {name for name, made in tables.items() if made["stream_enabled"]}
    assert streamed == {'state["control"]', 'state["joblog"]'}
    (watch,) = tables['state["control"]']["global_secondary_index"]
    assert (watch["name"], watch["hash_key"], watch["range_key"]) == (
        "watch",
        "watchShard",
        "watchAt",
    )
    assert set(watch["non_key_attributes"]) == set(WATCH_PROJECTION)
    (by_type,) = tables['state["events"]']["global_secondary_index"]
    assert (by_type["name"], by_type["projection_type"]) == ("GSI1", "ALL")


def test_every_function_has_a_handler_a_role_a_log_group_and_an_alarm(default_plan: Plan) -> None:
    functions = resources(default_plan, "aws_lambda_function")
    roles = resources(default_plan, "aws_iam_role")
    groups = {made["name"] for made in resources(default_plan, "aws_cloudwatch_log_group").values()}
    watched = {
        made["dimensions"]["FunctionName"]
        for made in resources(default_plan, "aws_cloudwatch_metric_alarm").values()
        if made["metric_name"] == "Errors"
    }
    assert len(functions) == len(Function)
    for key, made in functions.items():
        module, name = made["handler"].rsplit(".", 1)
        assert callable(getattr(import_module(module), name))
        assert key in roles and roles[key]["name"] == made["function_name"]
        assert f"/aws/lambda/{made['function_name']}" in groups
        assert made["function_name"] in watched


def test_the_environment_is_what_the_settings_read(default_plan: Plan, whole_plan: Plan) -> None:
    for function in Function:
        common = {*REQUIRED[function], *COMMON}
        if function is Function.WATCHDOG:
            # optional, as the command line reads the same settings
            common.add("INTERLOCK_INSTANCE")
        assert set(environment(default_plan, function)) == common
        theirs = {
            Function.ORCHESTRATOR: {"INTERLOCK_ETL_URL"},
            Function.SLA_MONITOR: {"INTERLOCK_ETL_URL"},
            Function.ALERT_DISPATCHER: {"INTERLOCK_HOOK"},
        }.get(function, set())
        optional = {*OPTIONAL.get(function, ())} - _ELSEWHERE
        assert set(environment(whole_plan, function)) == common | optional | theirs


def test_every_target_has_a_place_for_what_it_cannot_deliver(default_plan: Plan) -> None:
    targets = resources(default_plan, "aws_cloudwatch_event_target")
    assert len(targets) == 10
    for made in targets.values():
        assert made["dead_letter_config"][0]["arn"].endswith(":t-interlock-undelivered")
        assert made["retry_policy"]
    handed_over = resources(default_plan, "aws_lambda_function_event_invoke_config")
    assert len(handed_over) == 4
    mappings = resources(default_plan, "aws_lambda_event_source_mapping")
    for name in ("control", "joblog"):
        (after,) = mappings[f'stream["{name}"]']["destination_config"][0]["on_failure"]
        assert after["destination_arn"].endswith(f":t-interlock-{name}-dlq")
        assert mappings[f'stream["{name}"]']["starting_position"] == "TRIM_HORIZON"


def test_every_queue_is_encrypted_and_refuses_plain_http(default_plan: Plan) -> None:
    queues = resources(default_plan, "aws_sqs_queue")
    assert len(queues) == 5
    for made in queues.values():
        assert made["sqs_managed_sse_enabled"]
        denied, *allowed = json.loads(made["policy"])["Statement"]
        assert denied["Effect"] == "Deny" and "aws:SecureTransport" in str(denied["Condition"])
        assert all("aws:SourceArn" in str(each["Condition"]) for each in allowed)


def test_an_alert_is_not_seen_twice_while_it_is_handled(default_plan: Plan) -> None:
    dispatcher = resources(default_plan, "aws_lambda_function")['function["alert-dispatcher"]']
    queue = resources(default_plan, "aws_sqs_queue")['queue["alerts"]']
    assert queue["visibility_timeout_seconds"] >= 6 * dispatcher["timeout"]


def test_dead_letters_are_there_before_they_are_named(default_plan: Plan) -> None:
    (named,) = resources(default_plan, "aws_sqs_queue_redrive_policy")
    assert named == "alerts"
    queues = resources(default_plan, "aws_sqs_queue").values()
    assert not any(made.get("redrive_policy") for made in queues)


def test_streams_are_opened_when_whatever_they_set_going_is_there(default_plan: Plan) -> None:
    """Else what the first records tell of, the configs that came into force, would be lost."""
    assert waits_for(default_plan, "aws_lambda_event_source_mapping.stream") >= {
        "aws_cloudwatch_event_target.ours",
        "aws_lambda_permission.rule",
        "aws_sqs_queue.queue",
        "aws_lambda_event_source_mapping.alerts",
        "aws_scheduler_schedule_group.timers",
        "aws_iam_role_policy.scheduler",
        "aws_sfn_state_machine.pipeline",
    }
    loaded = waits_for(default_plan, "aws_dynamodb_table_item.pipeline")
    assert "aws_lambda_event_source_mapping.stream" in loaded


def test_names_fit_with_the_longest_environment(whole_plan: Plan) -> None:
    names = [
        made[attribute]
        for kind, attribute in (
            ("aws_lambda_function", "function_name"),
            ("aws_iam_role", "name"),
            ("aws_cloudwatch_event_rule", "name"),
            ("aws_scheduler_schedule_group", "name"),
            ("aws_sqs_queue", "name"),
            ("aws_sfn_state_machine", "name"),
        )
        for made in resources(whole_plan, kind).values()
    ]
    assert len(names) > 25 and max(map(len, names)) <= 64


def test_the_machine_is_the_file_that_the_tests_run(default_plan: Plan) -> None:
    (machine,) = resources(default_plan, "aws_sfn_state_machine").values()
    asl.parse(machine["definition"])
    called = {
        state["Resource"]
        for state in json.loads(machine["definition"])["States"].values()
        if state["Type"] == "Task"
    }
    assert {arn.rsplit("-interlock-", 1)[1] for arn in called} == {"orchestrator", "sla-monitor"}


def test_the_watchdog_hears_of_executions_that_ended_badly_and_of_no_others(
    default_plan: Plan,
) -> None:
    rule = resources(default_plan, "aws_cloudwatch_event_rule")["executions"]
    event = payload("states_failed")
    (machine,) = resources(default_plan, "aws_sfn_state_machine").values()
    assert event["detail"]["stateMachineArn"].endswith(f":stateMachine:{machine['name']}")
    assert json.loads(rule["event_pattern"]) == {
        "source": [event["source"]],
        "detail-type": [event["detail-type"]],
        "detail": {
            "stateMachineArn": [event["detail"]["stateMachineArn"]],
            "status": ["FAILED", "TIMED_OUT", "ABORTED"],
        },
    }
    target = resources(default_plan, "aws_cloudwatch_event_target")["executions"]
    assert target["arn"].endswith(":function:t-interlock-watchdog")
    may = resources(default_plan, "aws_lambda_permission")['rule["executions"]']
    assert (may["function_name"], may["principal"]) == (
        "t-interlock-watchdog",
        "events.amazonaws.com",
    )
    assert may["source_arn"].endswith(":rule/t-interlock-executions")


def test_an_alarm_becomes_an_event_of_ours(default_plan: Plan) -> None:
    targets = resources(default_plan, "aws_cloudwatch_event_target")
    raised = targets['alarm_kept["alarm-raised"]']["input_transformer"][0]
    assert set(raised["input_paths"]) == set(_ALARM)
    event = event_from_envelope(json.loads(_filled(raised["input_template"])))
    assert (event.type, event.severity) == (EventType.INFRA_ALARM, Severity.ERROR)
    assert event.detail["reason"] == _ALARM["reason"]
    assert event.event_id == f"-/-/-/INFRA_ALARM/{_ALARM['alarm']}/{_ALARM['time']}"
    cleared = targets['alarm_kept["alarm-cleared"]']["input_transformer"][0]["input_template"]
    assert event_from_envelope(json.loads(_filled(cleared))).severity is Severity.INFO


def test_what_is_wrong_on_the_way_of_alerts_is_not_told_that_way(default_plan: Plan) -> None:
    targets = resources(default_plan, "aws_cloudwatch_event_target")
    assert {key for key in targets if key.startswith("alarm_told")} == {
        'alarm_told["alarm-raised"]',
        'alarm_told["alarm-cleared"]',
    }
    alarms = resources(default_plan, "aws_cloudwatch_metric_alarm").values()
    names = {made["alarm_name"].removeprefix("t-interlock-") for made in alarms}
    on_the_way = {name for name in names if name.startswith("alertpath-")}
    assert on_the_way == {"alertpath-alert-dispatcher-errors", "alertpath-dlq", "alertpath-age"}
    assert len(names) == 16


def test_functions_have_the_memory_and_concurrency_that_is_asked_for(
    default_plan: Plan, whole_plan: Plan
) -> None:
    made = resources(default_plan, "aws_lambda_function")
    assert {each["memory_size"] for each in made.values()} == {256, 512}
    assert made['function["watchdog"]']["memory_size"] == 512
    assert {each["reserved_concurrent_executions"] for each in made.values()} == {-1}
    whole = resources(whole_plan, "aws_lambda_function")
    sizes = {key: each["memory_size"] for key, each in whole.items()}
    assert sizes.pop('function["sla-monitor"]') == 2048  # its own, named with an underscore
    assert set(sizes.values()) == {1024}  # one setting for all others, the watchdog too
    reserved = {key: each["reserved_concurrent_executions"] for key, each in whole.items()}
    assert reserved == {
        'function["stream-router"]': 10,
        'function["orchestrator"]': 20,
        'function["sla-monitor"]': -1,
        'function["watchdog"]': 1,
        'function["event-sink"]': 5,
        'function["alert-dispatcher"]': 3,
    }


def test_the_watchdog_knows_its_cadence(default_plan: Plan, whole_plan: Plan) -> None:
    for plan, seconds in ((default_plan, 300), (whole_plan, 600)):
        target = resources(plan, "aws_cloudwatch_event_target")["watchdog"]
        assert json.loads(target["input"])["everySeconds"] == seconds


def test_silence_of_the_watchdog_is_an_alarm(default_plan: Plan) -> None:
    (silent,) = (
        made
        for made in resources(default_plan, "aws_cloudwatch_metric_alarm").values()
        if made["metric_name"] == "WatchdogPass"
    )
    assert silent["treat_missing_data"] == "breaching"
    assert silent["comparison_operator"] == "LessThanThreshold"
    assert silent["evaluation_periods"] * silent["period"] == 900


def test_no_other_principal_publishes_as_interlock(whole_plan: Plan) -> None:
    (made,) = resources(whole_plan, "aws_cloudwatch_event_bus_policy").values()
    allowed, denied = json.loads(made["policy"])["Statement"]
    publishers = allowed["Principal"]["AWS"]
    assert denied["Effect"] == "Deny" and denied["Principal"] == "*"
    assert denied["Condition"]["ArnNotEquals"]["aws:PrincipalArn"] == publishers
    assert not any("event-sink" in arn for arn in publishers) and len(publishers) == 6


def test_with_a_customer_key_every_service_may_use_it(whole_plan: Plan) -> None:
    roles = resources(whole_plan, "aws_iam_role_policy")
    assert len(roles) == 8
    assert all("kms:Decrypt" in _actions(whole_plan, role) for role in roles)
    keys = {
        made["kms_key_id"] for made in resources(whole_plan, "aws_cloudwatch_log_group").values()
    }
    assert all(key and ":key/" in key for key in keys)


def test_who_looks_may_ask_what_looking_asks_and_nothing_more(whole_plan: Plan) -> None:
    policy = json.loads(whole_plan["planned_values"]["outputs"]["interlock_viewer"]["value"])
    actions = {action for each in policy["Statement"] for action in as_list(each["Action"])}
    resources_ = [one for each in policy["Statement"] for one in as_list(each["Resource"])]
    assert actions == {*RIGHTS.values(), "kms:Decrypt"}
    assert all(one.startswith("arn:aws:") and not one.endswith("*") for one in resources_)
    assert any(one.endswith("/index/watch") for one in resources_)


def test_everything_that_can_carry_tags_does(whole_plan: Plan) -> None:
    for kind in ("aws_lambda_function", "aws_sqs_queue", "aws_dynamodb_table", "aws_iam_role"):
        for made in resources(whole_plan, kind).values():
            assert made["tags"]["interlock:environment"] == "a-very-long-name-020"
            assert made["tags"]["team"] == "data"


def test_without_the_transformer_nothing_of_the_template_is_left(default_plan: Plan) -> None:
    targets: dict[str, Any] = resources(default_plan, "aws_cloudwatch_event_target")
    for made in targets.values():
        for transformer in made["input_transformer"]:
            assert "<" not in _filled(transformer["input_template"])


def _actions(plan: Plan, role: str) -> set[str]:
    return {action for each in statements(plan, role) for action in as_list(each["Action"])}


def _filled(template: str) -> str:
    """As EventBridge does it: within quotes a value stands as it is, alone it is written as JSON."""
    for name, value in _ALARM.items():
        template = template.replace(f'"{name}": <{name}>', f'"{name}": {json.dumps(value)}')
        template = template.replace(f"<{name}>", value)
    return template
