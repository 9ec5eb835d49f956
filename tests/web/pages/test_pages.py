"""Each page says what is so: empty, busy, late, broken, and with a great many pipelines."""

from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from declared import document
from interlock.domain.event import EventType, happened, subject
from interlock.domain.run import Failure, RunKey, Status
from interlock.domain.sensor import Reading
from interlock.errors import UnavailableError
from interlock.files import load_project
from web.house import House
from web.pages.visitor import Visitor

EVERY = ["/", "/timeline", "/pipelines", "/sla", "/dependencies", "/events"]
ORDERS = "/runs/silver-orders/stream/2026-03-03"

SHORT = """
pipeline: {id: bronze, owner: loaders, tags: {tier: "2"}}
schedule: {trigger: {key: orders, check: exists}}
sla: {maxDuration: 1h, expectedDuration: 10m}
validation: {rules: [{key: orders, check: gte, field: count, value: 1000}]}
"""
#: Both of its rules fail for a reading that came more than two hours ago.
AGING = """
pipeline: {id: bronze}
schedule: {trigger: {key: orders, check: exists}}
validation:
  maxAge: 2h
  rules: [{key: orders, check: exists}, {key: orders, check: gte, field: count, value: 1000}]
"""


def declare_short(house: House) -> None:
    """A pipeline whose run waits: 940 is not 1000."""
    house.declare(SHORT)
    house.runtime.settle()
    house.put({"date": "2026-03-03", "count": 940}, "bronze")
    house.runtime.settle()


@pytest.mark.parametrize("path", EVERY)
def test_every_page_stands_with_nothing_to_show(visitor: Visitor, path: str) -> None:
    page = visitor.see(path)

    assert page.all("main") and page.all("h1")
    assert "interlock" in page.text


def test_the_overview_says_what_waits_and_why(house: House, visitor: Visitor) -> None:
    declare_short(house)

    text = visitor.see("/").text

    assert "bronze 2026-03-03" in text
    assert "orders.count is 940, needs >= 1000" in text
    assert "Nothing needs attention" in text


def test_what_is_overdue_comes_first(house: House, visitor: Visitor) -> None:
    declare_short(house)
    key = house.home.store.runs.active()[0].key
    run = house.home.store.runs.get(key)
    past = house.home.ports.clock() - timedelta(minutes=5)
    late = run.changed(past, relative_warning_at=past, relative_breach_at=past)
    assert house.home.store.runs.save(late)

    text = visitor.see("/").text

    assert "Nothing needs attention" not in text
    assert text.index("overdue bronze") < text.index("Waiting for their rules")


def test_a_run_that_failed_for_good_needs_attention(house: House, visitor: Visitor) -> None:
    now = house.home.ports.clock()
    house.put({"date": f"{now:%F}"})
    house.runtime.step()
    run = house.home.store.runs.active()[0]
    assert house.home.store.runs.save(run.to(Status.FAILED_FINAL, now))

    assert f"given up silver-orders {now:%F}" in visitor.see("/").text


def test_the_timeline_shows_runs_and_the_gaps_between_them(house: House, visitor: Visitor) -> None:
    now = house.home.ports.clock()
    house.declare("pipeline: {id: hourly}\nschedule: {cron: '0 * * * *'}")
    house.runtime.settle()
    house.in_force_since("hourly", now - timedelta(hours=5))

    page = visitor.see("/timeline?span=24h&q=hourly")
    titles = [link["title"] for link in page.all("a") if "cell" in link.get("class", "")]

    assert sum(title.endswith(": no run") for title in titles) >= 4
    assert any(title.endswith(": expected") for title in titles)
    assert [line for line in page.all("line") if line["class"] == "now"]


@pytest.mark.parametrize("span", ["14d", "30d", "90d"])
def test_days_show_the_worst_of_their_hours(house: House, visitor: Visitor, span: str) -> None:
    now = house.home.ports.clock()
    for hour in (0, 1, 2):
        house.put({"date": f"{now:%F}", "hour": f"{hour:02}"})
    house.runtime.step()
    first = min(house.home.store.runs.active(), key=lambda run: run.key.date)
    assert house.home.store.runs.save(first.to(Status.FAILED_FINAL, now))

    page = visitor.see(f"/timeline?span={span}&q=silver")
    (cell,) = [link for link in page.all("a") if "s-given-up" in link.get("class", "")]

    assert "1 given up, 2 waiting" in cell["title"]
    assert cell["href"] == f"/runs/silver-orders/stream/{now:%F}T00"


def test_a_day_has_as_many_hours_as_its_cron(house: House, visitor: Visitor) -> None:
    now = house.home.ports.clock()
    house.declare("pipeline: {id: hourly}\nschedule: {cron: '0 * * * *', timezone: Europe/Berlin}")
    house.declare("pipeline: {id: weekly}\nschedule: {cron: '0 6 * * 1', timezone: Europe/Berlin}")
    house.runtime.settle()
    for name in ("hourly", "weekly"):
        house.in_force_since(name, now - timedelta(days=200))

    page = visitor.see("/timeline?span=90d&q=ly")
    titles = [link["title"] for link in page.all("a") if "s-missing" in link.get("class", "")]

    assert 85 <= sum(title.startswith("hourly") for title in titles) <= 90
    assert 12 <= sum(title.startswith("weekly") for title in titles) <= 14


def test_a_run_page_tells_rules_deadline_and_history(house: House, visitor: Visitor) -> None:
    declare_short(house)

    text = visitor.see("/runs/bronze/stream/2026-03-03").text

    for word in ("waiting", "orders.count", ">= 1000", "940", "opened by sensor", "breach"):
        assert word in text, word
    assert "Trigger started" in text


def test_a_failed_job_ran_until_it_failed_however_late_its_row_changed(
    house: House, visitor: Visitor
) -> None:
    now = house.home.ports.clock()
    house.put({"date": "2026-03-03"})
    house.runtime.step()
    run = house.home.store.runs.active()[0]
    began = now - timedelta(hours=3)
    for status in (Status.TRIGGERING, Status.RUNNING, Status.FAILED_FINAL):
        run = run.to(status, now, launched_at=began)
        assert house.home.store.runs.save(run)
    assert "ran" not in visitor.see(ORDERS).text.partition("This attempt")[2].split()[:12]

    failed = happened(
        EventType.JOB_FAILED,
        subject(None, run.key, 0),
        began + timedelta(minutes=9),
        "out of memory",
        parts=("0",),
    )
    house.home.store.events.publish([failed])

    assert " ran 9m " in visitor.see(ORDERS).text


def test_a_run_page_tells_for_whom_it_waits_and_by_when_its_rules_must_hold(
    house: House, visitor: Visitor
) -> None:
    declare_short(house)
    runs = house.home.store.runs
    run = runs.get(RunKey("bronze", "stream", "2026-03-03"))
    before = RunKey("bronze", "stream", "2026-03-02")
    at = run.changed_at + timedelta(hours=1)
    assert runs.save(run.changed(run.changed_at, waits_for=(before,), readiness_at=at))

    page = visitor.see("/runs/bronze/stream/2026-03-03")

    assert "waits for a place" in page.text and "ready by" in page.text
    assert "/runs/bronze/stream/2026-03-02" in {link.get("href") for link in page.all("a")}


def test_a_date_without_a_run_says_what_would_open_it(visitor: Visitor) -> None:
    text = visitor.see(ORDERS).text

    assert "This date has no run" in text
    assert "a reading of orders for 2026-03-03" in text


def test_the_pipeline_page_tells_why_live(house: House, visitor: Visitor) -> None:
    declare_short(house)
    page = visitor.see("/pipelines/bronze")

    assert "orders.count is 940, needs >= 1000" in page.text
    assert "loaders" in page.text and "tier:2" in page.text
    (live,) = page.all("main")
    assert live["hx-get"] == "/pipelines/bronze" and "news" in live["hx-trigger"]


@pytest.mark.parametrize("path", ["/pipelines/bronze", "/runs/bronze/stream/2026-03-03"])
def test_a_reading_too_old_for_its_rule_is_shown_as_such(
    house: House, visitor: Visitor, path: str
) -> None:
    house.declare(AGING)
    house.runtime.settle()
    came = house.home.ports.clock() - timedelta(hours=3)
    reading = Reading("bronze", "orders", {"date": "2026-03-03", "count": 4000}, came)
    house.home.store.sensors.put(reading)
    house.runtime.settle()

    text = visitor.see(path).text

    assert "orders received within 2h" in text and "orders.count received within 2h" in text
    assert "orders was received 3h ago, needs one received within 2h" in text
    assert "exists 2h" not in text and "gte 2h" not in text


def test_the_pipeline_page_says_what_a_date_failed_of(house: House, visitor: Visitor) -> None:
    now = house.home.ports.clock()
    house.put({"date": f"{now:%F}"})
    house.runtime.step()
    run = house.home.store.runs.active()[0]
    failure = Failure("job", "out of memory")
    assert house.home.store.runs.save(run.to(Status.FAILED_FINAL, now, failure=failure))

    assert "failed: out of memory" in visitor.see("/pipelines/silver-orders").text


def test_the_login_page_is_ready_for_a_token_and_says_how_to_make_one(house: House) -> None:
    page = Visitor(house, "nobody").see("/login")
    (field,) = [each for each in page.all("input") if each["name"] == "secret"]
    assert "autofocus" in field
    assert "interlock token create" in page.text


def test_the_file_in_force_is_shown_without_its_secrets(house: House, visitor: Visitor) -> None:
    house.home.secrets.learn("hunter2-hunter2")
    house.declare(
        "pipeline: {id: leaky}\njob: {type: command, config: {command: [etl, hunter2-hunter2]}}"
    )
    house.runtime.settle()

    text = visitor.see("/pipelines/leaky").text

    assert "etl" in text and "hunter2" not in text


def test_the_file_is_shown_as_written_beside_what_is_understood(
    house: House, visitor: Visitor, tmp_path: Path
) -> None:
    house.home.secrets.learn("hunter2-hunter2")
    text = document("pipeline: {id: written}\njob: {type: command, config: {command: [etl]}}")
    (tmp_path / "pipelines").mkdir()
    (tmp_path / "pipelines" / "w.yaml").write_text(f"# hunter2-hunter2 <i>why</i>\n{text}")
    house.declare("pipeline: {id: written}\njob: {type: command, config: {command: [etl]}}")
    house.runtime.settle()
    assert "not at hand" in visitor.see("/pipelines/written").text

    house.desk.written.note(tmp_path, load_project(tmp_path, 2026))
    page = visitor.see("/pipelines/written")

    assert "As written, pipelines/w.yaml" in page.text and "As understood" in page.text
    assert "<i>why</i>" in page.text and "hunter2" not in page.text


def test_dependencies_are_drawn_with_their_state(house: House, visitor: Visitor) -> None:
    house.declare(
        "pipeline: {id: report}\nschedule: {trigger: {pipeline: gold-orders}}\n"
        "validation: {rules: [{key: 'pipeline:silver-orders', check: exists}]}"
    )
    house.runtime.settle()
    page = visitor.see("/dependencies")

    titles = {path["class"] for path in page.all("path") if "edge" in path.get("class", "")}
    assert titles == {"edge opens", "edge is-checked-by"}
    labels = {link.get("aria-label") for link in page.all("a")}
    assert "report: no run yet" in labels
    assert "gold-orders" in visitor.see("/dependencies?pipeline=report").text


def test_events_are_filtered_and_searched(house: House, visitor: Visitor) -> None:
    declare_short(house)

    assert "opened by sensor orders" in visitor.see("/events?type=TRIGGER_STARTED").text
    assert "opened by sensor" in visitor.see("/events?q=OPENED+BY").text
    assert "No matching events" in visitor.see("/events?q=nothing+has+this").text
    assert "No matching events" in visitor.see("/events?note=1&pipeline=bronze").text


def test_older_events_are_a_page_away(house: House, visitor: Visitor) -> None:
    for day in range(1, 29):
        for month in (1, 2, 3):
            house.put({"date": f"2026-{month:02}-{day:02}"})
            house.put({"date": f"2026-{month:02}-{day:02}"}, "gold-orders")
    house.runtime.step()

    first = visitor.see("/events")
    (older,) = [link for link in first.all("a") if link.get("rel") == "next"]
    second = visitor.see(older["href"])

    rows = [
        row for page in (first, second) for row in page.all("tr") if row.get("class") == "event"
    ]
    assert len(rows) > 100


def test_many_pipelines_are_shown_a_page_at_a_time(house: House, visitor: Visitor) -> None:
    for number in range(60):
        house.declare(f"pipeline: {{id: many-{number:02}}}\nsla: {{deadline: '09:00'}}")
    house.runtime.settle()

    for path, size in (("/timeline", 25), ("/pipelines", 50), ("/sla", 25)):
        first = visitor.see(f"{path}?q=many")
        (after,) = [link for link in first.all("a") if link.get("rel") == "next"]
        second = visitor.see(after["href"])
        assert f"many-{size - 1:02}" in first.text and f"many-{size:02}" not in first.text
        assert f"many-{size:02}" in second.text and f"many-{size - 1:02}" not in second.text


def test_a_watchdog_that_is_late_is_seen_on_every_page(house: House, visitor: Visitor) -> None:
    house.runtime.settle()
    state = house.home.store.watch.load()
    old = house.home.ports.clock() - timedelta(hours=2)
    late = msgspec.structs.replace(
        state, version=state.version + 1, last_ok_at=old, last_pass_at=old
    )
    assert house.home.store.watch.save(late)

    for path in EVERY:
        page = visitor.see(path)
        assert "last good pass was 2h" in page.text
        assert [box for box in page.all("div") if box.get("role") == "alert"]


@pytest.mark.parametrize(
    "path",
    [
        "/pipelines/nobody",
        "/runs/nobody/stream/2026-03-03",
        "/runs/silver-orders/nobody/2026-03-03",
        "/sla?pipeline=nobody",
        "/dependencies?pipeline=nobody",
        "/nothing/here",
    ],
)
def test_what_is_not_there_says_where_to_look(visitor: Visitor, path: str) -> None:
    text = visitor.see(path, 404).text

    assert "Not Found" in text and "Search the pipelines or the events" in text


@pytest.mark.parametrize(
    "path",
    [
        "/timeline?span=1y",
        "/timeline?start=-1",
        "/timeline?to=yesterday",
        "/events?cursor=x",
        "/events?since=always",
        "/runs/silver-orders/stream/someday",
        f"/pipelines?q={'x' * 300}",
    ],
)
def test_an_invalid_url_is_reported(visitor: Visitor, path: str) -> None:
    visitor.see(path, 422)


def test_a_store_that_can_not_be_read_is_an_error_page(house: House, visitor: Visitor) -> None:
    class Broken:
        """As a disk that is gone."""

        def __getattr__(self, name: str) -> object:
            raise UnavailableError("the store can't be read")

    house.desk.history = Broken()  # type: ignore[assignment]

    text = visitor.see("/timeline", 503).text
    assert "interlock doctor" in text


def test_a_home_that_would_have_to_read_everything_says_so(house: House, visitor: Visitor) -> None:
    class Narrow:
        """As a home whose runs are found by pipeline only."""

        def __getattr__(self, name: str) -> object:
            return (lambda *_: None) if name == "counts" else getattr(house.home.history, name)

    house.desk.history = Narrow()  # type: ignore[assignment]

    assert "this backend would have to read every row" in visitor.see("/").text
