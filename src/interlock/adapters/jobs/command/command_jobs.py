"""Commands: processes of this machine, which go on when the controller does not.

Each has a folder under its token and a supervisor that stays with it; all that is known of it is read from
the folder, so a new controller finds every job of the last one.
"""

import errno
import os
import signal
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, assert_never

import msgspec

from interlock.adapters.http.platform_error import PlatformError
from interlock.adapters.jobs.ages import check_age
from interlock.adapters.jobs.command import process_groups
from interlock.adapters.jobs.command.exit_codes import judged
from interlock.adapters.jobs.command.exit_pipe import ends_path
from interlock.adapters.jobs.command.job_folder import (
    CommandEnded,
    CommandEnding,
    CommandSupervised,
    FolderGone,
    JobFolder,
    Lost,
    Spec,
    Unstarted,
    boot_id,
)
from interlock.adapters.jobs.command.supervisor import FAILED
from interlock.adapters.jobs.command.supervisor_order import order_of, shown_order
from interlock.adapters.jobs.command.supervisors import StartReport, Supervisors
from interlock.adapters.jobs.job_config import config_of
from interlock.adapters.jobs.job_environment import Surroundings
from interlock.adapters.secrets.texts import run_values
from interlock.domain import duration
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
from interlock.domain.job_configs import CommandConfig
from interlock.domain.pipeline import Pipeline

GRACE = timedelta(seconds=10)

_TRANSIENT_ERRORS = frozenset(
    {errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.ETXTBSY, errno.EIO}
)


class CommandHandle(msgspec.Struct, frozen=True, omit_defaults=True):
    """All that polling and cancelling need: the folder has the rest, unless it ended within the launch."""

    token: str
    ended: CommandEnded | None = None


class CommandJobs:
    """Once per token: of two that start it, one gets the lock."""

    def __init__(
        self,
        surroundings: Surroundings,
        grace: timedelta = GRACE,
        supervisors: Supervisors | None = None,
    ) -> None:
        self._given = surroundings
        self._grace = grace
        self._supervisors = supervisors or Supervisors(surroundings.spares)

    def preview(self, pipeline: Pipeline, context: JobContext) -> dict[str, Any]:
        spec = self._spec(pipeline, config_of(pipeline, CommandConfig), context)
        return shown_order(self._folder(context.token), spec, self._grace, self._given)

    def launch(self, pipeline: Pipeline, context: JobContext) -> Launched:
        config = config_of(pipeline, CommandConfig)
        folder = self._folder(context.token)
        if not folder.claim() and not isinstance(folder.look(), Unstarted):
            return self._known(folder, context)
        spec = self._spec(pipeline, config, context)
        folder.want(spec)
        self._start(folder, spec)
        return self._launched(folder)

    def find(self, pipeline: Pipeline, context: JobContext) -> Launched | Absent | CannotTell:
        """What was claimed and not begun is absent: a launch begins it, and only one can."""
        folder = self._folder(context.token)
        if self._given.time_left is not None:
            return CannotTell()
        if not folder.path.exists():
            return Absent()
        if isinstance(folder.look(), Unstarted):
            return Absent()
        return self._known(folder, context)

    def poll(self, metadata: Mapping[str, Any]) -> Running | Succeeded | Failed:
        self._supervisors.bury()
        handle = msgspec.convert(metadata, CommandHandle)
        folder = self._folder(handle.token)
        state = handle.ended or folder.look()
        match state:
            case CommandEnded():
                return judged(state)
            case CommandSupervised():
                return Running()
            case CommandEnding():
                return Running(ending=True)
            case Unstarted():
                return self._start_again(folder)
            case Lost():
                return self._end_lost(folder, state)
            case FolderGone():
                return Running("the folder of the job is gone", unseen=True)
            case _:
                assert_never(state)

    def cancel(self, metadata: Mapping[str, Any]) -> bool:
        folder = self._folder(msgspec.convert(metadata, CommandHandle).token)
        state = folder.look()
        if isinstance(state, Lost):
            return isinstance(self._end_lost(folder, state), Running)
        return isinstance(state, CommandSupervised) and folder.ask_to_end()

    def close(self) -> None:
        """The jobs go on; the next controller finds them."""
        self._supervisors.close()

    def _folder(self, token: str) -> JobFolder:
        return JobFolder(self._given.state.resolve(), token)

    def _spec(self, pipeline: Pipeline, config: CommandConfig, context: JobContext) -> Spec:
        window = pipeline.job.poll_window
        timeout = window if config.timeout is None else duration.parse(config.timeout)
        return Spec(
            pipeline=pipeline.id,
            values=run_values(context),
            config=msgspec.to_builtins(config),
            timeout=timeout.total_seconds(),
            ends=str(ends_path(self._given.state.resolve())),
            claimed_at=self._given.clock(),
            boot=boot_id(),
            is_masked=True,
        )

    def _start(self, folder: JobFolder, spec: Spec) -> None:
        """Raises PlatformError. While an interpreter starts there is time to make the claim last."""
        order = order_of(folder, spec, self._grace, self._given)
        try:
            hired = self._supervisors.take()
            folder.sync()
            word = hired.order(order)
        except TimeoutError as error:
            raise PlatformError(Category.TRANSIENT, str(error), maybe_started=True) from error
        except OSError as error:
            raise PlatformError(Category.TRANSIENT, f"no supervisor: {error.strerror}") from error
        _check_start(word, folder, spec)
        if self._given.time_left is not None:
            hired.wait(order["timeout"] + 2 * order["grace"])
        self._supervisors.prepare()

    def _known(self, folder: JobFolder, context: JobContext) -> Launched:
        """A job that was begun before. Raises PlatformError if it can't have been for this run."""
        spec = folder.spec()
        check_age(None if spec is None else spec.claimed_at, context.opened_at)
        return self._launched(folder)

    def _launched(self, folder: JobFolder) -> Launched:
        if self._given.time_left is None:
            return Launched(folder.token, msgspec.to_builtins(CommandHandle(folder.token)))
        state = folder.look()
        if not isinstance(state, CommandEnded):
            message = "the call is over, the command is not"
            raise PlatformError(Category.TRANSIENT, message, maybe_started=True)
        return Launched(folder.token, msgspec.to_builtins(CommandHandle(folder.token, state)), True)

    def _start_again(self, folder: JobFolder) -> Running | Failed:
        """For a claim without a command. Only one supervisor gets the lock, so this starts no second job."""
        spec = folder.spec()
        if spec is None:
            return Running("the folder of the job is empty", unseen=True)
        try:
            self._start(folder, spec)
        except PlatformError as error:
            if error.category is Category.TRANSIENT:
                raise
            return Failed(error.category, str(error))
        return Running()

    def _end_lost(self, folder: JobFolder, lost: Lost) -> Running | Failed:
        """A retry must not meet what is left of the job: that is ended first."""
        group = lost.group
        if group is None or not process_groups.is_ours(group, lost.began, folder.token):
            return Failed(
                Category.TRANSIENT, "the job was lost: its supervisor ended without a word"
            )
        now = self._given.clock()
        over = now - folder.ending_since(now) >= self._grace
        process_groups.end(group, signal.SIGKILL if over else signal.SIGTERM)
        return Running("the job has lost its supervisor and is being ended")


def _check_start(word: StartReport | None, folder: JobFolder, spec: Spec) -> None:
    """Raises PlatformError unless the command was begun, by us or by another process."""
    if word is None:
        if isinstance(folder.look(), Unstarted | FolderGone):
            raise PlatformError(Category.TRANSIENT, "the supervisor ended before the job began")
        return
    if word.word != FAILED:
        return
    category = Category.TRANSIENT if word.number in _TRANSIENT_ERRORS else Category.PERMANENT
    reason = os.strerror(word.number)
    if word.step == "cwd":
        folder_name = spec.config["cwd"] or "of the project"
        raise PlatformError(category, f"it can't run in the folder {folder_name}: {reason}")
    program = spec.config["command"][0]
    where = "" if word.number != errno.ENOENT else _where(program)
    raise PlatformError(category, f"{program} can't be started: {reason}{where}")


def _where(program: str) -> str:
    """What to do about a program that there is not."""
    if "/" in program:
        return "; check its path"
    return "; check its name, or write its whole path: the PATH of the server does not lead to it"
