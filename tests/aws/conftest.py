"""A clock, the services of one installation, and the homes of its functions."""

import pytest

from aws.functions import function_home
from aws.homes import Services, quick_services
from contracts.samples import ManualClock
from interlock.adapters.jobs.by_pipeline import JobsByPipeline
from interlock.ports.jobs import Jobs
from interlock.simulation.scripted_jobs import ScriptedJobs
from interlock.wiring.aws_ports import AwsBackend
from interlock.wiring.aws_settings import Function


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def services(clock: ManualClock) -> Services:
    return quick_services(clock)


@pytest.fixture
def jobs(clock: ManualClock) -> Jobs:
    return JobsByPipeline(ScriptedJobs({}, clock))


@pytest.fixture
def router(services: Services, clock: ManualClock) -> AwsBackend:
    return function_home(Function.STREAM_ROUTER, services, clock)
