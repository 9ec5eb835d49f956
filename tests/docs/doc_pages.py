"""Doc pages: every page of the documentation, its blocks of code and its headings."""

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import msgspec

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
]

_BLOCK = re.compile(
    r"^(?:<!-- file: (?P<file>\S+) -->\n)?```(?P<kind>\w+)(?P<mark>[^\n]*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


class Block(msgspec.Struct, frozen=True):
    """A block of code; `file` is where the page says to save it."""

    kind: str
    text: str
    line: int
    mark: str = ""
    file: str | None = None


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page, in order."""
    whole = text(page)
    for match in _BLOCK.finditer(whole):
        line = whole.count("\n", 0, match.start()) + 1
        yield Block(match["kind"], match["text"], line, match["mark"].strip(), match["file"])


def prose(page: Path) -> str:
    """A page without its blocks."""
    return _BLOCK.sub("", text(page))


def save_files(page: Path, folder: Path) -> None:
    """Every file that a page tells the reader to save."""
    for block in blocks(page):
        save(block, folder)


def save(block: Block, folder: Path) -> None:
    if block.file is not None:
        path = folder / block.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")


def generator() -> ModuleType:
    """`docs/generate.py`, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
