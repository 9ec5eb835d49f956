"""The module as text and by its checks: formatted, valid, and loud about what can't work."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from deploy.conftest import EVERYTHING
from deploy.terraform import ACCOUNT, MODULE, REGION, needed_plugins, package, plan, plan_all, run
from interlock.domain.alerting.alert_rules import Alerts
from interlock.domain.job_forms import OWN_SETTINGS

_HERE = f"{REGION}:{ACCOUNT}"

#: Each wrong value, and what Terraform says of it. All of them are given at once.
WRONG: dict[str, tuple[Any, str]] = {
    "environment": ("Prod_1", "environment must be a lower-case letter"),
    "account_id": ("123", "account_id must have 12 digits"),
    "lambda_architecture": ("riscv", "lambda_architecture must be arm64 or x86_64"),
    "lambda_memory_size": (64, "lambda_memory_size must be a whole number from 128 to 10240"),
    "lambda_memory": ({"watchdg": 256}, "lambda_memory must name functions"),
    "orchestrator_timeout_seconds": (
        30,
        "orchestrator_timeout_seconds must be a whole number from 60 to 900",
    ),
    "lambda_concurrency": ({"watchdog": 0}, "lambda_concurrency must be -1 (none reserved)"),
    "stream_parallelization_factor": (
        11,
        "stream_parallelization_factor must be a whole number from 1 to 10",
    ),
    "log_retention_days": (2, "log_retention_days must be one of CloudWatch's values"),
    "log_level": ("LOUD", "log_level must be DEBUG"),
    "sfn_log_level": ("SOME", "sfn_log_level must be OFF"),
    "sfn_timeout_seconds": (10, "sfn_timeout_seconds must be a whole number from 300"),
    "trigger_max_attempts": (0, "trigger_max_attempts must be a whole number from 1 to 10"),
    "events_table_ttl_days": (0, "events_table_ttl_days must be a whole number from 1 to 3650"),
    "watchdog_schedule": ("often", "watchdog_schedule must be rate(1 minute), rate(N minutes)"),
    "watchdog_silence_seconds": (700, "watchdog_silence_seconds must be at least 600"),
    "dead_man_url": ("http://plain.example.com", "dead_man_url must begin with https://"),
    "slack_secret_arn": ("slack", "slack_secret_arn must be the ARN"),
    "alert_routes": ({"route": []}, "alert_routes can have only the parts of alerts.yaml"),
    "job_environment": ({"PATH": "x"}, "Names in job_environment must begin with INTERLOCK_"),
    "alert_environment": ({"HOME": "x"}, "Names in alert_environment must begin with INTERLOCK_"),
    "job_secret_arns": (["*"], "job_secret_arns must be ARNs of secrets"),
    "alert_secret_arns": (["*"], "alert_secret_arns must be ARNs of secrets"),
    "allow_hosts": (["0.0.0.0/0"], "Each of allow_hosts must be a host"),
    "glue_job_arns": (["*"], "glue_job_arns must be ARNs of Glue jobs"),
    "emr_cluster_arns": (["*"], "emr_cluster_arns must be ARNs of EMR clusters"),
    "emr_role_arns": (["*"], "emr_role_arns must be ARNs of roles"),
    "emr_serverless_app_arns": (["*"], "emr_serverless_app_arns must be ARNs of EMR Serverless"),
    "emr_serverless_role_arns": (["*"], "emr_serverless_role_arns must be ARNs of roles"),
    "sfn_trigger_arns": (["*"], "sfn_trigger_arns must be ARNs of state machines"),
    "lambda_trigger_arns": (["*"], "lambda_trigger_arns must be ARNs of functions"),
    "kms_key_arn": (f"arn:aws:kms:{_HERE}:alias/mine", "kms_key_arn must be the ARN of a key"),
    "sns_alarm_topic_arn": ("topic", "sns_alarm_topic_arn must be the ARN of an SNS topic"),
    "extra_publisher_arns": (["*"], "extra_publisher_arns must be ARNs of IAM roles or users"),
    "tags": ({"interlock:environment": "x"}, "tags can't contain interlock:environment"),
}

#: Further wrong values: each would do nothing, or something else than it says.
ALSO_WRONG: tuple[tuple[str, Any, str], ...] = (
    ("lambda_memory_size", 256.5, "lambda_memory_size must be a whole number"),
    ("lambda_memory", {"watchdog": 64}, "lambda_memory must be a whole number from 128"),
    (
        "lambda_memory",
        {"event-sink": 256, "event_sink": 512},
        "lambda_memory names a function twice",
    ),
    ("lambda_concurrency", {"streamrouter": 5}, "lambda_concurrency must name functions: stream-"),
    (
        "lambda_concurrency",
        {"sla-monitor": 1, "sla_monitor": 2},
        "lambda_concurrency names a function twice",
    ),
    ("sfn_timeout_seconds", 300.5, "sfn_timeout_seconds must be a whole number"),
    ("trigger_max_attempts", 1.5, "trigger_max_attempts must be a whole number"),
    ("events_table_ttl_days", 1.5, "events_table_ttl_days must be a whole number"),
    ("watchdog_schedule", "rate(1 minutes)", "watchdog_schedule must be rate(1 minute)"),
    ("watchdog_silence_seconds", 86700, "at most 86400"),
    ("alert_routes", [], "alert_routes can have only the parts of alerts.yaml"),
    (
        "job_environment",
        {"INTERLOCK_INSTANCE": "other"},
        "job_environment can't set what Interlock sets itself",
    ),
    (
        "alert_environment",
        {"INTERLOCK_ALLOW_HOSTS": "10.0.0.0/8"},
        "alert_environment can't set what Interlock sets itself",
    ),
    ("allow_hosts", ["https://etl.internal"], "Each of allow_hosts must be a host"),
    ("allow_hosts", ["a.internal, b.internal"], "Each of allow_hosts must be a host"),
    ("glue_job_arns", [f"arn:aws:glue:{_HERE}:database/x"], "glue_job_arns must be ARNs of Glue"),
    (
        "extra_publisher_arns",
        [f"arn:aws:sts::{ACCOUNT}:assumed-role/etl/session"],
        "for a session, use its role",
    ),
)

#: What can only be seen with two of them together, or with the files.
WRONG_TOGETHER: tuple[tuple[dict[str, Any], str], ...] = (
    ({"enable_glue_trigger": True}, "enable_glue_trigger needs glue_job_arns"),
    (
        {
            "enable_emr_serverless_trigger": True,
            "emr_serverless_app_arns": [f"arn:aws:emr-serverless:{_HERE}:/applications/0"],
        },
        "enable_emr_serverless_trigger needs emr_serverless_role_arns",
    ),
    (
        {
            "enable_sfn_trigger": True,
            "sfn_trigger_arns": [f"arn:aws:states:{_HERE}:stateMachine:t-interlock-pipeline"],
        },
        "sfn_trigger_arns must list jobs one by one, without Interlock's own resources",
    ),
    (
        {"slack_secret_arn": EVERYTHING["slack_secret_arn"]},
        "A Slack token needs slack_channel_id",
    ),
    (
        {"create_slack_secret": True},
        "Set at most one of slack_secret_arn, create_slack_secret and slack_bot_token",
    ),
    ({"lambda_architecture": "x86_64"}, "run make package ARCH=x86_64"),
    (
        {"lambda_trigger_arns": [f"arn:aws:lambda:{_HERE}:function:theirs"]},
        "lambda_trigger_arns without enable_lambda_trigger allows nothing",
    ),
    (
        {"emr_role_arns": [f"arn:aws:iam::{ACCOUNT}:role/emr-step"]},
        "emr_role_arns without enable_emr_trigger allows nothing",
    ),
    (
        {"sfn_log_execution_data": True, "sfn_log_level": "OFF"},
        "sfn_log_execution_data needs a sfn_log_level other than OFF",
    ),
    (
        {"watchdog_schedule": "rate(1 hour)"},
        "watchdog_silence_seconds must be more than 3600, or the alarm never ends",
    ),
    (
        {"pipelines_path": "/nowhere", "calendars_path": "/nowhere-else"},
        "is missing: with calendars_path and pipelines_path alone no pipeline is loaded",
    ),
    ({}, "pipelines_path has no pipeline files: /nowhere"),
)

#: A channel without a token goes to another plan: the one above gives a token.
_CHANNEL_ALONE = "slack_channel_id needs a Slack token"


def variables() -> dict[str, str]:
    """Every variable of the module, with the block that declares it."""
    text = (MODULE / "variables.tf").read_text()
    found = re.findall(r'^variable "(\w+)" \{\n(.*?)^\}', text, re.DOTALL | re.MULTILINE)
    return dict(found)


def test_every_variable_says_what_it_is_and_of_what_type() -> None:
    assert len(variables()) > 40
    for name, block in variables().items():
        assert re.search(r"^  description = \"[A-Z].*\.?\"$", block, re.MULTILINE), name
        assert re.search(r"^  type\s+= ", block, re.MULTILINE), name


def test_every_check_of_a_variable_has_its_test() -> None:
    checked = {name for name, block in variables().items() if "validation {" in block}
    assert checked == set(WRONG)


def test_every_output_says_what_it_is() -> None:
    text = (MODULE / "outputs.tf").read_text()
    assert text.count('output "') == text.count("  description = ")


def test_no_file_gives_away_too_much() -> None:
    for file in MODULE.glob("*.tf"):
        text = file.read_text()
        assert not re.search(r"dynamodb:(\*|Scan|DeleteItem)", text), file.name
        assert "managed_policy" not in text and "policy_attachment" not in text, file.name
        assert "null_resource" not in text and 'data "external"' not in text, file.name


def test_the_machine_file_holds_nothing_that_a_template_would_take_for_its_own() -> None:
    text = (MODULE.parent / "statemachine.asl.json").read_text()
    assert "%{" not in text and "$${" not in text


def test_the_files_are_formatted(tmp_path: Path) -> None:
    if shutil.which("terraform") is None:
        pytest.skip("Terraform is not here: see https://developer.hashicorp.com/terraform/install")
    copy = tmp_path / "terraform"
    shutil.copytree(MODULE, copy, ignore=shutil.ignore_patterns(".terraform*"))
    ran = run(copy, "fmt", "-check", "-recursive", "-diff")
    assert ran.code == 0, ran.text


@pytest.mark.parametrize("example", ["minimal", "complete"])
def test_the_examples_are_valid(example: str, tmp_path: Path) -> None:
    plugins = needed_plugins()
    copy = tmp_path / "deploy"
    shutil.copytree(MODULE.parent, copy, ignore=shutil.ignore_patterns(".terraform*"))
    folder = copy / "terraform" / "examples" / example
    begun = run(folder, "init", "-backend=false", "-input=false", f"-plugin-dir={plugins}")
    assert begun.code == 0, begun.text
    ran = run(folder, "validate", "-no-color")
    assert ran.code == 0, ran.text


def test_every_wrong_value_is_refused_with_its_reason(tmp_path: Path) -> None:
    """All in one plan: what is wrong in one use of the module hides nothing of the others."""
    wrong = [("interlock", name, value, said) for name, (value, said) in WRONG.items()]
    wrong += [(f"also{n}", *each) for n, each in enumerate(ALSO_WRONG)]
    given: dict[str, dict[str, Any]] = {}
    for module, name, value, _ in wrong:
        given.setdefault(module, {"dist_path": str(tmp_path)})[name] = value

    ran = plan_all(tmp_path / "root", given)

    assert ran.code != 0
    problems = ran.text.split("Error: ")[1:]
    for module, name, _, said in wrong:
        assert any(f'"{module}"' in each and said in each for each in problems), (name, said)


def test_a_slack_channel_without_a_token_is_refused(tmp_path: Path) -> None:
    given = {"dist_path": str(package(tmp_path / "dist")), "slack_channel_id": "C0123456789"}
    ran = plan_all(tmp_path / "root", {"interlock": given}, only="terraform_data.package")
    assert ran.code != 0
    assert _CHANNEL_ALONE in ran.text


def test_the_settings_that_are_refused_in_environments_are_those_of_interlock_itself() -> None:
    for name in ("job_environment", "alert_environment"):
        (listed,) = re.findall(r"for name in (\[.*\]) :\n", variables()[name])
        assert {f"INTERLOCK_{each}" for each in json.loads(listed)} == OWN_SETTINGS


def test_the_parts_of_alert_routes_are_those_of_the_file() -> None:
    (listed,) = re.findall(r"keys\(var.alert_routes\), (\[.*?\])", variables()["alert_routes"])
    assert json.loads(listed) == list(Alerts.__struct_encode_fields__)


def test_what_does_not_go_together_is_refused_with_its_reason(tmp_path: Path) -> None:
    given: dict[str, Any] = {"dist_path": str(package(tmp_path / "dist"))}
    for variables_together, _ in WRONG_TOGETHER:
        given |= variables_together
    ran, _ = plan(tmp_path / "root", given)
    assert ran.code != 0
    unsaid = [said for _, said in WRONG_TOGETHER if said not in ran.text]
    assert unsaid == []
