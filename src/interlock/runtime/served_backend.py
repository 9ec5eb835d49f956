"""Served backend: what the controller needs of the backend that it runs over."""

from datetime import timedelta
from pathlib import Path
from typing import Protocol

from interlock.adapters.alerts.sink_context import SinkSettings
from interlock.adapters.secrets.references import Secrets
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.retention import Spans
from interlock.adapters.sqlite.store import Store
from interlock.usecases.ports import Ports


class ServedSettings(SinkSettings, Protocol):
    """The settings that the controller follows."""

    @property
    def project(self) -> Path: ...
    @property
    def state(self) -> Path: ...
    @property
    def watchdog_every(self) -> timedelta: ...
    @property
    def retention(self) -> Spans: ...


class ServedBackend(Protocol):
    """One state file, and everything that is put together over it."""

    @property
    def settings(self) -> ServedSettings: ...
    @property
    def database(self) -> Database: ...
    @property
    def store(self) -> Store: ...
    @property
    def ports(self) -> Ports: ...
    @property
    def secrets(self) -> Secrets: ...
