"""The texts of job settings: secrets, headers, addresses, seconds."""

from decimal import Decimal
from typing import Any

import pytest

from interlock.domain import job_forms


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ("${INTERLOCK_TOKEN}", "INTERLOCK_TOKEN"),
        ("a ${ INTERLOCK_URL } b", "INTERLOCK_URL"),
        ("secret://env/INTERLOCK_TOKEN", "INTERLOCK_TOKEN"),  # the other way of asking
        ("${INTERLOCK_BUCKET}", None),
        ("$${INTERLOCK_TOKEN}", None),  # a literal asks for nothing
        ("secret://env/INTERLOCK_BUCKET", None),
        ("INTERLOCK_TOKEN", None),
    ],
)
def test_our_own_settings_are_not_for_files(text: str, setting: str | None) -> None:
    assert job_forms.own_setting_in(text) == setting


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("Bearer secret://env/INTERLOCK_API_KEY", True),
        ("secret://file/api/key", True),
        ("secret://aws-sm/arn:aws:secretsmanager:eu-west-1:1:secret:x#key", True),
        ("no secret at all", True),
        ("secret://env/HOME", False),  # only names of ours
        ("secret://file/../etc/passwd", False),
        ("secret://vault/x", False),
        ("secret://", False),
    ],
)
def test_a_secret_names_a_place_that_exists(text: str, good: bool) -> None:
    if good:
        job_forms.check_header_value(text)
    else:
        with pytest.raises(ValueError, match="a secret is"):
            job_forms.check_header_value(text)


@pytest.mark.parametrize("text", ["a\nb", "a\rb", "a\0b"])
def test_a_header_is_one_line(text: str) -> None:
    with pytest.raises(ValueError, match="one line"):
        job_forms.check_header_value(text)


@pytest.mark.parametrize("text", ["https://x.example", "HTTPS://x.example", "${INTERLOCK_HOST}/x"])
def test_an_address_that_must_be_safe_may_be(text: str) -> None:
    job_forms.check_https_url(text)


def test_an_address_that_must_be_safe_is_not_plain_http() -> None:
    with pytest.raises(ValueError, match="must begin with https://"):
        job_forms.check_https_url("http://x.example")


def test_a_command_line_has_a_length() -> None:
    with pytest.raises(ValueError, match="at most"):
        job_forms.argv("x" * (job_forms.LONGEST_COMMAND + 1))


@pytest.mark.parametrize(
    ("number", "text"), [(90, "90s"), (Decimal("1.50"), "1.50s"), (Decimal("1E+2"), "100s")]
)
def test_a_bare_number_means_seconds(number: Any, text: str) -> None:
    assert job_forms.seconds_text(number) == text


def test_seconds_are_not_negative() -> None:
    with pytest.raises(ValueError, match="negative"):
        job_forms.seconds_text(-1)


def test_a_command_line_is_split_as_a_shell_would_and_no_shell_sees_it() -> None:
    assert job_forms.argv("etl --day '2026-03-03 x' $HOME;ls") == [
        "etl", "--day", "2026-03-03 x", "$HOME;ls",
    ]  # fmt: skip


def test_a_map_may_be_written_as_json() -> None:
    assert job_forms.json_object('{"a": 0.10}') == {"a": Decimal("0.10")}


@pytest.mark.parametrize(
    ("name", "is_secret"),
    [
        ("Authorization", True),
        ("X-Api-Key", True),
        ("INTERLOCK_DB_PASSWORD", True),
        ("Accept", False),
    ],
)
def test_some_names_are_those_of_secrets(name: str, is_secret: bool) -> None:
    assert job_forms.names_a_secret(name) is is_secret
