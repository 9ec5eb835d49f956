"""Plots: scales that enclose every value, and what a pipeline's page draws of its past."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from interlock.domain.run import Evidence, RunKey, Status
from interlock.domain.sensor import Reading
from interlock.web.pages.instants import span
from interlock.web.pages.plot import Axis, Measured, as_number, plot, scale
from web.house import House
from web.pages.visitor import Visitor, Words

NUMBERS = Axis(as_number)
SECONDS = Axis(span, is_seconds=True)
BARS = Axis(span, is_seconds=True, from_zero=True)


@pytest.mark.parametrize(
    ("values", "axis", "ticks"),
    [
        ([0, 100], NUMBERS, [0, 50, 100]),
        ([61, 129], NUMBERS, [60, 80, 100, 120, 140]),
        ([2, 3], NUMBERS, [2, 3]),  # whole numbers have whole steps
        ([7], NUMBERS, [6, 8]),
        ([0], NUMBERS, [-1, 0, 1]),
        ([0], BARS, [0, 1]),
        ([-5, 5], NUMBERS, [-5, 0, 5]),
        ([0.001, 0.0012], NUMBERS, [0.001, 0.00105, 0.0011, 0.00115, 0.0012]),
        ([600, 720], SECONDS, [600, 630, 660, 690, 720]),
        ([600, 720], BARS, [0, 300, 600, 900]),
        ([900000, 1200000], SECONDS, [864000, 950400, 1036800, 1123200, 1209600]),
    ],
)
def test_a_scale_has_round_steps(values: list[float], axis: Axis, ticks: list[float]) -> None:
    assert scale(values, axis) == pytest.approx(ticks)


@pytest.mark.parametrize("values", [[1.5, 1e9], [-1e9, 3], [1e-12, 2e-12], [5, 5, 5], [-3]])
@pytest.mark.parametrize("axis", [NUMBERS, SECONDS, BARS])
def test_every_value_lies_within_the_plot(values: list[float], axis: Axis) -> None:
    measured = [Measured(f"2026-03-{n + 1:02}", value) for n, value in enumerate(values)]

    drawn = plot("p", ("t", "u"), measured, axis, [(2.0, "needs 2")])

    assert all(0 <= point.y <= 100 and 0 < point.x < 100 for point in drawn.points)
    assert all(0 <= line.y <= 100 for line in (*drawn.lines, *drawn.bounds))
    assert 2 <= len(drawn.lines) <= 7


def test_a_single_value_is_its_own_summary() -> None:
    drawn = plot("p", ("t", "u"), [Measured("2026-03-03", 5)], NUMBERS)
    assert drawn.summary == "last 5" and drawn.labels == ["2026-03-03"]


def test_a_summary_tells_the_newest_the_middle_and_both_ends() -> None:
    measured = [Measured(f"2026-03-{n:02}", n * 1000) for n in range(1, 6)]
    drawn = plot("p", ("t", "u"), measured, NUMBERS)
    assert drawn.summary == "last 5,000, median 3,000, from 1,000 to 5,000"
    assert drawn.labels == ["2026-03-01", "2026-03-03", "2026-03-05"]


COUNTED = """
pipeline: {id: counted}
schedule: {trigger: {key: landed, check: exists}}
sla: {deadline: "09:00", expectedDuration: 30m}
validation:
  rules:
    - {key: landed, check: gte, field: count, value: 1000}
    - {key: landed, check: lte, field: quality.nulls, value: 0}
"""


def declare(house: House) -> None:
    house.declare(COUNTED)
    house.runtime.settle()


def done(house: House, day: int, took: int, **fields: Any) -> None:
    """A date that is done, with the reading on which it ran."""
    date = f"2026-03-{day:02}"
    at = datetime(2026, 3, day + 1, 3, 30, tzinfo=UTC)
    reading = Reading("counted", f"landed#{date}", fields, at)
    house.home.store.sensors.put(reading)
    house.runtime.step()
    key = RunKey("counted", "stream", date)
    run = house.home.store.runs.get(key)
    seen = {"landed": Evidence(reading.key, reading.version, fields)}
    times = {"launched_at": at, "completed_at": at + timedelta(minutes=took)}
    for status in (Status.TRIGGERING, Status.RUNNING, Status.COMPLETED):
        run = run.to(status, at, evidence=seen, **times)
        assert house.home.store.runs.save(run)


def titles(page: Words) -> list[str]:
    return [each["aria-labelledby"] for each in page.all("figure")]


def test_a_pipeline_without_runs_has_no_plots(house: House, visitor: Visitor) -> None:
    declare(house)
    page = visitor.see("/pipelines/counted")
    assert not page.all("figure") and "appear here with the first run" in page.text


def test_durations_arrivals_and_numbers_are_drawn_with_their_bounds(
    house: House, visitor: Visitor
) -> None:
    declare(house)
    for day, took in ((1, 20), (2, 25), (3, 45)):
        done(house, day, took, count=1000 * day, quality={"nulls": 0}, note="text", ok=True)

    page = visitor.see("/pipelines/counted")

    text = page.text
    assert titles(page) == ["plot-duration", "plot-arrival-0", "plot-field-0", "plot-field-1"]
    assert "last 45m, median 25m, from 20m to 45m" in text and "expected 30m" in text
    assert "Arrival of landed" in text and "03:30 +1d" in text and "time of day, UTC" in text
    assert "landed.count" in text and "needs >= 1,000" in text and "2,000" in text
    assert "landed.quality.nulls" in text and "needs <= 0" in text
    assert "landed.note" not in text and "landed.ok" not in text
    links = {link.get("href") for link in page.all("a")}
    assert "/runs/counted/stream/2026-03-02" in links


def test_every_plot_says_what_it_shows(house: House, visitor: Visitor) -> None:
    declare(house)
    done(house, 1, 20, count=1000)

    page = visitor.see("/pipelines/counted")

    ids = {
        each["id"]
        for tag in ("title", "desc", "figcaption")
        for each in page.all(tag)
        if "id" in each
    }
    areas = [svg for svg in page.all("svg") if svg.get("class", "").startswith("area")]
    assert areas and all(set(svg["aria-labelledby"].split()) <= ids for svg in areas)
    assert "1 date from 2026-03-01 to 2026-03-01" in page.text


@pytest.mark.parametrize("count", [10**400, -(10**15), "12", None, [1], {"a": 1}, True])
def test_what_can_not_be_drawn_is_left_out(house: House, visitor: Visitor, count: Any) -> None:
    declare(house)
    done(house, 1, 20, count=count)

    assert titles(visitor.see("/pipelines/counted")) == ["plot-duration", "plot-arrival-0"]


def test_only_so_many_fields_are_drawn(house: House, visitor: Visitor) -> None:
    declare(house)
    done(house, 1, 20, **{f"f{n:02}": n for n in range(50)})

    assert len(titles(visitor.see("/pipelines/counted"))) == 2 + 6


def test_a_waiting_run_says_when_its_window_closes_and_its_deadlines(
    house: House, visitor: Visitor
) -> None:
    declare(house)
    now = house.home.ports.clock()
    house.home.store.sensors.put(Reading("counted", f"landed#{now:%F}", {"count": 1}, now))
    house.runtime.step()

    text = visitor.see("/pipelines/counted").text

    assert "window closes" in text and "breach" in text and "warning" in text
