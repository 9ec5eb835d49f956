"""Rows: how instants, keys and structs are stored in columns, and how unreadable rows are handled.

Instants are integer microseconds, so that what comes back equals what went in.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Generic, TypeVar

import msgspec

from interlock.adapters.sqlite.database import Database
from interlock.adapters.unreadable_rows import DAMAGED
from interlock.domain.canonical import content_hash
from interlock.domain.run import RunKey
from interlock.domain.unreadable import RowKind, UnreadableRow, problem_of

T = TypeVar("T")

Row = Sequence[Any]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST = (datetime(1, 1, 2, tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST = (datetime(9999, 12, 30, tzinfo=UTC) - _EPOCH) // _MICROSECOND
_encoder = msgspec.json.Encoder()


def micros(instant: datetime) -> int:
    return (instant - _EPOCH) // _MICROSECOND


def maybe_micros(instant: datetime | None) -> int | None:
    return None if instant is None else micros(instant)


def instant(number: int) -> datetime:
    """A number out of range becomes the nearest valid instant."""
    return _EPOCH + timedelta(microseconds=min(max(number, _FIRST), _LAST))


def maybe_instant(number: int | None) -> datetime | None:
    return None if number is None else instant(number)


def decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    """Reads what canonical JSON wrote; a number with a point becomes a Decimal again."""
    return msgspec.json.Decoder(kind, float_hook=Decimal)


def run_columns(key: RunKey) -> tuple[str, str, str, int]:
    return key.pipeline_id, key.schedule_id, key.date, int(key.dry)


def listed(values: Iterable[object]) -> str:
    """A JSON list for json_each: one statement for any number of keys."""
    return _encoder.encode(list(values)).decode()


class Reader(Generic[T]):
    """Reads the rows of one table: a row consists of these columns, of which the first are the key.

    An unreadable row is recorded. `otherwise` reads what its other columns still say. `where` selects the
    rows within the table, `pipeline` is the column with the pipeline, and `text` is the column that
    matters if others change while the row is unreadable.
    """

    def __init__(
        self,
        table: str,
        columns: str,
        keys: int,
        decode: Callable[[Row], T],
        *,
        kind: RowKind = RowKind.RECORD,
        otherwise: Callable[[Row], T] | None = None,
        where: str = "TRUE",
        pipeline: str = "pipeline",
        text: int | None = None,
    ) -> None:
        self.table, self.columns, self.where = table, columns, where
        self._key = [name.rpartition(".")[2] for name in columns.split(", ")[:keys]]
        self._decode = decode
        self._kind = kind
        self._otherwise = otherwise
        self._pipeline = pipeline
        self._text = slice(keys, None) if text is None else slice(text, text + 1)

    def all(self, database: Database, rows: Iterable[Row]) -> list[T]:
        """The readable rows."""
        return [found for _, found in self.each(database, rows)]

    def each(self, database: Database, rows: Iterable[Row]) -> Iterator[tuple[Row, T]]:
        """The same, each with its row."""
        for row in rows:
            found = self.read(database, row)
            if not isinstance(found, UnreadableRow):
                yield row, found

    def read(self, database: Database, row: Row) -> T | UnreadableRow:
        try:
            return self._decode(row)
        except DAMAGED as error:
            noted = self.unreadable(row, error)
            database.unreadable.note(noted)
            return self._salvaged(row, noted)

    def unreadable(self, row: Row, error: Exception) -> UnreadableRow:
        place = dict(zip(self._key, row, strict=False))
        return UnreadableRow(
            table=self.table,
            key=_where(place),
            problem=problem_of(error),
            content=content_hash([str(value) for value in row[self._text]], 16),
            kind=self._kind,
            pipeline_id=_text(place.get(self._pipeline)),
            schedule_id=_text(place.get("schedule")),
            date=_text(place.get("date")),
        )

    def _salvaged(self, row: Row, noted: UnreadableRow) -> T | UnreadableRow:
        if self._otherwise is None:
            return noted
        try:
            return self._otherwise(row)
        except DAMAGED:
            return noted


def _where(place: Mapping[str, Any]) -> str:
    """The key of a row, as a statement names it."""
    return " AND ".join(f"{name} = {_quoted(value)}" for name, value in place.items())


def _quoted(value: Any) -> str:
    if isinstance(value, int):
        return str(value)
    text = str(value).replace("'", "''")
    return f"'{text}'"


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
