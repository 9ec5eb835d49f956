"""Adopt a config: bring a wanted config into force if it is valid; otherwise keep the current one."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from interlock.domain import canonical
from interlock.domain.config import Config, Wanted
from interlock.domain.edit_events import as_detail, in_words, loses_dates
from interlock.domain.edits import Edit, dates_ahead
from interlock.domain.event import Event, EventType, RowOverride, Severity, happened, subject
from interlock.domain.pipeline import Pipeline
from interlock.domain.timestamp import spell
from interlock.files import Problem, ProblemKind, read_config
from interlock.usecases.arm_cron import arm_cron, cron_timer
from interlock.usecases.claim_event import claim_event
from interlock.usecases.foresee_edit import foresee_edit
from interlock.usecases.ports import Ports
from interlock.usecases.publish_outbox import publish_outbox
from interlock.usecases.refuse_file import rejected
from interlock.usecases.settle_schedules import settle_schedules


def adopt_config(pipeline_id: str, ports: Ports) -> Config | None:
    """Returns the config in force afterwards. An invalid one is refused whole; the last good one stays."""
    now = ports.clock()
    wanted = ports.pipelines.wanted(pipeline_id)
    current = ports.pipelines.find(pipeline_id)
    publish_outbox(config_owner(pipeline_id), ports)
    if wanted is None:
        return current
    if wanted.config is None:
        return _retire(current, wanted, now, ports)
    if current and current.config_hash == wanted.config_hash and not current.is_retired:
        arm_cron(current, now, ports)
        return current
    pipeline, problems = judge_config(wanted)
    if pipeline is None:
        return _reject(current, wanted, problems, ports)
    return _adopt(current, wanted, pipeline, now, ports)


def judge_config(wanted: Wanted) -> tuple[Pipeline | None, tuple[Problem, ...]]:
    """The wanted pipeline, or why it is refused."""
    loaded = read_config(wanted.config)
    if loaded.pipeline is None or loaded.errors:
        return None, loaded.errors
    if loaded.pipeline.id != wanted.pipeline_id:
        message = f"is {loaded.pipeline.id}, but the row belongs to {wanted.pipeline_id}"
        return None, (Problem(path="pipeline.id", kind=ProblemKind.CONFLICT, message=message),)
    return loaded.pipeline, ()


def config_owner(pipeline_id: str) -> str:
    """The owner key of a config's waiting events."""
    return f"{pipeline_id}/config"


def _adopt(
    current: Config | None, wanted: Wanted, pipeline: Pipeline, now: datetime, ports: Ports
) -> Config | None:
    if current is not None and not current.is_retired:
        settle_schedules(current, dates_ahead(current.pipeline, pipeline, now), now, ports)
        current = ports.pipelines.find(pipeline.id)  # firing one occurrence arms the next
    returning = current is None or current.is_retired
    edit = foresee_edit(current, pipeline, now, ports)
    config = Config(
        pipeline=msgspec.structs.replace(pipeline, formerly=edit.formerly or msgspec.UNSET),
        config_hash=wanted.config_hash,
        adopted_at=now,
        active_since=now if current is None or returning else current.active_since,
        version=1 if current is None else current.version + 1,
        paused_since=None if current is None else current.paused_since,
        paused_until=None if current is None else current.paused_until,
        paused_by="" if current is None else current.paused_by,
        paused_reason="" if current is None else current.paused_reason,
        standings=edit.standings,
    )
    event = _adopted(config, current, wanted, "new" if returning else "changed", edit)
    if ports.pipelines.save(config, [event]):
        publish_outbox(config_owner(pipeline.id), ports)
        if current is not None:
            ports.timers.cancel(_cron_timers(current))
        arm_cron(config, now, ports)
    return ports.pipelines.find(pipeline.id)


def _retire(current: Config | None, wanted: Wanted, now: datetime, ports: Ports) -> Config | None:
    if current is None or current.is_retired:
        return current
    retired = msgspec.structs.replace(
        current, retired_at=now, armed={}, version=current.version + 1
    )
    event = _adopted(retired, current, wanted, "retired")
    ports.timers.cancel(_cron_timers(current))  # first: a retired config no longer lists them
    if ports.pipelines.save(retired, [event]):
        publish_outbox(config_owner(current.pipeline.id), ports)
    return ports.pipelines.find(current.pipeline.id)


def _reject(
    current: Config | None, wanted: Wanted, problems: Sequence[Problem], ports: Ports
) -> Config | None:
    claim_event(
        rejected(
            wanted.pipeline_id, wanted.config_hash, problems, current, wanted.wanted_at, "the file"
        ),
        ports,
    )
    ports.pipelines.refuse(wanted)
    return current


def _adopted(
    config: Config, before: Config | None, wanted: Wanted, change: str, edit: Edit | None = None
) -> Event:
    said = f"the {change} file is in force" if edit else "the pipeline was retired"
    lost = edit is not None and loses_dates(edit)
    return happened(
        EventType.CONFIG_ADOPTED,
        subject(config.pipeline),
        wanted.wanted_at,
        said if edit is None or change == "new" else in_words(said, edit),
        parts=(config.config_hash[:12], spell(wanted.wanted_at)),
        override=RowOverride(Severity.WARNING if lost else None),
        change=change,
        hash=config.config_hash,
        previousHash=before.config_hash if before else None,
        changedPaths=_changed_paths(before, config) if change == "changed" else None,
        schedules=None if edit is None else [as_detail(each) for each in edit.schedules],
    )


def _changed_paths(before: Config | None, after: Config) -> list[str]:
    """The top-level parts that differ, for people."""
    old = canonical.as_json(before.pipeline) if before else {}
    new = canonical.as_json(after.pipeline)
    return sorted(name for name in {*old, *new} if old.get(name) != new.get(name))


def _cron_timers(config: Config) -> list[str]:
    """The timers that a config has armed; a new config arms its own."""
    return [
        cron_timer(config.pipeline.id, schedule_id, moment).name
        for schedule_id, moment in config.armed.items()
    ]
