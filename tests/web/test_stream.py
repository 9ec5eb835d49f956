"""The stream of events: who comes back misses none."""

import asyncio
import re

import pytest

from contracts.samples import NOW
from interlock.domain.event import EventType, happened, subject
from interlock.domain.run import RunKey
from web.house import House, is_problem
from web.listening import PATH, Listening, run_apart


def test_events_arrive_as_they_are_published(house: House) -> None:
    async def follow() -> str:
        async with Listening(house.app).open() as listening:
            await listening.until("retry:")
            await asyncio.to_thread(_happen, house, "2026-03-03")
            return await listening.until("event: TRIGGER_STARTED")

    text = run_apart(follow())

    assert "id: " in text and '"date":"2026-03-03"' in text


def test_who_comes_back_gets_what_was_told_meanwhile(house: House) -> None:
    last = house.home.store.events.last()
    _happen(house, "2026-03-03")

    async def follow() -> str:
        async with Listening(house.app, last_id=str(last)).open() as listening:
            return await listening.until('"date":"2026-03-03"')

    assert f"id: {last + 1}\n" in run_apart(follow())


def test_a_stream_may_be_of_one_pipeline_or_type(house: House) -> None:
    async def follow() -> str:
        query = "pipeline=gold-orders&type=TRIGGER_STARTED"
        async with Listening(house.app, query, last_id="0").open() as listening:
            await asyncio.to_thread(_happen, house, "2026-03-03")
            await asyncio.to_thread(_happen, house, "2026-03-04", "gold-orders")
            return await listening.until("gold-orders")

    text = run_apart(follow())

    assert "silver-orders" not in text
    assert text.count("event: ") == text.count("event: TRIGGER_STARTED") == 1


@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n", "\r\r", "\u2028", "\x00"])
def test_no_text_of_an_event_becomes_an_event_of_its_own(house: House, end: str) -> None:
    evil = f"oh{end}event: SLA_MET{end}data: {{}}{end}id: 999{end}retry: 1{end}"
    key = RunKey("silver-orders", "stream", "2026-03-03")
    event = happened(
        EventType.JOB_FAILED, subject(None, key), NOW, evil, parts=(0,), error=evil, runId=evil
    )
    house.home.store.events.publish([event])

    async def follow() -> str:
        async with Listening(house.app, last_id="0").open() as listening:
            return await listening.until("JOB_FAILED")

    lines = re.split("\r\n|\r|\n", run_apart(follow()))  # as the standard of streams has it

    assert not [line for line in lines if line.startswith(("event: SLA_MET", "id: 999"))]
    assert [line for line in lines if line.startswith("retry:")] == ["retry: 2000"]


def test_a_stream_may_be_without_names(house: House) -> None:
    async def follow() -> str:
        async with Listening(house.app, "named=false", last_id="0").open() as listening:
            await asyncio.to_thread(_happen, house, "2026-03-03")
            return await listening.until('"date":"2026-03-03"')

    text = run_apart(follow())

    assert "data: " in text and "event: " not in text


def test_who_wants_to_hears_of_every_write(house: House) -> None:
    """A reading that leads to nothing is no event, and yet a page shows it."""

    async def follow() -> str:
        async with Listening(house.app, "pulse=true").open() as listening:
            await listening.until("retry:")
            await asyncio.to_thread(house.home.commands("ada").put, "silver-orders", "other", {})
            return await listening.until("event: pulse")

    assert run_apart(follow()).count("event: ") == 1


def test_streams_end_when_the_server_does(house: House) -> None:
    async def follow() -> None:
        listening = Listening(house.app)
        async with listening.open():
            await listening.until("retry:")
            house.desk.closing = True

    run_apart(asyncio.wait_for(follow(), 60))


@pytest.mark.parametrize("given", ["x", "-1", "9" * 30])
def test_an_invalid_position_is_refused(house: House, given: str) -> None:
    assert is_problem(house.client.get(PATH, headers={"Last-Event-ID": given}), 400)


def _happen(house: House, date: str, pipeline: str = "silver-orders") -> None:
    house.home.commands("ada").put(pipeline, "orders", {"date": date})
    house.runtime.step()
