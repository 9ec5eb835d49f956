"""No text and no bytes whatever give a traceback, hang, or stop other files from being checked."""

import string
from pathlib import Path

import pytest
from file_samples import PARTS, pipeline_text
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_job_checks import VALID

from budget import budget
from interlock.files import LoadedPipeline, load_project, load_text, read_config
from interlock.files.text import load_calendar

many = settings(
    max_examples=budget(200, 60), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)

#: Words that YAML, or our own format, treats in a way of their own.
_WORDS = r""": - ? & * ! | > % @ ` { } [ ] , # ' " \ ~ << &a *a !!str !!binary !x --- ... null true
    .nan .inf 0x1F 1e999999999 10:00 2026-03-03 ${INTERLOCK_TOKEN} ${ $${ secret:// SENSOR# ":30"
    pipeline schedule schedules trigger cron key check value include dates job type config exists
    gte age_lt rules validation sla deadline evaluation window exclude holidays US command http yes
"""
_ODDITIES = ["\n", "\n  ", "\n- ", ": ", "\t", "\x00", "\x85", "\u2028", "\ufeff", "\x1b[31m", "😀"]
WORDS = st.sampled_from([*_WORDS.split(), *_ODDITIES])

_KEYS = """id cron timezone time grace trigger exclude calendar include evaluation key check field
    value deadline pipeline hours rules type config dates days name window interval maxDuration
    command url headers body timeout arguments jobName jobDriver sparkSubmit hive weekends holidays
    tags dayOffset maxRetries driftThreshold owner description critical
"""


def is_answered(loaded: LoadedPipeline) -> None:
    """There is a pipeline exactly when there is no error, and every problem can be printed."""
    assert (loaded.pipeline is None) is bool(loaded.errors)
    for problem in loaded.problems:
        assert str(problem).isprintable()
        str(problem).encode()


@many
@given(st.one_of(st.text(), st.binary(), st.lists(WORDS).map("".join)))
def test_any_text_is_answered(text: str | bytes) -> None:
    is_answered(load_text(text, "a.yaml"))
    load_calendar(text)


@many
@given(st.sampled_from([*VALID]), st.data())
def test_any_change_of_a_valid_file_is_answered(kind: str, data: st.DataObject) -> None:
    text = pipeline_text(
        sla="{deadline: 10:00}",
        postRun="{rules: [{key: a, check: exists}]}",
        job=f"\n  type: {kind}\n  config:{VALID[kind]}",
    )
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 12))
        piece = data.draw(st.one_of(WORDS, st.text(string.printable, max_size=5)))
        text = text[:start] + piece + text[start + length :]
    is_answered(load_text(text))


NODES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.decimals(allow_nan=True),
        st.text(max_size=8),
        st.sampled_from(["10:00", "1h", "0 8 * * *", "exists", "UTC", "${HOUR}", "http://a"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.one_of(
                st.sampled_from(_KEYS.split()),
                st.text(max_size=4),
            ),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=25,
)


@many
@given(
    st.dictionaries(
        st.sampled_from(
            [*PARTS, "schedules", "sla", "postRun", "dryRun", "calendars", "holidaysUntil", "x"]
        ),
        NODES,
    )
)
def test_any_type_in_any_place_is_answered(value: object) -> None:
    is_answered(read_config(value))


@pytest.mark.parametrize(
    "text",
    [
        "a: " * 100_000,
        "[" * 1_000_000,
        "{" * 1_000_000,
        "? " * 300_000,
        "- " * 500_000,
        "'" * 1_000_000,
        "&a " * 300_000,
        "x: [" + "1," * 400_000 + "]",
        "validation: {rules: [" + "1," * 200_000 + "]}",
        "\n".join(f"k{number}: 1" for number in range(80_000)),
        "\n".join("k: 1" for _ in range(150_000)),
        "schedule: {exclude: {days: [" + "mnday," * 100_000 + "]}}",
        "schedules: [" + "{timezone: Nope/Zone}," * 20_000 + "]",
        "pipeline: {id: " + "x" * 1_000_000 + "}",
        "schedule: {cron: '" + "0," * 400_000 + " * * * *'}",
        "schedule: {grace: " + "1h" * 400_000 + "}",
        "schedule: {timezone: " + "Europe/" * 100_000 + "}",
        "job: {type: http, config: {url: '" + "${" * 400_000 + "'}}",
        "job: {type: http, config: {url: 'http://" + "1." * 400_000 + "'}}",
        "job: {type: http, config: {headers: {A: '" + "secret://" * 90_000 + "'}}}",
        "job: {type: command, config: {command: '" + "\\" * 900_000 + "'}}",
        "job: {type: lambda, config: {payload: '" + "[" * 900_000 + "'}}",
        "job: {type: databricks, config: {jobId: " + "9" * 900_000 + "}}",
        "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b]",
        "😀: 🎉\n🎉: {😀: [😀]}",
    ],
    ids=lambda text: text[:24],
)
def test_hostile_files_are_answered(text: str) -> None:
    is_answered(load_text(text))


@settings(max_examples=25, deadline=None)
@given(st.binary(max_size=200))
def test_no_file_stops_another(tmp_path_factory: pytest.TempPathFactory, junk: bytes) -> None:
    root: Path = tmp_path_factory.mktemp("project")
    for folder in ("pipelines", "calendars"):
        (root / folder).mkdir()
        (root / folder / "junk.yaml").write_bytes(junk)
    (root / "pipelines/good.yaml").write_text(pipeline_text())
    assert "orders" in load_project(root).pipelines
