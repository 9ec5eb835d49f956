"""Pipelines: what is wanted, what is in force, and what opens after what."""

from datetime import timedelta

import msgspec

from contracts.families import Family
from contracts.home import Home
from contracts.samples import (
    NOW,
    a_config,
    a_pipeline,
    an_event,
    downstream_of,
    many,
    taken_away,
    wanted,
)
from interlock.domain.change import ChangeKind
from interlock.domain.config import Config, Downstream
from interlock.domain.event import EventType
from interlock.domain.pipeline import Schedule, Trigger, UpstreamHours
from interlock.domain.schedule import Occurrence
from interlock.domain.standing import Standing, standing_since

PIPELINE = a_pipeline()
CONFIG = a_config()
ADOPTED = an_event("hash", None, EventType.CONFIG_REJECTED)


def next_version(config: Config, **changes: object) -> Config:
    return msgspec.structs.replace(config, version=config.version + 1, **changes)


def test_what_an_owner_wants_comes_back(home: Home) -> None:
    assert home.pipelines.wanted(PIPELINE.id) is None
    home.pipelines.want(wanted(PIPELINE))
    assert home.pipelines.wanted(PIPELINE.id) == wanted(PIPELINE)
    assert home.pipelines.find(PIPELINE.id) is None


def test_a_change_follows_what_is_wanted_unless_nothing_changed(home: Home) -> None:
    home.pipelines.want(wanted(PIPELINE))
    home.pipelines.want(wanted(PIPELINE, NOW + timedelta(hours=1)))
    assert home.pipelines.wanted(PIPELINE.id) == wanted(PIPELINE)
    home.pipelines.want(taken_away(PIPELINE.id))
    home.pipelines.want(taken_away(PIPELINE.id))
    home.pipelines.want(wanted(PIPELINE))
    home.pipelines.want(msgspec.structs.replace(wanted(PIPELINE), config=None))
    changes = home.changes()
    assert [(change.kind, change.pipeline_id) for change in changes] == [
        (ChangeKind.CONFIG, PIPELINE.id)
    ] * 4
    assert [change.removed for change in changes] == [False, True, False, True]


def test_a_config_comes_back_as_it_was_stored(home: Home) -> None:
    config = a_config(
        rejected_hash="bad",
        paused_since=NOW,
        paused_until=NOW + timedelta(days=1),
        paused_by="ada",
        paused_reason="upstream moves",
        armed={"cron": Occurrence("2026-03-04", NOW + timedelta(days=1))},
    )
    assert home.pipelines.save(config)
    assert home.pipelines.find(PIPELINE.id) == config
    assert home.pipelines.in_force() == [config]


def test_only_the_first_to_save_a_version_wins(home: Home) -> None:
    assert home.pipelines.save(CONFIG)
    assert not home.pipelines.save(CONFIG)
    assert home.pipelines.save(next_version(CONFIG, paused_since=NOW))
    assert not home.pipelines.save(next_version(CONFIG, retired_at=NOW), [ADOPTED])
    assert home.pipelines.find(PIPELINE.id) == next_version(CONFIG, paused_since=NOW)
    assert home.outbox.pending(f"{PIPELINE.id}/config") == []


def test_a_config_that_was_never_adopted_has_no_second_version(home: Home) -> None:
    assert not home.pipelines.save(next_version(CONFIG))
    home.pipelines.want(wanted(PIPELINE))
    assert not home.pipelines.save(next_version(CONFIG))
    assert home.pipelines.find(PIPELINE.id) is None


def test_the_events_of_a_config_wait_with_it(home: Home) -> None:
    assert home.pipelines.save(CONFIG, [ADOPTED])
    assert home.outbox.pending(f"{PIPELINE.id}/config") == [ADOPTED]


def test_what_is_wanted_is_unadopted_until_it_is_in_force(home: Home) -> None:
    home.pipelines.want(wanted(PIPELINE))
    assert home.pipelines.unadopted() == [wanted(PIPELINE)]
    assert home.pipelines.save(a_config(config_hash=wanted(PIPELINE).config_hash))
    assert home.pipelines.unadopted() == []


def test_an_invalid_config_leaves_the_adopted_one_and_is_not_tried_again(home: Home) -> None:
    home.pipelines.save(CONFIG)
    bad = msgspec.structs.replace(wanted(PIPELINE), config={"bad": True}, config_hash="bad")
    home.pipelines.want(bad)
    assert home.pipelines.unadopted() == [bad]
    home.pipelines.refuse(bad)
    home.pipelines.refuse(bad)
    assert home.pipelines.unadopted() == []
    assert home.pipelines.find(PIPELINE.id) == next_version(CONFIG, rejected_hash="bad")


def test_a_pipeline_whose_first_config_was_refused_can_still_be_adopted(home: Home) -> None:
    bad = msgspec.structs.replace(wanted(PIPELINE), config={"bad": True}, config_hash="bad")
    home.pipelines.want(bad)
    home.pipelines.refuse(bad)
    assert home.pipelines.unadopted() == [] and home.pipelines.find(PIPELINE.id) is None
    home.pipelines.want(wanted(PIPELINE))
    assert home.pipelines.unadopted() == [wanted(PIPELINE)]
    assert home.pipelines.save(CONFIG)


def test_what_was_refused_is_listed_until_something_else_is_wanted(home: Home) -> None:
    others = a_pipeline("gold")
    home.pipelines.save(CONFIG)
    for pipeline in (PIPELINE, others):  # over one in force, and where none ever was
        bad = msgspec.structs.replace(wanted(pipeline), config={"bad": True}, config_hash="bad")
        home.pipelines.want(bad)
        assert home.pipelines.refused() == []
        home.pipelines.refuse(bad)
        assert home.pipelines.refused() == [bad]
        home.pipelines.want(wanted(pipeline))
        assert home.pipelines.refused() == []
        home.pipelines.want(bad)
        assert home.pipelines.refused() == [bad]
        home.pipelines.want(taken_away(pipeline.id))
        assert home.pipelines.refused() == []


def test_what_was_refused_is_listed_after_its_pipeline_was_retired(home: Home) -> None:
    home.pipelines.save(a_config(retired_at=NOW))
    bad = msgspec.structs.replace(wanted(PIPELINE), config={"bad": True}, config_hash="bad")
    home.pipelines.want(bad)
    home.pipelines.refuse(bad)
    assert home.pipelines.refused() == [bad]
    found = home.pipelines.find(PIPELINE.id)
    assert found is not None
    home.pipelines.want(wanted(PIPELINE))
    assert home.pipelines.save(
        next_version(found, retired_at=None, rejected_hash=None, config_hash="good")
    )
    assert home.pipelines.refused() == []


def test_a_removed_config_is_unadopted_until_it_is_retired(home: Home) -> None:
    home.pipelines.want(wanted(PIPELINE))
    home.pipelines.save(CONFIG)
    home.pipelines.want(taken_away(PIPELINE.id))
    assert home.pipelines.unadopted() == [taken_away(PIPELINE.id)]
    retired = next_version(CONFIG, retired_at=NOW)
    assert home.pipelines.save(retired)
    assert home.pipelines.unadopted() == []
    assert home.pipelines.find(PIPELINE.id) == retired
    assert home.pipelines.in_force() == []


def test_a_retired_config_that_is_wanted_again_is_unadopted(home: Home) -> None:
    home.pipelines.want(wanted(PIPELINE))
    retired = a_config(config_hash=wanted(PIPELINE).config_hash, retired_at=NOW)
    home.pipelines.save(retired)
    assert home.pipelines.unadopted() == [wanted(PIPELINE)]
    later = NOW + timedelta(days=1)
    back = next_version(retired, retired_at=None, active_since=later)
    assert home.pipelines.save(back)
    assert home.pipelines.in_force() == [back]


def test_active_since_survives_changes(home: Home) -> None:
    home.pipelines.save(CONFIG)
    changed = next_version(CONFIG, config_hash="other", adopted_at=NOW + timedelta(days=9))
    home.pipelines.save(changed)
    found = home.pipelines.find(PIPELINE.id)
    assert found is not None and found.active_since == NOW


def test_since_when_each_schedule_counts_survives_changes(home: Home) -> None:
    standing = Standing(
        since=NOW + timedelta(days=1),
        deadlines_since=NOW + timedelta(days=2),
        readings_since=NOW + timedelta(days=1),
        carried=("2026-03-02",),
    )
    renamed = msgspec.structs.replace(PIPELINE, formerly={"cron": "stream"})
    edited = a_config(renamed, standings={"stream": standing, "cron": standing})
    assert home.pipelines.save(edited)
    assert home.pipelines.find(PIPELINE.id) == edited
    assert home.pipelines.save(next_version(edited, armed={}))
    (found,) = home.pipelines.in_force()
    assert found.standing("stream") == found.standing("cron") == standing
    assert found.standing("other") == standing_since(NOW)


def test_of_many_pipelines_only_the_changed_one_is_fetched_again(
    home: Home, family: Family
) -> None:
    configs = many(family.rows, lambda number: a_config(a_pipeline(f"p{number:04}")))
    for config in configs:
        home.pipelines.save(config)
    before = home.pipelines.in_force()
    assert before == configs
    assert home.pipelines.save(next_version(configs[7], config_hash="changed"))
    after = home.pipelines.in_force()
    fresh = [
        new for old, new in zip(before, after, strict=True) if new.pipeline is not old.pipeline
    ]
    assert fresh == [next_version(configs[7], config_hash="changed")]


def test_the_downstream_schedules_are_those_of_the_configs_in_force(home: Home) -> None:
    whole_day = Schedule(id="daily", trigger=Trigger(pipeline="bronze", hours=UpstreamHours.ALL))
    gold = downstream_of("bronze", "gold")
    both = a_config(msgspec.structs.replace(gold, schedules=(*gold.schedules, whole_day)))
    home.pipelines.save(both)
    home.pipelines.save(a_config(downstream_of("bronze", "alpha")))
    home.pipelines.save(a_config(downstream_of("other", "beta")))
    assert home.pipelines.downstream_of("bronze") == [
        Downstream("alpha", "stream", False),
        Downstream("gold", "daily", True),
        Downstream("gold", "stream", False),
    ]
    home.pipelines.save(next_version(both, pipeline=downstream_of("other", "gold")))
    assert home.pipelines.downstream_of("bronze") == [Downstream("alpha", "stream", False)]
    found = home.pipelines.find("alpha")
    assert found is not None
    home.pipelines.save(next_version(found, retired_at=NOW))
    assert home.pipelines.downstream_of("bronze") == []
