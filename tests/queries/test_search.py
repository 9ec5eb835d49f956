"""Search: the best of each kind first, bounded, and the same on both backends."""

from collections.abc import Iterator
from typing import Any

import pytest

from contracts.samples import ManualClock, a_key, a_run
from declared import declared
from interlock.adapters.sqlite.database import MEMORY, Database
from interlock.adapters.sqlite.store import Store
from interlock.domain.run import Status
from interlock.queries.search import Found, FoundKind, search


class Declared:
    """Pipelines in force, without a store."""

    def __init__(self, *texts: str) -> None:
        self._pipelines = [declared(text) for text in texts]

    def in_force(self) -> list[Any]:
        return [type("Config", (), {"pipeline": each}) for each in self._pipelines]


PIPELINES = Declared(
    "pipeline: {id: orders, owner: shop, tags: {layer: bronze}}",
    "pipeline: {id: orders-gold, owner: finance}",
    "pipeline: {id: silver-orders, owner: shop}",
    "pipeline: {id: fx, owner: orders-team}\n"
    "schedule: {trigger: {key: rates/landed, check: exists}}\n"
    "validation: {rules: [{key: 'pipeline:orders', check: exists}, {key: rates/EUR, check: exists}]}\n"
    "postRun: {rules: [{key: audit-rows, check: exists}]}",
)


@pytest.fixture
def store(clock: ManualClock) -> Iterator[Store]:
    with Database(MEMORY) as database:
        yield Store(database, clock)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def found(text: str, store: Store, limit: int = 20) -> list[Found]:
    ports = type("Ports", (), {"pipelines": PIPELINES})
    return search(text, limit, ports, store.history)  # type: ignore[arg-type]


def titles(text: str, store: Store, kind: FoundKind, limit: int = 20) -> list[str]:
    return [each.title for each in found(text, store, limit) if each.kind is kind]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("orders", ["orders", "orders-gold", "silver-orders", "fx"]),
        ("ORDERS", ["orders", "orders-gold", "silver-orders", "fx"]),
        ("gold orders", ["orders-gold"]),
        ("orders shop", ["orders", "silver-orders"]),
        ("layer:bronze", ["orders"]),
        ("orders nothing", []),
        ("", []),
        ("   ", []),
    ],
)
def test_pipelines_come_by_id_before_owner_and_tag(
    store: Store, text: str, expected: list[str]
) -> None:
    assert titles(text, store, FoundKind.PIPELINE) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rates", ["rates/landed", "rates/EUR"]),
        ("eur", ["rates/EUR"]),
        ("rates/eur#2026-03-03", ["rates/EUR"]),
        ("audit", ["audit-rows"]),
        ("pipeline:", []),  # completions upstream are no readings of producers
    ],
)
def test_readings_are_found_by_the_keys_that_rules_name(
    store: Store, text: str, expected: list[str]
) -> None:
    assert titles(text, store, FoundKind.READING) == expected


@pytest.mark.parametrize("text", ["sla breach", "SLA_BREACH", "breach sla"])
def test_event_types_are_found_in_either_spelling(store: Store, text: str) -> None:
    assert titles(text, store, FoundKind.EVENT_TYPE) == ["SLA_BREACH", "RELATIVE_SLA_BREACH"]


@pytest.mark.parametrize("text", ["2026-03", "2026-03-03", "2026-03-03T11", "2026-03-03t11:30"])
def test_a_date_alone_leads_to_its_runs(store: Store, text: str) -> None:
    (only,) = found(text, store)
    assert (only.kind, only.date) == (FoundKind.DATE, text.upper())


def test_a_date_and_a_word_lead_to_the_runs_of_matching_pipelines(store: Store) -> None:
    for name, date in (("orders", "2026-03-03"), ("orders", "2026-03-04"), ("fx", "2026-03-03")):
        assert store.runs.open(a_run(a_key(pipeline_id=name, date=date)))

    runs = found("orders 2026-03-03", store)

    assert [(each.pipeline_id, each.date, each.detail) for each in runs] == [
        ("orders", "2026-03-03", Status.PENDING.lower()),
        ("fx", "2026-03-03", Status.PENDING.lower()),  # its owner is called so
    ]
    assert found("orders 2026-03-09", store) == []


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 100])
def test_no_kind_crowds_out_the_others(store: Store, limit: int) -> None:
    every = found("s", store, limit)

    assert len(every) == min(limit, len(found("s", store, 100)))
    if limit >= 4:
        kinds = {each.kind for each in every}
        assert {FoundKind.PIPELINE, FoundKind.EVENT_TYPE} <= kinds
