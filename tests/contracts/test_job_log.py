"""Job log: each thing that happened to an attempt, once."""

from datetime import timedelta

import msgspec

from contracts.home import Home
from contracts.samples import KEY, NOW, a_key, a_record
from interlock.domain.budgets import Category
from interlock.domain.change import ChangeKind


def test_a_record_comes_back_as_it_was_written(home: Home) -> None:
    record = a_record(
        "fail",
        run_id="jr_1",
        error="it broke",
        category=Category.TRANSIENT,
        duration=12.5,
        final=True,
    )
    home.job_log.append(record)
    assert home.job_log.of_run(KEY) == [record]


def test_of_two_records_of_one_attempt_and_event_the_first_stays(home: Home) -> None:
    first, second = a_record(error="first"), a_record(error="second", at=NOW + timedelta(seconds=1))
    home.job_log.append(first)
    home.job_log.append(second)
    assert home.job_log.of_run(KEY) == [first]


def test_records_are_in_the_order_of_their_times(home: Home) -> None:
    records = [
        a_record("triggered", 0, at=NOW),
        a_record("fail", 0, at=NOW + timedelta(minutes=1)),
        a_record("triggered", 1, at=NOW + timedelta(minutes=2)),
    ]
    for record in (records[2], records[0], records[1]):
        home.job_log.append(record)
    assert home.job_log.of_run(KEY) == records


def test_two_records_of_one_instant_are_both_kept(home: Home) -> None:
    records = [a_record("triggered"), a_record("success"), a_record("success", 1)]
    for record in records:
        home.job_log.append(record)
    assert home.job_log.of_run(KEY) == records


def test_a_job_that_writes_no_attempt_may_say_the_same_at_another_time(home: Home) -> None:
    first = a_record("success", None)
    second = a_record("success", None, at=NOW + timedelta(hours=1))
    for record in (first, second, first):
        home.job_log.append(record)
    assert home.job_log.of_run(KEY) == [first, second]


def test_the_log_of_a_run_has_nothing_of_another(home: Home) -> None:
    others = [
        msgspec.structs.replace(a_record(), key=key)
        for key in (a_key(date="2026-03-03T10"), a_key(schedule_id="other"), a_key(dry=True))
    ]
    for record in others:
        home.job_log.append(record)
    assert home.job_log.of_run(KEY) == []
    assert home.job_log.of_run(others[2].key) == [others[2]]


def test_a_change_follows_each_record_that_is_new(home: Home) -> None:
    for record in (a_record("fail"), a_record("fail"), a_record("success")):
        home.job_log.append(record)
    changes = home.changes()
    assert [change.record for change in changes] == [a_record("fail"), a_record("success")]
    assert {change.kind for change in changes} == {ChangeKind.JOB}
