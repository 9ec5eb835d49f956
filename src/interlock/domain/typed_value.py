"""Typed value: the value of a field as a person types it."""

from typing import Any

from interlock.domain import canonical


def typed_value(text: str) -> Any:
    """`4200` is a number, `true` a boolean, and anything that is not JSON is text."""
    try:
        return canonical.decode(text)
    except ValueError:
        return text
