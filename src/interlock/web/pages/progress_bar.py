"""Progress bar: how far a backfill has come, as stretches of a bar that is a thousand wide."""

from typing import NamedTuple

from interlock.queries.backfill_progress import BackfillProgress

_WIDTH = 1000


class BarStretch(NamedTuple):
    """A part of the bar: what it stands for, its tone, where it begins and how wide it is."""

    word: str
    tone: str
    at: float
    width: float


def progress_bar(progress: BackfillProgress) -> list[BarStretch]:
    """The parts that are not empty, in order; what is left of the bar are the waiting dates."""
    parts = [
        ("completed", "ok", progress.completed),
        ("failed", "bad", progress.failed),
        ("refused", "warn", progress.refused),
        ("at work", "busy", len(progress.active)),
    ]
    found, at = [], 0.0
    for word, tone, number in parts:
        width = _WIDTH * number / max(1, progress.dates)
        if number:
            found.append(BarStretch(f"{number} {word}", tone, round(at, 2), round(width, 2)))
        at += width
    return found
