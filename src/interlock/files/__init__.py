"""Files: text into pipelines. Reports every problem at once, with its position.

The names below are imported on first use: reading a config from a store must not need YAML.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from interlock.files.alerts_file import load_alerts as load_alerts
    from interlock.files.alerts_file import read_alerts as read_alerts
    from interlock.files.json_schema import alerts_schema as alerts_schema
    from interlock.files.json_schema import calendar_schema as calendar_schema
    from interlock.files.json_schema import pipeline_schema as pipeline_schema
    from interlock.files.loaded import LoadedPipeline as LoadedPipeline
    from interlock.files.problem import Problem as Problem
    from interlock.files.problem import ProblemKind as ProblemKind
    from interlock.files.problem import ProblemSeverity as ProblemSeverity
    from interlock.files.project import Project as Project
    from interlock.files.project import load_project as load_project
    from interlock.files.stored_config import read_config as read_config
    from interlock.files.stored_config import read_part as read_part
    from interlock.files.text import load_calendar as load_calendar
    from interlock.files.text import load_text as load_text

_MODULES = {
    "ProblemKind": "problem",
    "LoadedPipeline": "loaded",
    "Problem": "problem",
    "Project": "project",
    "ProblemSeverity": "problem",
    "alerts_schema": "json_schema",
    "calendar_schema": "json_schema",
    "load_alerts": "alerts_file",
    "load_calendar": "text",
    "load_project": "project",
    "load_text": "text",
    "pipeline_schema": "json_schema",
    "read_alerts": "alerts_file",
    "read_config": "stored_config",
    "read_part": "stored_config",
}
__all__ = [*_MODULES]  # noqa: PLE0604 - the names of the table


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(name)
    return getattr(import_module(f"interlock.files.{_MODULES[name]}"), name)
