"""To add a check: its test, and one row of `Check` in domain/check.py."""

from pathlib import Path

from recipes.workshop import Workshop

CHECK = "src/interlock/domain/check.py"

TEST = """
def _multiple(actual: Any, expected: Any, now: datetime) -> str | None:
    value, step = number(actual), number(expected)
    if value is None or not step:
        return "not_numeric"
    return None if value % step == 0 else "not_a_multiple"


"""
ROW = """
    MULTIPLE_OF = (
        "multiple_of",
        CheckSpec(
            passes="the value is a whole multiple",
            symbol="multiple of",
            needs="needs a multiple of {}",
            test=_multiple,
            value=NUMBER,
            reasons={**_NUMBERS, "not_a_multiple": Reason("the value is no whole multiple")},
            state=_number_state,
        ),
    )


"""


def test_a_check_is_its_test_and_its_row(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path)
    workshop.add(CHECK, TEST, before="class Check(StrEnum):")
    workshop.add(CHECK, ROW, before="def symbol_of(")
    workshop.tries("made_up_check.py")
