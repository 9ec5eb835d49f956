"""`retire`: an operator confirms that a missing file was meant to go; `status` and `doctor` say so before."""

import json
from contextlib import nullcontext
from datetime import timedelta

import pytest

from cli.place import ORDERS, Place
from cli.served import served
from interlock.domain.missing import Missing
from interlock.errors import ConfigError, NotFoundError
from interlock.wiring.local_backend import LocalBackend


@pytest.fixture
def two(place: Place) -> Place:
    place.declare(ORDERS.replace("silver-orders", "gold-orders"))
    return place


def lose(place: Place, *names: str, together: bool = False) -> None:
    """The files go, and a server has noted it."""
    since = place.now
    missing = [
        Missing(
            pipeline_id=name,
            since=since,
            until=since + timedelta(days=1),
            held_at=since if together else None,
        )
        for name in names
    ]
    for name in names:
        (place.folder / "pipelines" / f"{name}.yaml").unlink()
    place.happen(lambda home: home.store.missing_files.keep(missing))


def in_force(place: Place) -> list[str]:
    found: list[str] = []

    def look(home: LocalBackend) -> None:
        found.extend(config.pipeline.id for config in home.store.pipelines.in_force())

    place.happen(look)
    return found


def test_a_pipeline_whose_file_is_missing_is_taken_away_at_once(two: Place) -> None:
    lose(two, "gold-orders")
    assert two.shown("retire", "gold-orders") == "gold-orders: retired\n"
    assert in_force(two) == ["silver-orders"]


def test_all_that_are_missing_are_taken_away_together(two: Place) -> None:
    lose(two, "gold-orders", "silver-orders", together=True)
    (gold, silver) = two.json("retire", "--all-missing")
    assert gold["retiredAt"] and silver["retiredAt"]
    assert in_force(two) == []


def test_a_server_takes_it_away_too(two: Place) -> None:
    lose(two, "gold-orders")
    with served(two):
        assert two.shown("retire", "--all-missing") == "gold-orders: retired\n"
    assert in_force(two) == ["silver-orders"]


def missing_of(place: Place) -> list[str]:
    document = json.loads(place.run("status", "--json").stdout)
    return [each["pipelineId"] for each in document["missing"]]


@pytest.mark.parametrize("is_served", [False, True])
def test_what_was_retired_is_not_missing_any_more(two: Place, is_served: bool) -> None:
    """The list of missing files is the loader's, which has not looked since."""
    lose(two, "gold-orders", "silver-orders")
    with served(two) if is_served else nullcontext():
        assert two.shown("retire", "gold-orders") == "gold-orders: retired\n"
        assert missing_of(two) == ["silver-orders"]
        result = two.run("retire", "gold-orders")
        assert "there is no pipeline gold-orders" in f"{result.exception}{result.output}"
        assert two.shown("retire", "--all-missing") == "silver-orders: retired\n"


def test_a_pipeline_whose_file_is_there_stays(two: Place) -> None:
    result = two.run("retire", "gold-orders")
    assert isinstance(result.exception, ConfigError)
    assert "the file of gold-orders is not missing" in str(result.exception)
    assert "gold-orders" in in_force(two)


def test_an_unknown_pipeline_is_named(two: Place) -> None:
    result = two.run("retire", "nope")
    assert isinstance(result.exception, NotFoundError) and "nope" in str(result.exception)


def test_one_must_say_which(two: Place) -> None:
    assert two.run("retire").exit_code == 2
    assert two.run("retire", "gold-orders", "--all-missing").exit_code == 2
    result = two.run("retire", "--all-missing")
    assert isinstance(result.exception, ConfigError) and "no pipeline file is missing" in str(
        result.exception
    )


def test_status_and_doctor_tell_of_one_missing_file(two: Place) -> None:
    lose(two, "gold-orders")
    said = f"the file of gold-orders has been missing since {two.now:%Y-%m-%dT%H:%M:%SZ}"
    assert said in " ".join(two.shown("status", code=1).split())
    (missing,) = two.json("status", code=1)["missing"]
    assert missing["pipelineId"] == "gold-orders"
    (finding,) = [f for f in two.json("doctor", code=1) if "missing since" in f["what"]]
    assert finding["level"] == "note"
    assert "interlock retire" in finding["remedy"]


def test_doctor_finds_many_missing_files_wrong(two: Place) -> None:
    lose(two, "gold-orders", "silver-orders", together=True)
    (finding,) = [f for f in two.json("doctor", code=1) if "missing since" in f["what"]]
    assert finding["level"] == "wrong"
    assert finding["what"].startswith(
        "2 files of gold-orders, silver-orders have been missing since"
    )
    assert "--all-missing" in finding["remedy"]
