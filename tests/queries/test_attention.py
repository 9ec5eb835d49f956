"""What needs a person: the worst first, each thing once, and nothing that has recovered."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from contracts.samples import a_run
from interlock.domain.config import RefusedConfig
from interlock.domain.event import EventType, happened, subject
from interlock.domain.run import Failure, Run, RunKey, Status
from interlock.queries.attention import AttentionKind, concerns
from interlock.usecases.pause import pause
from web.house import House, opened

HOUR = timedelta(hours=1)
WAITS = "validation: {rules: [{key: never, check: exists}]}"


@pytest.fixture
def house(tmp_path: Any) -> Any:
    with opened(tmp_path) as house:
        house.declare(WAITS)
        house.runtime.settle()
        yield house


def kinds(house: House) -> list[AttentionKind]:
    return [each.kind for each in found(house)]


def found(house: House) -> list[Any]:
    home = house.home
    configs = {config.pipeline.id: config for config in home.ports.pipelines.in_force()}
    refused = home.queries.refused().items
    return concerns(configs, home.ports.clock(), home.ports, home.store.history, refused)


def a_waiting_run(house: House, day: str | None = None, **changes: Any) -> Run:
    now = house.home.ports.clock()
    house.put({"date": day or f"{now:%F}"})
    house.runtime.step()
    run = house.home.store.runs.active()[-1]
    changed = run.changed(now, **changes)
    assert house.home.store.runs.save(changed)
    return changed


def test_all_is_well(house: House) -> None:
    a_waiting_run(house)
    assert kinds(house) == []


@pytest.mark.parametrize(
    ("warned", "breached", "kind"),
    [
        (-1, 1, [AttentionKind.AT_RISK]),
        (-2, -1, [AttentionKind.OVERDUE]),
        (1, 2, []),
        (-201, -200, []),
    ],
)
def test_a_deadline_that_nears_is_a_risk_and_one_that_broke_is_worse(
    house: House, warned: int, breached: int, kind: list[AttentionKind]
) -> None:
    now = house.home.ports.clock()
    a_waiting_run(house, warning_at=now + warned * HOUR, breach_at=now + breached * HOUR)
    assert kinds(house) == kind


def test_a_failed_run_is_reported_once_even_if_it_is_late(house: House) -> None:
    now = house.home.ports.clock()
    run = a_waiting_run(house, warning_at=now - 2 * HOUR, breach_at=now - HOUR)
    failed = run.to(Status.FAILED, now, failure=Failure("job", "out of memory"))
    assert house.home.store.runs.save(failed)

    (concern,) = found(house)
    assert concern.kind is AttentionKind.FAILED and concern.reasons == ("failed: out of memory",)


def test_dates_that_failed_long_ago_hide_nothing_that_is_late_now(house: House) -> None:
    now = house.home.ports.clock()
    long_ago = now - timedelta(days=40)
    for number in range(101):
        key = RunKey("silver-orders", "stream", f"2020-{number // 28 + 1:02}-{number % 28 + 1:02}")
        run = a_run(key, long_ago, status=Status.FAILED, warning_at=long_ago, breach_at=long_ago)
        assert house.home.store.runs.open(run)
    a_waiting_run(house, warning_at=now - 2 * HOUR, breach_at=now - HOUR)
    assert kinds(house) == [AttentionKind.OVERDUE]


def test_a_run_that_will_be_retried_needs_no_person(house: House) -> None:
    now = house.home.ports.clock()
    run = a_waiting_run(house)
    assert house.home.store.runs.save(run.to(Status.FAILED, now, retry_at=now + HOUR))
    assert kinds(house) == []


def test_a_missed_date_is_forgotten_when_it_runs_after_all(house: House) -> None:
    now = house.home.ports.clock()
    key = RunKey("silver-orders", "stream", f"{now:%F}")
    for kind in (EventType.SENSOR_DEADLINE_EXPIRED, EventType.SLA_BREACH):
        house.home.store.events.publish([happened(kind, subject(None, key), now, "missed")])
    assert kinds(house) == [AttentionKind.MISSED]

    a_waiting_run(house)
    assert kinds(house) == []


def test_what_was_missed_long_ago_is_history(house: House) -> None:
    now = house.home.ports.clock()
    key = RunKey("silver-orders", "stream", "2026-03-03")
    event = happened(EventType.SCHEDULE_MISSED, subject(None, key), now - 48 * HOUR, "missed")
    house.home.store.events.publish([event])
    assert kinds(house) == []


def test_a_date_whose_rules_did_not_hold_in_time_needs_attention_while_it_has_no_run(
    house: House,
) -> None:
    now = house.home.ports.clock()
    key = RunKey("silver-orders", "stream", "2026-03-03")
    event = happened(EventType.READINESS_MISSED, subject(None, key), now - HOUR, "was not ready")
    house.home.store.events.publish([event])
    assert kinds(house) == [AttentionKind.MISSED]


def test_a_refused_file_is_reported_with_its_place_until_a_good_one_comes(house: House) -> None:
    """However long ago it was refused: its event may be days old."""
    now = house.home.ports.clock()
    about = msgspec.structs.replace(subject(None), pipeline_id="silver-orders")
    told = happened(EventType.CONFIG_REJECTED, about, now - 72 * HOUR, "refused", parts=("a",))
    house.home.store.events.publish([told])
    assert kinds(house) == []

    files = house.home.store.refused_files
    place: Any = {
        "path": "job.type",
        "message": "is missing",
        "file": "pipelines/a.yaml",
        "line": 7,
    }
    nameless: Any = {"message": "is not YAML", "file": "pipelines/b.yaml", "line": 1}
    files.keep(
        [
            RefusedConfig(pipeline_id="silver-orders", **place),
            RefusedConfig(pipeline_id=None, **nameless),
        ]
    )
    of_none, of_orders = found(house)
    assert of_orders.kind is of_none.kind is AttentionKind.REFUSED
    assert of_orders.reasons == ("refused: pipelines/a.yaml:7: job.type: is missing",)
    assert of_orders.since == told.timestamp
    assert (of_none.file, of_none.pipeline_id) == ("pipelines/b.yaml", "")

    files.keep([])
    assert kinds(house) == []


def test_a_paused_pipeline_comes_last(house: House) -> None:
    now = house.home.ports.clock()
    pause("gold-orders", house.home.ports)
    a_waiting_run(house, warning_at=now - 2 * HOUR, breach_at=now - HOUR)
    assert kinds(house) == [AttentionKind.OVERDUE, AttentionKind.PAUSED]


def test_a_run_whose_pipeline_is_gone_says_so(house: House) -> None:
    now = house.home.ports.clock()
    a_waiting_run(house, warning_at=now - 2 * HOUR, breach_at=now - HOUR)
    config = house.home.store.pipelines.find("silver-orders")
    assert config is not None
    gone = msgspec.structs.replace(config, version=config.version + 1, retired_at=now)
    assert house.home.store.pipelines.save(gone)

    (concern,) = found(house)
    assert concern.reasons == ("its pipeline is no longer in force",)


def test_a_row_that_cannot_be_read_needs_a_person_until_it_can(house: House) -> None:
    run = a_waiting_run(house)
    house.database.write(
        lambda connection: connection.execute("UPDATE runs SET run = '{}', status = 'LATER'")
    )
    house.home.store.runs.find([run.key])
    house.runtime.settle()
    (concern,) = found(house)
    assert (concern.kind, concern.key) == (AttentionKind.UNREADABLE, run.key)
    assert "unreadable row" in concern.reasons[0]
    house.database.write(lambda connection: connection.execute("DELETE FROM runs"))
    assert kinds(house) == []


def test_other_unreadable_rows_belong_to_their_pipeline_or_to_none(house: House) -> None:
    house.put({"date": "2026-03-03"})
    house.database.write(lambda connection: connection.execute("UPDATE sensors SET reading = '{'"))
    house.home.store.sensors.of_pipeline("silver-orders")
    house.database.write(lambda connection: connection.execute("UPDATE timers SET payload = '{'"))
    house.runtime.settle()
    concerned = [each for each in found(house) if each.kind is AttentionKind.UNREADABLE]
    assert [(each.pipeline_id, each.key) for each in concerned] == [("silver-orders", None)]
