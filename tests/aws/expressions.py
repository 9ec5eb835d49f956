"""Expressions: the part of DynamoDB's language that the adapters write, understood by itself.

What is not understood raises, so an adapter can't come to rely on something that was never tried on moto.
"""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

Stored = dict[str, Any]  # attributes, as a client gives them
Scope = tuple[Stored, Mapping[str, str], Mapping[str, Any]]
Test = Callable[[Scope], bool]
Value = Callable[[Scope], Any]

_TOKEN = re.compile(r"\s*(#\w+|:\w+|[A-Za-z_]+|<>|<=|>=|[=<>(),+])")


def holds(
    expression: str, item: Stored, names: Mapping[str, str], values: Mapping[str, Any]
) -> bool:
    return not expression or _condition(expression)((item, names, values))


def updated(
    expression: str, item: Stored, names: Mapping[str, str], values: Mapping[str, Any]
) -> Stored:
    """The item with SET and REMOVE done; every value is taken from the item as it was."""
    scope = (item, names, values)
    after = dict(item)
    for action, name, value in _update(expression):
        if action == "SET":
            after[names[name]] = value(scope)
        else:
            after.pop(names[name], None)
    return after


class _Parser:
    """One token after another."""

    def __init__(self, text: str) -> None:
        self._tokens = _TOKEN.findall(text)
        assert re.sub(r"\s", "", text) == "".join(self._tokens), f"not understood: {text}"

    def peek(self) -> str:
        return self._tokens[0] if self._tokens else ""

    def take(self, wanted: str | None = None) -> str:
        found = str(self._tokens.pop(0))
        assert wanted in (None, found), f"{wanted} expected, {found} found"
        return found

    def _is_doubled(self) -> bool:
        """Whether the parenthesis that opens now closes right before the one around it; that is refused."""
        depth = 0
        for n, token in enumerate(self._tokens):
            depth += (token == "(") - (token == ")")
            if depth == 0:
                return bool(self._tokens[n + 1] == ")")
        return False

    def alternatives(self) -> Test:
        tests = [self.conjunction()]
        while self.peek() == "OR":
            self.take()
            tests.append(self.conjunction())
        return lambda scope: any(test(scope) for test in tests)

    def conjunction(self) -> Test:
        tests = [self.test()]
        while self.peek() == "AND":
            self.take()
            tests.append(self.test())
        return lambda scope: all(test(scope) for test in tests)

    def test(self) -> Test:
        if self.peek() == "(":
            self.take("(")
            assert self.peek() != "(" or not self._is_doubled(), "redundant parentheses"
            inner = self.alternatives()
            self.take(")")
            return inner
        if self.peek() in ("attribute_exists", "attribute_not_exists"):
            exists = self.take() == "attribute_exists"
            self.take("(")
            name = self.take()
            self.take(")")
            return lambda scope: (scope[1][name] in scope[0]) is exists
        return self.comparison()

    def comparison(self) -> Test:
        left, word = self.value(), self.take()
        if word == "BETWEEN":
            first = self.value()
            self.take("AND")
            last = self.value()
            return lambda scope: (
                _compare(left(scope), ">=", first(scope))
                and _compare(left(scope), "<=", last(scope))
            )
        if word == "IN":
            options = self.several()
            return lambda scope: any(_compare(left(scope), "=", each(scope)) for each in options)
        right = self.value()
        return lambda scope: _compare(left(scope), word, right(scope))

    def several(self) -> list[Value]:
        self.take("(")
        found = [self.value()]
        while self.peek() == ",":
            self.take()
            found.append(self.value())
        self.take(")")
        return found

    def value(self) -> Value:
        token = self.take()
        if token.startswith("#"):
            return lambda scope: scope[0].get(scope[1][token])
        if token.startswith(":"):
            return lambda scope: scope[2][token]
        given = self.several()
        if token == "if_not_exists":
            return lambda scope: given[0](scope) or given[1](scope)
        assert token == "list_append", f"not understood: {token}"
        return lambda scope: {"L": given[0](scope)["L"] + given[1](scope)["L"]}

    def sum(self) -> Value:
        left = self.value()
        if self.peek() != "+":
            return left
        self.take()
        right = self.value()
        return lambda scope: {
            "N": str(Decimal(left(scope)["N"]) + Decimal(right(scope)["N"])),
        }

    def actions(self) -> list[tuple[str, str, Value]]:
        found: list[tuple[str, str, Value]] = []
        action = ""
        while self.peek():
            if self.peek() in ("SET", "REMOVE"):
                action = self.take()
            elif self.peek() == ",":
                self.take()
            name = self.take()
            if action == "SET":
                self.take("=")
                found.append((action, name, self.sum()))
            else:
                found.append((action, name, lambda scope: None))
        return found


def _compare(left: Any, word: str, right: Any) -> bool:
    """An attribute that is absent, or of another type, is neither less nor equal nor greater."""
    if left is None or right is None or left.keys() != right.keys():
        return word == "<>" and left is not None
    a, b = _comparable(left), _comparable(right)
    answers: dict[str, Callable[[], bool]] = {
        "=": lambda: bool(a == b),
        "<>": lambda: bool(a != b),
        "<": lambda: bool(a < b),
        "<=": lambda: bool(a <= b),
        ">": lambda: bool(a > b),
        ">=": lambda: bool(a >= b),
    }
    return answers[word]()


def _comparable(attribute: Mapping[str, Any]) -> Any:
    ((kind, value),) = attribute.items()
    if kind == "S":
        return value.encode()
    return Decimal(value) if kind == "N" else value


@lru_cache(maxsize=1000)
def _condition(text: str) -> Test:
    parser = _Parser(text)
    test = parser.alternatives()
    assert not parser.peek(), f"not understood: {text}"
    return test


@lru_cache(maxsize=1000)
def _update(text: str) -> list[tuple[str, str, Value]]:
    return _Parser(text).actions()
