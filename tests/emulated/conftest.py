"""One installation for every flow: made, loaded, set going; in the end taken away, and nothing left."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from deploy.packaging import ARCH, PYTHON, packaging
from deploy.terraform import plugin_folder
from emulated.applied import Applied
from emulated.emulator import COMMAND, Emulator, emulator
from emulated.installation import Installation
from emulated.made import Made
from emulated.project import Project, copied_to
from emulated.surroundings import Etl, etl_service, make_function, make_secret
from interlock.wiring.aws_settings import Function
from slack_stand_in import SlackStandIn, slack_stand_in

DATE = "2026-03-02"
CHANNEL = "C0MAIN"
HERE = "127.0.0.1"

Way = Applied | Made


@dataclass(frozen=True)
class Home:
    """An installation with its flows under way, and the way in which it was made."""

    there: Installation
    way: Way


@pytest.fixture(scope="session")
def etl() -> Iterator[Etl]:
    with etl_service() as served:
        yield served


@pytest.fixture(scope="session")
def slack() -> Iterator[SlackStandIn]:
    with slack_stand_in() as served:
        yield served


@pytest.fixture(scope="session")
def emulated(tmp_path_factory: pytest.TempPathFactory, slack: SlackStandIn) -> Iterator[Emulator]:
    if COMMAND is None:
        pytest.skip("needs an emulator of AWS: make test-aws")
    with emulator(tmp_path_factory.mktemp("emulator"), {"SLACK_API_URL": slack.url}) as up:
        yield up


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return copied_to(tmp_path_factory.mktemp("project") / "project")


@pytest.fixture(scope="session")
def way(emulated: Emulator, etl: Etl, tmp_path_factory: pytest.TempPathFactory) -> Way:
    """The module; our own calls where there is no Terraform."""
    dist = tmp_path_factory.mktemp("dist")
    packaging().build(ARCH, PYTHON, dist)
    function, secret = make_function(emulated), make_secret(emulated)
    if plugin_folder() is None:
        return Made(emulated, dist, _environments(etl, secret))
    return Applied(
        tmp_path_factory.mktemp("root"), emulated, dist, _variables(etl, function, secret)
    )


@pytest.fixture(scope="session")
def home(emulated: Emulator, way: Way, project: Project) -> Iterator[Home]:
    """Every flow is set going at once: each test then waits for its own."""
    way.load(project)
    there = Installation(emulated)
    for pipeline in ("retried", "too-late", "drifting", "by-http", "by-lambda", "by-hand"):
        there.put_reading(pipeline, "orders", date=DATE, count=4200)
    there.put_reading("by-cron", "orders", count=1)
    there.wait_for_run("drifting", "COMPLETED")
    there.put_reading("drifting", "audit", date=DATE, rows=100)
    there.wait_for_event("drifting", "POST_RUN_BASELINE_CAPTURED")
    there.put_reading("drifting", "audit", date=DATE, rows=500)
    yield Home(there, way)
    if isinstance(way, Applied):  # the other goes with the emulator
        way.destroy()
        assert there.left() == []


def _variables(etl: Etl, function: str, secret: str) -> dict[str, object]:
    """The variables of the module, besides those of every installation."""
    return {
        "enable_lambda_trigger": True,
        "lambda_trigger_arns": [function],
        "slack_channel_id": CHANNEL,
        "slack_secret_arn": secret,
        "allow_hosts": [HERE],
        "job_environment": {"INTERLOCK_ETL_URL": etl.url},
        "watchdog_schedule": "rate(1 minute)",
    }


def _environments(etl: Etl, secret: str) -> dict[Function, dict[str, str]]:
    """What the module makes of that."""
    return {
        Function.ORCHESTRATOR: {"INTERLOCK_ALLOW_HOSTS": HERE, "INTERLOCK_ETL_URL": etl.url},
        Function.ALERT_DISPATCHER: {
            "INTERLOCK_ALLOW_HOSTS": HERE,
            "SLACK_CHANNEL_ID": CHANNEL,
            "SLACK_SECRET_ARN": secret,
        },
    }
