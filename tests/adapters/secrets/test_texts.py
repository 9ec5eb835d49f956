"""What is put in place of `${...}` when a job starts."""

import pytest

from adapters.jobs.job_samples import a_context
from interlock.adapters.secrets.texts import Texts, dates, run_values, with_job_run_id
from interlock.errors import ConfigError

ENVIRONMENT = {"INTERLOCK_HOST": "etl/x?y", "INTERLOCK_EMPTY": "", "INTERLOCK_TOKEN": "ours"}
HOURLY = Texts(ENVIRONMENT, run_values(a_context(2, "2026-03-03T10")), lambda place: f"<{place}>")
DAILY = Texts(ENVIRONMENT, run_values(a_context()))


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("", ""),
        ("plain $ {} $X ${", "plain $ {} $X ${"),
        ("${PIPELINE}/${SCHEDULE}", "silver-orders/stream"),
        ("${DATE} ${HOUR} ${LABEL}", "2026-03-03 10 2026-03-03T10"),
        ("${ATTEMPT}", "2"),
        ("${RUN_ID}", a_context(2, "2026-03-03T10").token),
        ("${INTERLOCK_HOST}", "etl/x?y"),
        ("$${DATE}", "${DATE}"),
        ("$${${DATE}}", "${2026-03-03}"),
        ("$$${DATE}", "$${DATE}"),  # the literal is read first
        ("${OTHER} ${date}", "${OTHER} ${date}"),  # not ours: left as it is
        ("${ DATE }", "${ DATE }"),
        ("${JOB_RUN_ID}", "${JOB_RUN_ID}"),  # known once the job has answered
        ("secret://env/X", "secret://env/X"),  # only where secrets may stand
    ],
)
def test_names_are_replaced_in_one_pass(written: str, text: str) -> None:
    assert HOURLY.text(written) == text


@pytest.mark.parametrize("name", ["INTERLOCK_UNSET", "INTERLOCK_EMPTY", "INTERLOCK_TOKEN", "HOUR"])
def test_a_name_without_a_value_is_an_error_and_never_an_empty_text(name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        DAILY.text(f"x${{{name}}}")


def test_a_value_is_not_looked_at_again() -> None:
    texts = Texts({"INTERLOCK_A": "${DATE} secret://env/B"}, {"DATE": "${INTERLOCK_A}"})
    assert texts.text("${DATE}") == "${INTERLOCK_A}"
    assert texts.secret_text("${INTERLOCK_A}") == "${DATE} secret://env/B"


def test_in_a_url_what_the_run_puts_in_is_encoded_and_what_the_operator_puts_in_is_not() -> None:
    texts = Texts(ENVIRONMENT, with_job_run_id({"LABEL": "2026-03-03T10:15"}, "a/../b?c#d é"))
    assert texts.url("http://${INTERLOCK_HOST}/${LABEL}") == "http://etl/x?y/2026-03-03T10%3A15"
    assert texts.url("/${JOB_RUN_ID}") == "/a%2F..%2Fb%3Fc%23d%20%C3%A9"


def test_a_value_can_not_break_the_json_it_stands_in() -> None:
    texts = Texts({"INTERLOCK_Q": '", "admin": true'}, {})
    written = {"a": ["${INTERLOCK_Q}", 1, None, True], "${DATE}": {"b": "x"}}
    assert texts.value(written) == {
        "a": ['", "admin": true', 1, None, True],
        "${DATE}": {"b": "x"},
    }


@pytest.mark.parametrize(
    ("written", "text", "references"),
    [
        ("Bearer secret://env/X", "Bearer <env/X>", ("env/X",)),
        ("secret://file/a/b;secret://env/C", "<file/a/b>;<env/C>", ("file/a/b", "env/C")),
        ("secret://file/${PIPELINE}/k", "<file/silver-orders/k>", ("file/silver-orders/k",)),
        (
            "secret://aws-sm/arn:x#key, ${DATE}",
            "<aws-sm/arn:x#key>, 2026-03-03",
            ("aws-sm/arn:x#key",),
        ),
        ("$${DATE}", "${DATE}", ()),
    ],
)
def test_secrets_stand_inside_texts(written: str, text: str, references: tuple[str, ...]) -> None:
    assert HOURLY.secret_text(written) == text
    assert HOURLY.references(written) == references


def test_where_there_are_no_secrets_one_is_refused() -> None:
    with pytest.raises(ConfigError):
        DAILY.secret_text("secret://env/X")


def test_dates_are_handed_over_as_day_and_hour() -> None:
    assert dates(run_values(a_context())) == {"par_day": "20260303"}
    hourly = dates(run_values(a_context(label="2026-03-03T10")))
    assert hourly == {"par_day": "20260303", "par_hour": "10"}
