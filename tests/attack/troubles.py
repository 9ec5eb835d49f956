"""Troubles: what is done to the process itself, one after another: stops, kills, a full disk, no memory."""

import random
import resource
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from attack.disk import Disk
from attack.victim import Victim
from attack.worker import Worker

_PAGE = resource.getpagesize()
_LONGEST_STOP = 20.0
_LONGEST_SHORTAGE = 8.0
_COMING_UP = 30.0
#: Room for a few small objects, so that it fails here and there and not at once.
_SPARE = 4 << 20


class Troubles(Worker):
    """Each kind comes once before any comes again; what comes when is a matter of the seed."""

    def __init__(self, victim: Victim, disk: Disk, kinds: set[str], seed: int, seconds: float):
        super().__init__(f"troubles-{victim.name}", victim.ledger)
        self._victim, self._disk = victim, disk
        self._chance = random.Random(seed)
        #: Of a short attack no trouble may take the whole.
        self._part = seconds / 6
        self._kinds = [name for name in self._all() if name in kinds]

    def work(self) -> None:
        while self._kinds and not self.stopping.is_set():
            for name in self._chance.sample(self._kinds, len(self._kinds)):
                if self.stopping.wait(self._chance.uniform(0.5, min(10.0, self._part))):
                    return
                with self._victim.turn:
                    self._all()[name]()
                self._let_it_work()

    def _let_it_work(self) -> None:
        """Most troubles meet a server at work, some one that is just coming up."""
        if self._chance.random() < 0.8:
            until = time.monotonic() + _COMING_UP
            while not self._victim.readiness()[0] and time.monotonic() < until:
                if self.stopping.wait(0.3):
                    return

    def _all(self) -> Mapping[str, Callable[[], None]]:
        return {
            "stop": self._stop_and_continue,
            "kill": self._kill,
            "term": self._terminate,
            "disk": self._fill_disk,
            "memory": self._take_memory,
        }

    def _some(self, longest: float) -> float:
        return self._chance.uniform(1.0, max(1.5, min(longest, self._part)))

    def _stop_and_continue(self) -> None:
        seconds = self._some(_LONGEST_STOP)
        self.ledger.did("stop", f"for {seconds:.1f}s")
        with self._victim.trouble():
            self._victim.signal(signal.SIGSTOP)
            time.sleep(seconds)
            self._victim.signal(signal.SIGCONT)

    def _kill(self) -> None:
        rest = self._chance.choice((0.0, 0.0, 1.0, min(5.0, self._part)))
        self.ledger.did("kill", f"and start {rest:.1f}s later")
        with self._victim.trouble():
            self._victim.end(signal.SIGKILL)
            time.sleep(rest)
            self._victim.start()

    def _terminate(self) -> None:
        self.ledger.did("term", "and start")
        with self._victim.trouble():
            code = self._victim.end(signal.SIGTERM)
            if code not in (
                0,
                -signal.SIGTERM,
            ):  # before it listens for it, the signal just ends it
                self.ledger.problem(f"{self._victim.name}: exit code {code} after SIGTERM")
            self._victim.start()

    def _fill_disk(self) -> None:
        seconds = self._some(_LONGEST_SHORTAGE)
        self.ledger.did("disk", f"full for {seconds:.1f}s ({self._disk.how})")
        with self._victim.trouble(), self._disk.full(self._victim):
            time.sleep(seconds)

    def _take_memory(self) -> None:
        seconds = self._some(_LONGEST_SHORTAGE)
        spare = self._chance.randrange(0, _SPARE)
        self.ledger.did("memory", f"short for {seconds:.1f}s, {spare >> 10} KiB to spare")
        with self._victim.trouble():
            pages = int(Path(f"/proc/{self._victim.pid}/statm").read_text().split()[0])
            self._victim.short_of_memory = True
            self._victim.limit(resource.RLIMIT_AS, pages * _PAGE + spare)
            time.sleep(seconds)
            if self._victim.exit_code() is None:
                self._victim.limit(resource.RLIMIT_AS, resource.RLIM_INFINITY)
