"""The rows of the job types."""

import msgspec
import pytest

from interlock.domain.job_configs import JobConfig
from interlock.domain.job_kinds import JOB_KINDS, JobKind, loaded
from interlock.domain.pipeline import Job


@pytest.mark.parametrize("kind", JOB_KINDS.values(), ids=str)
def test_a_row_names_a_config_that_stands_by_itself(kind: JobKind) -> None:
    assert JOB_KINDS[kind.name] is kind
    assert JobConfig in kind.config.__mro__
    assert kind.config.__doc__


def test_no_two_types_share_a_config_or_an_adapter() -> None:
    for paths in (
        {kind.config_path for kind in JOB_KINDS.values()},
        {kind.adapter_path for kind in JOB_KINDS.values()},
    ):
        assert len(paths) == len(JOB_KINDS)


def test_a_job_has_a_type_of_the_table() -> None:
    assert Job("glue").type == "glue"
    with pytest.raises(ValueError, match="unknown job type 'abacus'"):
        Job("abacus")
    with pytest.raises(msgspec.ValidationError, match="abacus"):
        msgspec.convert({"type": "abacus"}, Job)


def test_what_is_named_must_be_there() -> None:
    with pytest.raises(ImportError):
        loaded("interlock.no_such_module:Thing")
