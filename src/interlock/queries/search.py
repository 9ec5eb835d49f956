"""Search: finds pipelines, runs of a date, reading keys and event types by words.

It reads what is in memory, and the runs of a few pipelines on one date: its cost does not grow with history.
"""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import islice

import msgspec

from interlock.domain.config import Config
from interlock.domain.event import EventType
from interlock.domain.pipeline import Pipeline
from interlock.domain.post_run import watched_keys
from interlock.domain.sensor import RESERVED
from interlock.ports.reads import History
from interlock.usecases.ports import Ports

#: A date, or its beginning: a month, a day, an hour, a minute.
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}(-[0-9]{2}(T[0-9]{2}(:[0-9]{2})?)?)?", re.IGNORECASE)
#: The runs of how many pipelines are looked up.
_PIPELINES = 10
_LATER = 3


class FoundKind(StrEnum):
    """What was found."""

    PIPELINE = "pipeline"
    RUN = "run"
    DATE = "date"
    READING = "reading"
    EVENT_TYPE = "event type"


class Found(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Something that matches. `detail` says more about it than its title."""

    kind: FoundKind
    title: str
    detail: str = ""
    pipeline_id: str | None = None
    schedule_id: str | None = None
    date: str | None = None


def search(text: str, limit: int, ports: Ports, history: History) -> list[Found]:
    """No kind crowds out the others."""
    words = text.lower().split()
    if not words:
        return []
    dates = [word.upper() for word in words if _DATE.fullmatch(word)]
    others = [word for word in words if not _DATE.fullmatch(word)]
    if dates:
        return list(islice(_on_date(dates[0], others, ports, history), limit))
    configs = ports.pipelines.in_force()
    kinds = [
        list(islice(found, limit))
        for found in (_pipelines(configs, words), _readings(configs, words), _event_types(words))
    ]
    return _shared(kinds, limit)


def _shared(kinds: Sequence[list[Found]], limit: int) -> list[Found]:
    """The kinds in their order; in turn, each has one more place, as long as there are places."""
    most = [0] * len(kinds)
    for turn in range(limit):
        for n, found in enumerate(kinds):
            most[n] += turn < len(found) and sum(most) < limit
    return [each for found, count in zip(kinds, most, strict=True) for each in found[:count]]


def _on_date(date: str, words: Sequence[str], ports: Ports, history: History) -> Iterator[Found]:
    if not words:
        yield Found(kind=FoundKind.DATE, title=date, detail="every run of this date", date=date)
        return
    found = _pipelines(ports.pipelines.in_force(), words)
    names = [each.title for each in islice(found, _PIPELINES)]
    for glance in history.glances(names, date, date):
        key = glance.key
        yield Found(
            kind=FoundKind.RUN,
            title=f"{key.pipeline_id} {key.date}",
            detail="retrying" if glance.retrying else glance.status.replace("_", " ").lower(),
            pipeline_id=key.pipeline_id,
            schedule_id=key.schedule_id,
            date=key.date,
        )


def _pipelines(configs: Sequence[Config], words: Sequence[str]) -> Iterator[Found]:
    """By id first, then by owner or tag."""
    ranked = []
    for config in configs:
        rank = _rank(config.pipeline, words)
        if rank is not None:
            ranked.append((rank, config.pipeline.id, config.pipeline))
    for _, name, pipeline in sorted(ranked, key=lambda each: each[:2]):
        identity = pipeline.pipeline
        tags = (f"{key}:{value}" for key, value in identity.tags.items())
        detail = " ".join(filter(None, (identity.owner, *tags)))
        yield Found(kind=FoundKind.PIPELINE, title=name, detail=detail, pipeline_id=name)


def _rank(pipeline: Pipeline, words: Sequence[str]) -> int | None:
    """Smaller is better: the id itself, its beginning, a part of it, another attribute. None: no match."""
    name = pipeline.id.lower()
    if all(word in name for word in words):
        return 0 if name == words[0] else 1 if name.startswith(words[0]) else 2
    identity = pipeline.pipeline
    tags = " ".join(f"{key}:{value}" for key, value in identity.tags.items())
    text = f"{name} {identity.owner or ''} {tags}".lower()
    return _LATER if all(word in text for word in words) else None


def _readings(configs: Sequence[Config], words: Sequence[str]) -> Iterator[Found]:
    """The keys that rules and triggers name; a period behind a key does not matter."""
    sought = [word.partition("#")[0] for word in words]
    for config in configs:
        for key in _keys(config.pipeline):
            if all(word in key.lower() for word in sought):
                yield Found(
                    kind=FoundKind.READING,
                    title=key,
                    detail=f"read by {config.pipeline.id}",
                    pipeline_id=config.pipeline.id,
                )


def _keys(pipeline: Pipeline) -> list[str]:
    triggers = [each.trigger.key for each in pipeline.schedules if each.trigger is not None]
    rules = [key for rule in pipeline.validation.every_rule for key in rule.keys]
    after = [] if pipeline.post_run is None else watched_keys(pipeline.post_run)
    found = dict.fromkeys((*triggers, *rules, *after))
    return [key for key in found if key is not None and not key.startswith(RESERVED)]


def _event_types(words: Sequence[str]) -> Iterator[Found]:
    for kind in EventType:
        name = kind.value.lower()
        if all(word in name or word in name.replace("_", " ") for word in words):
            yield Found(kind=FoundKind.EVENT_TYPE, title=kind.value, detail=kind.spec.when)
