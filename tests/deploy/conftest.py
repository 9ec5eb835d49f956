"""Plans for every test here: one with the defaults, one with everything switched on."""

from pathlib import Path
from typing import Any

import pytest

from deploy.planned import Plan
from deploy.terraform import ACCOUNT, EXAMPLE, REGION, needed_plugins, planned_once

_HERE = f"{REGION}:{ACCOUNT}"

#: Every variable that switches something on.
EVERYTHING: dict[str, Any] = {
    "environment": "a-very-long-name-020",
    "enable_tracing": True,
    "sfn_log_level": "ALL",
    "sfn_log_execution_data": True,
    "dead_man_url": "https://alive.example.com/ping",
    "slack_channel_id": "C0123456789",
    "slack_secret_arn": f"arn:aws:secretsmanager:{_HERE}:secret:slack-AbCdEf",
    "alert_routes": {"sinks": {}},
    "job_environment": {"INTERLOCK_ETL_URL": "https://etl.example.com"},
    "alert_environment": {"INTERLOCK_HOOK": "https://hooks.example.com"},
    "job_secret_arns": [f"arn:aws:secretsmanager:{_HERE}:secret:job-AbCdEf"],
    "alert_secret_arns": [f"arn:aws:secretsmanager:{_HERE}:secret:alert-AbCdEf"],
    "allow_hosts": ["10.1.2.0/24"],
    "enable_glue_trigger": True,
    "glue_job_arns": [f"arn:aws:glue:{_HERE}:job/orders"],
    "enable_emr_trigger": True,
    "emr_cluster_arns": [f"arn:aws:elasticmapreduce:{_HERE}:cluster/j-1"],
    "emr_role_arns": [f"arn:aws:iam::{ACCOUNT}:role/emr-step"],
    "enable_emr_serverless_trigger": True,
    "emr_serverless_app_arns": [f"arn:aws:emr-serverless:{_HERE}:/applications/00f"],
    "emr_serverless_role_arns": [f"arn:aws:iam::{ACCOUNT}:role/emr-job"],
    "enable_sfn_trigger": True,
    "sfn_trigger_arns": [f"arn:aws:states:{_HERE}:stateMachine:theirs"],
    "enable_lambda_trigger": True,
    "lambda_trigger_arns": [f"arn:aws:lambda:{_HERE}:function:theirs"],
    "kms_key_arn": f"arn:aws:kms:{_HERE}:key/11111111-2222-3333-4444-555555555555",
    "sns_alarm_topic_arn": f"arn:aws:sns:{_HERE}:alarms",
    "extra_publisher_arns": [f"arn:aws:iam::{ACCOUNT}:role/theirs"],
    "lambda_memory_size": 1024,
    "lambda_memory": {"sla_monitor": 2048},
    "lambda_concurrency": {
        "stream_router": 10,
        "orchestrator": 20,
        "watchdog": 1,
        "event_sink": 5,
        "alert-dispatcher": 3,
    },
    "watchdog_schedule": "rate(10 minutes)",
    "tags": {"team": "data"},
    "pipelines_path": str(EXAMPLE / "pipelines"),
    "calendars_path": str(EXAMPLE / "calendars"),
}


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder that all workers of this run have in common."""
    own = tmp_path_factory.getbasetemp()
    return (own if worker_id == "master" else own.parent) / "terraform"


@pytest.fixture(scope="session")
def default_plan(shared: Path) -> Plan:
    needed_plugins()
    return planned_once("default", {}, shared)


@pytest.fixture(scope="session")
def whole_plan(shared: Path) -> Plan:
    needed_plugins()
    return planned_once("whole", EVERYTHING, shared)
