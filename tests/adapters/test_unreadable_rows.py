"""Met rows: each is kept until it is reported, and no more of them than fit."""

from typing import Any

import msgspec

from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import Reader
from interlock.adapters.unreadable_rows import MetRows
from interlock.domain.unreadable import UnreadableRow

ROW = UnreadableRow(table="t", key="k", problem="p", content="c")


def row(number: int) -> UnreadableRow:
    return msgspec.structs.replace(ROW, key=str(number))


def test_a_row_waits_until_it_is_reported() -> None:
    met = MetRows()
    met.note(ROW)
    met.note(msgspec.structs.replace(ROW, problem="in other words"))
    assert met.met() == met.met() == [ROW]
    met.reported(ROW)
    met.note(ROW)
    assert met.met() == []
    changed = msgspec.structs.replace(ROW, content="other")
    met.note(changed)
    assert met.met() == [changed]


def test_memory_is_bounded() -> None:
    met = MetRows()
    for number in range(3000):
        met.note(row(number))
    assert len(met.met()) == 1000
    for number in range(3000):
        met.reported(row(number))
    met.note(row(0))  # so long ago that it is forgotten
    met.note(row(2999))
    assert met.met() == [row(0)]


def test_the_key_of_a_row_is_a_condition_that_finds_it() -> None:
    def refuse(given: Any) -> None:
        raise ValueError("no")

    reader = Reader("marks", "pipeline, name, body", 2, refuse)
    with Database() as database:
        name = "o'clock; DROP TABLE marks --"
        database.write(
            lambda connection: connection.execute(
                "INSERT INTO marks VALUES ('p', ?, '{}', 1, 0, 0), ('p', 'x', '{}', 1, 0, 0)",
                (name,),
            )
        )
        reader.read(database, ("p", name, "{}"))
        (noted,) = database.unreadable.met()
        query = f"DELETE FROM {noted.table} WHERE {noted.key}"
        assert database.write(lambda connection: connection.execute(query)).rowcount == 1
