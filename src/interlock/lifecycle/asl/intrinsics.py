"""Intrinsic: a function of the states language, such as `States.MathAdd($.elapsed, 60)`."""

import re
from collections.abc import Callable
from inspect import signature
from typing import Any, Final

from interlock.lifecycle.asl.paths import Path
from interlock.lifecycle.asl.state_errors import INTRINSIC, Fault

Expression = Callable[[Any], Any]

_CALL: Final = re.compile(r"States\.(\w+)\(([^()']*)\)", re.ASCII)
_WHOLE: Final = re.compile(r"-?[0-9]+", re.ASCII)


def parse(text: str) -> Expression:
    """A call as a function of the input. Raises ValueError for an unknown function."""
    match = _CALL.fullmatch(text)
    if match is None or match[1] not in _FUNCTIONS:
        known = ", ".join(f"States.{name}" for name in _FUNCTIONS)
        raise ValueError(f"{text!r} is neither a path nor a call of {known}")
    function = _FUNCTIONS[match[1]]
    arguments = [_argument(argument.strip()) for argument in match[2].split(",")]
    if len(arguments) != len(signature(function).parameters):
        raise ValueError(f"{text!r} has the wrong number of arguments")
    return lambda value: function(*(argument(value) for argument in arguments))


def _argument(text: str) -> Expression:
    if _WHOLE.fullmatch(text):
        return lambda _value: int(text)
    return Path(text).read


def _math_add(left: Any, right: Any) -> int:
    """The sum of two whole numbers. Step Functions would round others; we refuse them."""
    if type(left) is not int or type(right) is not int:
        raise Fault(INTRINSIC, f"States.MathAdd takes whole numbers, not {left!r} and {right!r}.")
    return left + right


_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {"MathAdd": _math_add}
