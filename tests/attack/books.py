"""Books: what producers were told, what platforms ran and what the server says, side by side."""

import itertools
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from attack.ledger import Launch, Outcome, Put, Span
from attack.producers import minute_deadline
from attack.project import Pipeline

#: Both clocks are those of this machine; a job notes its end a moment before it is over.
MARGIN = 1.0
_LONGEST_RETRY = 660.0
#: A question so long after a deadline counts as one at the deadline, where an end has no date.
_ASKED_IN_TIME = 60.0
_BREACHES = ("SLA_BREACH", "RELATIVE_SLA_BREACH")

Date = tuple[str, str]


@dataclass(frozen=True)
class Event:
    type: str
    pipeline: str
    date: str
    at: float


@dataclass(frozen=True)
class State:
    """What one server has stored."""

    sound: str = "ok"
    #: By pipeline and date: the status of its run in each schedule.
    runs: Mapping[Date, Mapping[str, str]] = field(default_factory=dict)
    readings: frozenset[Date] = frozenset()
    events: Sequence[Event] = ()
    #: Dates whose next attempt is due within minutes.
    retries: frozenset[Date] = frozenset()


@dataclass(frozen=True)
class Books:
    """Everything about one server."""

    pipelines: Sequence[Pipeline]
    puts: Sequence[Put]
    launches: Sequence[Launch]
    state: State
    excused: Mapping[str, Sequence[Span]] = field(default_factory=dict)
    #: When the platform could not be asked about a job, by token.
    unhelpful: Mapping[str, Sequence[float]] = field(default_factory=dict)
    #: When the platform said of a job that it is done, by token; it never says since when.
    told_done: Mapping[str, Sequence[float]] = field(default_factory=dict)
    #: When the platform named a job, by token: before, there is nothing to ask for.
    named: Mapping[str, Sequence[float]] = field(default_factory=dict)
    #: When the server had trouble, and could not ask.
    troubles: Sequence[Span] = ()
    #: Whether the clock of the server was moved: what it keeps expires by that clock.
    clock_moved: bool = False
    #: Whether there was time for every retry; else a retry that is due within minutes is good enough.
    to_the_end: bool = True


def problems(books: Books) -> list[str]:
    """Every discrepancy, but for what may only take its time."""
    return [
        *([] if books.state.sound == "ok" else [f"the state file: {books.state.sound}"]),
        *_twice(books),
        *_wrong(books),
        *_forgotten(books),
        *_false_breaches(books),
    ]


def lost(books: Books) -> list[str]:
    """Acknowledged good readings whose date is not done, and runs that are under way for good."""
    done = {(each.pipeline, each.date) for each in books.launches if each.ended_at is not None}
    spared = _dropped(books) | (frozenset() if books.to_the_end else books.state.retries)
    found = []
    for put in books.puts:
        date = (put.pipeline, put.date)
        if put.outcome is not Outcome.ACKNOWLEDGED or not put.good or date in spared:
            continue
        if date not in done:
            found.append(
                f"{_name(put)}: acknowledged, and no job has ended: {_status(books, date)}"
            )
        elif "COMPLETED" not in _statuses(books, date):
            found.append(f"{_name(put)}: its job has ended, and the run is {_status(books, date)}")
    return found


def under_way(books: Books) -> list[str]:
    """Runs of readings that the rules refuse end as FAILED when their window closes.

    A window that was opened at another time of the clock closes at that time: no matter of the books.
    """
    if books.clock_moved:
        return []
    over = ("COMPLETED", "FAILED", "FAILED_FINAL")
    return [
        f"{pipeline} {date}: {schedule} is {status}"
        for (pipeline, date), schedules in books.state.runs.items()
        for schedule, status in schedules.items()
        if status not in over
    ]


def _twice(books: Books) -> Iterator[str]:
    tokens = Counter(each.token for each in books.launches)
    attempts = Counter((each.pipeline, each.date, each.attempt) for each in books.launches)
    for token, count in tokens.items():
        if count > 1:
            yield f"the token {token} was launched {count} times"
    for (pipeline, date, attempt), count in attempts.items():
        if count > 1:
            yield f"{pipeline} {date} attempt {attempt} was launched {count} times"
    for each, later in _after_success(books.launches):
        yield (
            f"{later.pipeline} {later.date} was launched again ({later.token}) although"
            f" {each.token} had ended well"
        )


def _after_success(launches: Iterable[Launch]) -> Iterator[tuple[Launch, Launch]]:
    by_date: defaultdict[Date, list[Launch]] = defaultdict(list)
    for each in sorted(launches, key=lambda launch: launch.began_at):
        by_date[each.pipeline, each.date].append(each)
    for same in by_date.values():
        for each, later in itertools.pairwise(same):
            if each.token != later.token and each.ended_at is not None:
                yield each, later


def _wrong(books: Books) -> Iterator[str]:
    puts = {(put.pipeline, put.date): put for put in books.puts}
    for each in books.launches:
        put = puts.get((each.pipeline, each.date))
        if put is None:
            yield f"{each.pipeline} {each.date} was launched, and nothing was ever reported of it"
        elif not put.good and not _excused(books, put):
            yield f"{_name(put)} was launched, and the rules refuse {dict(put.fields)}"
        elif put.outcome is Outcome.REFUSED:
            yield f"{_name(put)} was launched, and its reading was refused: {put.told}"


def _excused(books: Books, put: Put) -> bool:
    return any(span.has(put.sent_at) for span in books.excused.get(put.pipeline, ()))


def _forgotten(books: Books) -> Iterator[str]:
    for put in books.puts:
        kept = books.clock_moved or (put.pipeline, put.date) in books.state.readings
        if put.outcome is Outcome.ACKNOWLEDGED and not kept:
            yield f"{_name(put)}: acknowledged, and the reading is not there"


def _false_breaches(books: Books) -> Iterator[str]:
    declared = {each.name: each for each in books.pipelines}
    sent = {(put.pipeline, put.date): put.sent_at for put in books.puts}
    ended = {(each.pipeline, each.date): each for each in books.launches}
    for event in books.state.events:
        date = (event.pipeline, event.date)
        job = ended.get(date)
        if event.type not in _BREACHES or job is None or job.ended_at is None or date not in sent:
            continue
        due = _deadline(declared[event.pipeline], event.date, sent[date])
        asked_in_vain = any(
            due - 15 < at < event.at + 1 for at in books.unhelpful.get(job.token, ())
        )
        asked_too_late = declared[event.pipeline].remote and _kept_from_asking(books, job, due)
        if job.ended_at < due - MARGIN and not asked_in_vain and not asked_too_late:
            yield (
                f"{event.pipeline} {event.date}: {event.type}, and its job ended"
                f" {due - job.ended_at:.1f}s before the deadline{_around(books, job, due, event)}"
            )


def _around(books: Books, job: Launch, due: float, event: Event) -> str:
    """What is known of the time around a deadline, in seconds from it, to look for the cause in."""
    since = job.began_at - 1
    told = [at for at in books.told_done.get(job.token, ()) if since < at < event.at + 1]
    vain = [at for at in books.unhelpful.get(job.token, ()) if since < at < event.at + 1]
    down = [span for span in books.troubles if span.meets(Span(since, event.at + 1))]
    spans = [f"{span.since - due:+.1f} to {span.until - due:+.1f}" for span in down]
    return (
        f" (breach told at {event.at - due:+.1f}, done told at {[f'{at - due:+.1f}' for at in told]},"
        f" asked in vain at {[f'{at - due:+.1f}' for at in vain]}, trouble at {spans})"
    )


def _kept_from_asking(books: Books, job: Launch, due: float) -> bool:
    """Whether a server heard only too late of an end that has no date: it was in trouble at the deadline, or
    the platform had not told it yet how the job is called.
    """
    in_time = Span(0.0, due + _ASKED_IN_TIME - MARGIN)
    heard = any(in_time.has(at) for at in books.told_done.get(job.token, ()))
    at_the_deadline = Span(due, due + _ASKED_IN_TIME)
    troubled = any(each.meets(at_the_deadline) for each in books.troubles)
    nameless = min(books.named.get(job.token, ()), default=due) >= due
    return not heard and (troubled or nameless)


def _deadline(pipeline: Pipeline, date: str, sent_at: float) -> float:
    """Not before this: a relative deadline counts from when the reading was received."""
    if pipeline.minute is not None:
        return minute_deadline(date, pipeline.minute)
    return sent_at + (pipeline.max_duration or 0.0)


def _dropped(books: Books) -> set[Date]:
    """Of a schedule that went, retries are dropped, and the server says so."""
    edited = {each.name for each in books.pipelines if each.edited}
    return {
        (each.pipeline, each.date)
        for each in books.state.events
        if each.type == "RETRY_EXHAUSTED" and each.pipeline in edited
    }


def _statuses(books: Books, date: Date) -> set[str]:
    """A server whose clock was moved may have removed what is done."""
    gone = {"COMPLETED"} if books.clock_moved else set()
    return set(books.state.runs.get(date, {}).values()) or gone


def _status(books: Books, date: Date) -> str:
    runs = books.state.runs.get(date, {})
    return (
        ", ".join(f"{schedule} {status}" for schedule, status in runs.items()) or "there is no run"
    )


def _name(put: Put) -> str:
    return f"{put.pipeline} {put.date}"


def read_state(path: Path, *, check: bool = True) -> State:
    """Read beside the server, which may be at work. To check whether the file is sound takes longer."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30) as db:
        runs: defaultdict[Date, dict[str, str]] = defaultdict(dict)
        rows = db.execute("SELECT pipeline, schedule, date, status FROM runs").fetchall()
        for pipeline, schedule, date, status in rows:
            runs[pipeline, date][schedule] = status
        readings = db.execute("SELECT pipeline, key FROM sensors").fetchall()
        events = db.execute(
            "SELECT type, pipeline, date, at FROM events WHERE type IN (?, ?, ?)",
            (*_BREACHES, "RETRY_EXHAUSTED"),
        ).fetchall()
        retries = db.execute(
            "SELECT payload ->> 'pipelineId', payload ->> 'date' FROM timers"
            " WHERE kind = 'retry' AND state = 'armed' AND due_at < ?",
            ((time.time() + _LONGEST_RETRY) * 1e6,),
        ).fetchall()
        sound = _soundness(db) if check else "ok"
    db.close()
    return State(
        sound,
        runs,
        frozenset((pipeline, key.partition("#")[2]) for pipeline, key in readings),
        [Event(kind, pipeline, date, at / 1e6) for kind, pipeline, date, at in events],
        frozenset(retries),
    )


def _soundness(db: sqlite3.Connection) -> str:
    (found,) = db.execute("PRAGMA integrity_check(1)").fetchone()
    return str(found)


def read_launches(book: Path) -> list[Launch]:
    """The lines that commands wrote: one when they began, one when they ended."""
    began: list[list[str]] = []
    ended: dict[str, float] = {}
    for line in book.read_text().splitlines():
        word, token, *rest = line.split()
        if word == "begin":
            began.append([token, *rest])
        else:
            ended[token] = float(rest[-1])
    return [
        Launch(token, pipeline, date, int(attempt), float(at), ended.get(token))
        for token, pipeline, date, attempt, at in began
    ]
