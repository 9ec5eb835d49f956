"""Readings: the path of a reading through the server, which holds no thread for it."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from anyio import to_thread

from interlock.domain.sensor import Reading
from interlock.operations.endpoints import Endpoint
from interlock.operations.requests import Waiting
from interlock.ports.stores import ReadingIntake
from interlock.queries.stored_reading import StoredReading, in_words, stored
from interlock.runtime.decisions import Decision, Decisions
from interlock.usecases.put_reading import submit_reading
from interlock.web.access import Caller
from interlock.web.api.context import ApiContext
from interlock.web.metrics import Metrics

#: How long a producer may wait for the router.
DECISION_SECONDS = 10.0
UNDECIDED = f"stored; the controller has not decided within {DECISION_SECONDS:.0f} s"


async def put_reading(
    context: ApiContext, caller: Caller, arguments: Mapping[str, Any]
) -> StoredReading:
    """Durable when it returns; with `wait`, after the router has acted on it."""
    query: Waiting = arguments["query"]
    if context.intake is None or (query.wait is not None and context.decisions is None):
        call = partial(context.commands(caller).put, **arguments)
        answer = await to_thread.run_sync(call, abandon_on_cancel=True)
    elif query.wait is None or context.decisions is None:
        answer = stored(await _submitted(context, arguments, context.intake))
    else:
        answer = await _decided(context, arguments, _Awaited(context.intake, context.decisions))
    context.metrics.readings.labels("accepted").inc()
    return answer


def count_readings(row: Endpoint, answer: Any, metrics: Metrics) -> None:
    """Of a batch, and of a lineage event."""
    if row.name not in ("putSensors", "putLineage"):
        return
    refused = sum(getattr(each, "problem", None) is not None for each in answer.items)
    metrics.readings.labels("refused").inc(refused)
    metrics.readings.labels("accepted").inc(len(answer.items) - refused)


async def _submitted(
    context: ApiContext, arguments: Mapping[str, Any], intake: ReadingIntake
) -> Reading:
    pipeline, key, fields = arguments["pipeline"], arguments["key"], arguments["fields"]
    return await submit_reading(pipeline, key, fields, intake, context.backend.ports)


class _Awaited:
    """An intake that listens for the decision before the reading is stored."""

    def __init__(self, intake: ReadingIntake, decisions: Decisions) -> None:
        self._intake, self._decisions = intake, decisions
        self.decision: Decision | None = None

    async def put(self, reading: Reading) -> None:
        self.decision = self._decisions.expect(reading)
        try:
            await self._intake.put(reading)
        except BaseException:
            self._decisions.forget(reading)
            raise

    def forget(self, reading: Reading) -> None:
        self._decisions.forget(reading)


async def _decided(
    context: ApiContext, arguments: Mapping[str, Any], intake: _Awaited
) -> StoredReading:
    reading = await _submitted(context, arguments, intake)
    assert intake.decision is not None
    try:
        async with asyncio.timeout(DECISION_SECONDS):
            return stored(reading, in_words(await asyncio.wrap_future(intake.decision)))
    except TimeoutError:
        return stored(reading, (UNDECIDED,))
    finally:
        intake.forget(reading)
