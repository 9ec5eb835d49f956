"""Reruns: a request waits until it has had its answer."""

from datetime import timedelta

from contracts.home import Home
from contracts.samples import KEY, NOW, a_grant, a_key, a_request, a_run, reopened
from interlock.domain.change import ChangeKind
from interlock.domain.run import Status

LATER = NOW + timedelta(seconds=1)


def test_a_request_waits_until_it_is_judged(home: Home) -> None:
    request = a_request()
    home.reruns.request(request)
    assert home.reruns.unjudged() == [request]
    home.reruns.judged(request)
    assert home.reruns.unjudged() == []


def test_a_request_that_is_listed_is_not_found_a_second_time(home: Home) -> None:
    home.reruns.request(a_request())
    assert home.reruns.unlisted([KEY.pipeline_id]) == []
    home.reruns.judged(a_request())
    assert home.reruns.unlisted([KEY.pipeline_id]) == []


def test_requests_wait_in_the_order_in_which_they_were_made(home: Home) -> None:
    newer, older = a_request(at=LATER), a_request(key=a_key(date="2026-03-04"))
    home.reruns.request(newer)
    home.reruns.request(older)
    assert home.reruns.unjudged() == [older, newer]


def test_the_same_request_again_is_nothing_new(home: Home) -> None:
    home.reruns.request(a_request())
    home.reruns.judged(a_request())
    home.reruns.request(a_request())
    assert home.reruns.unjudged() == []
    assert len(home.changes()) == 1


def test_a_newer_request_is_not_judged_by_the_answer_to_an_older_one(home: Home) -> None:
    older, newer = a_request(), a_request("again", LATER)
    home.reruns.request(older)
    home.reruns.request(newer)
    home.reruns.judged(older)
    assert home.reruns.unjudged() == [newer]


def test_a_change_follows_each_request(home: Home) -> None:
    home.reruns.request(a_request())
    home.reruns.request(a_request("again", LATER))
    home.reruns.withdraw(KEY, LATER)
    home.reruns.withdraw(KEY, LATER)
    changes = home.changes()
    assert [change.request for change in changes] == [a_request(), a_request("again", LATER), None]
    assert [change.removed for change in changes] == [False, False, True]
    assert {change.kind for change in changes} == {ChangeKind.RERUN}


def test_a_request_that_was_withdrawn_waits_no_more(home: Home) -> None:
    home.reruns.request(a_request())
    home.reruns.withdraw(KEY, LATER)
    assert home.reruns.unjudged() == []


def test_the_attempts_that_were_granted_are_listed_in_order(home: Home) -> None:
    run = a_run()
    home.runs.open(run)
    for attempt in (1, 2):
        run = run.to(Status.FAILED, NOW)
        home.runs.save(run)
        run = reopened(run)
        assert home.runs.save(run, rerun=a_grant(attempt))
    assert home.reruns.granted(KEY) == [a_grant(1), a_grant(2)]
    assert home.reruns.granted(a_key(dry=True)) == []
