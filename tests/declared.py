"""Declared: pipelines from a few lines of YAML; what they do not say is as usual."""

import re

from interlock.domain.pipeline import Calendar, Pipeline
from interlock.files import load_text

_USUAL = {
    "pipeline": "pipeline: {id: silver-orders, owner: orders-team, tags: {tier: '1'}}",
    "schedule": "schedule: {trigger: {key: orders, check: exists}}",
    "validation": "validation: {rules: [{key: orders, check: exists}]}",
    "job": "job: {type: command, config: {command: [etl]}}",
}
_KEY = re.compile(r"^(\w+):", re.MULTILINE)


def document(text: str = "") -> str:
    """A whole pipeline file: the given parts, and the usual ones for the rest."""
    given = set(_KEY.findall(text))
    if "schedules" in given:
        given.add("schedule")
    usual = [part for name, part in _USUAL.items() if name not in given]
    return "\n".join([*usual, text])


def declared(text: str = "", *calendars: Calendar) -> Pipeline:
    """The pipeline that such a file declares."""
    loaded = load_text(document(text), calendars=calendars, year=2026)
    assert loaded.pipeline is not None, [str(problem) for problem in loaded.errors]
    return loaded.pipeline
