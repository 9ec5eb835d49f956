"""At work: a project folder, the real local backend over it, its commands and its pages, in one process.

A recipe adds a row to a table of the product for a while and watches it through all of these.
"""

from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, TypeVar

from click.testing import CliRunner, Result

from interlock.adapters.alerts.console import ConsoleAlerts
from interlock.cli import app
from interlock.runtime.alert_sender import AlertSender
from interlock.runtime.file_watcher import FileWatcher
from interlock.runtime.health import Health, NotedDatabase
from interlock.runtime.loop import Runtime
from interlock.runtime.project_alerts import ProjectAlerts
from interlock.simulation.virtual_clock import VirtualClock
from interlock.usecases.put_reading import put_reading
from interlock.web.access import Access
from interlock.web.api.context import ApiContext
from interlock.web.app import application
from interlock.web.gate import KnownHosts
from interlock.web.metrics import Metrics
from interlock.web.serve import local_context
from interlock.wiring.local_backend import LocalBackend, open_local_backend
from interlock.wiring.settings import read_settings
from web.house import OWNER, client_of
from web.pages.visitor import Visitor

ROOT = Path(__file__).parents[2]
WATCHDOG = timedelta(minutes=5)


class Named(Protocol):
    @property
    def name(self) -> str: ...


Row = TypeVar("Row", bound=Named)


@contextmanager
def registered(table: MutableMapping[str, Row], row: Row) -> Iterator[None]:
    """The table has one row more."""
    assert row.name not in table
    table[row.name] = row
    try:
        yield
    finally:
        del table[row.name]


def reference() -> ModuleType:
    """What writes the tables of the reference."""
    spec = spec_from_file_location("reference", ROOT / "docs" / "generate.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class ProjectAtWork:
    """A folder with files, and a controller on a clock of its own, two hours behind ours."""

    def __init__(self, folder: Path, files: Mapping[str, str]) -> None:
        self.folder = folder
        self.clock = VirtualClock(datetime.now(UTC).replace(microsecond=0) - timedelta(hours=2))
        (folder / "pipelines").mkdir()
        for path, text in files.items():
            self.write(path, text)
        self.date = self.clock.now.date().isoformat()
        self.screen: list[str] = []

    def write(self, path: str, text: str) -> None:
        (self.folder / path).write_text(text)

    def command(self, *arguments: str) -> Result:
        """`interlock ARGUMENTS` in this folder."""
        runner = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"})
        return runner.invoke(app, ["--project", str(self.folder), *arguments])

    def output(self, *arguments: str, code: int = 0) -> str:
        result = self.command(*arguments)
        assert result.exit_code == code, (result.output, result.exception)
        return result.output

    @contextmanager
    def serving(self) -> Iterator["Controller"]:
        """The files are in force, and the controller works."""
        settings = read_settings(self.folder, {})
        with open_local_backend(settings, clock=self.clock, database=NotedDatabase) as backend:
            yield Controller(self, backend)


class Controller:
    """Loop, files, alerts and pages of one backend."""

    def __init__(self, project: ProjectAtWork, backend: LocalBackend) -> None:
        self._project, self.backend = project, backend
        console = ConsoleAlerts(backend.settings.state, lambda _, line: project.screen.append(line))
        desk = ProjectAlerts(backend, console)
        self._files = FileWatcher(
            project.folder, backend.ports, backend.store.missing_files, desk.use
        )
        self._runtime = Runtime(backend.store, backend.ports, WATCHDOG)
        self._sender = AlertSender(backend.store, desk)
        while not self._files.look():  # a file that has just changed is not read yet
            project.clock.now += timedelta(seconds=1)
        self.wait()

    def put(self, **fields: Any) -> None:
        """A reading of `landed`, and what follows from it at once."""
        given = {"date": self._project.date, **fields}
        put_reading("orders", "landed", given, self.backend.ports)
        self.wait()

    def wait(self, **span: float) -> None:
        """Time passes, and what falls due is done."""
        clock = self._project.clock
        until = clock.now + timedelta(**span)
        while True:
            self._runtime.settle()
            while self._sender.step(clock.now):
                self._runtime.settle()
            if clock.now >= until:
                return
            clock.now = min(until, clock.now + timedelta(seconds=10))

    def page(self, path: str) -> str:
        """What a person who is logged in reads there."""
        database = self.backend.database
        assert isinstance(database, NotedDatabase)
        access = Access(self.backend.store.tokens, {"owner": OWNER})
        health = Health(database, self.backend.queries)
        context = local_context(self.backend, health, access, Metrics())
        health.loaded()
        return Visitor(_Site(context)).see(path).text


class _Site:
    def __init__(self, context: ApiContext) -> None:
        self._app = application(context, KnownHosts("127.0.0.1", []))

    def client_of(self, secret: str | None, **headers: str) -> Any:
        return client_of(self._app, secret, **headers)
