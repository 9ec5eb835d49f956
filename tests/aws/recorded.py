"""Recorded: payloads as the services hand them to functions."""

import json
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parents[1] / "events"


def payload(name: str) -> dict[str, Any]:
    """As the runtime of a function reads it: JSON with floats."""
    found: dict[str, Any] = json.loads((_FOLDER / f"{name}.json").read_text())
    return found
