"""`sensor`: readings in, readings out."""

import pytest

from cli.place import Place
from interlock.errors import ConfigError, NotFoundError


def test_a_reading_is_stored_and_nothing_acts_on_it_yet(place: Place) -> None:
    shown = place.shown("sensor", "put", "silver-orders", "orders", "count=4200")
    assert "silver-orders: orders received at" in shown
    assert "nothing acts on it until `interlock serve` runs" in shown
    (reading,) = place.json("sensor", "list", "silver-orders")
    assert (reading["key"], reading["fields"]) == ("orders", {"count": 4200})


def test_fields_are_numbers_truths_or_text_as_they_look(place: Place) -> None:
    pairs = ["n=1.10", "ok=true", "name=a b", "id=007", "list=[1]", "empty=", "sign=a=b", 'q="7"']
    place.shown("sensor", "put", "silver-orders", "k", *pairs)
    (reading,) = place.json("sensor", "list", "silver-orders")
    assert reading["fields"] == {
        "n": 1.10,
        "ok": True,
        "name": "a b",
        "id": "007",
        "list": [1],
        "empty": "",
        "sign": "a=b",
        "q": "7",
    }


def test_a_whole_object_may_be_given_and_single_fields_win(place: Place) -> None:
    given = ["--json", '{"count": 1, "deep": {"x": 2}}', "count=5", "--date", "2026-03-03"]
    place.shown("sensor", "put", "silver-orders", "k", *given, "--hour", "7")
    (reading,) = place.json("sensor", "list", "silver-orders")
    assert reading["fields"] == {"count": 5, "deep": {"x": 2}, "date": "2026-03-03", "hour": 7}


@pytest.mark.parametrize("text", ["{", "[1]", "7"])
def test_what_is_no_object_is_refused(place: Place, text: str) -> None:
    result = place.run("sensor", "put", "silver-orders", "k", "--json", text)
    assert isinstance(result.exception, ConfigError)


def test_what_cannot_be_used_is_refused_and_nothing_is_stored(place: Place) -> None:
    result = place.run("sensor", "put", "silver-orders", "k", "date=tomorrow")
    assert isinstance(result.exception, ConfigError)
    assert "date is 'tomorrow'" in str(result.exception)
    assert place.json("sensor", "list", "silver-orders") == []


def test_a_pair_without_a_sign_is_wrong_use(place: Place) -> None:
    assert place.run("sensor", "put", "silver-orders", "k", "count").exit_code == 2


def test_an_unknown_pipeline_is_named(place: Place) -> None:
    for arguments in (("put", "nope", "k"), ("list", "nope")):
        result = place.run("sensor", *arguments)
        assert isinstance(result.exception, NotFoundError)
        assert "there is no pipeline nope" in str(result.exception)


def test_the_list_is_newest_first_and_fits(lived_in: Place, place: Place) -> None:
    shown = lived_in.shown("sensor", "list", "silver-orders")
    row = shown.splitlines()[1].split()
    assert row == ["orders", "1h", "30m", "count=1940", f"date={lived_in.today}"]
    assert "has no readings" in place.shown("sensor", "list", "silver-orders")


def test_what_others_wrote_can_not_steer_the_terminal(place: Place) -> None:
    place.put("k", text="red\x1b[31m\nline", long="x" * 500)
    shown = place.shown("sensor", "list", "silver-orders")
    assert "\x1b" not in shown and "…" in shown
