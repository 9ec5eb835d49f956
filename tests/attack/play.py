"""Play: servers, attackers and an end; then the servers settle, and the books are gone through."""

import random
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from attack.books import Books, lost, problems, read_launches, read_state, under_way
from attack.clock import KINDS as CLOCK_KINDS
from attack.clock import ClockSteps, environment, library
from attack.disk import Disk
from attack.file_edits import FileEdits
from attack.hostile import Hostile
from attack.job_platform import JobPlatform
from attack.ledger import Ledger
from attack.producers import Dates, Producer
from attack.project import attacked, make_project, out_of_time
from attack.readiness import Readiness
from attack.troubles import Troubles
from attack.victim import Victim
from attack.worker import Worker

#: What may be switched on and off. Readings are always put.
ATTACKERS = (
    "stop", "kill", "term", "disk", "memory", "files", "edits", "clock", "leap", "hostile", "platform",
)  # fmt: skip
_WITH_THE_PROCESS = {"stop", "kill", "term", "disk", "memory"}
#: A server must be ready so long after a trouble ended.
PATIENCE = 45.0
#: Within this time after the last trouble every date must be done: what broke off at the worst moment is
#: tried again after five minutes.
SETTLE = 480.0
_QUIET = 3.0
_START = 60.0


@dataclass(frozen=True)
class Plan:
    """What is to be played."""

    seconds: float
    seed: int
    kinds: frozenset[str]
    pause: float = 0.6
    settle: float = SETTLE


class Play:
    """One attack."""

    def __init__(self, plan: Plan, folder: Path, say: Callable[[str], object]) -> None:
        self._plan, self._folder = plan, folder
        self.ledger = Ledger(say)
        self._chance = random.Random(plan.seed)
        self._platform = JobPlatform(self._seed(), self.ledger)
        self._victims: list[Victim] = []
        self._attackers: list[Worker] = []
        self._producers: list[Producer] = []
        self._watchers: list[Readiness] = []

    def run(self) -> list[str]:
        """Every problem."""
        with ExitStack() as stack:
            stack.enter_context(closing(self._platform))
            self._set_up(stack)
            self._start()
            self._platform.vicious = "platform" in self._plan.kinds
            _work(self._attackers, self._plan.seconds, self.ledger)
            self._platform.vicious = False
            time.sleep(_QUIET)
            _end(self._producers)
            self._settle()
            _end(self._watchers)
            self._stop()
        self._tell()
        return self.ledger.problems

    def _seed(self) -> int:
        return self._chance.randrange(1 << 32)

    def _set_up(self, stack: ExitStack) -> None:
        self._add_attacked(stack)
        preload = library()
        if self._plan.kinds & CLOCK_KINDS and preload is None:
            self.ledger.tell("clock and leap skipped: no libfaketime")
        elif self._plan.kinds & CLOCK_KINDS and preload is not None:
            self._add_out_of_time(stack, preload)

    def _add_attacked(self, stack: ExitStack) -> None:
        kinds, seconds = set(self._plan.kinds), self._plan.seconds
        project, pipelines = self._folder / "attacked", attacked()
        platform = f"http://{self._platform.address}"
        make_project(project, pipelines, platform)
        disk = Disk(project / ".interlock")
        stack.callback(disk.close)
        victim = Victim(
            "attacked", project, pipelines, self.ledger,
            INTERLOCK_ALLOW_HOSTS=self._platform.address,
        )  # fmt: skip
        dates = Dates(pipelines)
        canary = Producer(victim, dates, self._seed(), self._plan.pause)
        self._add(victim, dates, stack, producers=2)
        self._attackers.append(
            Troubles(victim, disk, kinds & _WITH_THE_PROCESS, self._seed(), seconds)
        )
        self._attackers += [
            FileEdits(kind, victim, canary, platform, self._seed(), seconds)
            for kind in ("files", "edits")
            if kind in kinds
        ]
        if "hostile" in kinds:
            self._attackers.append(Hostile(victim, self._seed()))

    def _add_out_of_time(self, stack: ExitStack, preload: str) -> None:
        project, pipelines = self._folder / "out-of-time", out_of_time()
        make_project(project, pipelines, "")
        seen = project / "clock"
        victim = Victim(
            "out-of-time", project, pipelines, self.ledger, **environment(preload, seen)
        )
        self._add(victim, Dates(pipelines), stack, producers=1)
        kinds = self._plan.kinds & CLOCK_KINDS
        self._attackers.append(ClockSteps(victim, seen, kinds, self._seed(), self._plan.seconds))

    def _add(self, victim: Victim, dates: Dates, stack: ExitStack, producers: int) -> None:
        stack.callback(victim.close)
        pause = self._plan.pause * producers
        mine = [Producer(victim, dates, self._seed(), pause) for _ in range(producers)]
        self._victims.append(victim)
        self._producers += mine
        self._watchers.append(Readiness(victim, mine, PATIENCE))

    def _start(self) -> None:
        for victim in self._victims:
            victim.start()
        for watcher in self._watchers:
            watcher.start()
        until = time.monotonic() + _START
        while not all(each.is_ready for each in self._watchers) and time.monotonic() < until:
            time.sleep(0.1)
        for producer in self._producers:
            producer.start()

    def _books(self, *, check: bool) -> list[Books]:
        return [self._books_of(each, check) for each in self._victims]

    def _books_of(self, victim: Victim, check: bool) -> Books:
        launches = read_launches(victim.project / "launched")
        names = {each.name for each in victim.pipelines}
        launches += [each for each in list(self._platform.launches) if each.pipeline in names]
        return Books(
            victim.pipelines,
            [put for put in self.ledger.puts if put.victim == victim.name],
            launches,
            read_state(victim.state, check=check),
            self.ledger.excused,
            self._platform.unhelpful,
            self._platform.told_done,
            self._platform.named,
            victim.troubles,
            to_the_end=self._plan.settle >= SETTLE,
            clock_moved=victim.name == "out-of-time",
        )

    def _settle(self) -> None:
        """Until everything is done, or ought to be."""
        began_at = time.monotonic()
        self.ledger.tell("the troubles are over")
        while time.monotonic() - began_at < self._plan.settle:
            if not any(lost(each) or under_way(each) for each in self._books(check=False)):
                break
            time.sleep(1.0)
        self.ledger.tell(f"settled after {time.monotonic() - began_at:.0f}s")
        for books in self._books(check=True):
            for problem in (*problems(books), *lost(books), *under_way(books)):
                self.ledger.problem(problem)

    def _stop(self) -> None:
        for victim in self._victims:
            code = victim.end(signal.SIGTERM)
            if code != 0:
                self.ledger.problem(f"{victim.name}: exit code {code} at the end")

    def _tell(self) -> None:
        for deed, count in sorted(self.ledger.deeds.items()):
            self.ledger.say(f"{count:7} {deed}\n")
        for watcher in self._watchers:
            self.ledger.say(
                f"{watcher.longest:7.1f} s longest until ready again ({watcher.name})\n"
            )
        for victim in self._victims:
            books = [put for put in self.ledger.puts if put.victim == victim.name]
            self.ledger.say(f"{len(books):7} readings of {victim.name}\n")
        self.ledger.say(f"{len(self.ledger.problems):7} problems, seed {self._plan.seed}\n")


def _work(attackers: Sequence[Worker], seconds: float, ledger: Ledger) -> None:
    for attacker in attackers:
        attacker.start()
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, 60.0))
        ledger.tell(f"{sum(ledger.deeds.values())} deeds, {len(ledger.problems)} problems")
    _end(attackers)


def _end(threads: Sequence[Worker]) -> None:
    for each in threads:
        each.stop()
    for each in threads:
        each.join()
