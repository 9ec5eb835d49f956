"""Form lines: what a person typed into a form, one `name=value` per line."""

from interlock.web.http_problem import HttpProblem


def name_value_lines(text: str) -> list[tuple[str, str]]:
    """Blank lines say nothing. Raises HttpProblem for a line without a name or a value."""
    return [_pair(line) for line in text.splitlines() if line.strip()]


def _pair(line: str) -> tuple[str, str]:
    name, mark, value = line.partition("=")
    if not mark or not name.strip():
        raise HttpProblem(422, f"{line.strip()!r} is not name=value")
    return name.strip(), value.strip()
