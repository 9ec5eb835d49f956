"""Jobs by type: the port over one adapter a type, each loaded when its first job comes.

Here, once for all types, what went wrong with a platform becomes what the port promises, and every text
that leaves is masked and cut.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from interlock.adapters.http.platform_error import PlatformError
from interlock.adapters.jobs.job_environment import Surroundings
from interlock.adapters.jobs.messages import shown
from interlock.adapters.prepared import prepare_types
from interlock.domain.budgets import Category
from interlock.domain.job import (
    Absent,
    CannotTell,
    Failed,
    JobContext,
    Launched,
    Running,
    Succeeded,
)
from interlock.domain.job_kinds import JOB_KINDS, JobKind, loaded
from interlock.domain.job_output import plain_lines
from interlock.domain.pipeline import Pipeline
from interlock.errors import ConfigError, LaunchError, TransientError
from interlock.ports.jobs import Jobs

if TYPE_CHECKING:
    from interlock.adapters.jobs.outputs import OutputsByType


class Adapter(Jobs, Protocol):
    """The port for one type, and what it would send."""

    def preview(self, pipeline: Pipeline, context: JobContext) -> dict[str, Any]:
        """The request that a launch would make, as plain values. Makes no request."""
        ...


class JobsByType:
    """The port over every type that is installed."""

    def __init__(
        self, surroundings: Surroundings, kinds: Mapping[str, JobKind] = JOB_KINDS
    ) -> None:
        self._surroundings = surroundings
        self._kinds = kinds
        self._made: dict[str, Adapter] = {}
        self._making = Lock()

    def preview(self, pipeline: Pipeline, context: JobContext) -> dict[str, Any]:
        """What a launch would send, with every secret masked. Raises LaunchError."""
        with self._as_launch_errors():
            shown = self._of(pipeline.job.type).preview(pipeline, context)
        masked: dict[str, Any] = _each_text(shown, self._surroundings.secrets.mask)
        return masked

    def launch(self, pipeline: Pipeline, context: JobContext) -> Launched:
        with self._as_launch_errors():
            launched = self._of(pipeline.job.type).launch(pipeline, context)
            return _named(launched, pipeline.job.type)

    def find(self, pipeline: Pipeline, context: JobContext) -> Launched | Absent | CannotTell:
        """A look that failed for a moment raises TransientError, not LaunchError: it is repeated."""
        try:
            with self._as_launch_errors():
                found = self._of(pipeline.job.type).find(pipeline, context)
                return _named(found, pipeline.job.type) if isinstance(found, Launched) else found
        except LaunchError as error:
            if error.category == Category.TRANSIENT:
                raise TransientError(str(error)) from error
            raise

    def poll(self, metadata: Mapping[str, Any]) -> Running | Succeeded | Failed:
        try:
            answer = self._of(_type_of(metadata)).poll(metadata)
        except PlatformError as error:
            if error.category is Category.TRANSIENT:
                raise TransientError(self._shown(error)) from error
            answer = Running(str(error), unseen=True)
        except OSError as error:
            raise TransientError(self._shown(error)) from error
        except (ConfigError, msgspec.ValidationError, LookupError, ValueError) as error:
            answer = Running(f"the job can't be looked at: {error}", unseen=True)
        return self._fit(answer)

    def cancel(self, metadata: Mapping[str, Any]) -> bool:
        try:
            return self._of(_type_of(metadata)).cancel(metadata)
        except Exception:  # noqa: BLE001 - the port promises that this never raises
            return False

    def outputs(self) -> "OutputsByType":
        """What the jobs printed."""
        from interlock.adapters.jobs.outputs import OutputsByType  # only where people ask

        return OutputsByType(self._surroundings, self._kinds)

    @property
    def unverified(self) -> int:
        """How many successes could not be verified since the start."""
        return self._surroundings.unverified.count

    def close(self) -> None:
        """Let go of what the adapters hold. Jobs go on."""
        for jobs in self._made.values():
            close: Callable[[], None] | None = getattr(jobs, "close", None)
            if close is not None:
                close()

    def _of(self, name: str) -> Adapter:
        with self._making:
            if name not in self._made:
                self._made[name] = self._make(name)
            return self._made[name]

    def _make(self, name: str) -> Adapter:
        kind = self._kinds.get(name)
        if kind is None:
            raise ConfigError(f"this installation has nothing that starts {name} jobs")
        try:
            adapter = loaded(kind.adapter_path)
        except ImportError as error:
            wanted = "interlock" if kind.extra is None else f"interlock[{kind.extra}]"
            raise ConfigError(f"{name} jobs need: pip install '{wanted}'") from error
        prepare_types()  # under our lock: its structs are read by whichever threads have its jobs
        made: Adapter = adapter(self._surroundings)
        return made

    @contextmanager
    def _as_launch_errors(self) -> Iterator[None]:
        try:
            yield
        except PlatformError as error:
            raise LaunchError(
                error.category, self._shown(error), maybe_started=error.maybe_started
            ) from error
        except ConfigError as error:
            raise LaunchError(Category.PERMANENT, self._shown(error)) from error
        except TransientError as error:
            raise LaunchError(Category.TRANSIENT, self._shown(error)) from error
        except OSError as error:
            message = self._shown(error)
            raise LaunchError(Category.TRANSIENT, message, maybe_started=True) from error

    def _fit(self, answer: Running | Succeeded | Failed) -> Running | Succeeded | Failed:
        message = self._shown(answer.message)
        if isinstance(answer, Running):
            return msgspec.structs.replace(answer, message=message)
        detail = {
            key: self._shown(value) if isinstance(value, str) else value
            for key, value in answer.detail.items()
        }
        if isinstance(answer, Failed):
            output = plain_lines(self._surroundings.secrets.mask(answer.output))
            answer = msgspec.structs.replace(answer, output=output)
        return msgspec.structs.replace(answer, message=message, detail=detail)

    def _shown(self, text: object) -> str:
        return shown(self._surroundings.secrets.mask(str(text)))


def _named(launched: Launched, kind: str) -> Launched:
    """With its type, by which polling finds the adapter again. Without a run id it is not launched."""
    if not launched.run_id:
        message = "the job was started, but the platform returned no run id"
        raise PlatformError(Category.TRANSIENT, message, maybe_started=True)
    return msgspec.structs.replace(launched, metadata={"type": kind, **launched.metadata})


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: _each_text(each, change) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_each_text(each, change) for each in value]
    return value


def _type_of(metadata: Mapping[str, Any]) -> str:
    name = metadata.get("type")
    if not isinstance(name, str):
        raise ConfigError("the record of this job does not name its type")
    return name
