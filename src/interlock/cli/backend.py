"""Backend: the home that a command talks to, a running server or the state file itself.

A server holds the lock of its state file. While somebody holds it, commands ask that server, at the
address it left beside the file; INTERLOCK_URL names one anywhere. Otherwise they work on the file, and
say that nothing acts on what they wrote until a server runs.
"""

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

import click

from interlock.adapters.local.lock import serving
from interlock.cli.options import Options
from interlock.client import Client
from interlock.domain.event import Event
from interlock.domain.run import Run, RunKey
from interlock.domain.sensor import Reading
from interlock.errors import UnavailableError
from interlock.ports import Config, RerunRequest
from interlock.usecases.explain import Why
from interlock.usecases.pause import Foreseen
from interlock.usecases.watch import Report
from interlock.wiring.operations import Accepted, Heartbeat, PipelineState

ADDRESS_FILE = "serve.json"

#: Another command may hold the file for a moment.
_PATIENCE = 3.0
_PAUSE = 0.05


class Home(Protocol):
    """What commands ask for. The state file answers through Operations, a server through Remote."""

    def put(
        self, pipeline_id: str, key: str, fields: Mapping[str, Any], decide: bool = False
    ) -> Accepted: ...
    def readings(self, pipeline_id: str) -> list[Reading]: ...
    def pipelines(self) -> list[PipelineState]: ...
    def why(self, pipeline_id: str, date: str | None = None) -> list[Why]: ...
    def runs(
        self,
        pipeline_id: str | None = None,
        since: str = "0000",
        until: str = "9999",
        limit: int = 100,
    ) -> list[Run]: ...
    def run(self, pipeline_id: str, date: str, schedule_id: str | None = None) -> Run: ...
    def history(self, key: RunKey) -> list[Event]: ...
    def events(
        self,
        pipeline_id: str | None = None,
        kind: str | None = None,
        since: datetime | None = None,
        limit: int = 100,
    ) -> list[Event]: ...
    def heartbeat(self) -> Heartbeat: ...
    def rerun(
        self,
        pipeline_id: str,
        date: str,
        *,
        schedule_id: str | None = None,
        reason: str = "manual",
        force: bool = False,
        actor: str = "",
    ) -> RerunRequest: ...
    def backfill(
        self, pipeline_id: str, first: str, last: str, schedule_id: str | None = None
    ) -> list[str]: ...
    def pause(self, pipeline_id: str, until: datetime | None = None) -> Config: ...
    def resume(self, pipeline_id: str) -> Config: ...
    def would_resume(self, pipeline_id: str) -> list[Foreseen]: ...
    def watch(self, since: datetime | None = None) -> Report | None: ...
