"""Missing files: their description for people, on the pages and the command line."""

from collections.abc import Iterator, Sequence

from interlock.domain.missing import Missing
from interlock.domain.timestamp import spell

_SHOWN = 5
_ONE = ("has", "the pipeline stays", "is")
_MANY = ("have", "the pipelines stay", "are")


def missing_files(missing: Sequence[Missing]) -> list[str]:
    """One line for all that disappeared together, and one for each that disappeared alone."""
    held = [each for each in missing if each.held_at is not None]
    return [*_held(held), *(_alone(each) for each in missing if each.held_at is None)]


def _held(held: Sequence[Missing]) -> Iterator[str]:
    if not held:
        return
    names = ", ".join(each.pipeline_id for each in held[:_SHOWN])
    rest = f" and {len(held) - _SHOWN} more" if len(held) > _SHOWN else ""
    files = "the file" if len(held) == 1 else f"{len(held)} files"
    ends = [each.until for each in held if each.until is not None]
    end = f"from {spell(min(ends))} on" if ends else "never by itself while it stays so"
    have, stay, are = _ONE if len(held) == 1 else _MANY
    yield (
        f"{files} of {names}{rest} {have} been missing since {spell(min(e.since for e in held))};"
        f" {stay} in force and {are} retired {end}"
    )


def _alone(missing: Missing) -> str:
    end = "stays in force" if missing.until is None else f"is retired at {spell(missing.until)}"
    since = spell(missing.since)
    return f"the file of {missing.pipeline_id} has been missing since {since}; the pipeline {end}"
