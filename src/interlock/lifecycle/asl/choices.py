"""Branch: one rule of a Choice state, and where it leads when it holds."""

import operator
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from interlock.lifecycle.asl.paths import Path

Test = Callable[[Any], bool]
Comparison = Callable[[Any, Any], bool]


class Branch:
    """A parsed rule. Raises ValueError for an unknown operator."""

    def __init__(self, rule: Any) -> None:
        if not isinstance(rule, dict) or not isinstance(rule.get("Next"), str):
            raise ValueError("a rule must name its Next state")
        self.next: str = rule["Next"]
        self.holds = _test({name: rule[name] for name in rule.keys() - {"Next", "Comment"}})


def _test(rule: Any) -> Test:
    match rule:
        case {"And": [_, *_] as parts, **rest} if not rest:
            tests = [_test(part) for part in parts]
            return lambda value: all(test(value) for test in tests)
        case {"Or": [_, *_] as parts, **rest} if not rest:
            tests = [_test(part) for part in parts]
            return lambda value: any(test(value) for test in tests)
        case {"Not": part, **rest} if not rest:
            test = _test(part)
            return lambda value: not test(value)
        case {"Variable": str(variable), **rest} if len(rest) == 1:
            [(name, operand)] = rest.items()
            return _comparison(Path(variable), str(name), operand)
    raise ValueError(f"not And, Or, Not, or a Variable with one comparison: {rule!r}")


def _comparison(variable: Path, name: str, operand: Any) -> Test:
    if name == "IsPresent" and isinstance(operand, bool):
        return lambda value: variable.present(value) is operand
    if name.removesuffix("Path") not in _COMPARISONS:
        raise ValueError(f"unknown comparison {name}")
    comparable, compare = _COMPARISONS[name.removesuffix("Path")]
    if name.endswith("Path"):
        other = Path(operand)
        return lambda value: _both(variable.read(value), other.read(value), comparable, compare)
    if not comparable(operand):
        raise ValueError(f"{name} can't compare with {operand!r}")
    return lambda value: _both(variable.read(value), operand, comparable, compare)


def _both(left: Any, right: Any, comparable: Test, compare: Comparison) -> bool:
    """A value of a different type than the operator's is neither equal, nor greater, nor less."""
    return comparable(left) and comparable(right) and compare(left, right)


def _boolean(value: Any) -> bool:
    return isinstance(value, bool)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _number(value: Any) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


#: The comparisons. With the suffix `Path`, an operator also reads its right side from the input.
_COMPARISONS: Final[dict[str, tuple[Test, Comparison]]] = {
    "BooleanEquals": (_boolean, operator.eq),
    "StringEquals": (_text, operator.eq),
    "NumericEquals": (_number, operator.eq),
    "NumericGreaterThan": (_number, operator.gt),
    "NumericGreaterThanEquals": (_number, operator.ge),
    "NumericLessThan": (_number, operator.lt),
    "NumericLessThanEquals": (_number, operator.le),
}
