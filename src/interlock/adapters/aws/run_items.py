"""Run items: a run as a row of the control table. What conditions and people query has its own attribute;
nested values are canonical JSON, so that no number and no name is lost.
"""

from typing import Any

import msgspec

from interlock.adapters.aws.keys import run_key, run_of
from interlock.adapters.aws.rows import expiry, shard, text, watched
from interlock.adapters.aws.values import Item
from interlock.adapters.unreadable_rows import DAMAGED
from interlock.domain import canonical
from interlock.domain.run import FINAL, Number, Run, RunKey, Status, finished_run
from interlock.domain.watching import expires_at, watch_at

_NESTED = (
    "verdict",
    "evidence",
    "waitsFor",
    "job",
    "failure",
    "slaArmed",
    "slaTold",
    "postRun",
    "lateTold",
    "skip",
    "mark",
)
_SPENDING = ("retries", "codeRetries", "driftReruns", "manualReruns")
_FIELDS = tuple(field.encode_name for field in msgspec.structs.fields(Run) if field.name != "key")
#: The fields that a sparse row may have of a finished run.
_SAID = tuple(
    field
    for field in msgspec.structs.fields(Run)
    if field.name in ("opened_at", "changed_at", "completed_at", "run_id")
)


def run_item(run: Run, outbox: Item) -> Item:
    """The row, with its unpublished events."""
    plain: dict[str, Any] = canonical.as_json(run)
    spending = plain.pop("spending")
    nested = {name: canonical.encode(plain[name]) for name in _NESTED if plain[name]}
    kept = {name: plain[name] for name in _FIELDS if name in plain and name not in _NESTED}
    partition, sort_key = run_key(run.key)
    return {
        "PK": partition,
        "SK": sort_key,
        **kept,
        **nested,
        **spending,
        **_of_dry_run(run),
        **outbox,
        **run_watch(run, bool(outbox)),
        **expiry(expires_at(run)),
    }


def run_watch(run: Run, has_outbox: bool) -> Item:
    """Its place in the index: among what is due, among open runs with nothing due, or none."""
    at = watch_at(run, has_outbox)
    if at is None and run.status not in FINAL:
        idle = shard(run.key.pipeline_id, idle=True)
        return {"watchShard": idle, "watchAt": text(run.opened_at)}
    return watched(run.key.pipeline_id, at)


def run_from(item: Item) -> Run:
    """A row without a version has version 0. Raises ValueError or msgspec's errors for an unreadable row."""
    key = run_of((item["PK"], item["SK"]))
    if key is None:
        raise ValueError("its key is not made of a schedule and a date")
    if not isinstance(item.get("outbox", []), list):
        raise ValueError("its outbox is not a list")
    run = _full(key, item) if "executionName" in item else _finished(key, item)
    if run.status is Status.UNREADABLE:
        raise ValueError(f"{run.status} is not the status of a stored run")
    return run


def _full(key: RunKey, item: Item) -> Run:
    plain: dict[str, Any] = {name: item[name] for name in _FIELDS if name in item}
    for name in _NESTED:
        if name in item:
            plain[name] = canonical.decode(item[name])
    plain["spending"] = {name: item[name] for name in _SPENDING if name in item}
    plain["version"] = item.get("version", 0)
    plain["status"] = item["status"]
    if "version" in item:  # a writer that counts versions also writes the attempt
        plain["attempt"] = item["attempt"]
    return msgspec.convert(plain | {"key": msgspec.to_builtins(key)}, Run)


def _finished(key: RunKey, item: Item) -> Run:
    """A row of which only the final status is certain. Other fields are taken where readable."""
    whole = {name: msgspec.convert(item.get(name, 0), Number) for name in ("version", "attempt")}
    said = {
        field.name: value
        for field in _SAID
        if (value := _converted(item.get(field.encode_name), field.type)) is not None
    }
    if "completed_at" in said:
        said.setdefault("changed_at", said["completed_at"])
    return finished_run(key, msgspec.convert(item["status"], Status), **whole, **said)


def _converted(value: Any, kind: Any) -> Any:
    try:
        return None if value is None else msgspec.convert(value, kind)
    except DAMAGED:
        return None


def _of_dry_run(run: Run) -> Item:
    if not run.key.dry or run.launched_at is None:
        return {}
    return {"data": {"triggeredAt": text(run.launched_at)}}
