"""Any text becomes a tree of nodes or one sentence about why not; nothing is built, nothing explodes."""

import pytest

from interlock.files.nodes import DEEPEST, List, Map, Node, Scalar, Unreadable
from interlock.files.yaml_nodes import LARGEST, parse


def plain(node: Node) -> object:
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, List):
        return [plain(item) for item in node.items]
    return {key: plain(value) for key, value in node.items.items()}


def test_scalars_keep_their_text_and_their_place() -> None:
    node = parse("a:\n  b: 010\n")
    assert isinstance(node, Map)
    inner = node.items["a"]
    assert isinstance(inner, Map)
    number = inner.items["b"]
    assert isinstance(number, Scalar)
    assert (number.text, number.plain, number.line, number.column) == ("010", True, 2, 6)


@pytest.mark.parametrize(
    ("text", "is_plain"),
    [
        ("12", True),
        ("'12'", False),
        ('"12"', False),
        ("|\n  12", False),
        (">\n  12", False),
        ("!!str 12", False),
        ("! 12", False),  # the tag that asks for text
        ("!!int '12'", True),
    ],
)
def test_only_plain_scalars_can_mean_more_than_text(text: str, is_plain: bool) -> None:
    node = parse(text)
    assert isinstance(node, Scalar)
    assert node.plain is is_plain


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "\n\n", "\ufeff"])
def test_a_file_without_content_is_nothing(text: str) -> None:
    node = parse(text)
    assert isinstance(node, Scalar)
    assert (node.text, node.plain) == ("", True)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_files_are_read_in_every_encoding_that_names_itself(encoding: str) -> None:
    assert plain(parse("grün: ja".encode(encoding))) == {"grün": "ja"}


def test_a_key_written_again_is_kept_apart() -> None:
    node = parse("a: 1\nb: 2\n'a': 3\n")
    assert isinstance(node, Map)
    assert plain(node) == {"a": "1", "b": "2"}
    assert {key: mark.line for key, mark in node.again.items()} == {"a": 3}


def test_an_alias_stands_for_the_value_of_its_anchor() -> None:
    assert plain(parse("a: &x [1, 2]\nb: *x\nc: &x 3\nd: *x")) == {
        "a": ["1", "2"],
        "b": ["1", "2"],
        "c": "3",
        "d": "3",
    }


def test_as_deep_as_allowed_is_allowed() -> None:
    parse("[" * DEEPEST + "]" * DEEPEST)


BOMB = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join(['*' + before] * 10)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: [", "not YAML"),
        ("a: b: c", "not YAML"),
        ("\ta: 1", "a tab can't indent a line; use spaces"),
        ("a:\n\tb: 1", "a tab can't indent a line; use spaces"),
        ("a: 1\n---\nb: 2", "more than one document"),
        ("a: !env X", "tag"),
        ("a: !!python/object:os.system x", "tag"),
        ("a: !!binary aGk=", "tag"),
        ("!!set {a, b}", "tag"),
        ("&a [*a]", "contains itself"),
        ("a: &a {b: *a}", "contains itself"),
        ("a: *b", "unknown alias"),
        ("? {a: 1}\n: 2", "a key must be text"),
        ("? [a]\n: 2", "a key must be text"),
        ("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), "levels deep"),
        ("[" * 500_000, "levels deep"),
        ("{a: " * 200_000, "levels deep"),
        ("- " * 300_000, "levels deep"),
        ("a: &a [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]\n" + "[" * 50 + "*a" + "]" * 50, "not YAML"),
        ("- &a " + "[" * 40 + "]" * 40 + "\n- " + "[" * 40 + "*a" + "]" * 40, "levels deep"),
        (BOMB, "aliases expand"),
        (" " * (LARGEST + 1), "larger than"),
        ("a: \x00", "not text"),
        ("a: \x07", "not text"),
        ("\ud800", "not text"),
        (b"\xff\xfe\x00", "not text"),
        (b"\x80abc", "not text"),
        (b"\x7fELF\x02\x01\x01\x00\x00", "not text"),
    ],
)
def test_what_cannot_be_read_says_why(text: str | bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        parse(text)


def test_a_syntax_error_has_a_place() -> None:
    with pytest.raises(Unreadable) as caught:
        parse("a: 1\nb: [\n")
    assert caught.value.line == 3
