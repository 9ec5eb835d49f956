"""Local controller: the controller of a project at work, alone on its state file."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from interlock.adapters.sqlite.lock import lock_file, serving
from interlock.errors import InterlockError
from interlock.ports.alerts import Sink
from interlock.runtime.controller import Controller
from interlock.runtime.health import Health, NotedDatabase
from interlock.usecases.conclude_pass import PassReport
from interlock.wiring.local_backend import LocalBackend, open_local_backend
from interlock.wiring.settings import Settings

#: How many supervisors of commands wait beforehand.
SPARES = 2


@contextmanager
def controller_of(
    settings: Settings,
    sink: Callable[[LocalBackend], Sink],
    on_pass: Callable[[PassReport], None] = lambda report: None,
    *,
    before: Callable[[LocalBackend], None] = lambda backend: None,
) -> Iterator[tuple[LocalBackend, Health, Controller]]:
    """The backend of a project with its controller at work.

    Raises UnavailableError while another process serves the file. `before` may object to the start.
    """
    settings.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (
        serving(settings.database),
        open_local_backend(settings, spares=SPARES, database=NotedDatabase) as backend,
    ):
        assert isinstance(backend.database, NotedDatabase)
        backend.database.needs(lock_file(settings.database))
        before(backend)
        health = Health(backend.database, backend.queries)
        controller = Controller(backend, health, sink(backend), on_pass)
        controller.start()
        try:
            yield backend, health, controller
        finally:
            with suppress(InterlockError):
                controller.stop()
