"""The API page: every operation and every schema, for those who may read."""

import pytest

from interlock.web.api.openapi import document
from web.house import House
from web.pages.visitor import Visitor


def test_every_operation_and_schema_has_its_place(visitor: Visitor) -> None:
    page = visitor.see("/docs")

    places = {each.get("id") for each in page.all("details")}
    described = document()
    for path, operations in described["paths"].items():
        assert path in page.text
        for operation in operations.values():
            assert operation["operationId"] in places
            assert operation["summary"].split("`")[0].strip() in page.text
    assert {f"schema-{name}" for name in described["components"]["schemas"]} <= places


def test_every_reference_leads_to_a_schema(visitor: Visitor) -> None:
    page = visitor.see("/docs")

    ids = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    links = {link["href"] for link in page.all("a") if link["href"].startswith("#")}
    assert len(links) > 50 and {link[1:] for link in links} <= ids


def test_every_group_has_its_section_and_no_place_is_named_twice(visitor: Visitor) -> None:
    tags = {
        tag
        for operations in document()["paths"].values()
        for operation in operations.values()
        for tag in operation["tags"]
    }
    page = visitor.see("/docs")
    assert {"readings", "pipelines", "runs", "events"} <= tags
    assert {f"group-{tag}" for tag in tags} <= {each.get("id") for each in page.all("section")}
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_a_form_has_a_field_for_each_parameter_and_a_body_to_begin_with(visitor: Visitor) -> None:
    page = visitor.see("/docs")

    forms = {
        (form["data-method"], form["data-path"]) for form in page.all("form") if "data-path" in form
    }
    assert ("GET", "/api/v1/runs") in forms and (
        "PUT",
        "/api/v1/pipelines/{pipeline}/sensors/{key}",
    ) in forms
    assert not any(path.endswith("/stream") for _, path in forms)
    assert {"pipeline", "schedule", "date", "status", "limit"} <= {
        each["name"] for tag in ("input", "select") for each in page.all(tag) if "data-in" in each
    }
    assert '"date": ""' in page.text


def test_its_script_is_a_file_of_ours(house: House, visitor: Visitor) -> None:
    scripts = [each["src"] for each in visitor.see("/docs").all("script")]
    assert any(src.startswith("/static/api.js?") for src in scripts)
    assert not [
        src for src in (each["src"] for each in visitor.see("/").all("script")) if "api.js" in src
    ]


@pytest.mark.parametrize("scopes", [("observe",), ("operate",)])
def test_it_asks_for_the_scope_of_the_other_pages(house: House, scopes: tuple[str, ...]) -> None:
    Visitor(house, house.token(*scopes)).see("/docs", 403)
    Visitor(house, house.token("read")).see("/docs")
