"""The cost of a quiet pass: a few requests for each pipeline whose turn it is, whatever was there before."""

from datetime import timedelta

from aws.fleet import BEGIN, Fleet

#: The watchdog's own row, the listings, and the shards of the index: for what is due, for what has events
#: left to tell, and for what is open.
_COMMON = 33
#: Two ranges and one point of the trigger's readings, and the requests.
_IN_TURN = 4


def test_in_a_round_of_three_passes_every_pipeline_costs_four_requests() -> None:
    fleet = Fleet(daily=30, hourly=10)
    fleet.passes(1)  # the first of a process reads every config
    for _ in range(2):
        rounds = fleet.passes(3)
        assert sum(each.total() for each in rounds) <= 40 * _IN_TURN + 3 * _COMMON
        assert all(each.total() < 40 * _IN_TURN for each in rounds)


def test_two_years_of_readings_do_not_change_what_a_pass_asks_for() -> None:
    young, old = Fleet(daily=8, hourly=2), Fleet(daily=8, hourly=2)
    old.report(BEGIN - timedelta(days=735), BEGIN - timedelta(days=5))
    assert old.passes(4) == young.passes(4)


def test_open_runs_cost_a_page_of_executions_and_nothing_each() -> None:
    quiet, busy = Fleet(daily=8, hourly=2), Fleet(daily=8, hourly=2)
    busy.open_runs()
    for fleet in (quiet, busy):
        fleet.passes(1)
    more = busy.passes(1)[0] - quiet.passes(1)[0]
    assert more == {"stepfunctions list_executions": 4}  # pages of three
