"""Rewrites: alternative spellings, converted to the main one.

Each takes a node and returns the node that the struct expects, or the same node when it is already in that
form (or is something else: then the reader reports it). Raises ValueError when it can't be converted.
"""

from collections.abc import Callable
from decimal import Decimal

from interlock.domain import canonical, job_forms
from interlock.domain.pipeline import Weekday
from interlock.files.json_nodes import node_of
from interlock.files.nodes import List, Map, Node, Scalar
from interlock.files.scalars import meaning


def _seconds(node: Node) -> Node:
    """`30` as `30s`."""
    number = _number(node)
    return node if number is None else _text(job_forms.seconds_text(number), node)


def _digits(node: Node) -> Node:
    """`"123"` as `123`."""
    if isinstance(node, Scalar) and isinstance(meaning(node), str):
        if not (node.text.isascii() and node.text.isdigit() and len(node.text) < 20):
            raise ValueError("neither a whole number nor digits")
        return Scalar(node.text, True, node.line, node.column)
    return node


def _json_text(node: Node) -> Node:
    """`1.50` and `true` as the texts that JSON has for them."""
    if not isinstance(node, Scalar):
        return node
    value = meaning(node)
    if isinstance(value, str) or value is None or _number(node, bools=True) is None:
        return node
    return _text(canonical.encode(value), node)


def _json_object(node: Node) -> Node:
    """A text that holds a JSON object as that map."""
    if isinstance(node, Scalar) and isinstance(meaning(node), str):
        return _placed(node_of(job_forms.json_object(node.text), depth=1), node)
    return node


def _command_line(node: Node) -> Node:
    """One text as the list of its words."""
    if isinstance(node, Scalar) and isinstance(meaning(node), str):
        row = List(node.line, node.column)
        row.items = [_text(word, node) for word in job_forms.argv(node.text)]
        return row
    return node


def _pairs(node: Node) -> Node:
    """A map as a list of `key=value`, in its order."""
    if not isinstance(node, Map) or node.again:
        return node
    row = List(node.line, node.column)
    for key, value in node.items.items():
        text = _json_text(value)
        if not isinstance(text, Scalar) or not isinstance(meaning(text), str):
            raise ValueError(f"the value of {key} is not a text, number or boolean")
        row.items.append(_text(f"{key}={text.text}", value))
    return row


def _weekday(node: Node) -> Node:
    """`sat` as `saturday`."""
    if isinstance(node, Scalar) and len(node.text) == 3:
        for day in Weekday:
            if day.startswith(node.text.lower()):
                return _text(day, node)
    return node


def _number(node: Node, bools: bool = False) -> int | Decimal | None:
    """The finite number that a scalar means, or None."""
    value = meaning(node) if isinstance(node, Scalar) else None
    if isinstance(value, bool):
        return value if bools else None
    if isinstance(value, int) or (isinstance(value, Decimal) and value.is_finite()):
        return value
    return None


def _text(text: str, like: Node) -> Scalar:
    return Scalar(text, False, like.line, like.column)


def _placed(node: Node, like: Node) -> Node:
    """Every node of a tree gets the position of the text it was parsed from."""
    node.line, node.column = like.line, like.column
    for child in _children(node):
        _placed(child, like)
    return node


def _children(node: Node) -> list[Node]:
    if isinstance(node, Map):
        return [*node.items.values(), *node.keys.values()]
    return node.items if isinstance(node, List) else []


REWRITES: dict[str, Callable[[Node], Node]] = {
    "seconds": _seconds,
    "digits": _digits,
    "JSON text": _json_text,
    "JSON object": _json_object,
    "command line": _command_line,
    "pairs": _pairs,
    "weekday": _weekday,
}
