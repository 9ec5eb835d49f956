"""Viewer: a server in process that shows an installation; only its socket is missing."""

from collections import Counter
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from aws.gallery import Gallery, name_installation
from interlock.web.app import application
from interlock.web.gate import KnownHosts
from interlock.web.serve_aws import context_of
from interlock.wiring.aws_reads import open_aws_reads
from interlock.wiring.settings import Settings
from web.house import OWNER, client_of


class Watched:
    """The tables; every request is counted, and `broken` may answer it with an error."""

    def __init__(self, tables: Any) -> None:
        self._tables = tables
        self.asked: Counter[str] = Counter()
        self.broken: Any = None

    def __getattr__(self, operation: str) -> Any:
        def ask(**given: Any) -> Any:
            self.asked[operation] += 1
            if self.broken is not None:
                self.broken(operation, given)
            return getattr(self._tables, operation)(**given)

        return ask


class Viewer:
    """Answers serve for no time at all unless a test says how long."""

    def __init__(self, gallery: Gallery, folder: Path, kept_seconds: float = 0.0) -> None:
        name_installation(folder)
        self.gallery = gallery
        self.tables = Watched(gallery.services.tables)
        settings = Settings(project=folder, state=folder / "state", environment={}, token=OWNER)
        self.sight = open_aws_reads(
            settings,
            clock=gallery.clock,
            make=lambda service: {"dynamodb": self.tables}[service],
            look_seconds=0.05,
            kept_seconds=kept_seconds,
        )
        self.desk = context_of(self.sight, settings)
        self.app = application(self.desk, KnownHosts("127.0.0.1"))
        self.client = self.client_of(OWNER)

    def client_of(self, secret: str | None, **headers: str) -> TestClient:
        return client_of(self.app, secret, **headers)

    def close(self) -> None:
        self.sight.close()
