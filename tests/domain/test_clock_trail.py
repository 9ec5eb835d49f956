"""A clock that has jumped is doubted until it has moved on for a day of work, or is back."""

from datetime import UTC, datetime, timedelta

from interlock.domain.clock_trail import JUMP, LOOK, STEADY, ClockTrail, follow

NOW = datetime(2026, 3, 3, 12, tzinfo=UTC)
DAY = timedelta(days=1)
YEAR = 400 * DAY


def looks(trail: ClockTrail | None, since: datetime, span: timedelta) -> ClockTrail:
    """The controller is at work for a while."""
    now = since
    trail = follow(trail, now)
    while now < since + span:
        now += LOOK
        trail = follow(trail, now)
    return trail


def test_a_clock_that_moves_on_is_believed() -> None:
    assert looks(None, NOW, 3 * DAY).is_believed


def test_a_controller_that_was_away_for_a_weekend_believes_its_clock() -> None:
    assert follow(ClockTrail(NOW), NOW + JUMP).is_believed


def test_a_clock_a_year_ahead_is_not_believed() -> None:
    trail = follow(ClockTrail(NOW), NOW + YEAR)
    assert not trail.is_believed and trail.jumped_from == NOW


def test_after_a_day_of_work_it_is() -> None:
    almost = looks(ClockTrail(NOW), NOW + YEAR, STEADY - LOOK)
    assert not almost.is_believed
    assert follow(almost, almost.seen_at + LOOK).is_believed


def test_restarts_do_not_count_as_work() -> None:
    trail = ClockTrail(NOW)
    for start in range(30):  # each an hour after the last
        trail = follow(trail, NOW + YEAR + start * timedelta(hours=1))
    assert not trail.is_believed


def test_a_second_jump_starts_over_and_the_first_instant_is_kept() -> None:
    trail = looks(ClockTrail(NOW), NOW + YEAR, STEADY - LOOK)
    trail = follow(trail, NOW + 2 * YEAR)
    assert trail.jumped_from == NOW and trail.steady == timedelta(0)


def test_a_clock_that_is_put_right_is_believed_at_once() -> None:
    trail = looks(ClockTrail(NOW), NOW + YEAR, timedelta(hours=1))
    assert follow(trail, NOW + timedelta(hours=1)).is_believed


def test_a_clock_that_is_set_back_a_little_goes_on_being_doubted() -> None:
    trail = looks(ClockTrail(NOW), NOW + YEAR, timedelta(hours=1))
    back = follow(trail, trail.seen_at - timedelta(minutes=5))
    assert not back.is_believed and back.steady == trail.steady


def test_a_clock_that_is_set_back_is_believed() -> None:
    """Nothing grows old by it."""
    assert follow(ClockTrail(NOW), NOW - YEAR).is_believed
