"""State: one step of a state machine, as the file declares it. Fields not listed here are refused."""

from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any, Final

import msgspec

from interlock.lifecycle.asl.choices import Branch
from interlock.lifecycle.asl.paths import ROOT, Path
from interlock.lifecycle.asl.state_errors import RUNTIME, Fault
from interlock.lifecycle.asl.templates import Template

#: Seconds, as on AWS: about three years.
LONGEST_WAIT: Final = 99_999_999

Names = Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
Whole = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]


class _Declared(msgspec.Struct, frozen=True, rename="pascal", forbid_unknown_fields=True):
    """A part of the file, where fields are in PascalCase."""


class Retrier(_Declared, frozen=True):
    """How often, and how far apart, a task is retried after certain errors."""

    error_equals: Names
    interval_seconds: Positive = 1
    max_attempts: Whole = 3
    backoff_rate: int | Decimal = 2
    max_delay_seconds: Positive | None = None

    def delay(self, retries: int) -> timedelta:
        """The pause before the next try, given the number of retries so far."""
        seconds = Decimal(self.interval_seconds) * Decimal(self.backoff_rate) ** retries
        if self.max_delay_seconds is not None:
            seconds = min(seconds, Decimal(self.max_delay_seconds))
        return timedelta(microseconds=int(seconds * 10**6))


class Catcher(_Declared, frozen=True):
    """Where an execution continues after certain errors, and where it writes them."""

    error_equals: Names
    next: str
    result_path: Path | None = ROOT


class _State(_Declared, frozen=True, tag_field="Type"):
    comment: str = ""


class _Filtered(_State, frozen=True):
    """A state that may narrow its input and output; a null path means an empty object."""

    input_path: Path | None = ROOT
    output_path: Path | None = ROOT

    def taken(self, value: Any) -> Any:
        return {} if self.input_path is None else self.input_path.read(value)

    def given(self, value: Any) -> Any:
        return {} if self.output_path is None else self.output_path.read(value)


class _Leading(_Filtered, frozen=True):
    """A state with one successor: `next`, or the end of the machine."""

    next: str | None = None
    end: bool = False


class _Working(_Leading, frozen=True):
    """A state that produces a result and writes it into its input; a null path drops it."""

    parameters: Template | None = None
    result_path: Path | None = ROOT

    def asked(self, value: Any) -> Any:
        """The input of the work."""
        taken = self.taken(value)
        return taken if self.parameters is None else self.parameters.fill(taken)

    def answered(self, value: Any, result: Any) -> Any:
        """The input with the result in its place, as the next state sees it."""
        merged = value if self.result_path is None else self.result_path.write(value, result)
        return self.given(merged)


class Task(_Working, frozen=True, kw_only=True, tag="Task"):
    resource: str
    result_selector: Template | None = None
    timeout_seconds: Positive | None = None
    retry: tuple[Retrier, ...] = ()
    catch: tuple[Catcher, ...] = ()

    def answered(self, value: Any, result: Any) -> Any:
        selected = result if self.result_selector is None else self.result_selector.fill(result)
        return super().answered(value, selected)


class Pass(_Working, frozen=True, tag="Pass"):
    result: Any = msgspec.UNSET

    def passed(self, value: Any) -> Any:
        """The input with the result, or else the parameters, in place."""
        made = self.asked(value) if self.result is msgspec.UNSET else self.result
        return self.answered(value, made)


class Wait(_Leading, frozen=True, tag="Wait"):
    seconds: Whole | None = None
    seconds_path: Path | None = None

    def pause(self, value: Any) -> timedelta:
        seconds = self.seconds
        if self.seconds_path is not None:
            seconds = self.seconds_path.read(self.taken(value))
        if type(seconds) is not int or not 0 <= seconds <= LONGEST_WAIT:
            raise Fault(
                RUNTIME, f"A Wait takes 0 to {LONGEST_WAIT} whole seconds, not {seconds!r}."
            )
        return timedelta(seconds=seconds)


class Choice(_Filtered, frozen=True, kw_only=True, tag="Choice"):
    choices: Annotated[tuple[Branch, ...], msgspec.Meta(min_length=1)]
    default: str | None = None

    def chosen(self, value: Any) -> str | None:
        """The target of the first rule that holds, or the default if there is one."""
        taken = self.taken(value)
        return next((rule.next for rule in self.choices if rule.holds(taken)), self.default)


class Succeed(_Filtered, frozen=True, tag="Succeed"):
    pass


class Fail(_State, frozen=True, tag="Fail"):
    error: str = ""
    cause: str = ""


State = Task | Pass | Wait | Choice | Succeed | Fail
