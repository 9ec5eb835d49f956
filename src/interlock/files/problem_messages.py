"""Problem messages: the problems that any value may have, each worded in one place."""

import difflib
from collections.abc import Collection
from decimal import Decimal
from typing import Any

from interlock.files.nodes import List, Map, Node, Scalar
from interlock.files.problem import Path, ProblemKind, printable
from interlock.files.problem_collector import ProblemCollector
from interlock.files.scalars import is_nothing, meaning


def wrong_type(node: Node, path: Path, reading: ProblemCollector, due: str) -> Any:
    hint = ""
    if due == "text" and isinstance(node, Scalar) and not is_nothing(node):
        hint = f'put it in quotes: "{printable(node.text)}"'
    message = f"expected {due}, found {_found(node)}"
    return reading.error(path, node, ProblemKind.WRONG_TYPE, message, hint)


def _found(node: Node) -> str:
    if isinstance(node, Map):
        return "a map"
    if isinstance(node, List):
        return "a list"
    value = meaning(node)
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, str):
        return "text"
    return "a number" if is_whole(value) else "a number that is not whole"


def unknown_key(
    node: Map, key: str, allowed: Collection[str], path: Path, reading: ProblemCollector
) -> None:
    hint = f"allowed: {', '.join(allowed)}"
    if key == "<<":
        hint = "merge keys are not YAML 1.2: repeat the lines, or use an alias for a whole value"
    else:
        hint = meant(key, allowed, reading) or hint
    reading.error(path, node.keys[key], ProblemKind.UNKNOWN_KEY, "unknown key", hint)


def meant(word: str, allowed: Collection[str], reading: ProblemCollector) -> str:
    """The closest allowed word, if it is close enough; nothing in a file with only wrong words."""
    if not reading.may_suggest():
        return ""
    by_small = {each.lower(): each for each in allowed}
    near = difflib.get_close_matches(word[:40].lower(), by_small, n=1, cutoff=0.6)
    return f"did you mean {by_small[near[0]]}?" if near else ""


def duplicate(node: Map, key: str, path: Path, reading: ProblemCollector) -> Any:
    first, again = node.keys[key], node.again[key]
    where = f"; it is first set in line {first.line}" if first.line else ""
    return reading.error(path, again, ProblemKind.DUPLICATE, f"duplicate key{where}")


def is_whole(value: int | Decimal) -> bool:
    if isinstance(value, int):
        return True
    return value.is_finite() and value == value.to_integral_value()
