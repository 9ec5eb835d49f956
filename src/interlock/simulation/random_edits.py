"""Random edits: other versions of a pipeline file, as an owner might save it."""

import copy
import random
from collections.abc import Callable
from typing import Any

Document = dict[str, Any]

ZONES = (
    "UTC",
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
)
CRONS = ("0 6 * * *", "30 2 * * *", "0 * * * *", "*/30 * * * *", "0 8 * * 1-5", "0 */6 * * *")
DEADLINES = ("08:00", "12:00", "23:30")
_KEYS = ("landed", "ready", "output")
_IDS = ("first", "second", "nightly")


def edited(document: Document, chance: random.Random) -> Document:
    """A copy with one thing changed, or with nothing: owners also save unchanged files."""
    changed = copy.deepcopy(document)
    chance.choice(_EDITS)(changed, chance)
    return changed


def schedules_of(document: Document) -> list[Document]:
    return document.get("schedules") or [document["schedule"]]


def _renamed(document: Document, chance: random.Random) -> None:
    taken = {each.get("id") for each in schedules_of(document)}
    chance.choice(schedules_of(document))["id"] = chance.choice(
        [name for name in _IDS if name not in taken]
    )


def _added(document: Document, chance: random.Random) -> None:
    schedules = schedules_of(document)
    if len(schedules) > 1:
        schedules.pop(chance.randrange(len(schedules)))
        return
    (one,) = schedules
    one.setdefault("id", "cron" if "cron" in one else "stream")
    other = {"id": "added", "cron": chance.choice(CRONS), "timezone": chance.choice(ZONES)}
    del document[next(name for name in ("schedule", "schedules") if name in document)]
    document["schedules"] = [one, other]


def _other_cron(document: Document, chance: random.Random) -> None:
    for schedule in schedules_of(document):
        if "cron" in schedule:
            schedule["cron"] = chance.choice(CRONS)


def _other_zone(document: Document, chance: random.Random) -> None:
    chance.choice(schedules_of(document))["timezone"] = chance.choice(ZONES)


def _other_trigger(document: Document, chance: random.Random) -> None:
    for schedule in schedules_of(document):
        if "key" in schedule.get("trigger", {}):
            schedule["trigger"]["key"] = chance.choice(_KEYS)


def _other_rules(document: Document, chance: random.Random) -> None:
    document["validation"]["rules"][0]["value"] = chance.choice((50, 100, 450))
    document["pipeline"]["owner"] = chance.choice(("random", "another"))


def _other_deadline(document: Document, chance: random.Random) -> None:
    if document.get("sla", {}).get("deadline") in DEADLINES:
        document["sla"]["deadline"] = chance.choice(DEADLINES)


def _other_days(document: Document, chance: random.Random) -> None:
    schedule = chance.choice(schedules_of(document))
    if schedule.pop("exclude", None) is None:
        schedule["exclude"] = {"weekends": True}


def _nothing(document: Document, chance: random.Random) -> None:
    pass


_EDITS: tuple[Callable[[Document, random.Random], None], ...] = (
    _renamed,
    _renamed,
    _added,
    _other_cron,
    _other_zone,
    _other_trigger,
    _other_rules,
    _other_deadline,
    _other_days,
    _nothing,
)
