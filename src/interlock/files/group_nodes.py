"""Group nodes: a group of rules as people write it, and where it can't stand."""

from typing import Any

from interlock.files.nodes import Map, Node, Scalar
from interlock.files.problem import Path, ProblemKind, ProblemSeverity
from interlock.files.problem_collector import ProblemCollector

#: The other spelling of each name, and the one of the format.
_SPELLINGS = {"any_of": "anyOf", "all_of": "allOf"}
_NAMES = frozenset({*_SPELLINGS, *_SPELLINGS.values()})
_WHY_NOT = {
    "in a group": (
        "a group can't contain a group",
        "list its rules here, or make it an entry of validation.rules",
    ),
    "after the job": (
        "a group can't be judged after the job",
        "all rules of postRun must hold: list them one by one",
    ),
}


def respelt_group(node: Node, path: Path, reading: ProblemCollector) -> Map | None:
    """The group that a node is, under the names of the format; None for a node that is none."""
    if not isinstance(node, Map) or not _NAMES & node.items.keys():
        return None
    found = Map(node.line, node.column)
    for key, value in node.items.items():
        written = node.keys[key]
        name = _SPELLINGS.get(key, key)
        found.put(Scalar(name, written.plain, written.line, written.column), value)
        if name != key:
            message, hint = "the names in files are written in camelCase", f"write {name}"
            warning = ProblemSeverity.WARNING
            reading.note((*path, key), written, ProblemKind.BAD_VALUE, message, hint, warning)
    found.again |= {_SPELLINGS.get(key, key): again for key, again in node.again.items()}
    return found


def no_group_here(node: Map, path: Path, reading: ProblemCollector, place: str) -> Any:
    """Report a group in a place that takes only rules."""
    name = next(key for key in node.items if key in _NAMES)
    message, hint = _WHY_NOT[place]
    return reading.error((*path, name), node.keys[name], ProblemKind.CONFLICT, message, hint)
