"""Job output: the end of what a job printed, as people read it."""

from interlock.domain.job_output import last_lines, plain_lines


def test_a_failure_tells_the_last_twenty_lines_and_no_more_than_two_thousand_characters() -> None:
    text = "".join(f"line {number}\n" for number in range(30))
    assert last_lines(text).split("\n") == [f"line {number}" for number in range(10, 30)]
    assert last_lines("x" * 5000) == "x" * 2000


def test_output_moves_no_cursor_and_colours_nothing() -> None:
    assert plain_lines("a\r\nb\rc\x1b[31md\x07") == "a\nb\ncd"
