"""What stands in for a value that is wrong already."""

from interlock.domain.objection import BROKEN, known


def test_a_broken_value_is_known_by_every_part_of_it() -> None:
    assert BROKEN.any.part is BROKEN and repr(BROKEN) == "BROKEN"
    assert known(1, None, "") and not known(1, BROKEN)
    assert not hasattr(BROKEN, "_inner")
