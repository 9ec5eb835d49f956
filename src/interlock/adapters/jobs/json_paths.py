"""JSON paths: `run.id` and `items.0.id`, into the answer of a platform."""

from typing import Any

from interlock.domain import canonical


def at(answer: Any, path: str) -> Any:
    """What stands there, or None."""
    found = answer
    for step in path.split("."):
        if isinstance(found, dict):
            found = found.get(step)
        elif isinstance(found, list) and step.isascii() and step.isdigit():
            found = found[int(step)] if int(step) < len(found) else None
        else:
            return None
    return found


def text_at(answer: Any, path: str) -> str | None:
    """What stands there as text: numbers and booleans as JSON has them. None for anything else."""
    found = at(answer, path)
    if found is None or isinstance(found, dict | list):
        return None
    return found if isinstance(found, str) else canonical.encode(found)
