"""Machine: a state machine whose file has been parsed and validated.

The interpreter knows the part of the Amazon States Language that our own file uses. Anything else in a
file is refused here, with the name of the state and the field: a machine that loads will run.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec

from interlock.domain import canonical
from interlock.errors import ConfigError
from interlock.lifecycle.asl import soundness
from interlock.lifecycle.asl.states import Positive, State


class Machine(msgspec.Struct, frozen=True):
    """Keeps the text and its hash: an execution continues under the machine it began with."""

    text: str
    hash: str
    start_at: str
    states: Mapping[str, State]
    timeout: timedelta | None


class _Document(msgspec.Struct, rename="pascal", forbid_unknown_fields=True):
    start_at: str
    states: dict[str, dict[str, Any]]
    timeout_seconds: Positive | None = None
    comment: str = ""


def parse(text: str) -> Machine:
    """Read a machine. Raises ConfigError, listing every problem."""
    document = _document(text)
    states: dict[str, State] = {}
    problems = []
    for name, declared in document.states.items():
        try:
            states[name] = msgspec.convert(declared, State, dec_hook=_parsed)
        except msgspec.ValidationError as error:
            problems.append(f"state {name}: {error}")
    problems = problems or list(soundness.problems(document.start_at, states))
    if problems:
        raise ConfigError("invalid state machine: " + "; ".join(problems))
    timeout = document.timeout_seconds
    return Machine(
        text=text,
        hash=canonical.content_hash(canonical.decode(text)),
        start_at=document.start_at,
        states=states,
        timeout=None if timeout is None else timedelta(seconds=timeout),
    )


def _document(text: str) -> _Document:
    try:
        return msgspec.convert(canonical.decode(text), _Document)
    except msgspec.DecodeError as error:
        raise ConfigError(f"not a state machine: {error}") from error


def _parsed(kind: type, declared: Any) -> Any:
    """Paths, templates and rules parse themselves; their ValueError gets the field's name."""
    return kind(declared)
