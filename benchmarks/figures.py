"""Figures: how the benchmarks report their measurements. One JSON line, one line for people."""

import json
import statistics
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any


def timed(act: Callable[[], object]) -> float:
    """The seconds that one call takes."""
    start = perf_counter()
    act()
    return perf_counter() - start


def spread(values: Sequence[float]) -> dict[str, float]:
    """p50, p95 and how many."""
    ordered = sorted(values)
    at = min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))
    return {"p50": statistics.median(ordered), "p95": ordered[at], "n": len(ordered)}


def tell(name: str, target: str, line: str, **figures: Any) -> None:
    """Print the result that `make bench` collects."""
    print(json.dumps({"benchmark": name, "target": target, "line": line, **figures}))
    print(f"{name}: {line} (to reach: {target})")
