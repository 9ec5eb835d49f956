"""Samples: a small valid pipeline file, changed part by part, and what the reader says about it."""

from interlock.files import LoadedPipeline, load_text

PARTS = {
    "pipeline": "{id: orders}",
    "schedule": "{trigger: {key: orders-landed, check: exists}}",
    "validation": "{maxAge: 1d, rules: [{key: orders-landed, check: gte, field: count, value: 1000}]}",
    "job": "{type: command, config: {command: [etl]}}",
}


def pipeline_text(**parts: str | None) -> str:
    """The small file with other parts; None leaves one out."""
    merged = {**PARTS, **parts}
    return "".join(f"{key}: {value}\n" for key, value in merged.items() if value is not None)


def job_text(kind: str, config: str) -> str:
    return pipeline_text(job=f"{{type: {kind}, config: {config}}}")


def errors(text: str | bytes) -> list[tuple[str, str]]:
    """Path and kind of every error, in the order of paths."""
    return _pairs(load_text(text), is_error=True)


def warnings(text: str) -> list[tuple[str, str]]:
    """Path and kind of every warning of a file that has no errors."""
    loaded = load_text(text)
    assert not loaded.errors, loaded.errors
    return _pairs(loaded, is_error=False)


def _pairs(loaded: LoadedPipeline, is_error: bool) -> list[tuple[str, str]]:
    return sorted(
        (problem.path, problem.kind.value)
        for problem in loaded.problems
        if problem.is_error is is_error
    )
