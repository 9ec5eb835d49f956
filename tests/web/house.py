"""House: a whole server in process, over a store in memory; only its threads and its socket are missing."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from declared import document
from interlock.adapters.sqlite.database import MEMORY
from interlock.domain import canonical
from interlock.domain.config import Wanted
from interlock.files import load_text
from interlock.operations.tokens import make_token, new_secret
from interlock.runtime.health import Health, NotedDatabase
from interlock.runtime.loop import Runtime
from interlock.web.access import Access
from interlock.web.app import application
from interlock.web.gate import KnownHosts
from interlock.web.metrics import Metrics
from interlock.web.serve import local_context
from interlock.wiring.local_backend import open_local_backend
from interlock.wiring.settings import Settings

OWNER = "owner-secret-of-the-tests"
URL = "http://127.0.0.1:8787"


class House:
    """Pipelines `silver-orders` and `gold-orders`, both opened by a reading of `orders`."""

    def __init__(self, folder: Path) -> None:
        settings = Settings(project=folder, state=folder / ".interlock", environment={})
        self.database: NotedDatabase = NotedDatabase(MEMORY)
        self.home = open_local_backend(settings, database=lambda name: self.database)
        self.health = Health(self.database, self.home.queries)
        self.access = Access(self.home.store.tokens, {"owner": OWNER})
        self.desk = local_context(self.home, self.health, self.access, Metrics())
        self.desk.metrics.watch(self.home)
        self.app = application(self.desk, KnownHosts("127.0.0.1", ["interlock.example"]))
        self.runtime = Runtime(self.home.store, self.home.ports, timedelta(minutes=5))
        for name in ("silver-orders", "gold-orders"):
            self.declare(f"pipeline: {{id: {name}, owner: orders-team}}")
        self.runtime.settle()
        self.health.loaded()
        self.client = self.client_of(OWNER)

    def declare(self, text: str) -> None:
        loaded = load_text(document(text), year=2026)
        assert loaded.pipeline is not None, loaded.problems
        config = canonical.as_json(loaded.pipeline)
        digest = canonical.content_hash(config)
        now = self.home.ports.clock()
        self.home.store.pipelines.want(Wanted(loaded.pipeline.id, config, digest, now))

    def in_force_since(self, pipeline_id: str, instant: datetime) -> None:
        """As if the file had been adopted then: what was expected before does not count."""
        config = self.home.store.pipelines.find(pipeline_id)
        assert config is not None
        version = config.version + 1
        changed = msgspec.structs.replace(
            config, version=version, active_since=instant, standings={}
        )
        assert self.home.store.pipelines.save(changed)

    def client_of(self, secret: str | None, **headers: str) -> TestClient:
        """A caller who presents this secret."""
        return client_of(self.app, secret, **headers)

    def token(self, *scopes: str, pipelines: tuple[str, ...] = ()) -> str:
        """The secret of a new token."""
        secret = new_secret()
        name = "-".join(("t", *scopes, *pipelines))
        now = self.home.ports.clock()
        assert self.home.store.tokens.create(make_token(name, scopes, pipelines, secret, now))
        self.access.refresh()
        return secret

    def put(self, fields: Mapping[str, Any], pipeline: str = "silver-orders") -> Any:
        return self.client.put(f"/api/v1/pipelines/{pipeline}/sensors/orders", json=fields)

    def close(self) -> None:
        self.home.close()


def client_of(app: ASGIApp, secret: str | None, **headers: str) -> TestClient:
    shown = {} if secret is None else {"Authorization": f"Bearer {secret}"}
    return TestClient(
        app,
        base_url=URL,
        headers={**shown, **headers},
        raise_server_exceptions=False,
        follow_redirects=False,
    )


@contextmanager
def opened(folder: Path) -> Iterator[House]:
    house = House(folder)
    try:
        yield house
    finally:
        house.close()


def is_problem(answer: Any, status: int) -> bool:
    """A refusal as RFC 9457 has it."""
    assert answer.status_code == status, (answer.status_code, answer.text[:300])
    assert answer.headers["content-type"] == "application/problem+json"
    document = answer.json()
    return document["status"] == status and bool(document["title"])
