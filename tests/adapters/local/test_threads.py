"""Threads and paces: two first alerts make one thread, and a channel takes one message at a time."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import msgspec

from contracts.samples import NOW
from interlock.adapters.local.database import Database
from interlock.adapters.local.store import Store
from interlock.adapters.local.threads import Thread, ThreadKey

KEY = ThreadKey("silver-orders", "stream", "2026-03-03", "C1")
UNTIL = NOW + timedelta(seconds=30)


def posted(thread: Thread | None) -> Thread:
    assert thread is not None
    return msgspec.structs.replace(
        thread,
        version=thread.version + 1,
        thread_ts="1741000000.000100",
        state="late",
        state_at=NOW,
        first="SLA_WARNING",
        count=1,
        root_hash="abc",
    )


def test_of_twenty_first_alerts_one_claims_the_thread(database: Database) -> None:
    threads = Store(database, lambda: NOW).threads
    with ThreadPoolExecutor(20) as pool:
        won = list(pool.map(lambda n: threads.claim(KEY, f"{n}", NOW, UNTIL), range(20)))
    assert won.count(True) == 1
    thread = threads.find(KEY)
    assert thread is not None and thread.claimed_by == str(won.index(True))


def test_a_claim_that_came_to_nothing_can_be_claimed_again(store: Store) -> None:
    assert store.threads.claim(KEY, "a", NOW, UNTIL)
    assert not store.threads.claim(KEY, "b", UNTIL - timedelta(microseconds=1), UNTIL)
    assert store.threads.claim(KEY, "b", UNTIL, UNTIL + timedelta(seconds=30))
    lost = msgspec.structs.replace(posted(store.threads.find(KEY)), version=2)
    assert not store.threads.save(lost)  # the first one comes too late


def test_a_posted_thread_is_not_claimed_again(store: Store) -> None:
    store.threads.claim(KEY, "a", NOW, UNTIL)
    thread = posted(store.threads.find(KEY))
    assert store.threads.save(thread)
    assert not store.threads.save(thread)
    assert store.threads.find(KEY) == thread
    assert not store.threads.claim(KEY, "b", UNTIL + timedelta(days=1), UNTIL)


def test_a_thread_that_its_channel_lost_is_claimed_anew(store: Store) -> None:
    store.threads.claim(KEY, "a", NOW, UNTIL)
    store.threads.save(posted(store.threads.find(KEY)))
    store.threads.forget(KEY)
    assert store.threads.find(KEY) is None
    assert store.threads.claim(KEY, "b", NOW, UNTIL)


def test_a_date_has_a_thread_in_each_channel(store: Store) -> None:
    other = msgspec.structs.replace(KEY, channel="C0")
    for key in (KEY, other, msgspec.structs.replace(KEY, date="2026-03-04")):
        store.threads.claim(key, "a", NOW, UNTIL)
    found = store.threads.of_date(KEY.pipeline, KEY.schedule, KEY.date)
    assert [thread.key for thread in found] == [other, KEY]


def test_a_channel_takes_one_message_a_second(store: Store) -> None:
    second = timedelta(seconds=1)
    assert store.paces.take("C1", NOW, second) == NOW
    assert store.paces.take("C1", NOW, second) == NOW + second
    assert store.paces.take("C2", NOW, second) == NOW
    assert store.paces.take("C1", NOW + second, second) == NOW + second


def test_a_channel_that_asks_to_be_left_alone_is(store: Store) -> None:
    later = NOW + timedelta(seconds=30)
    store.paces.block("C1", later)
    store.paces.block("C1", NOW)
    assert store.paces.take("C1", NOW, timedelta(seconds=1)) == later
    assert store.paces.take("C1", later, timedelta(seconds=1)) == later
