"""Engine: executions, timers and the time."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from interlock.domain.run import EngineState
from interlock.domain.timer import Timer
from interlock.domain.waiting_for import WaitingFor

Clock = Callable[[], datetime]


class Timers(Protocol):
    """Rows with a due time."""

    def arm(self, timers: Sequence[Timer]) -> None:
        """Arming a name again with another time moves it; with the same time does nothing."""
        ...

    def cancel(self, names: Sequence[str]) -> None: ...


class Workflows(Protocol):
    """The lifecycle's engine."""

    def start(self, name: str, given: Mapping[str, Any]) -> None:
        """Start an execution. Starting a name again has no effect, even after it ended."""
        ...

    def describe(self, name: str) -> EngineState:
        """Raises UnavailableError when the engine can't be reached."""
        ...

    def running(self) -> set[str]:
        """The names of all executions in progress. It may lag a little; raises as `describe` does."""
        ...

    def given(self, name: str) -> dict[str, Any] | None:
        """The input of an execution; None if the engine does not know it. Raises likewise."""
        ...

    def wake(self, pipeline_id: str, waiting_for: WaitingFor) -> None:
        """What the waiting executions of a pipeline wait for may have arrived. An engine may ignore this."""
        ...
