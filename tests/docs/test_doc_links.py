"""The pages speak of what exists: links lead somewhere, commands and make targets are real."""

import re
from pathlib import Path

import pytest
from doc_pages import PAGES, ROOT, blocks, name, prose, text

from interlock.cli.command_table import COMMANDS
from interlock.domain.event import EventType

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_TARGETS = set(re.findall(r"^([a-z]+):", text(ROOT / "Makefile"), re.MULTILINE))


def _anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    found: list[str] = []
    for heading in _HEADING.findall(prose(page)):
        plain = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        again = sum(re.fullmatch(rf"{re.escape(plain)}(-\d+)?", each) is not None for each in found)
        found.append(f"{plain}-{again}" if again else plain)
    return set(found)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in _LINK.findall(prose(page)):
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in _anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_exist(page: Path) -> None:
    whole = text(page)
    for kind in EventType:  # hints of events speak for themselves, and of what is to come
        whole = whole.replace(f"- hint: {kind.spec.hint}\n", "")
    options = r"(?: --(?:project|backend) \S+| --\w+)*"
    named = re.findall(rf"(?:`|^\$ |^|- run: )interlock{options} ([a-z]+)\b", whole, re.MULTILINE)
    assert set(named) - COMMANDS.keys() == set()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_make_targets_exist(page: Path) -> None:
    code = re.findall(r"`make ([a-z]+)`", text(page))
    for block in blocks(page):
        code += re.findall(r"^make ([a-z]+)", block.text, re.MULTILINE)
    assert set(code) - _TARGETS == set()


def test_every_page_is_linked_from_the_readme() -> None:
    linked = {
        (ROOT / link.partition("#")[0]).resolve()
        for link in _LINK.findall(text(ROOT / "README.md"))
    }
    assert [name(page) for page in PAGES if page.name != "README.md" and page not in linked] == []


def test_the_map_in_the_readme_names_every_part_of_the_package() -> None:
    parts = [p for p in (ROOT / "src" / "interlock").iterdir() if (p / "__init__.py").exists()]
    (the_map,) = (b.text for b in blocks(ROOT / "README.md") if b.text.startswith("src/interlock/"))
    assert [part.name for part in parts if f" {part.name}/" not in the_map] == []
