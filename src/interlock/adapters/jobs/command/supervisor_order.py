"""Orders: what a supervisor runs, with everything resolved.

An order goes through a pipe and never to disk: it is the only place where secrets stand.
"""

import os
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec

from interlock.adapters.jobs.command.job_folder import JobFolder, Spec
from interlock.adapters.jobs.job_environment import RESERVE, Surroundings
from interlock.adapters.secrets.references import Secrets
from interlock.adapters.secrets.spellings import spellings
from interlock.adapters.secrets.texts import PREFIX, Texts, dates
from interlock.domain.job_configs import CommandConfig
from interlock.domain.job_forms import names_a_secret, names_in

#: A shorter value, under a name that does not call it a secret, is a word like any other.
SHORTEST_SECRET = 6


def order_of(
    folder: JobFolder, spec: Spec, grace: timedelta, surroundings: Surroundings
) -> dict[str, Any]:
    """The fields of the supervisor's Order. Raises ConfigError for what can't be resolved."""
    config = msgspec.convert(spec.config, CommandConfig)
    environment, secrets = surroundings.environment, surroundings.secrets
    texts = Texts(environment, spec.values, lambda place: secrets.get(place).reveal())
    env = {name: texts.secret_text(value) for name, value in config.env.items()}
    within, patience = _limits(spec, grace, surroundings)
    return {
        "token": folder.token,
        "folder": str(folder.path),
        "argv": [os.fsencode(texts.text(word)) for word in config.command],
        "cwd": os.fsencode(surroundings.project.resolve() / texts.text(config.cwd or "")),
        "environment": _encoded({**_inherited(environment), **env, **_about(spec.values)}),
        "timeout": within.total_seconds(),
        "grace": patience.total_seconds(),
        "masked": [
            os.fsencode(spelling)
            for value in _secret_values(config, texts, secrets)
            for spelling in spellings(value)
        ],
        "ends": spec.ends,
    }


def shown_order(
    folder: JobFolder, spec: Spec, grace: timedelta, surroundings: Surroundings
) -> dict[str, Any]:
    """An order for people: without the variables that the command inherits."""
    order = order_of(folder, spec, grace, surroundings)
    told = (*spec.config["env"], *_about(spec.values))
    return {
        "argv": [os.fsdecode(word) for word in order["argv"]],
        "cwd": os.fsdecode(order["cwd"]),
        "env": {name: os.fsdecode(order["environment"][os.fsencode(name)]) for name in told},
        "timeoutSeconds": order["timeout"],
    }


def _secret_values(config: CommandConfig, texts: Texts, secrets: Secrets) -> list[str]:
    """What the output must not show: references, and what the file takes from our variables."""
    references = [each for value in config.env.values() for each in texts.references(value)]
    written = (*config.command, *config.env.values())
    names = {name for text in written for name in names_in(text) if name.startswith(PREFIX)}
    named = {name: texts.text(f"${{{name}}}") for name in names}
    return [
        *(secrets.get(each).reveal() for each in references),
        *(v for name, v in named.items() if names_a_secret(name) or len(v) >= SHORTEST_SECRET),
    ]


def _limits(
    spec: Spec, grace: timedelta, surroundings: Surroundings
) -> tuple[timedelta, timedelta]:
    """How long it may take, and how long its ending may. Within a call both must fit in."""
    timeout = surroundings.bounded(timedelta(seconds=spec.timeout))
    return timeout, grace if surroundings.time_left is None else min(grace, RESERVE / 2)


def _inherited(environment: Mapping[str, str]) -> dict[str, str]:
    """What a command may know of the controller's surroundings: not its settings, least its secrets."""
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith(PREFIX) and name not in _OURS
    }


#: Settings of the controller that hold secrets under names which are not ours to choose.
_OURS = frozenset({"SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET", "DEAD_MAN_URL"})


def _about(values: Mapping[str, str]) -> dict[str, str]:
    """The variables that describe the run to its command. INTERLOCK_TOKEN, our API token, is not for it."""
    told = {
        "PIPELINE": values["PIPELINE"],
        "SCHEDULE": values["SCHEDULE"],
        "DATE": values["DATE"],
        "LABEL": values["LABEL"],
        "ATTEMPT": values["ATTEMPT"],
        "JOB_TOKEN": values["RUN_ID"],
        **{name.upper(): value for name, value in dates(values).items()},
    }
    if "HOUR" in values:
        told["HOUR"] = values["HOUR"]
    return {f"{PREFIX}{name}": value for name, value in told.items()}


def _encoded(environment: Mapping[str, str]) -> dict[bytes, bytes]:
    return {os.fsencode(name): os.fsencode(value) for name, value in environment.items()}
