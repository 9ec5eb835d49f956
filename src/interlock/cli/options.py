"""Options: the options given before the command."""

from typing import NamedTuple


class Options(NamedTuple):
    """The context object of every command. The folder is a string: `--help` needs no pathlib."""

    project: str
    debug: bool = False
    backend: str = "local"

    @property
    def command(self) -> str:
        """The prefix of a command for the same backend, for hints."""
        return "interlock" if self.backend == "local" else f"interlock --backend {self.backend}"

    @property
    def keeper(self) -> str:
        """The process that runs that backend."""
        return "`interlock serve`" if self.backend == "local" else "its function"
