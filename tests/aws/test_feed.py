"""The feed of an installation on AWS: every published event is found, once, however late."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from aws.gallery import Gallery
from aws.homes import NAMES, quick_services
from aws.table_server import refused
from aws.viewer import Viewer, Watched
from contracts.samples import NOW, ManualClock, an_event
from interlock.adapters.aws.events import EventLog
from interlock.adapters.aws.feed import FAR_REACH, REACH, DynamoFeed
from interlock.adapters.aws.parallel_reads import Fan
from interlock.adapters.aws.table import Table
from interlock.domain.event import Event, envelope
from interlock.errors import UnavailableError
from interlock.runtime.feed_poller import FeedPoller
from web.house import is_problem
from web.listening import PATH, Listening, run_apart

MINUTE = timedelta(minutes=1)


class Log:
    """An events table, and feeds of it."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.tables = Watched(quick_services(clock).tables)
        self._log = EventLog(Table(self.tables, NAMES.events), timedelta(days=90), clock)

    def tell(self, *events: Event) -> None:
        for event in events:
            assert self._log.put(envelope(event)) is not None

    def feed(self) -> DynamoFeed:
        return DynamoFeed(self._log, Fan(), self.clock)


@pytest.fixture
def log(clock: ManualClock) -> Log:
    return Log(clock)


def ids(feed: Any, seq: int) -> list[str]:
    return [told.event.event_id.rpartition("/")[2] for told in feed.after(seq, 100)]


def test_what_is_published_after_a_poll_is_found_by_the_next(log: Log) -> None:
    log.tell(an_event("before", at=NOW - MINUTE))
    feed = log.feed()
    feed.look()
    place, changes = feed.last(), feed.changes()
    assert ids(feed, place) == []

    log.clock.advance(seconds=5)
    log.tell(an_event("b", at=NOW + timedelta(seconds=2)), an_event("a", at=NOW))
    feed.look()

    assert ids(feed, place) == ["a", "b"]
    assert feed.changes() != changes and feed.last() > place


def test_nothing_new_is_no_change(log: Log) -> None:
    feed = log.feed()
    feed.look()
    before = feed.last(), feed.changes()
    for _ in range(30):
        log.clock.advance(seconds=5)
        feed.look()
    assert (feed.last(), feed.changes()) == before


def test_an_event_is_reported_once_by_any_number_of_polls(log: Log) -> None:
    feed = log.feed()
    feed.look()
    place = feed.last()
    log.tell(an_event("once"))
    for _ in range(400):
        log.clock.advance(seconds=5)
        feed.look()
    assert ids(feed, place) == ["once"]


def test_an_event_published_late_comes_after_what_was_seen_before_it(log: Log) -> None:
    feed = log.feed()
    feed.look()
    log.clock.advance(minutes=10)
    log.tell(an_event("prompt", at=log.clock()))
    feed.look()
    place = feed.last()

    log.tell(an_event("late", at=log.clock() - FAR_REACH + MINUTE))
    for _ in range(12):  # one of a dozen looks reaches that far
        feed.look()

    assert ids(feed, place) == ["late"]


def test_who_followed_another_server_misses_nothing(log: Log) -> None:
    first = log.feed()
    first.look()
    log.tell(an_event("seen", at=NOW))
    log.clock.advance(seconds=10)
    first.look()
    place = first.last()
    log.tell(an_event("unseen", at=log.clock() - MINUTE))
    log.clock.advance(seconds=20)

    second = log.feed()
    second.look()

    assert "unseen" in ids(second, place)
    assert second.oldest() <= place
    assert ids(second, second.last()) == []


def test_who_comes_from_long_ago_is_before_the_oldest_place(log: Log) -> None:
    feed = log.feed()
    feed.look()
    place = feed.last()
    log.clock.advance(hours=2)
    other = log.feed()
    other.look()
    assert place < other.oldest() <= other.last()


def test_places_only_grow_even_when_the_clock_goes_back(log: Log) -> None:
    feed = log.feed()
    feed.look()
    places = [feed.last()]
    for n in range(5):
        log.clock.advance(seconds=-1)
        log.tell(an_event(n, at=log.clock()))
        feed.look()
        places.append(feed.last())
    assert places == sorted(set(places))


def test_a_look_that_fails_is_made_good_by_the_next(log: Log) -> None:
    feed = log.feed()
    feed.look()
    place = feed.last()
    log.tell(an_event("x"))
    log.tables.broken = _denied
    with pytest.raises(UnavailableError):
        feed.look()
    log.tables.broken = None
    log.clock.advance(seconds=float(REACH.total_seconds()) / 2)
    feed.look()
    assert ids(feed, place) == ["x"]


# --- the lookout


def test_the_poller_looks_while_a_client_follows(log: Log) -> None:
    lookout = FeedPoller(log.feed(), 0.01)
    place = lookout.last()
    log.tell(an_event("x"))
    _until(lambda: lookout.changes() and ids(lookout, place) == ["x"])
    lookout.close()


def test_without_followers_nothing_is_read(log: Log) -> None:
    moments = [0.0]
    lookout = FeedPoller(log.feed(), 5.0, monotonic=lambda: moments[0])
    lookout.last()
    lookout.changes()
    asked = log.tables.asked.total()

    moments[0] = 29.0
    lookout.look_if_wanted()
    assert log.tables.asked.total() == 2 * asked
    moments[0] = 60.0
    lookout.look_if_wanted()
    assert log.tables.asked.total() == 2 * asked
    lookout.close()


def test_followers_get_an_error_while_looks_fail(log: Log) -> None:
    lookout = FeedPoller(log.feed(), 0.01)
    place, changes = lookout.last(), lookout.changes()
    log.tables.broken = _denied
    _until(lambda: lookout.changes() != changes)
    with pytest.raises(UnavailableError, match="AccessDenied"):
        lookout.after(place, 10)
    log.tables.broken = None
    _until(lambda: lookout.changes() and _answers(lookout, place))
    lookout.close()


# --- the stream


@pytest.fixture
def viewer(tmp_path: Path) -> Iterator[Viewer]:
    viewer = Viewer(Gallery(datetime(2026, 3, 3, 12, tzinfo=UTC)), tmp_path)
    yield viewer
    viewer.close()


def test_a_stream_brings_what_the_functions_tell(viewer: Viewer) -> None:
    async def follow() -> str:
        async with Listening(viewer.app).open() as listening:
            await listening.until("retry:")
            event = an_event("news", at=viewer.gallery.now)
            await asyncio.to_thread(viewer.gallery.store.event_log.put, envelope(event))
            return await listening.until("event: TRIGGER_STARTED")

    assert "/news" in run_apart(follow())


def test_a_follower_from_long_ago_learns_of_the_gap(viewer: Viewer) -> None:
    async def follow() -> str:
        async with Listening(viewer.app, last_id="1").open() as listening:
            return await listening.until("event: gap")

    assert "event: gap" in run_apart(follow())


def test_a_stream_that_can_not_be_read_ends_and_the_next_says_why(viewer: Viewer) -> None:
    async def follow() -> None:
        async with Listening(viewer.app).open() as listening:
            await listening.until("retry:")
            viewer.tables.broken = _denied
            await listening.ended()

    run_apart(follow())
    answer = viewer.client.get(PATH)
    assert is_problem(answer, 503)
    assert "AccessDenied" in answer.json()["detail"]


def _denied(operation: str, given: Any) -> None:
    raise refused(operation, "AccessDeniedException", "not yours")


def _answers(lookout: FeedPoller, place: int) -> bool:
    try:
        lookout.after(place, 1)
    except UnavailableError:
        return False
    return True


def _until(holds: Any) -> None:
    async def wait() -> None:
        async with asyncio.timeout(60):
            while not holds():
                await asyncio.sleep(0.01)

    run_apart(wait())
