"""The config of each job type, and the forms of the texts in it."""

import msgspec
import pytest

from interlock.domain import job_forms
from interlock.domain.job_configs import (
    AirflowConfig,
    CommandConfig,
    Completion,
    DatabricksConfig,
    EmrConfig,
    Hive,
    HttpConfig,
    InvocationType,
    JobConfig,
    JobDriver,
    LambdaCompletion,
    LambdaConfig,
    SparkSubmit,
)
from interlock.domain.job_kinds import JOB_KINDS
from interlock.domain.objection import BROKEN


def test_outside_the_names_are_in_camel_case() -> None:
    for kind in JOB_KINDS.values():
        for field in msgspec.structs.fields(kind.config):
            assert "_" not in field.encode_name


def test_a_request_ends_with_its_answer_unless_there_is_something_to_poll() -> None:
    assert HttpConfig(url="http://a").ends_by is Completion.RESPONSE
    assert HttpConfig(url="http://a", status_url="http://b").ends_by is Completion.POLL
    assert (
        HttpConfig(url="http://a", status_url="http://b", completion=Completion.EVENT).ends_by
        is Completion.EVENT
    )
    assert LambdaConfig(function_name="f").ends_by is LambdaCompletion.RESPONSE


@pytest.mark.parametrize(
    "url",
    [
        "http://a",
        "HTTPS://etl.example:8443/run?day=${DATE}#x",
        "https://${INTERLOCK_HOST}/run",
        "${INTERLOCK_BASE}/run",
        "http://[2001:db8::1]:80/",
        "http://10.0.0.1",  # private: an operator may allow it
        "https://a/b@c",  # only before the path is it a user
    ],
)
def test_addresses_that_a_request_may_go_to(url: str) -> None:
    job_forms.check_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "etl.example",
        "ftp://a",
        "http:///x",
        "file:///etc/passwd",
        "http://user:password@a",
        "http://user@a",
        "http://a b",
        "http://a/\n",
        "http://a\\b",
        "http://a/\x7f",
        "http://a/" + "x" * 2048,
        "http://169.254.169.254/latest",
        "http://169.254.43518/latest",  # the same, spelt for resolvers
        "http://0xa9fea9fe/",
        "http://[::ffff:169.254.169.254]/",
        "http://[fd00:ec2::254]/",
    ],
)
def test_addresses_that_no_request_may_go_to(url: str) -> None:
    with pytest.raises(ValueError) as caught:
        job_forms.check_url(url)
    assert not url or url not in str(caught.value)  # it may hold a password


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8080/", True),
        ("http://127.1", True),
        ("http://2130706433/", True),
        ("http://192.168.1.1", True),
        ("http://[::1]/", True),
        ("http://8.8.8.8", False),
        ("http://[2606:4700::1111]", False),
        ("http://localhost", False),  # a name: looked up when the job starts
        ("http://feed.de/", False),
        ("${INTERLOCK_URL_OF_MINE}", False),
    ],
)
def test_a_private_address_is_recognised_in_any_spelling(url: str, expected: bool) -> None:
    assert job_forms.is_private_url(url) is expected


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("plain", ()),
        ("${A} and ${B_1}", ("A", "B_1")),
        ("$${A}", ()),
        ("$${A} ${B}", ("B",)),
        ("$A {B} ${", ()),
        ("${}", ("",)),
    ],
)
def test_names_stand_in_braces_after_a_dollar(text: str, names: tuple[str, ...]) -> None:
    assert job_forms.names_in(text) == names


@pytest.mark.parametrize("text", ["", "   ", "'", 'a "b', "a \\"])
def test_a_command_line_has_words_and_balanced_quotes(text: str) -> None:
    with pytest.raises(ValueError):
        job_forms.argv(text)


@pytest.mark.parametrize("text", ["", "1", "[]", '"a"', "{", "{'a': 1}", "nul", '{"a": NaN}'])
def test_a_json_object_is_nothing_else(text: str) -> None:
    with pytest.raises(ValueError):
        job_forms.json_object(text)


TWICE = {"X-Team": "a", "x-team": "b"}
URL = "https://a.example"


@pytest.mark.parametrize(
    ("part", "found"),
    [
        (EmrConfig(cluster_id="j-1"), []),
        (JobDriver(), ["sparkSubmit missing"]),
        (JobDriver(spark_submit=SparkSubmit("a.py")), []),
        (JobDriver(spark_submit=SparkSubmit("a.py"), hive=Hive("q")), ["hive conflict"]),
        (HttpConfig(url=URL), []),
        (
            HttpConfig(url=URL, timeout="0s", headers=TWICE),
            ["timeout out_of_range", "headers.x-team duplicate"],
        ),
        (HttpConfig(url=URL, body=5), ["body wrong_type"]),
        (HttpConfig(url=URL, completion=Completion.POLL), ["completion conflict"]),
        (AirflowConfig(url=URL, dag_id="d", headers=TWICE), ["headers.x-team duplicate"]),
        (
            DatabricksConfig(workspace_url=URL, job_id=1, headers=TWICE),
            ["headers.x-team duplicate"],
        ),
        (CommandConfig(command=("etl",)), []),
        (CommandConfig(command=("etl",), timeout="0s"), ["timeout out_of_range"]),
        (LambdaConfig(function_name="f"), []),
        (
            LambdaConfig(function_name="f", invocation_type=InvocationType.EVENT),
            ["completion missing"],
        ),
    ],
)
def test_a_config_objects_to_what_its_fields_are_to_each_other(
    part: JobConfig | JobDriver, found: list[str]
) -> None:
    assert [f"{'.'.join(each.path)} {each.kind}" for each in part.objections()] == found


def test_a_field_that_is_wrong_already_is_left_alone() -> None:
    config = HttpConfig(url=URL, headers=BROKEN, timeout=BROKEN, body=BROKEN)
    assert list(config.objections()) == []
