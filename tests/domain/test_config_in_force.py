"""Config: what is in force of a pipeline, and why a file was refused."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from contracts.samples import a_pipeline
from interlock.domain.config import Config, Pause, RefusedConfig
from interlock.domain.standing import standing_since

NOW = datetime(2026, 3, 3, 10, tzinfo=UTC)
HOUR = timedelta(hours=1)
CONFIG = Config(pipeline=a_pipeline(), config_hash="x", adopted_at=NOW, active_since=NOW)


@pytest.mark.parametrize(
    ("since", "until", "paused"),
    [(None, None, False), (NOW, None, True), (NOW, NOW + HOUR, True), (NOW - HOUR, NOW, False)],
)
def test_a_pause_lasts_until_its_end(
    since: datetime | None, until: datetime | None, paused: bool
) -> None:
    assert replace(CONFIG, paused_since=since, paused_until=until).is_paused(NOW) is paused


@pytest.mark.parametrize(
    ("by", "reason", "text"),
    [
        ("", "", "paused"),
        ("ada", "", "paused by ada"),
        ("", "moves", "paused (moves)"),
        ("ada", "moves", "paused by ada (moves)"),
    ],
)
def test_a_pause_says_who_and_why_as_far_as_that_is_known(by: str, reason: str, text: str) -> None:
    pause = replace(CONFIG, paused_since=NOW, paused_by=by, paused_reason=reason).pause(NOW)
    assert pause == Pause(since=NOW, by=by, reason=reason) and str(pause) == text


def test_a_retired_pipeline_says_so() -> None:
    assert not CONFIG.is_retired
    assert replace(CONFIG, retired_at=NOW).is_retired


def test_a_schedule_counts_since_its_own_adoption_or_that_of_its_pipeline() -> None:
    later = standing_since(NOW + HOUR)
    config = replace(CONFIG, standings={"stream": later})
    assert config.standing("stream") == later
    assert config.standing("other") == standing_since(NOW)


@pytest.mark.parametrize(
    ("refusal", "text"),
    [
        (RefusedConfig(pipeline_id="silver", message="bad"), "silver: bad"),
        (
            RefusedConfig(
                pipeline_id="silver", message="bad", path="job", file="a.yaml", line=3, more=2
            ),
            "a.yaml:3: job: bad (and 2 more)",
        ),
        (RefusedConfig(pipeline_id=None, message="bad", file="a.yaml"), "a.yaml: bad"),
    ],
)
def test_a_refusal_says_where_and_what(refusal: RefusedConfig, text: str) -> None:
    assert str(refusal) == text
