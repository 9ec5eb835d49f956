"""Definition: the state machine file that is deployed, filled in as Terraform's templatefile() does."""

import re
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from interlock.errors import ConfigError, NotFoundError
from interlock.lifecycle import asl

_NAME: Final = "statemachine.asl.json"
_VARIABLE: Final = re.compile(r"\$\{([^}]*)\}")


def load(substitutions: Mapping[str, str | int]) -> asl.Machine:
    """The machine, ready to run. Raises ConfigError for a variable without a value."""
    return asl.parse(render(substitutions))


def render(substitutions: Mapping[str, str | int]) -> str:
    """The file's text with every `${variable}` replaced; only then is it JSON."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in substitutions:
            raise ConfigError(f"{_NAME} needs a value for {match[1]}")
        return str(substitutions[match[1]])

    return _VARIABLE.sub(value, _file().read_text(encoding="utf-8"))


def _file() -> Traversable:
    """A wheel has the file next to this module; a checkout has it in deploy/."""
    packaged = resources.files("interlock.lifecycle") / _NAME
    checkout = Path(__file__).parents[3] / "deploy" / _NAME
    for place in (packaged, checkout):
        if place.is_file():
            return place
    raise NotFoundError(f"{_NAME} is neither in the package nor at {checkout}")
