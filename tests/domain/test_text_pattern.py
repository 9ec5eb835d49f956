"""Patterns: whole texts, in linear time, with a sentence about what is no pattern."""

import subprocess
import sys

import pytest

from interlock.domain.text_pattern import LONGEST_PATTERN, matches_whole, pattern_problem


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("[a-z]+", "abc", True),
        ("[a-z]+", "abc\n", False),
        ("a|ab", "ab", True),  # the longest alternative is found
        ("", "", True),
        ("", "x", False),
        ("z.rich", "zürich", True),  # a character, not a byte
    ],
)
def test_a_pattern_matches_the_whole_text(pattern: str, text: str, expected: bool) -> None:
    assert matches_whole(pattern, text) is expected


def test_no_text_makes_a_pattern_hang() -> None:
    assert not matches_whole("(a*)*b", "a" * 100_000)


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("[a-z]+", None),
        ("(a", "not a regular expression of RE2: missing ): (a"),
        ("(?=a)", "not a regular expression of RE2: invalid perl operator: (?="),
        ("a" * (LONGEST_PATTERN + 1), "a pattern has at most 1000 characters"),
        ("(a{1000}){1000}", "not a regular expression of RE2: invalid repetition size: {1000}"),
    ],
)
def test_what_is_no_pattern_is_said(pattern: str, problem: str | None) -> None:
    assert pattern_problem(pattern) == problem


def test_the_library_is_loaded_with_the_first_pattern_only() -> None:
    code = (
        "import sys; from interlock.domain.check import Check; before = 're2' in sys.modules;"
        "Check.MATCHES.spec.test('a', 'a', None); print(before, 're2' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
