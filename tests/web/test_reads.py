"""Looking at the home over HTTP: lists by page, one thing by name, and the whole at a glance."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from interlock.errors import UnavailableError
from interlock.runtime.health import Health
from web.house import House, is_problem

API = "/api/v1"


def test_pages_hold_every_run_once(house: House) -> None:
    for day in range(1, 8):
        for pipeline in ("silver-orders", "gold-orders"):
            house.put({"date": f"2026-03-{day:02}"}, pipeline)
    house.runtime.step()

    whole = house.client.get(f"{API}/runs").json()["items"]
    paged = _pages(house, f"{API}/runs?limit=3")

    assert len(whole) == 14
    assert paged == whole
    assert [run["key"]["date"] for run in whole] == sorted(
        (run["key"]["date"] for run in whole), reverse=True
    )


def test_runs_are_found_by_pipeline_and_date(house: House) -> None:
    for day in range(1, 8):
        house.put({"date": f"2026-03-{day:02}"})
    house.runtime.step()

    query = "pipeline=silver-orders&from=2026-03-03&to=2026-03-04"
    found = house.client.get(f"{API}/runs?{query}").json()["items"]

    assert [run["key"]["date"] for run in found] == ["2026-03-04", "2026-03-03"]
    assert not house.client.get(f"{API}/runs?pipeline=gold-orders").json()["items"]


def test_pages_hold_every_event_once(house: House) -> None:
    for day in range(1, 8):
        house.put({"date": f"2026-03-{day:02}"})
    house.runtime.step()

    whole = house.client.get(f"{API}/events").json()["items"]

    assert len(whole) > 7
    assert _pages(house, f"{API}/events?limit=2") == whole
    told = house.client.get(f"{API}/events/alerts").json()["items"]
    assert [each["event"] for each in told] == whole
    kinds = house.client.get(f"{API}/events?type=TRIGGER_STARTED").json()["items"]
    assert {event["type"] for event in kinds} == {"TRIGGER_STARTED"}


def test_pages_hold_every_pipeline_and_every_reading_once(house: House) -> None:
    for n in range(5):
        house.client.put(f"{API}/pipelines/silver-orders/sensors/k{n}", json={})

    pipelines = _pages(house, f"{API}/pipelines?limit=1")
    readings = _pages(house, f"{API}/pipelines/silver-orders/sensors?limit=2")

    assert [each["id"] for each in pipelines] == ["gold-orders", "silver-orders"]
    assert [each["key"] for each in readings] == [f"k{n}" for n in range(5)]


@pytest.mark.parametrize("path", ["/runs", "/events", "/pipelines", "/pipelines/x/sensors"])
@pytest.mark.parametrize("cursor", ["x", "AAAA", "e30", "W10", "é", "bnVsbA"])
def test_a_cursor_that_no_list_gave_is_refused(house: House, path: str, cursor: str) -> None:
    assert is_problem(house.client.get(API + path, params={"cursor": cursor}), 422)


@pytest.mark.parametrize(
    "path",
    [
        "/runs?limit=0",
        "/runs?limit=1001",
        "/runs?limit=many",
        "/runs?limit=1&limit=2",
        "/runs?unknown=1",
        "/runs?from=yesterday",
        "/events?since=2026-03-03",
        "/timeline",
        "/timeline?from=2026-03-03T00:00:00Z&to=2026-03-01T00:00:00Z",
        "/timeline?from=2020-03-03T00:00:00Z&to=2026-03-01T00:00:00Z",
        "/sla?from=2026-03-03T00:00:00&to=2026-03-04T00:00:00",
        "/pipelines/silver-orders/why?date=someday",
        "/pipelines/silver-orders/backfill?from=2026-01-01&to=2029-01-01",
    ],
)
def test_a_question_that_can_not_be_answered_is_refused_with_a_problem(
    house: House, path: str
) -> None:
    assert is_problem(house.client.get(API + path), 422)


@pytest.mark.parametrize(
    "path", ["/pipelines/no", "/pipelines/no/why", "/runs/silver-orders/stream/2026-03-03", "/no"]
)
def test_what_is_not_there_is_not_found(house: House, path: str) -> None:
    assert is_problem(house.client.get(API + path), 404)


@pytest.mark.parametrize(
    ("method", "path"),
    [("DELETE", "/runs"), ("POST", "/pipelines"), ("GET", "/sensors"), ("PATCH", "/events")],
)
def test_an_impossible_request_is_refused_with_a_reason(
    house: House, method: str, path: str
) -> None:
    answer = house.client.request(method, API + path)

    assert is_problem(answer, 405)
    assert answer.headers["allow"]


def test_a_run_is_shown_with_its_history(house: House) -> None:
    house.put({"date": "2026-03-03"})
    house.runtime.step()

    found = house.client.get(f"{API}/runs/silver-orders/stream/2026-03-03").json()

    assert found["run"]["key"]["date"] == "2026-03-03"
    assert "TRIGGER_STARTED" in [event["type"] for event in found["events"]]


def test_why_answers_for_each_schedule(house: House) -> None:
    found = house.client.get(f"{API}/pipelines/silver-orders/why?date=2026-03-03").json()["items"]

    assert found[0]["status"] == "absent"
    assert found[0]["unblock"]


def test_the_timeline_shows_what_ran_and_what_is_missing(house: House) -> None:
    house.declare(
        "pipeline: {id: bronze}\nschedule: {cron: '0 6 * * *'}\n"
        "sla: {deadline: '23:00', expectedDuration: 1h}"
    )
    house.runtime.settle()
    now = house.home.ports.clock()
    house.in_force_since("bronze", now - timedelta(days=3))
    span = {"from": f"{now - timedelta(days=3):%FT%TZ}", "to": f"{now + timedelta(days=2):%FT%TZ}"}
    house.client.post(f"{API}/pipelines/bronze/reruns", json={"date": f"{now:%F}"})
    house.runtime.step()

    rows = house.client.get(f"{API}/timeline", params=span).json()["items"]
    attained = house.client.get(f"{API}/sla", params=span).json()["items"]

    cells = next(row["cells"] for row in rows if row["pipelineId"] == "bronze")
    by_date = {cell["date"]: cell["status"] for cell in cells}
    assert by_date[f"{now - timedelta(days=2):%F}"] == "missing"
    assert by_date[f"{now + timedelta(days=1):%F}"] == "expected"
    assert by_date[f"{now:%F}"] not in ("missing", "expected")
    assert [row["pipelineId"] for row in attained] == ["bronze"]
    assert attained[0]["undecided"] == 1


def test_a_rerun_is_accepted_as_a_request(house: House) -> None:
    path = f"{API}/pipelines/silver-orders/reruns"

    answer = house.client.post(path, json={"date": "2026-03-03", "reason": "wrong prices"})
    house.runtime.step()

    assert answer.status_code == 202
    assert answer.json()["requestedBy"] == "owner"
    assert house.client.get(f"{API}/runs").json()["items"][0]["key"]["date"] == "2026-03-03"
    assert is_problem(house.client.post(path, json={"date": "2026-13-03"}), 422)
    assert is_problem(house.client.post(path, json={"date": "2026-03-03", "x": 1}), 422)
    assert is_problem(house.client.post(path), 422)


def test_while_paused_nothing_opens_and_a_resume_says_what_it_would_start(house: House) -> None:
    base = f"{API}/pipelines/silver-orders"
    house.client.post(f"{base}/pause")
    house.put({"date": "2026-03-03"})
    house.runtime.step()
    assert not house.client.get(f"{API}/runs").json()["items"]

    assert house.client.get(f"{base}/resume").status_code == 200
    assert house.client.post(f"{base}/resume").status_code == 200


def test_the_watchdog_can_be_asked_and_sent(house: House) -> None:
    assert house.client.get(f"{API}/watchdog").json()["lastOkAt"]
    assert "now" in house.client.post(f"{API}/watchdog").json()


# --- health


def test_a_controller_that_works_is_ready(house: House) -> None:
    assert house.client.get("/healthz").json() == {"status": "alive"}
    assert house.client.get("/readyz").json() == {"status": "ready"}


def test_a_late_watchdog_is_not_ready(house: House) -> None:
    state = house.home.store.watch.load()
    assert state.last_ok_at is not None
    late = msgspec.structs.replace(
        state, version=state.version + 1, last_ok_at=state.last_ok_at - timedelta(minutes=16)
    )
    house.home.store.watch.save(late)

    answer = house.client.get("/readyz")

    assert is_problem(answer, 503)
    assert "three cadences" in answer.json()["detail"]


def test_a_store_that_can_not_write_is_not_ready_until_it_can(house: House) -> None:
    def full(connection: Any) -> None:
        raise UnavailableError("the disk is full")

    with pytest.raises(UnavailableError):
        house.database.write(full)
    answer = house.client.get("/readyz")
    house.put({})

    assert is_problem(answer, 503)
    assert "disk is full" in answer.json()["detail"]
    assert house.client.get("/readyz").status_code == 200


def test_a_reading_without_a_waiting_caller_still_reports_a_broken_store(
    house: House,
) -> None:
    def full(connection: Any) -> None:
        raise UnavailableError("the disk is full")

    house.database.submit(full, lambda error: None)

    assert "disk is full" in house.client.get("/readyz").json()["detail"]
    house.put({})
    assert house.client.get("/readyz").status_code == 200


def test_a_write_that_changes_nothing_does_not_make_a_broken_store_ready(house: House) -> None:
    """It succeeds on a full disk too."""

    def full(connection: Any) -> None:
        raise UnavailableError("the disk is full")

    house.database.submit(full, lambda error: None)
    house.database.submit(lambda connection: None, lambda error: None)
    house.database.write(lambda connection: None)

    assert "disk is full" in house.client.get("/readyz").json()["detail"]


def test_who_has_not_taken_up_the_files_is_not_ready(house: House) -> None:
    house.declare("pipeline: {id: bronze-orders, owner: orders-team}")
    health = Health(house.database, house.home.queries)
    health.loaded()

    before = health.reasons(house.home.ports.clock())
    house.runtime.settle()

    assert before == ["the pipeline files are being adopted"]
    assert health.reasons(house.home.ports.clock()) == []
    house.declare("pipeline: {id: bronze-orders, owner: another-team}")
    assert health.reasons(house.home.ports.clock()) == []


def test_a_broken_store_is_reported_as_unavailable(house: House) -> None:
    house.database.close()

    answer = house.client.get(f"{API}/runs")

    assert answer.status_code >= 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert "Traceback" not in answer.text


def test_figures_are_exported_to_prometheus(house: House) -> None:
    house.put({"date": "2026-03-03"})

    text = house.client.get("/metrics").text

    assert 'interlock_readings_total{result="accepted"} 1.0' in text
    assert "interlock_pipelines 2.0" in text
    assert "interlock_jobs_unverified_total 0.0" in text
    assert "interlock_changes_waiting 1.0" in text


def _pages(house: House, path: str) -> list[Any]:
    """Every item, page after page."""
    found, cursor = list[Any](), None
    while True:
        answer = house.client.get(path + (f"&cursor={cursor}" if cursor else ""))
        page = answer.json()
        found += page["items"]
        cursor = page["next"]
        if cursor is None:
            return found
