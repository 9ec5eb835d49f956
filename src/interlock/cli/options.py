"""Options: what stands before the command."""

from typing import NamedTuple


class Options(NamedTuple):
    """Known to every command as the context's object. The folder is text: `--help` needs no paths."""

    project: str
    debug: bool = False
    backend: str = "local"

    @property
    def command(self) -> str:
        """How a command for the same home begins, for hints."""
        return "interlock" if self.backend == "local" else f"interlock --backend {self.backend}"

    @property
    def keeper(self) -> str:
        """What runs that home."""
        return "`interlock serve`" if self.backend == "local" else "its function"
