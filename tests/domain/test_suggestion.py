"""Suggestion: the name that was meant, or the few there are."""

import pytest

from interlock.domain.suggestion import did_you_mean, with_suggestion

FEW, MANY = ("silver-orders", "gold"), [f"pipeline-{number}" for number in range(20)]


@pytest.mark.parametrize(
    ("word", "names", "said"),
    [
        ("silver-ordrs", FEW, "did you mean silver-orders?"),
        ("SILVER-ORDERS", FEW, "did you mean silver-orders?"),
        ("zzz", FEW, "there are: gold, silver-orders"),
        ("zzz", MANY, ""),
        ("zzz", (), ""),
    ],
)
def test_what_is_near_is_suggested_and_a_few_names_are_listed(
    word: str, names: tuple[str, ...], said: str
) -> None:
    assert did_you_mean(word, names) == said
    assert with_suggestion("unknown", word, names) == (f"unknown; {said}" if said else "unknown")
