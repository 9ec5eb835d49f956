"""The pages and reads of an installation on AWS: the same as the local ones, and nothing is written."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError  # type: ignore[import-untyped]

from aws.gallery import Gallery
from aws.table_server import refused
from aws.viewer import Viewer
from contracts.samples import a_delivery
from interlock.adapters.aws.clients import ReadingClient
from interlock.cli.command_table import COMMANDS
from interlock.domain.alerting.deliveries import DeliveryState
from interlock.domain.callers import Scope
from interlock.errors import UnavailableError
from interlock.operations.endpoints import API, ENDPOINTS, Endpoint
from interlock.web.pages.forms import FORMS
from interlock.web.read_only_refusals import INSTEAD, UNSUPPORTED
from web.house import is_problem
from web.pages.visitor import HTML, Visitor

NOW = datetime(2026, 3, 3, 12, tzinfo=UTC)
DAY = "2026-03-03"
#: Every page, and how many requests to DynamoDB it may cost with the four pipelines of the story.
PAGES = {
    "/": 80,
    "/timeline": 25,
    "/timeline?span=14d": 25,
    "/pipelines": 25,
    "/pipelines/bronze": 25,
    f"/runs/orders/stream/{DAY}": 15,
    "/sla": 15,
    "/sla?pipeline=orders": 15,
    "/dependencies": 15,
    "/events": 75,  # one for each type of event
    "/events?q=orders&note=1": 65,
    "/runs": 5,
    "/runs?pipeline=orders": 15,
    "/search?q=orders": 5,
    f"/search?q=orders+{DAY}": 25,
    "/docs": 5,
    "/events?pipeline=orders&type=JOB_COMPLETED": 10,
}
READS = {"get_item", "batch_get_item", "query"}


@pytest.fixture(scope="module")
def gallery() -> Gallery:
    return Gallery(NOW)


@pytest.fixture
def viewer(gallery: Gallery, tmp_path: Path) -> Iterator[Viewer]:
    viewer = Viewer(gallery, tmp_path)
    yield viewer
    viewer.close()


@pytest.fixture
def visitor(viewer: Viewer) -> Visitor:
    return Visitor(viewer)


@pytest.mark.parametrize("path", PAGES)
def test_every_page_stands_without_a_button_that_does_anything(visitor: Visitor, path: str) -> None:
    page = visitor.see(path)

    assert "t on AWS, read only" in page.text
    posted = {form["action"] for form in page.all("form") if form.get("method") == "post"}
    assert posted <= {"/logout", "/looked"}  # both concern this browser alone


@pytest.mark.parametrize("path", PAGES)
def test_a_page_costs_a_bounded_number_of_reads(
    gallery: Gallery, tmp_path: Path, path: str
) -> None:
    viewer = Viewer(gallery, tmp_path, kept_seconds=600)
    Visitor(viewer).see(path)
    assert viewer.tables.asked.keys() <= READS
    assert viewer.tables.asked.total() <= PAGES[path], viewer.tables.asked
    viewer.close()


def test_the_overview_says_what_waits_what_failed_and_what_is_not_counted(visitor: Visitor) -> None:
    text = visitor.see("/").text

    assert f"bronze {DAY}" in text and "landed.count is 940, needs >= 1000" in text
    assert f"given up broken {DAY}" in text
    assert "4 pipelines in force" in text and "this backend would have to read every row" in text


def test_a_run_is_shown_from_its_first_event_to_its_last(visitor: Visitor) -> None:
    text = visitor.see(f"/runs/orders/stream/{DAY}").text

    assert "Trigger started" in text and "Job completed" in text and "SLA met" in text


def test_the_timeline_has_what_is_done_and_what_waits(visitor: Visitor) -> None:
    titles = {a.get("title") for a in visitor.see("/timeline?span=24h").all("a")}

    assert {f"orders {DAY}: done", f"bronze {DAY}: waiting"} <= titles


def test_events_are_shown_with_where_they_went(viewer: Viewer, visitor: Visitor) -> None:
    failed = viewer.gallery.told("RETRY_EXHAUSTED")
    sent = a_delivery(failed)
    assert viewer.gallery.store.deliveries.save(sent)

    shown = visitor.see("/events?pipeline=broken").text
    (alerted,) = (
        each
        for each in viewer.client.get(f"{API}/events/alerts?pipeline=broken").json()["items"]
        if each["alerts"]
    )

    assert f"{sent.target}: {DeliveryState.QUEUED}" in shown
    assert alerted["event"]["eventId"] == failed.event_id
    assert alerted["alerts"][0]["sink"] == sent.target.sink


def test_a_search_says_how_far_it_went(visitor: Visitor) -> None:
    assert "newest 5,000" in visitor.see("/events?q=nothing-is-like-this").text
    assert "newest 5,000" in visitor.see("/events?pipeline=orders&type=SLA_BREACH").text


def test_reads_of_the_interface_answer(viewer: Viewer) -> None:
    for path in (
        "/pipelines", "/pipelines/orders", "/pipelines/orders/config", "/pipelines/orders/why",
        "/pipelines/orders/sensors", "/runs?pipeline=orders", f"/runs/orders/stream/{DAY}",
        "/events", "/watchdog", "/pipelines/orders/resume",
        f"/pipelines/orders/backfill?from={DAY}&to={DAY}", "/backfills", "/backfills?pipeline=orders",
        f"/timeline?from={DAY}T00:00:00Z&to={DAY}T12:00:00Z",
        f"/sla?from={DAY}T00:00:00Z&to={DAY}T12:00:00Z",
    ):  # fmt: skip
        answer = viewer.client.get(API + path)
        assert answer.status_code == 200, (path, answer.text)
    assert viewer.tables.asked.keys() <= READS


def test_the_runs_of_every_pipeline_are_not_listed_and_the_refusal_says_why(viewer: Viewer) -> None:
    answer = viewer.client.get(f"{API}/runs")
    assert is_problem(answer, 422)
    assert "one pipeline: name it" in answer.json()["detail"]


# --- nothing is done here


@pytest.mark.parametrize("row", ENDPOINTS, ids=lambda row: row.name)
def test_whatever_is_no_read_is_refused_with_what_does_it(viewer: Viewer, row: Endpoint) -> None:
    if (row.scope is Scope.READ or row.is_query) and row.name not in {*INSTEAD, *UNSUPPORTED}:
        assert row.method == "GET" or row.name.startswith("foresee")  # which asks with a body
        return
    parts = {"pipeline": "orders", "key": "landed", "name": "x", "schedule": "stream", "date": DAY}
    parts["backfill"] = "orders-b"
    path = row.path.replace(":path", "").format_map(parts)

    answer = viewer.client.request(row.method, API + path, json={"date": DAY})

    assert is_problem(answer, 403)
    assert "is read-only for t on AWS" in answer.json()["detail"]
    assert ("interlock --backend aws" in answer.json()["detail"]) is (row.name in INSTEAD)
    assert not viewer.tables.asked


def test_what_a_file_would_change_is_foreseen_without_a_write(viewer: Viewer) -> None:
    document = {
        "pipeline": {"id": "orders"},
        "schedule": {"cron": "0 6 * * *"},
        "validation": {"rules": [{"key": "x", "check": "exists"}]},
        "job": {"type": "command", "config": {"command": ["etl"]}},
    }

    answer = viewer.client.post(f"{API}/foresee", json={"pipelines": {"orders": document}})

    assert answer.status_code == 200, answer.text
    (edit,) = answer.json()["items"]
    assert (edit["pipelineId"], edit["change"]) == ("orders", "changed") and edit["lines"]
    assert set(viewer.tables.asked) <= READS
    del document["job"]
    refused = viewer.client.post(f"{API}/foresee", json={"pipelines": {"orders": document}})
    assert is_problem(refused, 422) and "job is missing" in refused.json()["detail"]


@pytest.mark.parametrize(
    "form",
    [
        f"/runs/orders/stream/{DAY}/rerun",
        f"/runs/orders/stream/{DAY}/cancel",
        "/pipelines/orders/pause",
        "/pipelines/orders/backfill",
        "/backfills/orders-b/pause",
        "/backfills/orders-b/resume",
        "/backfills/orders-b/cancel",
    ],
)
def test_a_form_that_was_kept_open_is_refused(viewer: Viewer, visitor: Visitor, form: str) -> None:
    answer = visitor.send(form, reason="why not")

    assert answer.status_code == 403
    assert "interlock --backend aws" in answer.text and "orders" in answer.text
    assert not viewer.tables.asked


def test_a_ping_is_refused(viewer: Viewer) -> None:
    assert is_problem(viewer.client_of(None).get("/ping/some-token"), 403)


def test_each_refusal_is_of_an_endpoint_and_names_a_command() -> None:
    forms = {path.rpartition("/")[2] for path in FORMS}
    names = {row.name for row in ENDPOINTS} | forms | {"ping"}
    assert names >= {*INSTEAD, *UNSUPPORTED}
    assert {command.split()[0] for command in INSTEAD.values()} <= COMMANDS.keys()


def test_a_client_that_only_reads_can_do_nothing_else() -> None:
    for operation in ("put_item", "update_item", "delete_item", "transact_write_items", "scan"):
        with pytest.raises(UnavailableError, match="this client is read-only"):
            getattr(ReadingClient(object()), operation)


# --- who may look


def test_without_a_token_nothing_is_shown(viewer: Viewer) -> None:
    anonymous = viewer.client_of(None)
    assert is_problem(anonymous.get(f"{API}/pipelines"), 401)
    assert anonymous.get("/", headers=HTML).headers["location"].startswith("/login")
    assert is_problem(viewer.client_of(None, Host="evil.example").get(f"{API}/pipelines"), 421)


def test_the_printed_code_logs_in_and_pages_have_their_policy(viewer: Viewer) -> None:
    code = viewer.desk.access.new_code()
    visitor = Visitor(viewer, code)
    answer = visitor.client.get("/")
    assert answer.status_code == 200
    assert "default-src 'none'" in answer.headers["content-security-policy"]


# --- what AWS does not tell


def _unreachable(operation: str, given: Any) -> None:
    raise EndpointConnectionError(endpoint_url="https://dynamodb.invalid")


def _denied(operation: str, given: Any) -> None:
    said = "User: arn:aws:iam::1:user/ada is not authorized to perform: dynamodb:Query"
    raise refused("Query", "AccessDeniedException", said)


def test_a_page_names_the_cause_and_the_remedy(viewer: Viewer, visitor: Visitor) -> None:
    viewer.tables.broken = _denied
    text = visitor.see("/", 503).text
    assert "not authorized to perform: dynamodb:Query" in text
    assert "viewer_policy_json" in text and "interlock --backend aws doctor" in text


def test_a_problem_document_names_them_too(viewer: Viewer) -> None:
    viewer.tables.broken = _unreachable
    answer = viewer.client.get(f"{API}/pipelines")
    assert is_problem(answer, 503)
    assert "can't reach AWS" in answer.json()["detail"]
    assert any("network" in line for line in answer.json()["problems"])


def test_readyz_says_which_table_can_not_be_read(viewer: Viewer) -> None:
    anonymous = viewer.client_of(None)
    assert anonymous.get("/readyz").status_code == 200

    def no_events(operation: str, given: Any) -> None:
        if given.get("TableName", "").endswith("-events"):
            _denied(operation, given)

    viewer.tables.broken = no_events
    answer = anonymous.get("/readyz")
    assert is_problem(answer, 503)
    assert "dynamodb:Query" in answer.json()["detail"]
    assert anonymous.get("/healthz").status_code == 200


# --- many look at once


def test_who_asks_the_same_within_seconds_costs_nothing(gallery: Gallery, tmp_path: Path) -> None:
    viewer = Viewer(gallery, tmp_path, kept_seconds=600)
    visitor = Visitor(viewer)
    for path in ("/", "/timeline"):
        visitor.see(path)
    before = viewer.tables.asked.total()
    for path in ("/", "/timeline"):
        visitor.see(path)
    assert viewer.tables.asked.total() == before
    visitor.see("/timeline?span=24h")
    assert viewer.tables.asked.total() > before
    viewer.close()
