"""Keys: the key of each kind of row, and what a key belongs to.

`#` separates the parts. Only sensor keys and parts of event ids may contain one, and they come last.
"""

from interlock.adapters.aws.table import Key
from interlock.domain.partition import Label
from interlock.domain.run import RunKey

PIPELINE = "PIPELINE#"
SYSTEM = "_system"
CONFIG = "CONFIG"
ACTIVE = "CONFIG#ACTIVE"
SENSOR = "SENSOR#"
RUN = "TRIGGER#"
DRY_RUN = "DRY_RUN#"
REQUEST = "RERUN_REQUEST#"
BACKFILL = "BACKFILL#"
JOB = "JOB#"
DRY_JOB = "DRY_JOB#"
RERUN = "RERUN#"
DRY_RERUN = "DRY_RERUN#"
DOWNSTREAM = "MARK#downstream#"
#: Sorts after every character of a date, and after every sort key with the same prefix.
AFTER = "~"
LAST = "\U0010ffff"

_DRY = "#dry"
#: Stands for a part of an event's id that does not apply.
_NOT_APPLICABLE = "-"


def partition(pipeline_id: str | None) -> str:
    return f"{PIPELINE}{SYSTEM if pipeline_id in (None, _NOT_APPLICABLE) else pipeline_id}"


def pipeline_of(partition_key: str) -> str:
    return partition_key.removeprefix(PIPELINE)


def config_key(pipeline_id: str) -> Key:
    return partition(pipeline_id), CONFIG


def active_key(pipeline_id: str) -> Key:
    return partition(pipeline_id), ACTIVE


def config_outbox_key(pipeline_id: str) -> Key:
    return partition(pipeline_id), "MARK#outbox#config"


def sensor_key(pipeline_id: str, key: str) -> Key:
    return partition(pipeline_id), f"{SENSOR}{key}"


def run_key(key: RunKey) -> Key:
    return partition(key.pipeline_id), f"{DRY_RUN if key.dry else RUN}{_date(key)}"


def places_key(pipeline_id: str) -> Key:
    return partition(pipeline_id), "MARK#places"


def watch_key(key: RunKey) -> Key:
    return partition(key.pipeline_id), f"MARK#sla#{_date(key)}{_DRY * key.dry}"


def baseline_key(key: RunKey) -> Key:
    return partition(key.pipeline_id), f"MARK#postrun-baseline#{_date(key)}{_DRY * key.dry}"


def request_key(key: RunKey) -> Key:
    return partition(key.pipeline_id), f"{REQUEST}{_date(key)}{_DRY * key.dry}"


def downstream_key(upstream: str, pipeline_id: str) -> Key:
    return partition(upstream), f"{DOWNSTREAM}{pipeline_id}"


def rerun_key(key: RunKey, attempt: int) -> Key:
    return partition(key.pipeline_id), f"{rerun_prefix(key)}{attempt}"


def rerun_prefix(key: RunKey) -> str:
    return f"{DRY_RERUN if key.dry else RERUN}{_date(key)}#"


def job_prefix(key: RunKey) -> str:
    return f"{DRY_JOB if key.dry else JOB}{_date(key)}#"


def claim_key(event_id: str) -> Key:
    """An event's id is its pipeline, schedule, date, type and further parts."""
    pipeline_id, schedule, date, kind, *parts = event_id.split("/", 4)
    return partition(pipeline_id), "#".join(["MARK#event", kind, schedule, date, *parts])


def backfill_key(backfill_id: str) -> Key:
    """Backfills of all pipelines are in one partition: people list them, and name one by its id alone."""
    return partition(None), f"{BACKFILL}{backfill_id}"


def watchdog_key() -> Key:
    return partition(None), "WATCHDOG"


def run_of(key: Key) -> RunKey | None:
    """The run whose row or request this is; None for a row of another kind, or without a valid date."""
    partition_key, sort_key = key
    for prefix in (RUN, DRY_RUN, REQUEST):
        if not sort_key.startswith(prefix):
            continue
        schedule, _, rest = sort_key.removeprefix(prefix).partition("#")
        date = rest.removesuffix(_DRY) if prefix == REQUEST else rest
        dry = prefix == DRY_RUN or date != rest
        if schedule and is_date(date):
            return RunKey(pipeline_of(partition_key), schedule, date, dry=dry)
    return None


def before(sort_key: str) -> str:
    """The last sort key before this one: ranges include their ends."""
    return f"{sort_key[:-1]}{chr(ord(sort_key[-1]) - 1)}{LAST}"


def is_date(text: str) -> bool:
    """Whether a part of a key is a date in our format."""
    try:
        return str(Label.parse(text)) == text
    except ValueError:
        return False


def is_run(key: Key) -> bool:
    return key[1].startswith((RUN, DRY_RUN))


def _date(key: RunKey) -> str:
    return f"{key.schedule_id}#{key.date}"
