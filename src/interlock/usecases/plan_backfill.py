"""Plan a backfill: the dates of a range that a schedule expects and that have no completed run."""

from interlock.domain.backfill_range import BackfillRange, DateRules, dates_of
from interlock.domain.config import Config
from interlock.domain.partition import Label
from interlock.domain.pipeline import Schedule
from interlock.domain.run import RunKey, Status
from interlock.domain.schedule import sensor_driven
from interlock.errors import ConfigError
from interlock.usecases.find_runs import find_runs
from interlock.usecases.ports import Ports

#: How many of the newest dates tell whether readings open days or hours.
_NEWEST = 50


def plan_backfill(
    config: Config, schedule: Schedule, first: str, last: str, ports: Ports
) -> list[str]:
    """Ascending. Raises ConfigError for a range that is not accepted; it says what would be."""
    try:
        wanted = BackfillRange(Label.parse(first), Label.parse(last))
        dates = dates_of(wanted, date_rules(config, schedule, ports), ports.clock())
    except ValueError as error:
        raise ConfigError(str(error)) from error
    pipeline = config.pipeline
    keys = [RunKey(pipeline.id, schedule.id, date, dry=pipeline.dry_run) for date in dates]
    runs = find_runs(keys, pipeline, ports)
    over = (Status.COMPLETED, Status.SKIPPED)
    done = {key.date for key, run in runs.items() if run.status in over}
    return [date for date in dates if date not in done]


def date_rules(config: Config, schedule: Schedule, ports: Ports) -> DateRules:
    """Where no clock says which dates there are, those that have run do."""
    pipeline = config.pipeline
    seen = frozenset[Label]()
    if sensor_driven(schedule):
        newest = ports.runs.of_pipeline(pipeline.id, "0000", "9999", _NEWEST)
        seen = frozenset(
            Label.parse(run.key.date)
            for run in newest
            if pipeline.present_id(run.key.schedule_id) == schedule.id and not run.is_placeholder
        )
    grains = frozenset(label.grain for label in seen)
    return DateRules(schedule, pipeline.calendars, pipeline.sla, grains)
