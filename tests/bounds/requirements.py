"""Requirements: what pyproject.toml asks for, and the versions that the tools of development are held at."""

import re
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
#: What a user installs. The tools of the tests may be the newest in every set.
EXTRAS = ("server", "aws", "holidays")

_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?>=([0-9.]+)(?:,<[0-9]+)?")


class Bound(NamedTuple):
    """The lowest version that is asked for."""

    name: str
    lowest: str


def project() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return found


def bounds() -> list[Bound]:
    """Of everything that a user may install, as often as it is named."""
    declared = project()
    extras = declared["optional-dependencies"]
    return [bound_of(text) for text in declared["dependencies"]] + [
        bound_of(text) for extra in EXTRAS for text in extras[extra]
    ]


def tool_bounds() -> list[Bound]:
    return [bound_of(text) for text in project()["optional-dependencies"]["dev"]]


def bound_of(requirement: str) -> Bound:
    """Raises ValueError for a requirement of another form: nothing would try its lowest version."""
    found = _REQUIREMENT.fullmatch(requirement)
    if found is None:
        raise ValueError(f"{requirement} is not of the form name>=version or name>=version,<major")
    return Bound(plain(found[1]), found[2])


def pinned() -> dict[str, str]:
    """The versions of constraints.txt, by name."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pairs = (line.split("==") for line in lines if "==" in line)
    return {plain(name): version for name, version in pairs}


def plain(name: str) -> str:
    """One spelling for names that mean the same package."""
    return re.sub(r"[-_.]+", "-", name).lower()


def number(version: str) -> tuple[int, ...]:
    """To compare by: 4.0 and 4.0.0 are one version, and 4.10 is above 4.9."""
    parts = [int(part) for part in re.findall(r"\d+", version)]
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)
