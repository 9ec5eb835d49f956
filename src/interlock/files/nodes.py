"""Nodes: a file as written, before it is interpreted. Maps, lists and scalars with their positions.

A scalar keeps its text: what `10:00` or `no` means depends on what is expected in its place. JSON is the
same tree, because every JSON scalar reads the same as a plain or quoted YAML scalar.
"""

from collections.abc import Iterator

from interlock.files.problem import Path

#: Deeper nesting than this is refused, whatever the file's form.
DEEPEST = 64


class Unreadable(ValueError):  # noqa: N818 - a state of the file, not an error of ours
    """The file as a whole can't be read."""

    def __init__(self, message: str, line: int = 0, column: int = 0, hint: str = "") -> None:
        super().__init__(message)
        self.line, self.column, self.hint = line, column, hint


class Scalar:
    """A text, plain or quoted. Only a plain one can be a number, a boolean or null."""

    __slots__ = ("column", "line", "plain", "text")

    def __init__(self, text: str, plain: bool, line: int = 0, column: int = 0) -> None:
        self.text, self.plain = text, plain
        self.line, self.column = line, column


class List:
    """Values in order."""

    __slots__ = ("column", "items", "line")

    def __init__(self, line: int = 0, column: int = 0) -> None:
        self.items: list[Node] = []
        self.line, self.column = line, column


class Map:
    """Values by key. A duplicate key is kept separately; its first value stays."""

    __slots__ = ("again", "column", "items", "keys", "line")

    def __init__(self, line: int = 0, column: int = 0) -> None:
        self.items: dict[str, Node] = {}
        self.keys: dict[str, Scalar] = {}
        self.again: dict[str, Scalar] = {}
        self.line, self.column = line, column

    def put(self, key: Scalar, value: "Node") -> None:
        if key.text in self.items:
            self.again[key.text] = key
        else:
            self.items[key.text] = value
            self.keys[key.text] = key


Node = Scalar | List | Map


def find(node: Node, path: Path) -> Node:
    """The node at a path, or its nearest ancestor that was written."""
    for step in path:
        inner = _inner(node, step)
        if inner is None:
            return node
        node = inner
    return node


def _inner(node: Node, step: str | int) -> Node | None:
    if isinstance(node, Map) and isinstance(step, str):
        return node.items.get(step)
    if isinstance(node, List) and isinstance(step, int) and step < len(node.items):
        return node.items[step]
    return None


def scalars(node: Node, path: Path) -> Iterator[tuple[Path, Scalar]]:
    """Every scalar below a node, with its path."""
    if isinstance(node, Scalar):
        yield path, node
    elif isinstance(node, List):
        for position, item in enumerate(node.items):
            yield from scalars(item, (*path, position))
    else:
        for key, value in node.items.items():
            yield from scalars(value, (*path, key))
