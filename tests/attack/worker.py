"""Worker: a thread that works until it is asked to end, and whose own failure is not overlooked."""

import threading
import traceback

from attack.ledger import Ledger


class Worker:
    """Subclasses say what `work` is; they end soon after `stopping` is set."""

    def __init__(self, name: str, ledger: Ledger) -> None:
        self.name, self.ledger = name, ledger
        self.stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self.stopping.set()

    def join(self) -> None:
        self._thread.join()

    def work(self) -> None:
        raise NotImplementedError

    def _run(self) -> None:
        try:
            self.work()
        except Exception:  # noqa: BLE001 - an attacker that breaks off attacks nothing: say so
            self.ledger.problem(f"the attacker {self.name} broke off: {traceback.format_exc()}")
