"""Dependencies: which pipeline opens or is checked after which, and the position of each in that order."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from interlock.domain.admission import rule_keys
from interlock.domain.pipeline import Pipeline, UpstreamHours
from interlock.domain.sensor import RESERVED


class Edge(msgspec.Struct, frozen=True, order=True):
    """`kind`: `opens`, `opens daily` (when every hour is done), or `is checked by`."""

    upstream: str
    downstream: str
    kind: str


class Graph(msgspec.Struct, frozen=True):
    """Pipelines in layers: every edge leads to a later layer, except in cycles."""

    layers: list[list[str]]
    edges: list[Edge]


def edges_of(pipelines: Iterable[Pipeline]) -> list[Edge]:
    return sorted({edge for pipeline in pipelines for edge in _into(pipeline)})


def _into(pipeline: Pipeline) -> Iterator[Edge]:
    opened = set()
    for schedule in pipeline.schedules:
        trigger = schedule.trigger
        if trigger is not None and trigger.pipeline is not None:
            opened.add(trigger.pipeline)
            kind = "opens daily" if trigger.hours is UpstreamHours.ALL else "opens"
            yield Edge(trigger.pipeline, pipeline.id, kind)
    for key in rule_keys(pipeline):
        upstream = key.removeprefix(RESERVED)
        if key.startswith(RESERVED) and upstream not in opened:
            yield Edge(upstream, pipeline.id, "is checked by")


def around(name: str, edges: Sequence[Edge]) -> set[str]:
    """A pipeline with everything upstream and downstream of it."""
    after, before = _neighbours(edges)
    return {name, *_reached(name, after), *_reached(name, before)}


def graph(names: Iterable[str], edges: Sequence[Edge]) -> Graph:
    """The part of the graph with these pipelines."""
    wanted = set(names)
    inside = [edge for edge in edges if edge.upstream in wanted and edge.downstream in wanted]
    depth = _depths(wanted, inside)
    layers: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for name in sorted(wanted):
        layers[depth[name]].append(name)
    return Graph(_ordered(layers, inside), inside)


def _neighbours(
    edges: Iterable[Edge],
) -> tuple[Mapping[str, list[str]], Mapping[str, list[str]]]:
    after, before = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for edge in edges:
        after[edge.upstream].append(edge.downstream)
        before[edge.downstream].append(edge.upstream)
    return after, before


def _reached(name: str, neighbours: Mapping[str, list[str]]) -> set[str]:
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        for other in neighbours.get(waiting.pop(), ()):
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return seen


def _depths(names: set[str], edges: Sequence[Edge]) -> dict[str, int]:
    """The length of the longest path to each pipeline."""
    after, _ = _neighbours(edges)
    missing = dict.fromkeys(names, 0)
    for edge in edges:
        missing[edge.downstream] += 1
    depth = dict.fromkeys(names, 0)
    ready = sorted(name for name, count in missing.items() if count == 0)
    while ready:
        name = ready.pop()
        for other in after.get(name, ()):
            depth[other] = max(depth[other], depth[name] + 1)
            missing[other] -= 1
            if missing[other] == 0:
                ready.append(other)
    return depth


def _ordered(layers: list[list[str]], edges: Sequence[Edge]) -> list[list[str]]:
    """Each layer ordered by its predecessors, so that few lines cross."""
    _, before = _neighbours(edges)
    place: dict[str, float] = {}
    for layer in layers:
        layer.sort(key=lambda name: (_middle(before.get(name, ()), place), name))
        place |= {name: float(n) for n, name in enumerate(layer)}
    return layers


def _middle(names: Sequence[str], place: Mapping[str, float]) -> float:
    known = [place[name] for name in names if name in place]
    return sum(known) / len(known) if known else 0.0
