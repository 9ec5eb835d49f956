"""Foresee files: what the files of a project would change on a backend, if adopted now."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from interlock.domain.config import Config
from interlock.domain.edit_events import as_detail, line_of
from interlock.domain.edits import EditKind
from interlock.errors import ConfigError
from interlock.files import read_config
from interlock.usecases.foresee_edit import foresee_edit
from interlock.usecases.ports import Ports


class FileEdit(msgspec.Struct, frozen=True, rename="camel"):
    """What a file would change: `new`, `unchanged`, `changed` or `retired`."""

    pipeline_id: str
    change: str
    #: One for each schedule, in words and as data.
    lines: tuple[str, ...] = ()
    schedules: tuple[dict[str, Any], ...] = ()


def foresee_files(documents: Mapping[str, Any], whole: bool, ports: Ports) -> list[FileEdit]:
    """By pipeline; changes nothing. `whole`: these are all files there are, so a pipeline in force without
    one would be retired. Raises ConfigError for a document that would be refused.
    """
    found = [_foreseen(name, document, ports) for name, document in documents.items()]
    if whole:
        found += _gone(documents, ports)
    return sorted(found, key=lambda each: each.pipeline_id)


def _foreseen(name: str, document: Any, ports: Ports) -> FileEdit:
    loaded = read_config(document)
    pipeline = loaded.pipeline
    if pipeline is None or loaded.errors:
        problems = "; ".join(f"{each.path} {each.message}" for each in loaded.errors)
        raise ConfigError(f"{name}: the file would be refused: {problems}")
    if pipeline.id != name:
        raise ConfigError(f"{name}: the file declares {pipeline.id}")
    current = ports.pipelines.find(name)
    edit = foresee_edit(current, pipeline, ports.clock(), ports)
    if current is None or current.is_retired:
        change = "new"
    else:
        change = "unchanged" if _declared(current) == pipeline else "changed"
    told = [each for each in edit.schedules if each.kind is not EditKind.UNCHANGED]
    return FileEdit(
        name, change, tuple(map(line_of, told)), tuple(as_detail(each) for each in edit.schedules)
    )


def _declared(config: Config) -> object:
    """The pipeline as its owner wrote it."""
    return msgspec.structs.replace(config.pipeline, formerly=msgspec.UNSET)


def _gone(documents: Mapping[str, Any], ports: Ports) -> Iterator[FileEdit]:
    for config in ports.pipelines.in_force():
        if config.pipeline.id not in documents:
            yield FileEdit(config.pipeline.id, "retired")
