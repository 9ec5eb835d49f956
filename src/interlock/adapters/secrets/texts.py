"""Texts: resolves `${...}` and `secret://` in a file's text when the job starts.

One pass over the text: inserted values are not expanded again, so no value can refer to another.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from interlock.domain.job import JobContext
from interlock.domain.job_forms import JOB_RUN_ID, OWN_SETTINGS, RUN_NAMES
from interlock.errors import ConfigError

#: The prefix of variables that an operator sets for use in files.
PREFIX = "INTERLOCK_"

_NAMED = re.compile(r"\$\$\{|\$\{([^{}]*)\}")
_NAMED_OR_SECRET = re.compile(_NAMED.pattern + r"|secret://([^\s\"',;]*)")


class Texts:
    """The replacements for one run. `secret` returns the value of a `secret://` reference."""

    def __init__(
        self,
        environment: Mapping[str, str],
        values: Mapping[str, str],
        secret: Callable[[str], str] | None = None,
    ) -> None:
        self._environment = environment
        self._values = values
        self._secret = secret

    def text(self, written: str) -> str:
        """Raises ConfigError for a name without a value."""
        return _NAMED.sub(lambda match: self._named(match, _as_it_is), written)

    def url(self, written: str) -> str:
        """Values of a run can't change the path or the query; values of an operator can."""
        return _NAMED.sub(lambda match: self._named(match, _encoded), written)

    def value(self, written: Any) -> Any:
        """Replaces the texts inside a parsed map or list: no value can break the JSON."""
        if isinstance(written, str):
            return self.text(written)
        if isinstance(written, Mapping):
            return {key: self.value(each) for key, each in written.items()}
        if isinstance(written, list | tuple):
            return [self.value(each) for each in written]
        return written

    def secret_text(self, written: str) -> str:
        """Also replaces references to secrets: for headers, `auth` and a command's `env`."""
        return _NAMED_OR_SECRET.sub(self._named_or_secret, written)

    def references(self, written: str) -> tuple[str, ...]:
        """The secrets that a text refers to."""
        found = (match[2] for match in _NAMED_OR_SECRET.finditer(written))
        return tuple(self.text(reference) for reference in found if reference is not None)

    def _named_or_secret(self, match: re.Match[str]) -> str:
        if match[2] is None:
            return self._named(match, _as_it_is)
        if self._secret is None:
            raise ConfigError("secret:// can't be used here")
        return self._secret(self.text(match[2]))

    def _named(self, match: re.Match[str], put: Callable[[str], str]) -> str:
        name = match[1]
        if name is None:
            return "${"
        if name in self._values:
            return put(self._values[name])
        if name.startswith(PREFIX):
            return self._from_environment(name)
        if name in RUN_NAMES:
            raise ConfigError(f"${{{name}}} has no value in this run")
        return match[0]

    def _from_environment(self, name: str) -> str:
        if name in OWN_SETTINGS:
            raise ConfigError(f"{name} is a setting of Interlock itself and can't be used in files")
        value = self._environment.get(name)
        if not value:
            raise ConfigError(f"{name} is not set in the environment of the controller")
        return value


def run_values(context: JobContext) -> dict[str, str]:
    """The values of a run for `${...}`. A daily run has no HOUR."""
    values = {
        "PIPELINE": context.pipeline,
        "SCHEDULE": context.schedule,
        "DATE": context.date,
        "LABEL": context.label,
        "ATTEMPT": str(context.attempt),
        "RUN_ID": context.token,
    }
    return values if context.hour is None else {**values, "HOUR": context.hour}


def with_job_run_id(values: Mapping[str, str], run_id: str) -> dict[str, str]:
    """The values once the job has returned its run id."""
    return {**values, JOB_RUN_ID: run_id}


def dates(values: Mapping[str, str]) -> dict[str, str]:
    """The dates as jobs get them: `par_day`, and `par_hour` for an hourly run."""
    day = {"par_day": values["DATE"].replace("-", "")}
    return {**day, "par_hour": values["HOUR"]} if "HOUR" in values else day


def _as_it_is(value: str) -> str:
    return value


def _encoded(value: str) -> str:
    return quote(value, safe="")
