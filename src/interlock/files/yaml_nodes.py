"""YAML nodes: the text of a file as a tree of nodes, read safely from any text.

The tree is built from the parser's events, one by one and without recursion, so that every limit applies
before memory or stack is spent: size, depth, alias expansion. Nothing here constructs objects.
"""

from collections.abc import Callable
from typing import Any

import yaml

from interlock.files.nodes import DEEPEST, List, Map, Node, Scalar, Unreadable
from interlock.files.problem import printable

LARGEST = 1024 * 1024
#: How many nodes all aliases of a file may expand to together.
MOST_ALIASED = 10_000

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_PLAIN_TAGS = frozenset({f"{_TAG}{name}" for name in ("int", "float", "bool", "null")})
_TEXT_TAGS = frozenset({f"{_TAG}str", "!"})
_SHAPE_TAGS = frozenset({f"{_TAG}map", f"{_TAG}seq", "!"})
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


def parse(source: str | bytes) -> Node:
    """The one document of a file. Raises Unreadable for anything else."""
    text = _text(source)
    builder = _Builder()
    try:
        _feed(builder, text)
    except yaml.MarkedYAMLError as error:
        raise _syntax(error, text) from None
    except yaml.reader.ReaderError as error:
        raise Unreadable(f"not text: the character {error.character!r} is not allowed") from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        if isinstance(error, Unreadable):
            raise
        raise Unreadable(f"not YAML: {printable(str(error), 200)}") from None
    return builder.root or Scalar("", plain=True, line=1, column=1)


def _text(source: str | bytes) -> str:
    if len(source) > LARGEST:
        raise Unreadable(f"larger than {LARGEST // 1024} KiB")
    if isinstance(source, str):
        return _sound(source.removeprefix("\ufeff"))
    encoding = next((name for mark, name in _MARKS if source.startswith(mark)), "utf-8")
    try:
        return source.decode(encoding)
    except UnicodeError:
        raise Unreadable("not text in UTF-8", hint="save the file as UTF-8") from None


def _sound(text: str) -> str:
    try:
        text.encode()
    except UnicodeError:
        raise Unreadable("not text in UTF-8", hint="save the file as UTF-8") from None
    return text


def _feed(builder: "_Builder", text: str) -> None:
    loader = _LOADER(text)
    steps, next_event = _STEPS, loader.get_event
    try:
        while (event := next_event()) is not None:
            step = steps.get(type(event))
            if step is not None:
                step(builder, event)
    finally:
        loader.dispose()


def _syntax(error: yaml.MarkedYAMLError, text: str) -> Unreadable:
    mark = error.problem_mark or error.context_mark
    reason = ", ".join(part for part in (error.context, error.problem) if part)
    if mark is not None and _is_tab(text, mark):
        reason = "a tab can't indent a line; use spaces"
    place = (mark.line + 1, mark.column + 1) if mark is not None else (0, 0)
    return Unreadable(f"not YAML: {printable(reason, 200)}", *place)


def _is_tab(text: str, mark: yaml.Mark) -> bool:
    lines = text.splitlines()
    return mark.line < len(lines) and lines[mark.line][mark.column :].startswith("\t")


class _Open:
    """A map or list that is still open."""

    __slots__ = ("height", "key", "node", "size")

    def __init__(self, node: Map | List) -> None:
        self.node = node
        self.key: Scalar | None = None
        self.size, self.height = 1, 1


class _Builder:
    """Takes events and grows the tree. An anchor is known once its node is complete."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self._documents = 0
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Node, int, int] | None] = {}
        self._names: list[str | None] = []
        self._aliased = 0

    def _document(self, event: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            raise _at(event, "more than one document", "one file holds one pipeline")

    def _scalar(self, event: Any) -> None:
        plain = event.implicit[0] and event.style in (None, "")
        if event.tag is not None:
            plain = self._tagged(event)
        mark = event.start_mark
        node = Scalar(event.value, plain, mark.line + 1, mark.column + 1)
        if event.anchor is not None:
            self._anchors[event.anchor] = (node, 1, 0)
        self._add(node, 1, 0)

    def _tagged(self, event: Any) -> bool:
        if event.tag not in _PLAIN_TAGS and event.tag not in _TEXT_TAGS:
            raise _foreign(event)
        return event.tag in _PLAIN_TAGS

    def _begin(self, event: Any) -> None:
        if event.tag is not None and event.tag not in _SHAPE_TAGS:
            raise _foreign(event)
        if len(self._open) >= DEEPEST:
            raise _at(event, f"more than {DEEPEST} levels deep")
        kind = Map if isinstance(event, yaml.MappingStartEvent) else List
        mark = event.start_mark
        self._open.append(_Open(kind(mark.line + 1, mark.column + 1)))
        self._names.append(event.anchor)
        if event.anchor is not None:
            self._anchors[event.anchor] = None

    def _end(self, event: Any) -> None:
        done, name = self._open.pop(), self._names.pop()
        if name is not None:
            self._anchors[name] = (done.node, done.size, done.height)
        self._add(done.node, done.size, done.height)

    def _alias(self, event: Any) -> None:
        if event.anchor not in self._anchors:
            raise _at(event, f"unknown alias *{printable(event.anchor)}")
        known = self._anchors[event.anchor]
        if known is None:
            raise _at(event, f"the alias *{printable(event.anchor)} contains itself")
        node, size, height = known
        self._aliased += size
        if self._aliased > MOST_ALIASED:
            raise _at(event, f"aliases expand to more than {MOST_ALIASED} values")
        if len(self._open) + height > DEEPEST:
            raise _at(event, f"more than {DEEPEST} levels deep")
        self._add(node, size, height)

    def _add(self, node: Node, size: int, height: int) -> None:
        if not self._open:
            self.root = node
            return
        parent = self._open[-1]
        parent.size += size
        if height >= parent.height:
            parent.height = height + 1
        if isinstance(parent.node, List):
            parent.node.items.append(node)
        elif parent.key is not None:
            parent.node.put(parent.key, node)
            parent.key = None
        elif isinstance(node, Scalar):
            parent.key = node
        else:
            raise Unreadable("a key must be text", node.line, node.column)


_STEPS: dict[type, Callable[[_Builder, Any], None]] = {
    yaml.ScalarEvent: _Builder._scalar,
    yaml.MappingStartEvent: _Builder._begin,
    yaml.SequenceStartEvent: _Builder._begin,
    yaml.MappingEndEvent: _Builder._end,
    yaml.SequenceEndEvent: _Builder._end,
    yaml.AliasEvent: _Builder._alias,
    yaml.DocumentStartEvent: _Builder._document,
}


def _foreign(event: Any) -> Unreadable:
    return _at(event, f"the tag {printable(event.tag)} is not allowed", "write the value itself")


def _at(event: Any, message: str, hint: str = "") -> Unreadable:
    return Unreadable(message, event.start_mark.line + 1, event.start_mark.column + 1, hint)
