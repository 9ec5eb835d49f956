"""Sensors: the readings. Producers write them too, by any means; the stream reports each write."""

from collections.abc import Collection, Sequence
from datetime import datetime

from interlock.adapters.aws.keys import (
    AFTER,
    LAST,
    SENSOR,
    partition,
    pipeline_of,
    sensor_key,
)
from interlock.adapters.aws.readings import reading_from, reading_item
from interlock.adapters.aws.row_cache import Notes, Use
from interlock.adapters.aws.rows import is_live, text
from interlock.adapters.aws.table import Key, Table
from interlock.adapters.aws.values import Item
from interlock.domain.sensor import Reading, UnreadableReading, split_key, unreadable_reading
from interlock.domain.unreadable import RowKind, UnreadableRow
from interlock.ports.engine import Clock


class DynamoSensors:
    """A reading whose `ttl` (epoch seconds) has passed is gone."""

    def __init__(self, control: Table, notes: Notes, clock: Clock) -> None:
        self._control = control
        self._notes = notes
        self._clock = clock

    def put(self, reading: Reading) -> None:
        """Repeating an identical reading changes nothing, so it is not in the stream."""
        item = reading_item(reading)
        self._notes.drop((item["PK"], item["SK"]))
        self._control.put(item)

    def put_all(self, readings: Sequence[Reading]) -> None:
        """One by one: after a failure, the caller writes them all again."""
        for reading in readings:
            self.put(reading)

    def remove(self, pipeline_id: str, key: str, at: datetime) -> None:
        """Nothing is deleted: the row is marked as removed."""
        place = sensor_key(pipeline_id, key)
        self._notes.drop(place)
        self._control.update(
            place,
            "SET #removedAt = :at",
            "attribute_exists(#PK) AND attribute_not_exists(#removedAt)",
            at=text(at),
        )

    def find(self, pipeline_id: str, keys: Collection[str]) -> dict[str, Reading]:
        found = self._rows([sensor_key(pipeline_id, key) for key in keys])
        return {reading.key: reading for reading in self._read(found)}

    def between(self, pipeline_id: str, key: str, first: str, last: str) -> list[Reading]:
        """`last` includes the hours of that day. In the order of their periods."""
        spans = ((first, last, True), (_compact(first), _compact(last), False))
        year_ends = len(key) + len("#2026")
        readings = [
            reading
            for since, until, dashed in spans
            for reading in self._range(pipeline_id, f"{key}#{since}", f"{key}#{until}{AFTER}")
            if not isinstance(reading, UnreadableReading)
            and (reading.key[year_ends : year_ends + 1] == "-") is dashed
            and split_key(reading.key)[0] == key
        ]
        return sorted(readings, key=lambda reading: _compact(reading.key))

    def of_pipeline(self, pipeline_id: str) -> list[Reading]:
        return self._range(pipeline_id, "", LAST)

    def _rows(self, places: list[Key]) -> list[Item]:
        if places and all(self._notes.has(Use.READING, place) for place in places):
            noted = (self._notes.take(Use.READING, place) for place in places)
            return [row for row in noted if row is not None]
        return list(self._control.get_many(places).values())

    def _range(self, pipeline_id: str, first: str, last: str) -> list[Reading]:
        rows = self._control.query(partition(pipeline_id), SENSOR + first, SENSOR + last)
        return self._read(list(rows))

    def _read(self, rows: list[Item]) -> list[Reading]:
        now = self._clock()
        return [self._one(row, now) for row in rows if is_live(row, now)]

    def _one(self, row: Item, now: datetime) -> Reading:
        found = self._control.read(row, lambda item: reading_from(item, now), RowKind.READING)
        if not isinstance(found, UnreadableRow):
            return found
        key = row["SK"].removeprefix(SENSOR)
        return unreadable_reading(pipeline_of(row["PK"]), key, now, found.problem)


def _compact(label: str) -> str:
    return label.replace("-", "").replace(":", "")
