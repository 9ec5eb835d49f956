"""Job config: the settings of a pipeline's job, as its type declares them."""

from typing import TypeVar

import msgspec

from interlock.adapters.secrets.texts import Texts
from interlock.domain.job_configs import JobConfig
from interlock.domain.pipeline import Pipeline
from interlock.errors import ConfigError

Kind = TypeVar("Kind", bound=JobConfig)


def config_of(pipeline: Pipeline, kind: type[Kind], texts: Texts | None = None) -> Kind:
    """With every text replaced if `texts` are given. Raises ConfigError."""
    written = pipeline.job.config if texts is None else texts.value(pipeline.job.config)
    try:
        return msgspec.convert(written, kind)
    except msgspec.ValidationError as error:
        raise ConfigError(f"the job of {pipeline.id} can't be read: {error}") from error
