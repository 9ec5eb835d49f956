"""Dependencies page: the graph of pipelines, each coloured by the status of its newest date."""

from datetime import datetime

import msgspec

from interlock.domain.config import Config
from interlock.domain.history import Glance
from interlock.errors import NotFoundError
from interlock.queries.current_date import last_begun_of
from interlock.queries.dependencies import Edge, Graph, around, edges_of, graph
from interlock.web.pages.page_request import PageRequest, PageRow, Shown, Text
from interlock.web.pages.status_badge import ABSENT, PAUSED, StatusBadge, standing_at

#: A larger graph is unreadable; choosing a pipeline shows its part of it.
MOST = 150

BOX, HEIGHT, GAP, ROW = 200, 44, 90, 60
_EDGE = 14


class DependenciesQuery(msgspec.Struct, frozen=True, kw_only=True):
    pipeline: Text = ""


class Node(msgspec.Struct, frozen=True):
    """A box."""

    name: str
    x: int
    y: int
    standing: StatusBadge
    glance: Glance | None
    known: bool


class Line(msgspec.Struct, frozen=True):
    """An edge between two boxes."""

    path: str
    kind: str
    title: str


def build(asked: PageRequest) -> Shown:
    query: DependenciesQuery = asked.query
    configs = {c.pipeline.id: c for c in asked.context.backend.ports.pipelines.in_force()}
    edges = edges_of(config.pipeline for config in configs.values())
    linked = {name for edge in edges for name in (edge.upstream, edge.downstream)}
    if query.pipeline and query.pipeline not in configs and query.pipeline not in linked:
        raise NotFoundError(f"there is no pipeline {query.pipeline}")
    names = around(query.pipeline, edges) if query.pipeline else linked
    shown = {
        "pipeline": query.pipeline,
        "linked": len(linked),
        "alone": len(configs) - len(linked & set(configs)),
        "most": MOST,
        "too_many": len(names) > MOST,
        "suggested": _roots(edges)[:40] if len(names) > MOST else [],
    }
    if len(names) > MOST:
        return {**shown, "nodes": [], "lines": [], "width": 0, "height": 0}
    drawn = graph(names, edges)
    newest = asked.context.history.newest(
        {name: _last_begun(configs.get(name), asked.now) for name in sorted(names)}
    )
    paused = {name for name, config in configs.items() if config.is_paused(asked.now)}
    nodes = {
        name: _node(name, place, newest.get(name), name in configs, name in paused)
        for name, place in _places(drawn)
    }
    return {
        **shown,
        "nodes": list(nodes.values()),
        "lines": [
            _line(nodes[edge.upstream], nodes[edge.downstream], edge.kind) for edge in drawn.edges
        ],
        "width": len(drawn.layers) * (BOX + GAP) - GAP + 2 * _EDGE if drawn.layers else 0,
        "height": max(map(len, drawn.layers), default=0) * ROW + 2 * _EDGE,
    }


def _last_begun(config: Config | None, now: datetime) -> str:
    """An upstream that is not declared here has no zone of its own."""
    return now.date().isoformat() if config is None else last_begun_of(config.pipeline, now)


def _roots(edges: list[Edge]) -> list[str]:
    after = {edge.downstream for edge in edges}
    return sorted({edge.upstream for edge in edges} - after)


def _places(drawn: Graph) -> list[tuple[str, tuple[int, int]]]:
    """Layers from left to right, each in the middle of the height."""
    tallest = max(map(len, drawn.layers), default=0)
    return [
        (
            name,
            (
                _EDGE + depth * (BOX + GAP),
                _EDGE + round((tallest - len(layer)) * ROW / 2) + n * ROW + (ROW - HEIGHT) // 2,
            ),
        )
        for depth, layer in enumerate(drawn.layers)
        for n, name in enumerate(layer)
    ]


def _node(
    name: str, place: tuple[int, int], glance: Glance | None, known: bool, paused: bool
) -> Node:
    shown = ABSENT if glance is None else standing_at(glance)
    return Node(name, *place, PAUSED if paused else shown, glance, known)


def _line(start: Node, end: Node, kind: str) -> Line:
    x1, y1 = start.x + BOX, start.y + HEIGHT // 2
    x2, y2 = end.x, end.y + HEIGHT // 2
    bend = max(30, abs(x2 - x1) // 2)
    path = f"M{x1} {y1} C{x1 + bend} {y1} {x2 - bend} {y2} {x2 - 6} {y2}"
    return Line(path, kind.replace(" ", "-"), f"{start.name} {kind} {end.name}")


PAGE = PageRow("/dependencies", "dependencies.html", build, DependenciesQuery)
