"""One story as every command, page and query tells it: none contradicts another."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from starlette.testclient import TestClient

from cli.place import Place
from interlock.domain.config import RefusedConfig
from interlock.runtime.health import Health, NotedDatabase
from interlock.simulation.scenario import JobScript
from interlock.web.access import Access
from interlock.web.app import application
from interlock.web.gate import KnownHosts
from interlock.web.metrics import Metrics
from interlock.web.serve import local_context
from interlock.wiring.local_backend import open_local_backend
from web.house import OWNER, client_of
from web.pages.visitor import Visitor

STREAM = """\
pipeline: {{id: {id}}}
schedule: {{trigger: {{key: orders, check: exists}}, evaluation: {{window: 12h, interval: 5m}}}}
validation: {{rules: [{{key: orders, check: gte, field: count, value: 1000}}]}}
job: {{type: command, config: {{command: ["true"]}}, maxRetries: {retries}}}
"""
FAILS: Any = {"result": "fail", "category": "TRANSIENT", "error": "out of memory"}
#: By pipeline: what it is called wherever it is shown.
WORDS = {
    "a-waiting": "waiting",
    "b-running": "running",
    "c-retrying": "retrying",
    "d-failed": "given up",
    "e-ahead": "given up",
}


class Told:
    """The state file of the story, and a server that shows it."""

    def __init__(self, place: Place, client: TestClient, visitor: Visitor) -> None:
        self.place, self.client, self.visitor = place, client, visitor
        self.tomorrow = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()

    def api(self, path: str) -> Any:
        answer = self.client.get(f"/api/v1{path}")
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    place = Place(tmp_path_factory.mktemp("story"))
    place.today = (datetime.now(UTC)).date().isoformat()
    place.scripts |= {
        "b-running": (JobScript(hang=True),),
        "c-retrying": (JobScript(**FAILS),) * 5,
        "d-failed": (JobScript(**FAILS),),
        "e-ahead": (JobScript(**FAILS), JobScript(hang=True)),
    }
    for name in WORDS:
        place.declare(STREAM.format(id=name, retries=1 if name == "c-retrying" else 0))
    for name in ("d-failed", "e-ahead"):
        place.put(pipeline=name, count=1000)
    place.catch_up()
    place.put(pipeline="a-waiting", count=940)
    place.put(pipeline="b-running", count=1000)
    ahead = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
    place.put(pipeline="e-ahead", count=1000, date=ahead)
    refused = RefusedConfig(
        pipeline_id="f-refused",
        message="is missing",
        path="job.type",
        file="pipelines/f-refused.yaml",
        line=7,
    )
    place.happen(lambda home: home.store.refused_files.keep([refused]))
    place.put(pipeline="c-retrying", count=1000)
    _wait_for_a_retry(place)
    with _served(place) as told:
        yield told


def _wait_for_a_retry(place: Place) -> None:
    states: list[str] = []
    for _ in range(60):
        place.wait(seconds=2)
        place.happen(
            lambda home: states.extend(
                run.state for run in home.store.runs.active() if run.key.pipeline_id == "c-retrying"
            )
        )
        if states[-1] == "RETRYING":
            return
    raise AssertionError(states)


@contextmanager
def _served(place: Place) -> Iterator[Told]:
    database = NotedDatabase(str(place.settings.database))
    with open_local_backend(place.settings, database=lambda name: database) as home:
        access = Access(home.store.tokens, {"owner": OWNER})
        context = local_context(home, Health(database, home.queries), access, Metrics())
        app = application(context, KnownHosts("127.0.0.1", []))

        class Host:
            def client_of(self, secret: str | None, **headers: str) -> TestClient:
                return client_of(app, secret, **headers)

        yield Told(place, client_of(app, OWNER), Visitor(Host()))


@pytest.mark.parametrize(("pipeline", "word"), WORDS.items())
def test_every_command_and_page_calls_a_date_the_same(told: Told, pipeline: str, word: str) -> None:
    place, today = told.place, told.place.today

    status = next(x for x in place.shown("status").splitlines() if x.startswith(f"{pipeline} "))
    assert f"{today}  {word}" in status
    assert f"\n{word}: " in place.shown("why", pipeline)
    runs = place.shown("runs", pipeline)
    assert re.search(rf"{today} +{word} ", runs)
    assert f": {word}, attempt 0" in place.shown("run", pipeline, today)

    page = told.visitor.see(f"/pipelines/{pipeline}").text
    assert f"{today} {word} " in page  # the panel of its current date
    assert f"{word} {today} " in page  # the list of recent dates
    assert f"{word} {today} {pipeline}" in told.visitor.see("/pipelines").text
    assert word in told.visitor.see(f"/runs/{pipeline}/stream/{today}").text
    for span in ("48h", "14d"):
        titles = [
            attributes.get("aria-label") or attributes.get("title") or ""
            for _, attributes in told.visitor.see(f"/timeline?span={span}&q={pipeline}").tags
        ]
        assert any(each.startswith(f"{pipeline} {today}: {word}") for each in titles), titles


def test_the_api_says_which_failed_run_is_retried(told: Told) -> None:
    today = told.place.today
    (why,) = told.api("/pipelines/c-retrying/why")["items"]
    state = told.api("/pipelines/c-retrying")
    assert why["retryAt"] == state["retryAt"] and why["retryAt"] is not None
    assert state["today"] == {"RETRYING": 1}
    assert (why["date"], why["status"]) == (state["date"], state["status"]) == (today, "FAILED")
    range_ = f"from={today}T00:00:00Z&to={today}T23:00:00Z"
    rows = {row["pipelineId"]: row for row in told.api(f"/timeline?{range_}")["items"]}
    assert [cell["retrying"] for cell in rows["c-retrying"]["cells"]] == [True]
    assert rows["d-failed"]["cells"][0]["retrying"] is False


def test_a_date_to_come_hides_no_failure(told: Told) -> None:
    """A reading with tomorrow's date opened a run; today's failed."""
    status = told.place.shown("status")
    assert told.tomorrow not in status
    assert f"e-ahead {told.place.today}: failed: out of memory" in status
    assert told.tomorrow in told.place.shown("runs", "e-ahead")
    (why,) = told.api("/pipelines/e-ahead/why")["items"]
    assert why["date"] == told.place.today


def test_the_counters_of_the_overview_are_those_of_its_lists(told: Told) -> None:
    page = told.visitor.see("/").text
    figures = page.partition("Needs attention")[0]
    words = "done|running|waiting|retrying|failed|overdue|no run"
    counted = {word: number for number, word in re.findall(rf"(\d+) ({words})\b", figures)}
    assert counted == {
        "done": "0",
        "running": "2",  # of today, and of tomorrow
        "waiting": "1",
        "retrying": "1",
        "failed": "2",
        "overdue": "0",
        "no run": "0",
    }
    assert "No run is waiting" not in page
    waiting = page.partition("Waiting for their rules")[2].partition("Next deadlines")[0]
    assert waiting.count(told.place.today) == 1 and "a-waiting" in waiting
    attention = page.partition("Needs attention")[2].partition("The last 24 hours")[0]
    assert attention.count("given up") == 2 and "c-retrying" not in attention


def test_a_refused_file_is_named_with_its_place_everywhere(told: Told) -> None:
    place = "pipelines/f-refused.yaml:7: job.type: is missing"
    assert place in " ".join(told.place.run("status").output.split())
    assert place in told.visitor.see("/").text
    (refused,) = told.api("/refused")["items"]
    assert (refused["file"], refused["line"], refused["path"]) == (
        "pipelines/f-refused.yaml",
        7,
        "job.type",
    )
