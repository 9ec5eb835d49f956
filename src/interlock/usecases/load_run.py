"""Load a run: as it stands, with nothing left untold."""

from interlock.domain.run import Run, RunKey
from interlock.usecases.ports import Ports
from interlock.usecases.publish_outbox import publish_outbox


def load_run(key: RunKey, ports: Ports) -> Run:
    """Raises NotFoundError. An outbox that a crash left behind is emptied on the way."""
    run = ports.runs.get(key)
    publish_outbox(key, ports)
    return run
