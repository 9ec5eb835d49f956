"""Waiting for: what an execution can be waiting for."""

from enum import StrEnum


class WaitingFor(StrEnum):
    """What an execution can be waiting for."""

    RULES = "rules"
    JOB = "job"
