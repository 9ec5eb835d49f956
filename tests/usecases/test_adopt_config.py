"""Adopting a config: what an owner wants comes into force if it is right; else the last good one stays."""

import json
from datetime import timedelta
from typing import Any

import pytest

from declared import declared
from interlock.domain import canonical
from interlock.domain.config import Wanted
from interlock.domain.event import EventType
from interlock.errors import TransientError
from interlock.simulation.scenario import Call
from interlock.usecases.adopt_config import adopt_config
from usecases.home import NOW, Home, assert_a_crash_changes_nothing

ADOPTED, REJECTED = EventType.CONFIG_ADOPTED, EventType.CONFIG_REJECTED
CRON = "schedule: {cron: '0 9 * * *'}"


def test_a_new_file_comes_into_force(home: Home) -> None:
    config = home.adopt()
    assert config.active_since == config.adopted_at == NOW
    event = home.event(ADOPTED)
    assert event.detail["change"] == "new"
    assert event.detail["hash"] == config.config_hash
    assert "previousHash" not in event.detail
    assert event.timestamp == NOW


def test_a_change_keeps_since_when_the_pipeline_is_active(home: Home) -> None:
    first = home.adopt()
    home.pass_time(days=3)
    second = home.adopt("sla: {deadline: '10:00'}")
    assert second.active_since == NOW
    assert second.adopted_at == NOW + timedelta(days=3)
    event = home.events(ADOPTED)[-1]
    assert event.detail["change"] == "changed"
    assert event.detail["previousHash"] == first.config_hash
    assert event.detail["changedPaths"] == ["sla"]


def test_the_same_file_again_is_no_change(home: Home) -> None:
    first = home.adopt()
    home.pass_time(hours=1)
    assert home.adopt() == first
    assert len(home.events(ADOPTED)) == 1


def test_an_invalid_file_leaves_the_adopted_one(home: Home) -> None:
    first = home.adopt()
    home.pass_time(hours=1)
    home.want("validation: {rules: []}")
    adopt_config("silver-orders", home.ports)
    found = home.store.pipelines.find("silver-orders")
    assert found is not None
    assert (found.config_hash, found.pipeline) == (first.config_hash, first.pipeline)
    event = home.event(REJECTED)
    assert event.detail["inForce"] == first.config_hash
    assert event.detail["problems"]
    assert event.owner == "orders-team"


def test_an_invalid_file_is_refused_once(home: Home) -> None:
    home.want("validation: {rules: []}")
    for _ in range(3):
        assert adopt_config("silver-orders", home.ports) is None
    event = home.event(REJECTED)
    assert event.detail["inForce"] == "none"
    assert event.pipeline_id == "silver-orders"
    assert home.store.pipelines.unadopted() == []


def test_a_file_whose_id_is_another_one_is_refused(home: Home) -> None:
    home.adopt("pipeline: {id: gold}")
    wanted = home.store.pipelines.wanted("gold")
    assert wanted is not None
    home.store.pipelines.want(Wanted("silver", wanted.config, wanted.config_hash, NOW))
    assert adopt_config("silver", home.ports) is None
    event = home.event(REJECTED)
    assert (
        event.message == "the file is refused: pipeline.id: is gold, but the row belongs to silver"
    )
    assert event.detail["problems"][0]["path"] == "pipeline.id"


def test_every_problem_of_a_refused_file_has_its_path(home: Home) -> None:
    config = canonical.as_json(declared())
    config["validation"]["rules"] = [{"key": "orders", "check": "gte", "field": "n"}, {"key": "x"}]
    home.store.pipelines.want(Wanted("silver-orders", config, "bad", NOW))
    adopt_config("silver-orders", home.ports)
    event = home.event(REJECTED)
    assert event.message.startswith("the file is refused: validation.rules[0].value: ")
    assert event.message.endswith(" (and 1 more)")
    paths = [each["path"] for each in event.detail["problems"]]
    assert paths == ["validation.rules[0].value", "validation.rules[1].check"]


@pytest.mark.parametrize("config", [5, [], "text", {"pipeline": 7}, {}])
def test_whatever_is_stored_is_refused_and_not_an_error(home: Home, config: Any) -> None:
    home.store.pipelines.want(Wanted("silver-orders", config, "h", NOW))
    assert adopt_config("silver-orders", home.ports) is None
    assert len(home.events(REJECTED)) == 1


def test_a_corrected_file_is_adopted(home: Home) -> None:
    home.want("validation: {rules: []}")
    adopt_config("silver-orders", home.ports)
    home.pass_time(minutes=1)
    assert home.adopt().active_since == NOW + timedelta(minutes=1)


def test_a_pipeline_that_is_taken_away_is_retired_and_its_timers_go(home: Home) -> None:
    home.adopt(CRON)
    assert home.armed()
    home.pass_time(minutes=1)
    home.take_away()
    config = home.store.pipelines.find("silver-orders")
    assert config is not None and config.is_retired
    assert home.armed() == {}
    assert home.store.pipelines.in_force() == []
    assert home.events(ADOPTED)[-1].detail["change"] == "retired"
    home.take_away()
    assert len(home.events(ADOPTED)) == 2


def test_a_pipeline_that_never_was_can_not_be_retired(home: Home) -> None:
    home.take_away()
    assert home.events(ADOPTED) == []


def test_a_pipeline_that_returns_is_new_and_raises_nothing_for_the_past(home: Home) -> None:
    home.adopt(CRON)
    home.pass_time(minutes=1)
    home.take_away()
    home.pass_time(days=10)
    config = home.adopt(CRON)
    assert not config.is_retired
    assert config.active_since == config.adopted_at > NOW + timedelta(days=10)
    assert home.events(ADOPTED)[-1].detail["change"] == "new"
    assert home.armed()
    home.settle()
    assert home.events(EventType.SCHEDULE_MISSED) == []


def test_a_change_moves_the_cron_timer(home: Home) -> None:
    home.adopt(CRON)
    home.adopt("schedule: {cron: '30 11 * * *'}")
    assert home.armed() == {
        "cron.silver-orders.cron.2026-03-03": NOW + timedelta(hours=3, minutes=30)
    }
    home.adopt("")  # a schedule that does not fire by itself
    assert home.armed() == {}


def test_a_run_in_progress_goes_on_with_the_file_it_began_with(home: Home) -> None:
    home.adopt()
    home.admit()
    home.adopt("validation: {rules: [{key: nothing-like-it, check: exists}]}")
    claimed = home.store.workflows.claim(home.run().execution_name, NOW)
    assert claimed is not None
    assert json.loads(claimed.given)["config"]["validation"]["rules"][0]["key"] == "orders"


def test_nothing_wanted_changes_nothing(home: Home) -> None:
    assert adopt_config("gold", home.ports) is None
    assert home.events() == []


def test_an_adoption_that_could_not_be_published_is_published_by_the_repeat(home: Home) -> None:
    home.want(CRON)
    home.fails(Call.PUBLISH)
    with pytest.raises(TransientError):
        adopt_config("silver-orders", home.ports)
    assert home.armed() == {}
    adopt_config("silver-orders", home.ports)
    assert len(home.events(ADOPTED)) == 1
    assert home.armed()  # and what was left undone is done


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, CRON),
        (CRON, "schedule: {cron: '0 10 * * *'}"),
        (CRON, "schedule: {cron: '0 9 * * *', grace: 5m}"),  # the same moment as before
        (CRON, "validation: {rules: []}"),
        (CRON, None),
    ],
)
def test_dying_at_any_line_changes_nothing(before: str | None, after: str | None) -> None:
    def scene(home: Home) -> None:
        if before is not None:
            home.adopt(before)
        home.pass_time(minutes=1)
        if after is None:
            home.store.pipelines.want(Wanted("silver-orders", None, "", home.clock()))
        else:
            home.want(after)

    assert_a_crash_changes_nothing(scene, lambda home: adopt_config("silver-orders", home.ports))
