"""The OpenAPI document says what is so, and whatever it allows does not break us."""

import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings

from interlock.domain import canonical
from interlock.operations.endpoints import API, ENDPOINTS
from interlock.web.api.openapi import document
from web.house import URL, House, is_problem

DOCUMENT: Any = canonical.as_json(document())


def test_every_endpoint_is_described() -> None:
    paths = DOCUMENT["paths"]
    described = {(method.upper(), path) for path, row in paths.items() for method in row}

    assert {(row.method, API + row.path.replace(":path", "")) for row in ENDPOINTS} <= described


def test_every_reference_leads_somewhere() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    names = re.findall(r'"#/components/schemas/([^"]+)"', canonical.encode(DOCUMENT))

    assert names and set(names) <= set(schemas)


def test_the_document_is_served(house: House) -> None:
    answer = house.client.get("/openapi.json")

    assert canonical.decode(answer.content) == DOCUMENT
    assert DOCUMENT["openapi"] == "3.1.0"


def _operations() -> Iterator[Any]:
    """All but the stream, which has no end."""
    paths = {k: v for k, v in DOCUMENT["paths"].items() if not k.endswith("/stream")}
    schema = schemathesis.openapi.from_dict({**DOCUMENT, "paths": paths})
    for found in schema.get_all_operations():
        operation: Any = found.ok()  # type: ignore[union-attr]  # our own document is sound
        yield pytest.param(operation, id=operation.definition.raw["operationId"])


@pytest.mark.parametrize("operation", [*_operations()])
def test_nothing_that_the_document_allows_is_a_fault_of_ours(house: House, operation: Any) -> None:
    """Ids that exist are put in now and then: undeclared ones are soon refused."""

    @settings(
        max_examples=20,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def try_it(case: Any) -> None:
        for known in (False, True):
            if known:
                case.path_parameters = {**(case.path_parameters or {}), **_KNOWN}
            _check(house, operation, case)

    try_it()


_KNOWN = {"pipeline": "silver-orders", "schedule": "stream", "date": "2026-03-03"}


def _check(house: House, operation: Any, case: Any) -> None:
    sent = case.as_transport_kwargs(base_url=URL)
    sent.pop("cookies", None)
    headers = {k: v for k, v in dict(sent.pop("headers")).items() if k != "User-Agent"}
    answer = house.client.request(**sent, headers=headers)
    if answer.status_code >= 400:
        assert answer.status_code < 500, (sent, answer.text)
        assert is_problem(answer, answer.status_code)
        return
    described = operation.definition.raw["responses"][str(answer.status_code)]
    if "content" in described:
        schema = {
            **described["content"]["application/json"]["schema"],
            "components": DOCUMENT["components"],
        }
        jsonschema.validate(answer.json(), schema, jsonschema.Draft202012Validator)
