"""Write the week: scenarios/a-week.yaml, with sources that are sometimes late, short or wrong.

    python examples/medallion/write_week.py

A week of two hourly sources is 500 readings: too many to write by hand, too few to hide. What goes wrong,
and what must come of it, is written by hand below; the hours in between are all alike.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

PLACE = Path(__file__).parent / "scenarios" / "a-week.yaml"

FIRST = datetime(2026, 3, 2, tzinfo=UTC)
HOURS = [FIRST + timedelta(hours=n) for n in range(7 * 24)]
#: Bronze is complete five minutes after the hour, and is counted again two hours later.
COMPLETE, RECOUNT = timedelta(hours=1, minutes=5), timedelta(hours=3, minutes=5)

#: By pipeline and hour: what comes instead of the usual reading, as (minutes after the hour, fields).
INSTEAD: dict[tuple[str, str], list[tuple[int, str]]] = {
    # late, but in time: warned of at 10:20, done at 10:28
    ("earthquake-silver", "2026-03-02T09"): [(82, "loads: 3, count: 44")],
    # short: 120 coins, the rest twelve minutes later
    ("crypto-silver", "2026-03-03T14"): [
        (65, "count: 120, nullPrices: 0"),
        (77, "count: 301, nullPrices: 0"),
    ],
    # wrong: coins without a price; the window closes, and two hours later bronze is mended
    ("crypto-silver", "2026-03-04T03"): [
        (65, "count: 301, nullPrices: 17"),
        (190, "count: 301, nullPrices: 0"),
    ],
    # absent: nobody ever reports this hour
    ("crypto-silver", "2026-03-07T05"): [],
}
#: What the second count says where it has moved by more than the threshold.
CORRECTED = {"2026-03-05T18": 71}

HEAD = """\
# Written by write_week.py; change that, and run it again.
name: a week of earthquakes and prices
start: 2026-03-01T23:30:00Z
until: 2026-03-09T01:00:00Z
pipelines:
  - ../pipelines/earthquake-silver.yaml
  - ../pipelines/earthquake-gold.yaml
  - ../pipelines/crypto-silver.yaml
  - ../pipelines/crypto-gold.yaml
calendars: [../calendars/exchange-maintenance.yaml]

jobs:
  earthquake-silver: [{ after: 6m }]
  earthquake-gold: [{ after: 25m }]
  crypto-silver: [{ after: 2m, result: fail, category: TRANSIENT, error: out of memory }, { after: 6m }]
  crypto-gold: [{ after: 4m }]

expect:
  # every hour of every source that reported ran once; one failed and one drifted, and ran twice
  - { launches: earthquake-silver, count: 169 }
  - { launches: crypto-silver, count: 168 }
  # seven daily reports, each when the last hour of its day was in silver
  - { launches: earthquake-gold, count: 7 }
  - { event: SLA_MET, pipeline: earthquake-gold, count: 7 }
  # six days of hourly summaries, but for the hour that never came; none on the day of maintenance
  - { launches: crypto-gold, count: 143 }
  - { event: PIPELINE_EXCLUDED, pipeline: crypto-gold, count: 24 }

  # Monday 00: the first job of the week runs out of memory, and is retried
  - { event: JOB_FAILED, pipeline: crypto-silver, date: "2026-03-02T00", count: 1 }
  - { run: { pipeline: crypto-silver, date: "2026-03-02T00" }, status: COMPLETED, attempt: 1, slaVerdict: MET }
  # Monday 09: late, warned of, and met
  - { event: SLA_WARNING, pipeline: earthquake-silver, date: "2026-03-02T09", count: 1 }
  - { run: { pipeline: earthquake-silver, date: "2026-03-02T09" }, status: COMPLETED, attempt: 0, slaVerdict: MET }
  # Tuesday 14: short; the job waits until the rest is there, and starts that minute
  - { event: JOB_TRIGGERED, pipeline: crypto-silver, date: "2026-03-03T14", at: 2026-03-03T15:17:00Z, within: 5s, count: 1 }
  - { run: { pipeline: crypto-silver, date: "2026-03-03T14" }, status: COMPLETED, attempt: 0, slaVerdict: MET }
  # Wednesday 03: wrong; no job, a breach, and a second attempt when bronze is mended
  - { event: VALIDATION_EXHAUSTED, pipeline: crypto-silver, date: "2026-03-04T03", at: 2026-03-04T04:50:00Z, within: 5s, count: 1 }
  - { run: { pipeline: crypto-silver, date: "2026-03-04T03" }, status: COMPLETED, attempt: 1, slaVerdict: BREACHED }
  - { launches: crypto-silver, date: "2026-03-04T03", count: 1 }
  # Thursday 18: USGS corrects its count; the hour runs again, the day's report comes later and runs once
  - { event: POST_RUN_DRIFT, date: "2026-03-05T18", count: 1 }
  - { launches: earthquake-silver, date: "2026-03-05T18", count: 2 }
  - { launches: earthquake-gold, date: "2026-03-05", count: 1 }
  # Thursday night: the controller is down; what landed meanwhile runs when it is back
  - { event: WATCHDOG_RECOVERED, count: 1 }
  - { event: SLA_BREACH, date: "2026-03-05T22", count: 2 }
  - { run: { pipeline: earthquake-silver, date: "2026-03-05T22" }, status: COMPLETED, slaVerdict: BREACHED }
  # Saturday 05: absent; said to be so, and nothing ran
  - { event: SLA_BREACH, pipeline: crypto-silver, date: "2026-03-07T05", at: 2026-03-07T06:30:00Z, within: 5s, count: 1 }
  - { launches: crypto-silver, date: "2026-03-07T05", count: 0 }
  - { launches: crypto-gold, date: "2026-03-07T05", count: 0 }

timeline:
"""

REGIONS = (
    "sensor: { pipeline: earthquake-gold, key: regions, "
    'data: { updatedAt: "2026-02-20T12:00:00Z", count: 754 } }'
)
OUTAGE = "outage: 2h"


def week() -> str:
    """The whole file."""
    entries = [
        (FIRST - timedelta(minutes=20), REGIONS),
        (FIRST + timedelta(days=3, hours=22, minutes=30), OUTAGE),
    ]
    for hour in HOURS:
        entries += _earthquakes(hour) + _prices(hour)
    entries.sort(key=lambda entry: entry[0])
    until = FIRST + timedelta(days=7, hours=1)
    lines = [f"  - {{ at: {at:%Y-%m-%dT%H:%M:%SZ}, {what} }}" for at, what in entries if at < until]
    return HEAD + "\n".join(lines) + "\n"


def _earthquakes(hour: datetime) -> list[tuple[datetime, str]]:
    label, count = f"{hour:%Y-%m-%dT%H}", 30 + hour.hour * hour.day % 25
    usual = [(int(COMPLETE / timedelta(minutes=1)), f"loads: 3, count: {count}")]
    found = _readings("earthquake-silver", hour, usual)
    again = CORRECTED.get(label, count + 2)
    return [*found, (hour + RECOUNT, _reading("earthquake-silver", label, f"loads: 3, count: {again}"))]


def _prices(hour: datetime) -> list[tuple[datetime, str]]:
    usual = [(int(COMPLETE / timedelta(minutes=1)), f"count: {295 + hour.hour % 9}, nullPrices: 0")]
    return _readings("crypto-silver", hour, usual)


def _readings(
    pipeline: str, hour: datetime, usual: list[tuple[int, str]]
) -> list[tuple[datetime, str]]:
    label = f"{hour:%Y-%m-%dT%H}"
    return [
        (hour + timedelta(minutes=minutes), _reading(pipeline, label, fields))
        for minutes, fields in INSTEAD.get((pipeline, label), usual)
    ]


def _reading(pipeline: str, label: str, fields: str) -> str:
    return (
        f"sensor: {{ pipeline: {pipeline}, key: hourly-status#{label}, "
        f"data: {{ complete: true, {fields} }} }}"
    )


if __name__ == "__main__":
    PLACE.write_text(week(), encoding="utf-8")
