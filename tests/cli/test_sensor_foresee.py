"""`sensor put --dry-run`: what a reading would do, without storing it."""

from cli.place import Place
from interlock.errors import ConfigError

NAME = "silver-orders"


def foreseen(place: Place, *given: str) -> str:
    return " ".join(place.shown("sensor", "put", NAME, *given, "--dry-run").split())


def test_what_a_reading_would_do_is_said_and_nothing_is_stored(place: Place) -> None:
    before = place.json("sensor", "list", NAME)
    assert "would be: opened" in foreseen(place, "orders", "count=4200")
    assert place.json("sensor", "list", NAME) == before and place.json("runs", NAME) == []


def test_a_reading_of_a_skipped_date_would_be_ignored(place: Place) -> None:
    place.shown("skip", NAME, place.today, "--reason", "a holiday")
    said = foreseen(place, "orders", "count=4200", "--date", place.today)
    assert "ignored: the date is skipped by" in said and "a holiday" in said


def test_what_looks_like_a_mistake_is_warned_about(place: Place) -> None:
    result = place.run("sensor", "put", NAME, "order", "count=1", "--dry-run")
    assert "warning: no rule reads order;" in result.output


def test_a_reading_that_would_be_refused_is(place: Place) -> None:
    result = place.run("sensor", "put", NAME, "orders", "--date", "nope", "--dry-run")
    assert isinstance(result.exception, ConfigError)
