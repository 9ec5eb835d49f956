"""AWS backend: the installation that the command line talks to.

The block `[aws]` of `interlock.toml` names it, as the Terraform module puts it out; a variable of the
environment wins.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from interlock.adapters.aws.clients import FOR_PEOPLE, MakeClient, make_client
from interlock.errors import ConfigError
from interlock.operations.alert_access import AlertAccess
from interlock.operations.store_queries import StoreQueries
from interlock.ports.engine import Clock
from interlock.queries.alerts_in_force import stored_alerts
from interlock.wiring.aws_jobs import aws_jobs, aws_outputs
from interlock.wiring.aws_ports import AwsBackend, open_aws_ports
from interlock.wiring.aws_settings import REQUIRED, AwsSettings, Function, read_aws_settings
from interlock.wiring.settings import FILE, read_file

_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
_EVENTS = "EVENTS_TABLE"
#: A person may ask for whatever the watchdog does.
_NAMES = (*REQUIRED[Function.WATCHDOG], _EVENTS)


def open_aws_backend(
    project: Path,
    environment: Mapping[str, str],
    *,
    clock: Clock | None = None,
    make: MakeClient | None = None,
) -> AwsBackend:
    """Raises ConfigError that says everything that is missing, and where it is set."""
    named = names_of(project, environment)
    return open_aws_ports(
        settings_from(named), clock=clock, make=make or maker(named), jobs=aws_jobs
    )


def aws_queries(backend: AwsBackend, watchdog_every: timedelta) -> StoreQueries:
    """What can be asked of it."""
    store = backend.store
    outputs = aws_outputs(backend.ports.clock)
    access = alert_access(backend)
    return StoreQueries(backend.ports, store.history, access, watchdog_every, outputs=outputs)


def alert_access(backend: AwsBackend) -> AlertAccess:
    store = backend.store
    return AlertAccess(store, partial(stored_alerts, store.alert_routes))


def names_of(project: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """What the file of a project and the environment call the parts of the installation."""
    file = project / FILE
    block = read_file(file).get("aws", {})
    if not isinstance(block, Mapping):
        raise ConfigError(f"{file}: aws is a table: [aws]")
    known = {name.lower(): name for name in _NAMES} | {"region": _REGIONS[0]}
    unknown = sorted(set(block) - set(known))
    if unknown:
        raise ConfigError(
            f"{file}: [aws] has no {', '.join(unknown)}; there are: {', '.join(known)}"
        )
    written = {known[name]: _text(value) for name, value in block.items()}
    said = {name: environment[name] for name in (*_NAMES, *_REGIONS) if environment.get(name)}
    return written | said


def settings_from(named: Mapping[str, str]) -> AwsSettings:
    """Raises ConfigError with every name that is missing."""
    missing = [name for name in _NAMES if not named.get(name)]
    if missing:
        raise ConfigError(
            f"--backend aws does not know its installation: {', '.join(missing)} missing.\n"
            f"Put what `terraform output -raw interlock_toml` prints into {FILE}, or set them."
        )
    settings = read_aws_settings(Function.WATCHDOG, named)
    return replace(settings, events_table=named[_EVENTS])


def maker(named: Mapping[str, str]) -> MakeClient:
    """Clients in the region that is named, for people who wait."""
    region = next((named[name] for name in _REGIONS if named.get(name)), None)
    return partial(make_client, region=region, config=FOR_PEOPLE)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value)
