"""Options: what stands before the command."""

from typing import NamedTuple


class Options(NamedTuple):
    """Known to every command as the context's object. The folder is text: `--help` needs no paths."""

    project: str
    debug: bool = False
    backend: str = "local"
