"""JSON nodes: a decoded JSON value as a tree of nodes, for configs that come from a store."""

from decimal import Decimal
from typing import Any

from interlock.files.nodes import DEEPEST, List, Map, Node, Scalar, Unreadable

_WORDS = {
    "nan": ".nan",
    "snan": ".nan",
    "inf": ".inf",
    "-inf": "-.inf",
    "infinity": ".inf",
    "-infinity": "-.inf",
}


def node_of(value: Any, depth: int = 0) -> Node:
    """Raises Unreadable for what nests too deep, TypeError for what JSON does not have."""
    if depth > DEEPEST:
        raise Unreadable(f"more than {DEEPEST} levels deep")
    if isinstance(value, dict):
        tree = Map()
        for key, item in value.items():
            tree.put(Scalar(str(key), plain=False), node_of(item, depth + 1))
        return tree
    if isinstance(value, list | tuple):
        row = List()
        row.items = [node_of(item, depth + 1) for item in value]
        return row
    return _scalar(value)


def _scalar(value: Any) -> Scalar:
    match value:
        case str():
            return Scalar(str(value), plain=False)
        case None:
            return Scalar("null", plain=True)
        case bool():
            return Scalar("true" if value else "false", plain=True)
        case int() | Decimal() | float():
            text = str(Decimal(value)) if isinstance(value, int) else str(value).lower()
            return Scalar(_WORDS.get(text, text), plain=True)
    raise TypeError(f"{type(value).__name__} is not a JSON value")
