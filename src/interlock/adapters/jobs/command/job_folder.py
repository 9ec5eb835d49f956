"""Job folder: what is known of one command, on disk. Making it is the claim on its token.

A process that looks holds the lock for a moment, shared: no supervisor can begin or end meanwhile, so
what it sees is consistent.
"""

import fcntl
import os
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from threading import get_ident
from typing import Any

import msgspec

from interlock.adapters.jobs.command.process_groups import is_ours
from interlock.adapters.jobs.command.supervisor import CONTROL, EXIT, LOCK, PID, began, sync, write

SPEC = "spec.json"
#: Made when a lost group was first asked to end.
ENDING = "ending"

_TOKEN = re.compile(r"[A-Za-z0-9_-]+")
_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Spec(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """What was asked for, as the file wrote it: secrets and variables are not resolved in here."""

    pipeline: str
    values: dict[str, str]
    config: dict[str, Any]
    timeout: float
    ends: str
    claimed_at: datetime
    #: Tells one start of the machine from another.
    boot: str
    #: Whether the output on disk is masked while the command still runs.
    is_masked: bool = False


class CommandEnded(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The command has ended, and this is how."""

    code: int | None
    signal: int | None
    wish: str | None
    began_at: float
    ended_at: float
    message: str
    #: The last lines of a command that did not succeed.
    tail: str = ""

    @property
    def at(self) -> datetime:
        return datetime.fromtimestamp(self.ended_at, UTC)


class CommandSupervised(msgspec.Struct, frozen=True):
    """A supervisor is with the command."""


class CommandEnding(msgspec.Struct, frozen=True):
    """The command is over, and its supervisor has yet to record how: a full disk may keep it from that."""


class Unstarted(msgspec.Struct, frozen=True):
    """It was claimed, and nothing was begun."""


class Lost(msgspec.Struct, frozen=True):
    """It was begun, and its supervisor is gone. The group may live; without one it can't."""

    group: int | None = None
    began: str = "-"


class FolderGone(msgspec.Struct, frozen=True):
    """There is no such folder."""


State = CommandEnded | CommandSupervised | CommandEnding | Unstarted | Lost | FolderGone


class JobFolder:
    """`jobs/{token}` in the state folder."""

    def __init__(self, state: Path, token: str) -> None:
        if _TOKEN.fullmatch(token) is None:
            raise ValueError("not a token")
        self.path = state / "jobs" / token
        self.token = token

    def claim(self) -> bool:
        """False if another process got there first, even one that died since."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self.path.mkdir(mode=0o700)
        except FileExistsError:
            return False
        return True

    def want(self, spec: Spec) -> None:
        """Write down what was asked for, whole or not at all."""
        new = self.path / f"{SPEC}.{os.getpid()}-{get_ident()}"
        write(str(new), msgspec.json.encode(spec))
        new.replace(self.path / SPEC)

    def sync(self) -> None:
        """Make the claim survive a power cut: the next controller must find it.

        One sync of the file does: the journal writes the folders that were made before it too.
        """
        sync(str(self.path / SPEC))

    def spec(self) -> Spec | None:
        try:
            return msgspec.json.decode((self.path / SPEC).read_bytes(), type=Spec)
        except (OSError, msgspec.DecodeError):
            return None

    def look(self) -> State:
        """How it stands with the command."""
        if (ended := self.ending()) is not None:
            return ended
        try:
            lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return FolderGone()
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return self.ending() or self._unattended()
        except BlockingIOError:
            return self._supervised()
        finally:
            os.close(lock)

    def ask_to_end(self) -> bool:
        """Ask the supervisor to end the command; False if no supervisor is there."""
        try:
            control = os.open(self.path / CONTROL, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            os.write(control, b"1")
        except BlockingIOError:
            pass  # full of wishes already
        finally:
            os.close(control)
        return True

    def ending_since(self, now: datetime) -> datetime:
        """When the lost group was first asked to end: now, if never."""
        path = self.path / ENDING
        try:
            return datetime.fromisoformat(path.read_text())
        except (OSError, ValueError):
            path.write_text(now.isoformat())
            return now

    def ending(self) -> CommandEnded | None:
        """How it ended, if that is on record."""
        try:
            return msgspec.json.decode((self.path / EXIT).read_bytes(), type=CommandEnded)
        except FileNotFoundError:
            return None

    def _supervised(self) -> CommandEnded | CommandSupervised | CommandEnding:
        """A command is over once nothing of its group is left, whether or not that is on record."""
        group, began_at = self._group() or (0, "")
        if not group or began(group) == began_at != "-":
            return CommandSupervised()
        if is_ours(group, began_at, self.token):
            return CommandSupervised()
        return self.ending() or CommandEnding()

    def _group(self) -> tuple[int, str] | None:
        """The group of the command and when it began, once it has."""
        try:
            number, began_at = (self.path / PID).read_text().split()
            return int(number), began_at
        except (OSError, ValueError):
            return None

    def _unattended(self) -> Unstarted | Lost:
        """Processes don't outlive the machine: after its restart, what was not begun for sure is lost."""
        spec = self.spec()
        same_boot = spec is None or spec.boot == boot_id()
        try:
            words = (self.path / PID).read_text().split()
        except FileNotFoundError:
            return Unstarted() if same_boot else Lost()
        if len(words) != 2 or not words[0].isdigit() or not same_boot:
            return Lost()
        return Lost(int(words[0]), words[1])


def prune(state: Path, before: datetime, is_needed: Callable[[Spec], bool] | None = None) -> int:
    """Remove the folders of commands that ended before an instant. How many.

    A command whose supervisor was lost has no recorded end: its claim counts. A run that has not heard of the
    end of its command still needs its folder.
    """
    names = (path.name for path in (state / "jobs").glob("*/"))
    folders = (JobFolder(state, name) for name in names if _TOKEN.fullmatch(name))
    old = [folder for folder in folders if _is_old(folder, before)]
    if is_needed is not None:
        specs = {folder.path: folder.spec() for folder in old}
        old = [each for each in old if (spec := specs[each.path]) is None or not is_needed(spec)]
    for folder in old:
        shutil.rmtree(folder.path, ignore_errors=True)
    return len(old)


def _is_old(folder: JobFolder, before: datetime) -> bool:
    try:
        ended = (folder.path / EXIT).stat().st_mtime
        return datetime.fromtimestamp(ended, UTC) < before
    except FileNotFoundError:
        spec = folder.spec()
        return spec is not None and spec.claimed_at < before and _is_abandoned(folder)


def _is_abandoned(folder: JobFolder) -> bool:
    """Whether its supervisor was lost, and nothing of its command is left."""
    match folder.look():
        case Lost(group=None):
            return True
        case Lost(group=int(group), began=began_at):
            return not is_ours(group, began_at, folder.token)
        case _:
            return False


def boot_id() -> str:
    """The same until the machine starts again; nothing where the system does not tell."""
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return ""
