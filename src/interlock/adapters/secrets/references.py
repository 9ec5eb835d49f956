"""Secrets: the values of `secret://env/NAME`, `secret://file/PATH` and `secret://aws-sm/ARN`.

Values are cached for five minutes. They go only into a request or the environment of a command; whatever
is shown or stored passes through `mask` first.
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from interlock.adapters.secrets.spellings import spellings
from interlock.domain.job_forms import OWN_SETTINGS
from interlock.errors import ConfigError

SECRETS_FOLDER = Path("/run/secrets")
KEPT_SECONDS = 300.0
LARGEST_SECRET = 64 * 1024
MASK = "***"

#: Returns the text of a secret by its ARN. Raises ConfigError or TransientError.
FetchSecret = Callable[[str], str]


class Secret:
    """A value that hides itself in output."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return MASK


class Secrets:
    """Every secret that this controller may use."""

    def __init__(
        self,
        environment: Mapping[str, str],
        folder: Path = SECRETS_FOLDER,
        fetch: FetchSecret | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._environment = environment
        self._folder = folder
        self._fetch = fetch
        self._monotonic = monotonic
        self._kept: dict[str, tuple[float, Secret]] = {}
        self._known: tuple[str, ...] = ()

    def get(self, reference: str) -> Secret:
        """Takes what follows `secret://`. Raises ConfigError when there is no such secret."""
        now = self._monotonic()
        until, secret = self._kept.get(reference, (now, Secret("")))
        if now < until:
            return secret
        secret = Secret(self._read(reference))
        self._kept[reference] = (now + KEPT_SECONDS, secret)
        self.learn(secret.reveal())
        return secret

    def drop(self, references: Iterable[str]) -> None:
        """Forget cached values: they were refused, and may have been replaced."""
        for reference in references:
            self._kept.pop(reference, None)

    def learn(self, value: str) -> None:
        """Mask this value too, from now on."""
        known = {*self._known, *spellings(value)}
        self._known = tuple(sorted(known, key=len, reverse=True))

    def mask(self, text: str) -> str:
        """The text without any value ever resolved; longest first, because one may contain another."""
        for value in self._known:
            text = text.replace(value, MASK)
        return text

    def _read(self, reference: str) -> str:
        kind, _, place = reference.partition("/")
        if kind == "env":
            value = self._from_environment(place)
        elif kind == "file":
            value = self._from_file(place)
        elif kind == "aws-sm":
            value = self._from_aws(place)
        else:
            raise ConfigError(f"unknown secret type secret://{kind}: use env, file or aws-sm")
        if not value:
            raise ConfigError(f"secret://{reference} is empty")
        return value

    def _from_environment(self, name: str) -> str:
        if not name.startswith("INTERLOCK_") or name in OWN_SETTINGS:
            raise ConfigError(
                f"secret://env/{name} can't be used in files: the name must begin with INTERLOCK_"
                " and not be a setting of Interlock itself"
            )
        if name not in self._environment:
            raise ConfigError(f"secret://env/{name} is not set")
        return self._environment[name]

    def _from_file(self, place: str) -> str:
        folder = self._folder.resolve()
        path = (folder / place).resolve()
        if ".." in place.split("/") or not path.is_relative_to(folder):
            raise ConfigError(f"secret://file/{place} leads out of the secrets folder")
        try:
            with path.open("rb") as file:
                text = file.read(LARGEST_SECRET).decode()
        except (OSError, ValueError) as error:
            raise ConfigError(f"can't read secret://file/{place}") from error
        return text.removesuffix("\n")

    def _from_aws(self, place: str) -> str:
        if self._fetch is None:
            raise ConfigError("secret://aws-sm needs: pip install 'interlock[aws]'")
        arn, _, key = place.partition("#")
        text = self._fetch(arn)
        return _field(text, key, arn) if key else text


class UnreadSecrets(Secrets):
    """For viewing only: shows the mask of every secret, and reads none."""

    def __init__(self) -> None:
        super().__init__({})

    def get(self, reference: str) -> Secret:
        return Secret(MASK)


def _field(text: str, key: str, arn: str) -> str:
    try:
        fields: Any = json.loads(text)
    except ValueError:
        fields = None
    value = fields.get(key) if isinstance(fields, dict) else None
    if not isinstance(value, str):
        raise ConfigError(f"secret://aws-sm/{arn} has no text value {key!r}")
    return value
