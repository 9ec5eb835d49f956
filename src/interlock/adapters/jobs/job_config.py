"""Job config: the settings of a pipeline's job, as its type declares them."""

from typing import TypeVar

import msgspec

from interlock.domain.job_configs import Config
from interlock.domain.pipeline import Pipeline
from interlock.errors import ConfigError

Kind = TypeVar("Kind", bound=Config)


def config_of(pipeline: Pipeline, kind: type[Kind]) -> Kind:
    """Raises ConfigError for what a file could not have said."""
    try:
        return msgspec.convert(pipeline.job.config, kind)
    except msgspec.ValidationError as error:
        raise ConfigError(f"the job of {pipeline.id} can't be read: {error}") from error
