"""The house: every name stands for one thing, every room holds what its name says."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "interlock"
MODULES = sorted(SOURCE.rglob("*.py"))

#: Two adapters of one port line up: the same names on both sides.
_FAMILY = re.compile(r"^adapters/(sqlite|aws)/")
#: Doors are named for what they open, and stores for what they keep.
_DOORS = ("cli/", "lambdas/", "web/pages/", "adapters/sqlite/", "adapters/aws/")
LONGEST_WIRING = 1500
MOST_PARAMETERS = 6


def _place(module: Path) -> str:
    return module.relative_to(SOURCE).as_posix()


def _classes(module: Path) -> Iterator[ast.ClassDef]:
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node


def test_a_public_class_has_a_name_of_its_own() -> None:
    places = defaultdict(set)
    for module in MODULES:
        for each in _classes(module):
            places[each.name].add(_FAMILY.sub("adapters/*/", _place(module)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_a_module_has_a_name_of_its_own() -> None:
    places = defaultdict(set)
    for module in MODULES:
        if module.stem not in ("__init__", "__main__"):
            places[module.stem].add(_FAMILY.sub("adapters/*/", _place(module)))
    rooms = {
        name: [place for place in found if not place.startswith((*_DOORS, "adapters/*/"))]
        for name, found in places.items()
    }
    assert {name: found for name, found in rooms.items() if len(found) > 1} == {}


def test_wiring_only_chooses() -> None:
    lines = sum(len(m.read_text(encoding="utf-8").splitlines()) for m in SOURCE.glob("wiring/*.py"))
    assert lines < LONGEST_WIRING


@pytest.mark.parametrize("module", sorted(SOURCE.glob("ports/*.py")), ids=_place)
def test_ports_are_protocols(module: Path) -> None:
    others = [
        each.name for each in _classes(module) if "Protocol" not in map(ast.unparse, each.bases)
    ]
    assert others == []


def test_what_travels_together_is_a_struct() -> None:
    """Commands of the command line apart: there a parameter is an option."""
    long = [
        f"{_place(module)}: {node.name}"
        for module in MODULES
        if not _place(module).startswith("cli/")
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and _count(node.args) > MOST_PARAMETERS
    ]
    assert long == []


def _count(given: ast.arguments) -> int:
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return sum(each.arg not in ("self", "cls") for each in named)


def test_the_code_of_the_glossary_exists() -> None:
    """A word in the form of code is a class, a function or a module of ours."""
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    whole = "\n".join(module.read_text(encoding="utf-8") for module in MODULES)
    classes = set(re.findall(r"`([A-Z][A-Za-z]+)`", page))
    assert [name for name in sorted(classes) if f"class {name}" not in whole] == []
    links = re.findall(r"\(\.\./(src/interlock/[^)#]+)\)", page)
    assert [link for link in links if not (ROOT / link).exists()] == []
