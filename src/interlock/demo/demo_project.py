"""Demo project: its files. An hour of data lasts some seconds, and every span follows from that.

The pipelines are those of the medallion example. Their deadlines count from the first reading of an hour,
not from the wall clock, which runs at its own pace.
"""

from pathlib import Path
from string import Template

_EARTHQUAKE_SILVER = Template("""\
# One clean table per hour, as soon as bronze reports all three loads.
pipeline:
  id: earthquake-silver
  owner: seismology
  tags: { layer: silver, source: usgs }

schedule:
  trigger: { key: hourly-status, check: exists } # hourly-status#2026-03-02T09
  evaluation: { window: $window, interval: 1s }

sla:
  maxDuration: $deadline
  expectedDuration: $lead

validation:
  rules:
    - { key: hourly-status, check: equals, field: loads, value: 3 }
    - { key: hourly-status, check: gte, field: count, value: 1 }

job:
  type: command
  config:
    command: [sh, -c, "sleep 1; echo merged earthquakes of $$INTERLOCK_LABEL"]
  maxRetries: 2

postRun: # USGS corrects its numbers: a difference of more than 20 quakes merges the hour again
  driftField: count
  driftThreshold: 20
  rules:
    - { key: hourly-status, check: gte, field: count, value: 1 }
""")

_EARTHQUAKE_GOLD = Template("""\
# One report per day, once every hour of the day is in silver.
pipeline:
  id: earthquake-gold
  owner: seismology
  tags: { layer: gold, source: usgs }

schedule:
  trigger: { pipeline: earthquake-silver, hours: all }

validation:
  rules:
    - { key: regions, check: age_lt, field: updatedAt, value: 30d }

job:
  type: command
  config:
    command: [sh, -c, "sleep 2; echo report of $$INTERLOCK_DATE"]
""")

_CRYPTO_SILVER = Template("""\
# One clean table per hour: at least 250 coins, and a price for each of them.
pipeline:
  id: crypto-silver
  owner: markets
  tags: { layer: silver, source: coinlore }

schedule:
  trigger: { key: hourly-status, check: exists }
  evaluation: { window: $window, interval: 1s }

sla:
  maxDuration: $deadline
  expectedDuration: $lead

validation:
  rules:
    - { key: hourly-status, check: gte, field: count, value: 250 }
    - { key: hourly-status, check: lte, field: nullPrices, value: 0 }

job:
  type: command
  config:
    # the job of 08:00 fails on its first attempt
    command:
      - sh
      - -c
      - |
        sleep 1
        case "$$INTERLOCK_LABEL/$$INTERLOCK_ATTEMPT" in
          *T08/0) echo "out of memory" >&2; exit 75 ;;
        esac
        echo "merged prices of $$INTERLOCK_LABEL"
  maxRetries: 2
  maxDriftReruns: 2
""")

_CRYPTO_GOLD = Template("""\
# Each hour of silver becomes an hour of gold at once.
pipeline:
  id: crypto-gold
  owner: markets
  tags: { layer: gold, source: coinlore }

schedule:
  trigger: { pipeline: crypto-silver }

validation:
  rules:
    - { key: "pipeline:crypto-silver", check: exists }

job:
  type: command
  config:
    command: [sh, -c, "echo summary of $$INTERLOCK_LABEL"]
  maxDriftReruns: 2
""")

_SETTINGS = 'watchdog_every = "10s"\n'

_PIPELINES = {
    "earthquake-silver": _EARTHQUAKE_SILVER,
    "earthquake-gold": _EARTHQUAKE_GOLD,
    "crypto-silver": _CRYPTO_SILVER,
    "crypto-gold": _CRYPTO_GOLD,
}

#: In hours of data: the evaluation window, the deadline of an hour, and when to warn of it.
_WINDOW, _DEADLINE, _LEAD = 4.0, 3.0, 1.0


def files(hour_seconds: float) -> dict[str, str]:
    """Every file of the project, by its path."""
    spans = {
        "window": _span(_WINDOW * hour_seconds),
        "deadline": _span(_DEADLINE * hour_seconds),
        "lead": _span(_LEAD * hour_seconds),
    }
    texts = {f"pipelines/{name}.yaml": each.substitute(spans) for name, each in _PIPELINES.items()}
    return {**texts, "interlock.toml": _SETTINGS}


def write_project(folder: Path, hour_seconds: float) -> None:
    for name, text in files(hour_seconds).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _span(seconds: float) -> str:
    return f"{max(1, round(seconds))}s"
