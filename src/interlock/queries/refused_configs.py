"""Refused configs: stored configs that are invalid."""

from interlock.domain.config import RefusedConfig
from interlock.usecases.adopt_config import judge_config
from interlock.usecases.ports import Ports
from interlock.usecases.refuse_file import refusal

_SOUND_NOW = "was refused by another version of Interlock; store it again, this version accepts it"


def refused_configs(ports: Ports) -> list[RefusedConfig]:
    """Each with the first of its problems, as this version sees them."""
    judged = ((each.pipeline_id, judge_config(each)[1]) for each in ports.pipelines.refused())
    return [
        refusal(name, problems) if problems else RefusedConfig(pipeline_id=name, message=_SOUND_NOW)
        for name, problems in judged
    ]
