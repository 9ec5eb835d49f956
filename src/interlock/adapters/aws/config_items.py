"""Config items: wanted configs and configs in force, as rows of the control table."""

from datetime import datetime
from typing import Any

import msgspec

from interlock.adapters.aws.keys import active_key, config_key, downstream_key, pipeline_of
from interlock.adapters.aws.rows import maybe_text, text
from interlock.adapters.aws.values import Item
from interlock.adapters.unreadable_rows import DAMAGED
from interlock.domain import canonical
from interlock.domain.config import Config, Downstream, Wanted
from interlock.domain.pipeline import Pipeline, UpstreamHours
from interlock.domain.schedule import Occurrence
from interlock.domain.standing import Standing
from interlock.domain.timestamp import instant

#: The index partitions that list the wanted configs, the configs in force, and the refused configs of
#: pipelines with nothing in force.
WANTED = "CONFIG"
IN_FORCE = "ACTIVE"
REFUSED = "REFUSED"


def wanted_item(wanted: Wanted) -> Item:
    """A removed config leaves a row that says so: nothing is deleted."""
    place, sort_key = config_key(wanted.pipeline_id)
    if wanted.config is None:
        gone = {"removedAt": text(wanted.wanted_at), "configHash": wanted.config_hash or "-"}
        return {"PK": place, "SK": sort_key, **gone}
    return {
        "PK": place,
        "SK": sort_key,
        "config": canonical.encode(wanted.config),
        "configHash": wanted.config_hash,
        "wantedAt": text(wanted.wanted_at),
        "watchShard": WANTED,
        "watchAt": wanted.pipeline_id,
    }


def wanted_from(pipeline_id: str, item: Item | None, now: datetime) -> Wanted:
    """Any writer may have written it. A missing row, or one marked as removed, means removed."""
    if item is None:
        return Wanted(pipeline_id, None, "", now)
    if "removedAt" in item:
        config_hash = str(item.get("configHash", "-"))
        removed_at = instant(item["removedAt"]) or now
        return Wanted(pipeline_id, None, config_hash if config_hash != "-" else "", removed_at)
    config = _document(item.get("config", ""))
    config_hash = item.get("configHash") or canonical.content_hash(config)
    return Wanted(pipeline_id, config, str(config_hash), instant(item.get("wantedAt")) or now)


def config_item(config: Config) -> Item:
    place, sort_key = active_key(config.pipeline.id)
    listed = {"watchShard": IN_FORCE, "watchAt": config.pipeline.id}
    return {
        "PK": place,
        "SK": sort_key,
        "config": canonical.encode(config.pipeline),
        "configHash": config.config_hash,
        "adoptedAt": text(config.adopted_at),
        "activeSince": text(config.active_since),
        "version": config.version,
        "rejectedHash": config.rejected_hash,
        "retiredAt": maybe_text(config.retired_at),
        "pausedSince": maybe_text(config.paused_since),
        "pausedUntil": maybe_text(config.paused_until),
        "pausedBy": config.paused_by or None,
        "pausedReason": config.paused_reason or None,
        "armed": canonical.encode(config.armed),
        "standings": canonical.encode(config.standings),
        "upstreams": sorted(downstreams(config)),
        **({} if config.is_retired else listed),
    }


def config_from(item: Item) -> Config:
    """Raises ValueError or msgspec's errors when the stored config is unreadable."""
    pipeline = msgspec.convert(canonical.decode(item["config"]), Pipeline)
    if pipeline.id != pipeline_of(item["PK"]):
        raise ValueError(f"its config belongs to the pipeline {pipeline.id}")
    return Config(
        pipeline=pipeline,
        config_hash=str(item["configHash"]),
        adopted_at=_moment(item, "adoptedAt"),
        active_since=_moment(item, "activeSince"),
        version=msgspec.convert(item["version"], int),
        rejected_hash=item.get("rejectedHash"),
        retired_at=instant(item.get("retiredAt")),
        paused_since=instant(item.get("pausedSince")),
        paused_until=instant(item.get("pausedUntil")),
        paused_by=_words(item, "pausedBy"),
        paused_reason=_words(item, "pausedReason"),
        armed=_armed(item.get("armed", "{}")),
        standings=msgspec.convert(
            canonical.decode(item.get("standings", "{}")), dict[str, Standing]
        ),
    )


def downstreams(config: Config) -> dict[str, list[dict[str, Any]]]:
    """The schedules of a config that open after another pipeline, by upstream pipeline."""
    found: dict[str, list[dict[str, Any]]] = {}
    for schedule in () if config.is_retired else config.pipeline.schedules:
        trigger = schedule.trigger
        if trigger is not None and trigger.pipeline is not None:
            opened = {"schedule": schedule.id, "hours": trigger.hours is UpstreamHours.ALL}
            found.setdefault(trigger.pipeline, []).append(opened)
    return found


def downstream_item(upstream: str, pipeline_id: str, schedules: list[dict[str, Any]]) -> Item:
    """The row stays even with no schedules left, and says so."""
    place, sort_key = downstream_key(upstream, pipeline_id)
    return {
        "PK": place,
        "SK": sort_key,
        "schedules": canonical.encode(schedules),
        "retired": not schedules,
    }


def downstream_from(pipeline_id: str, item: Item) -> list[Downstream]:
    """Raises ValueError, or what msgspec raises, when what is stored can't be read."""
    schedules = msgspec.convert(canonical.decode(item["schedules"]), list[_Opened])
    return [Downstream(pipeline_id, each.schedule, each.hours) for each in schedules]


class _Opened(msgspec.Struct, frozen=True):
    """A schedule that opens after another pipeline."""

    schedule: str
    hours: bool


def _armed(text: Any) -> dict[str, Occurrence]:
    """A timer not known to be armed is armed again, which changes nothing."""
    try:
        return msgspec.convert(canonical.decode(text), dict[str, Occurrence])
    except DAMAGED:
        return {}


def _words(item: Item, name: str) -> str:
    """For people only: another writer may have left it out, or written something else."""
    found = item.get(name)
    return found if isinstance(found, str) else ""


def _moment(item: Item, name: str) -> datetime:
    found = instant(item.get(name))
    if found is None:
        raise ValueError(f"{name} is not an instant")
    return found


def _document(stored: Any) -> Any:
    """JSON text, as the loaders write it. Anything else is passed on and then refused: None would mean
    that the config was removed.
    """
    if stored is not None and not isinstance(stored, str):
        return stored
    try:
        found = canonical.decode(stored or "")
    except DAMAGED:
        found = None
    return {"unreadable": (stored or "")[:200]} if found is None else found
