"""Retire a pipeline: an operator confirms that a missing file was removed on purpose; its pipeline is
retired at once.
"""

from interlock.domain.config import Config
from interlock.errors import ConfigError, NotFoundError
from interlock.ports.stores import MissingFiles
from interlock.usecases.adopt_config import adopt_config
from interlock.usecases.follow_files import take_away
from interlock.usecases.ports import Ports


def retire_pipeline(pipeline_id: str, files: MissingFiles, ports: Ports) -> Config:
    """The config, retired. Raises ConfigError while its file exists: the file would bring it back."""
    config = ports.pipelines.find(pipeline_id)
    if config is None or config.is_retired:
        raise NotFoundError(f"there is no pipeline {pipeline_id}")
    if pipeline_id not in {each.pipeline_id for each in files.kept()}:
        raise ConfigError(
            f"the file of {pipeline_id} is not missing: delete it, and try again in a few seconds"
        )
    take_away(pipeline_id, config, ports.clock(), ports)
    return adopt_config(pipeline_id, ports) or config
