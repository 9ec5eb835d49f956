"""Follow files: submit a project's files for adoption, and retire pipelines whose file is gone."""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

import msgspec

from interlock.domain import canonical
from interlock.domain.config import Config, Wanted
from interlock.domain.event import Event, EventType, Severity, happened, subject
from interlock.domain.missing import Missing, Present, judge_missing
from interlock.domain.sightings import Sightings, Stamp, after_reading, look
from interlock.domain.timestamp import spell
from interlock.ports.stores import MissingFiles
from interlock.usecases.claim_event import claim_event
from interlock.usecases.ports import Ports

log = logging.getLogger(__name__)


class Follower:
    """Checks files repeatedly, and reads them once they are stable. Not thread-safe."""

    def __init__(
        self, read: Callable[[Collection[str]], Present], files: MissingFiles, ports: Ports
    ) -> None:
        """`read` reads all files except those it is given; `files` outlives this process."""
        self._read = read
        self._files = files
        self._ports = ports
        self._seen = Sightings()
        self._present = Present(())
        self._missing: Sequence[Missing] = ()
        self._is_noted = True

    @property
    def has_read(self) -> bool:
        """Whether the files have been read once."""
        return self._seen.read is not None

    @property
    def is_waiting(self) -> bool:
        """Whether a file has changed and has not been read yet."""
        return self._seen.since is not None

    @property
    def missing(self) -> Sequence[Missing]:
        return self._missing

    def look(
        self, stamps: Mapping[str, Stamp], changed_at: Mapping[str, datetime] | None = None
    ) -> bool:
        """Read the files if that is due, and record what is missing. Whether they were read.

        What fails is retried at the next check.
        """
        now = self._ports.clock()
        self._seen = look(self._seen, stamps, now, changed_at)
        is_due = self._seen.is_due(now)
        if is_due:
            self._present = self._read(self._seen.unsettled(now))
            self._seen = after_reading(self._seen, now)
            self._is_noted = False
        if self._missing or not self._is_noted:
            self._missing = note_missing(self._present, self._missing, self._files, self._ports)
            self._is_noted = True
        return is_due

    def note_read(self, path: str, stamp: Stamp) -> None:
        """Record that another caller has read this file in its current state."""
        if self._seen.read is not None:
            self._seen = msgspec.structs.replace(self._seen, read={**self._seen.read, path: stamp})

    def next_due(self, now: datetime) -> datetime | None:
        """When a changed file may be read, if there is one."""
        return self._seen.next_due(now)


def want_files(documents: Mapping[str, Any], ports: Ports) -> None:
    """Submit the config of each pipeline whose file has changed."""
    for pipeline_id, config in documents.items():
        digest = canonical.content_hash(config)
        before = ports.pipelines.wanted(pipeline_id)
        if before is None or before.config_hash != digest or before.config is None:
            ports.pipelines.want(Wanted(pipeline_id, config, digest, ports.clock()))


def note_missing(
    present: Present, told: Sequence[Missing], files: MissingFiles, ports: Ports
) -> tuple[Missing, ...]:
    """Record and report what is missing now; retire what has been missing for too long.

    `told` is what this process has reported before: a new process reports everything, which is harmless.
    """
    now = ports.clock()
    in_force = {config.pipeline.id: config for config in ports.pipelines.in_force()}
    coming = {each.pipeline_id for each in ports.pipelines.unadopted() if each.config is not None}
    before = files.kept()
    missing = judge_missing({*in_force, *coming}, present, before, now)
    if missing != tuple(before):
        files.keep(missing)
    _log_returned(before, missing, present)
    for event in _news(missing, told, in_force):
        claim_event(event, ports)
    for each in missing:
        if each.is_over(now):
            take_away(each.pipeline_id, in_force.get(each.pipeline_id), now, ports)
    return missing


def take_away(pipeline_id: str, config: Config | None, now: datetime, ports: Ports) -> None:
    """Withdraw the pipeline."""
    digest = "" if config is None else config.config_hash
    ports.pipelines.want(Wanted(pipeline_id, None, digest, now))


def _log_returned(before: Sequence[Missing], missing: Sequence[Missing], present: Present) -> None:
    left = {each.pipeline_id for each in missing}
    for each in before:
        if each.pipeline_id not in left and each.pipeline_id in present.ids:
            log.info("the file of %s is back", each.pipeline_id, extra={"action": "file_returned"})


def _news(
    missing: Sequence[Missing], told: Sequence[Missing], in_force: Mapping[str, Config]
) -> Iterator[Event]:
    known = {(each.pipeline_id, each.since, each.held_at) for each in told}
    fresh = [e for e in missing if (e.pipeline_id, e.since, e.held_at) not in known]
    for each in fresh:
        if each.held_at is None:
            yield _one(each, in_force.get(each.pipeline_id))
    held = sorted((e for e in fresh if e.held_at), key=lambda e: (str(e.held_at), e.pipeline_id))
    for held_at, group in groupby(held, key=lambda e: e.held_at):
        assert held_at is not None
        yield _many(held_at, list(group), len(missing), len(in_force))


def _one(missing: Missing, config: Config | None) -> Event:
    about = subject(config.pipeline if config else None)
    end = "stays in force" if missing.until is None else f"is retired at {spell(missing.until)}"
    message = f"the file of {missing.pipeline_id} is missing; the pipeline {end}"
    log.warning("%s", message, extra={"action": "file_missing"})
    return happened(
        EventType.CONFIG_MISSING,
        msgspec.structs.replace(about, pipeline_id=missing.pipeline_id),
        missing.since,
        message,
        parts=(spell(missing.since),),
        since=spell(missing.since),
        until=None if missing.until is None else spell(missing.until),
    )


def _many(held_at: datetime, group: Sequence[Missing], count: int, in_force: int) -> Event:
    until = group[0].until
    end = (
        "no pipeline is retired while the folder is missing"
        if until is None
        else f"they are retired at {spell(until)}"
    )
    message = f"the files of {count} of {in_force} pipelines are missing; {end}"
    log.error("%s", message, extra={"action": "files_missing"})
    return happened(
        EventType.CONFIG_MISSING,
        subject(None),
        held_at,
        message,
        parts=(spell(held_at),),
        severity=Severity.ERROR,
        since=spell(held_at),
        until=None if until is None else spell(until),
        pipelines=[each.pipeline_id for each in group],
        inForce=in_force,
    )
