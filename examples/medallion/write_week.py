"""Write the week: scenarios/a-week.yaml, with a source that is sometimes late, short or wrong.

    python examples/medallion/write_week.py

A week of an hourly source is more than 300 readings: too many to write by hand. What goes wrong, and what
must come of it, is written by hand below; the hours in between are all alike.
"""
# ruff: noqa: E501 - a line of the scenario is a line here

from datetime import UTC, datetime, timedelta
from pathlib import Path

PLACE = Path(__file__).parent / "scenarios" / "a-week.yaml"

FIRST = datetime(2026, 3, 2, tzinfo=UTC)
UNTIL = FIRST + timedelta(days=7, hours=1)
#: Bronze is complete five minutes after the hour, and is counted again two hours later.
COMPLETE, RECOUNT = 65, 185

#: By hour: what comes instead of the usual first reading, as (minutes after the hour, fields).
INSTEAD: dict[str, list[tuple[int, str]]] = {
    "2026-03-02T09": [(82, "loads: 3, count: 44")],
    "2026-03-03T14": [(65, "loads: 2, count: 21"), (77, "loads: 3, count: 33")],
    "2026-03-04T03": [(65, "loads: 3, count: 0"), (180, "loads: 3, count: 35")],
    "2026-03-07T05": [(29 * 60, "loads: 3, count: 40")],
}
#: What the second count says, where it is not about the same.
CORRECTED = {"2026-03-05T18": 71}

HEAD = """\
# Written by write_week.py: change that and run it again.
name: a week of earthquakes
start: 2026-03-01T23:30:00Z
until: 2026-03-09T01:00:00Z
watchdog: 30m
pipelines: [../pipelines/earthquake-silver.yaml, ../pipelines/earthquake-gold.yaml]

jobs:
  earthquake-silver: [{ after: 2m, result: fail, category: TRANSIENT, error: out of memory }, { after: 6m }]
  earthquake-gold: [{ after: 25m }]

expect:
  # every hour ran once, but for one whose job failed and one that drifted; seven days, seven reports
  - { launches: earthquake-silver, count: 170 }
  - { launches: earthquake-gold, count: 7 }
  - { event: SLA_MET, pipeline: earthquake-gold, count: 6 }

  # Monday 00: the first job of the week runs out of memory and is retried
  - { event: JOB_FAILED, date: "2026-03-02T00", detail: { willRetry: true }, count: 1 }
  - { run: { pipeline: earthquake-silver, date: "2026-03-02T00" }, status: COMPLETED, attempt: 1, slaVerdict: MET }

  # Monday 09: late, warned of, and in time after all
  - { event: SLA_WARNING, date: "2026-03-02T09", at: 2026-03-02T10:20:00Z, within: 5s, count: 1 }
  - { run: { pipeline: earthquake-silver, date: "2026-03-02T09" }, status: COMPLETED, attempt: 0, slaVerdict: MET }

  # Tuesday 14: short of a load; the job waits for it, and starts that very minute
  - { event: JOB_TRIGGERED, date: "2026-03-03T14", at: 2026-03-03T15:17:00Z, within: 5s, count: 1 }
  - { run: { pipeline: earthquake-silver, date: "2026-03-03T14" }, status: COMPLETED, attempt: 0, slaVerdict: MET }

  # Wednesday 03: wrong; no job, a breach, and a second attempt when bronze is mended
  - { event: VALIDATION_EXHAUSTED, date: "2026-03-04T03", at: 2026-03-04T04:50:00Z, within: 5s, count: 1 }
  - { event: SLA_BREACH, date: "2026-03-04T03", at: 2026-03-04T04:30:00Z, within: 5s, count: 1 }
  - { run: { pipeline: earthquake-silver, date: "2026-03-04T03" }, status: COMPLETED, attempt: 1, slaVerdict: BREACHED }
  - { launches: earthquake-silver, date: "2026-03-04T03", count: 1 }

  # Thursday 18: USGS corrects its count; the hour runs again, and the report, which comes later, once
  - { event: POST_RUN_DRIFT, date: "2026-03-05T18", count: 1 }
  - { launches: earthquake-silver, date: "2026-03-05T18", count: 2 }
  - { launches: earthquake-gold, date: "2026-03-05", count: 1 }
  # nobody counts a third time: the count is an input of the run, so nothing is missing
  - { no: POST_RUN_SENSOR_MISSING, date: "2026-03-05T18" }

  # Thursday night: the controller is down for two hours; what landed meanwhile runs when it is back
  - { event: WATCHDOG_RECOVERED, count: 1 }
  - { run: { pipeline: earthquake-silver, date: "2026-03-05T22" }, status: COMPLETED, slaVerdict: BREACHED }
  - { run: { pipeline: earthquake-gold, date: "2026-03-05" }, status: COMPLETED, slaVerdict: MET }

  # Saturday 05: absent for a day; so is the report, and both are missed on the minute
  - { event: SLA_BREACH, date: "2026-03-07T05", at: 2026-03-07T06:30:00Z, within: 5s, count: 1 }
  - { event: SLA_BREACH, pipeline: earthquake-gold, date: "2026-03-07", at: 2026-03-08T02:00:00Z, within: 5s, count: 1 }
  - { event: JOB_TRIGGERED, pipeline: earthquake-gold, date: "2026-03-07", at: 2026-03-08T10:06:00Z, within: 5s, count: 1 }
  - { event: SLA_BREACH, count: 5 }
  - { no: RERUN_REJECTED }

timeline:
"""

REGIONS = (
    "sensor: { pipeline: earthquake-gold, key: regions, "
    'data: { updatedAt: "2026-02-20T12:00:00Z", count: 754 } }'
)


def week() -> str:
    """The whole file."""
    entries = [
        (FIRST - timedelta(minutes=20), REGIONS),
        (FIRST + timedelta(days=3, hours=22, minutes=30), "outage: 2h"),
    ]
    for n in range(7 * 24):
        entries += _readings(FIRST + timedelta(hours=n))
    entries = sorted(entry for entry in entries if entry[0] < UNTIL)
    lines = [f"  - {{ at: {at:%Y-%m-%dT%H:%M:%SZ}, {what} }}\n" for at, what in entries]
    return HEAD + "".join(lines)


def _readings(hour: datetime) -> list[tuple[datetime, str]]:
    """What bronze says of an hour: first when it is complete, then when it is counted again."""
    label, count = f"{hour:%Y-%m-%dT%H}", 30 + hour.hour * hour.day % 25
    first = INSTEAD.get(label, [(COMPLETE, f"loads: 3, count: {count}")])
    recount = max(RECOUNT, first[-1][0] + 120)
    again = (recount, f"loads: 3, count: {CORRECTED.get(label, count + 2)}")
    return [
        (hour + timedelta(minutes=minutes), _sensor(label, fields))
        for minutes, fields in [*first, again]
    ]


def _sensor(label: str, fields: str) -> str:
    key = f"hourly-status#{label}"
    data = f"{{ complete: true, {fields} }}"
    return f"sensor: {{ pipeline: earthquake-silver, key: {key}, data: {data} }}"


if __name__ == "__main__":
    PLACE.write_text(week(), encoding="utf-8")
