"""Load a run: as it stands, with an empty outbox."""

from interlock.domain.run import Run, RunKey
from interlock.usecases.ports import Ports
from interlock.usecases.publish_outbox import publish_outbox


def load_run(key: RunKey, ports: Ports) -> Run:
    """Raises NotFoundError. Publishes an outbox that a crash left behind."""
    run = ports.runs.get(key)
    publish_outbox(key, ports)
    return run
