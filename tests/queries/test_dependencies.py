"""The graph of pipelines: every line leads onwards, and a cycle hides no pipeline."""

from declared import declared
from interlock.queries.dependencies import Edge, around, edges_of, graph


def after(name: str, *upstream: str, hours: bool = False) -> str:
    each = ", hours: all" if hours else ""
    lines = "\n".join(
        f"- {{id: s{n}, trigger: {{pipeline: {up}{each}}}}}" for n, up in enumerate(upstream)
    )
    return f"pipeline: {{id: {name}}}\nschedules:\n{lines}\n"


def test_triggers_and_rules_are_edges() -> None:
    checked = declared(
        "pipeline: {id: d}\nvalidation: {rules: [{key: 'pipeline:a', check: exists}]}"
    )
    both = declared(after("c", "a") + "validation: {rules: [{key: 'pipeline:a', check: exists}]}")
    whole_day = declared(after("b", "a", hours=True))

    assert edges_of([checked, both, whole_day]) == [
        Edge("a", "b", "opens daily"),
        Edge("a", "c", "opens"),
        Edge("a", "d", "is checked by"),
    ]


def test_keys_in_groups_and_in_values_are_edges_too() -> None:
    checked = declared(
        "pipeline: {id: d}\nvalidation: {rules: [{anyOf: [{key: 'pipeline:a', check: exists}]},"
        " {key: orders, check: gte, field: n, value: {field: n, key: 'pipeline:b'}}]}"
    )
    assert edges_of([checked]) == [Edge(name, "d", "is checked by") for name in "ab"]


def test_what_comes_later_stands_further_on() -> None:
    edges = [Edge("a", "b", "opens"), Edge("b", "c", "opens"), Edge("a", "c", "opens")]

    assert graph("abc", edges).layers == [["a"], ["b"], ["c"]]


def test_a_layer_stands_in_the_order_of_what_leads_to_it() -> None:
    edges = [Edge("a", "z", "opens"), Edge("b", "y", "opens")]

    assert graph("abyz", edges).layers == [["a", "b"], ["z", "y"]]


def test_a_circle_is_drawn_all_the_same() -> None:
    edges = [Edge("a", "b", "opens"), Edge("b", "a", "opens"), Edge("b", "c", "opens")]
    drawn = graph("abc", edges)

    assert sorted(name for layer in drawn.layers for name in layer) == ["a", "b", "c"]
    assert around("a", edges) == {"a", "b", "c"}


def test_around_a_pipeline_is_what_it_needs_and_what_needs_it() -> None:
    edges = [Edge("a", "b", "opens"), Edge("b", "c", "opens"), Edge("a", "other", "opens")]

    assert around("b", edges) == {"a", "b", "c"}
    assert around("alone", edges) == {"alone"}
    assert graph([], edges).layers == []
