"""Disk: the state folder on a small file system that can be made full, or a limit on the size of files."""

import os
import resource
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attack.victim import Victim

_ROOM = 512 << 20
_PAGE = resource.getpagesize()
_TRIES = 50


class Disk:
    """Mounted where we may mount. Full means that there is no room for one more page."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.mounted = os.geteuid() == 0 and _mount("tmpfs", folder, f"size={_ROOM},mode=0700")

    @property
    def how(self) -> str:
        return "no room on the file system" if self.mounted else "a limit on the size of files"

    def close(self) -> None:
        """A copy of the state file stays beside it, to look for a cause in."""
        if self.mounted:
            for file in self._folder.glob("interlock.db*"):
                shutil.copy(file, self._folder.parent)
            subprocess.run(["umount", "--lazy", str(self._folder)], check=False)

    @contextmanager
    def full(self, victim: Victim) -> Iterator[None]:
        if not self.mounted:
            victim.limit(resource.RLIMIT_FSIZE, _PAGE)
        else:
            self._shrink()
        try:
            yield
        finally:
            if self.mounted:
                _mount("tmpfs", self._folder, f"remount,size={_ROOM}")
            elif victim.exit_code() is None:
                victim.limit(resource.RLIMIT_FSIZE, resource.RLIM_INFINITY)

    def _shrink(self) -> None:
        """It can't be made smaller than what it holds, and that may grow while we look."""
        for _ in range(_TRIES):
            found = os.statvfs(self._folder)
            used = (found.f_blocks - found.f_bfree) * found.f_frsize
            if _mount("tmpfs", self._folder, f"remount,size={max(used, _PAGE)}"):
                return
            time.sleep(0.01)


def _mount(kind: str, folder: Path, options: str) -> bool:
    command = ["mount", "-t", kind, "-o", options, kind, str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
