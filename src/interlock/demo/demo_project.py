"""Demo project: its files. Each pipeline has a story, which its file and its source tell together.

A job is a small script that prints what it does. It pauses for as long as DEMO_PAUSE says: in the past,
which is played at once, not at all.
"""

from datetime import date
from pathlib import Path
from string import Template

_EARTHQUAKE_SILVER = """\
# One clean table per hour, as soon as bronze reports all three loads.
pipeline:
  id: earthquake-silver
  owner: seismology
  tags: { layer: silver, source: usgs }

schedule:
  trigger: { key: hourly-status, check: exists } # hourly-status#2026-03-02T09
  evaluation: { window: 3h, interval: 15m }

sla:
  maxDuration: 3h
  expectedDuration: 10m

validation:
  rules:
    - { key: hourly-status, check: equals, field: loads, value: 3 }
    - { key: hourly-status, check: gte, field: count, value: 1 }

job:
  type: command
  config:
    command:
      - sh
      - -c
      - |
        echo "reading bronze of $$INTERLOCK_LABEL: 3 loads"
        sleep "$$$${DEMO_PAUSE:-2}"
        echo "merged 1 hour, removed 4 duplicates"
  maxRetries: 2

postRun: # USGS corrects its numbers: a difference of more than 20 quakes merges the hour again
  driftField: count
  driftThreshold: 20
  rules:
    - { key: hourly-status, check: gte, field: count, value: 1 }
"""

_EARTHQUAKE_GOLD = """\
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
    command: [sh, -c, 'sleep "$$$${DEMO_PAUSE:-2}"; echo "report of $$INTERLOCK_DATE: 24 hours, 5 regions"']
"""

_CRYPTO_SILVER = """\
# One clean table per hour: at least 250 coins, and a price for each of them.
pipeline:
  id: crypto-silver
  owner: markets
  description: The number of coins sags for hours before it is too low.
  tags: { layer: silver, source: coinlore }

schedule:
  trigger: { key: hourly-status, check: exists }
  evaluation: { window: 3h, interval: 15m }

sla:
  maxDuration: 2h
  expectedDuration: 10m

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
        echo "loading prices of $$INTERLOCK_LABEL"
        sleep "$$$${DEMO_PAUSE:-2}"
        case "$$INTERLOCK_LABEL/$$INTERLOCK_ATTEMPT" in
          *T08/0) echo "out of memory after 180 coins" >&2; exit 75 ;;
        esac
        echo "merged the prices"
  maxRetries: 2
  maxDriftReruns: 2
"""

_CRYPTO_GOLD = """\
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
    command: [sh, -c, 'echo "summary of $$INTERLOCK_LABEL"']
  maxDriftReruns: 2
"""

_FRAUD_SCORES = """\
# A batch of payments every minute: watch this one.
pipeline:
  id: fraud-scores
  owner: payments
  description: A batch every minute. Some are short at first, and some jobs fail once.
  tags: { layer: silver, source: payments }

schedule:
  trigger: { key: batch, check: exists } # batch#2026-03-02T09:41
  evaluation: { window: 5m }

sla:
  maxDuration: 90s
  expectedDuration: 45s

validation:
  rules:
    - { key: batch, check: gte, field: payments, value: 900 }

job:
  type: command
  config:
    # the model is not loaded yet at minutes that end in 6
    command:
      - sh
      - -c
      - |
        echo "scoring the payments of $$INTERLOCK_LABEL"
        for part in 1 2 3 4 5; do
          sleep "$$$${DEMO_PAUSE:-1}"
          echo "part $$part of 5: done"
        done
        case "$$INTERLOCK_LABEL/$$INTERLOCK_ATTEMPT" in
          *6/0) echo "the model is not loaded yet" >&2; exit 75 ;;
        esac
        echo "3 payments look like fraud"
  maxRetries: 2
  pollInterval: 10s
"""

_CLICKSTREAM = """\
# The visits of every minute.
pipeline:
  id: clickstream-sessions
  owner: web
  tags: { layer: silver, source: clicks }

schedule:
  trigger: { key: window, check: exists }
  evaluation: { window: 5m }

sla:
  maxDuration: 90s
  expectedDuration: 45s

validation:
  rules:
    - { key: window, check: equals, field: closed, value: true }

job:
  type: command
  config:
    command: [sh, -c, 'sleep "$$$${DEMO_PAUSE:-3}"; echo "412 sessions in $$INTERLOCK_LABEL"']
  pollInterval: 10s
"""

_CLICKSTREAM_REPORT = """\
# Each minute of visits becomes a line of the report at once.
pipeline:
  id: clickstream-report
  owner: web
  tags: { layer: gold, source: clicks }

schedule:
  trigger: { pipeline: clickstream-sessions }

validation:
  rules:
    - { key: "pipeline:clickstream-sessions", check: exists }

job:
  type: command
  config:
    command: [sh, -c, 'echo "added $$INTERLOCK_LABEL to the report"']
"""

_CARD_SETTLEMENT = """\
# The settlement with the card company: today's job hangs, and a person has to cancel it.
pipeline:
  id: card-settlement
  owner: payments
  description: Today's job waits for a lock that is never released. Cancel it.
  tags: { layer: gold, source: cards }

schedule:
  trigger: { key: settlement-file, check: exists }

validation:
  rules:
    - { key: settlement-file, check: gte, field: rows, value: 1 }

sla:
  maxDuration: 1h
  expectedDuration: 58m

job:
  type: command
  config:
    command:
      - sh
      - -c
      - |
        echo "settling $$INTERLOCK_DATE"
        if [ "$$INTERLOCK_DATE" = "$today" ]; then
          echo "waiting for the lock of the ledger (held by batch-7)"
          sleep 86400
        fi
        echo "settled"
    timeout: 12h
  maxRetries: 0
"""

_INVOICES_REPORT = """\
# The invoices of a day: the last report failed, and its budget for reruns is used up. A person has to decide.
pipeline:
  id: invoices-report
  owner: finance
  description: The last report failed three times. Its budget for reruns is used up; rerun it over budget.
  tags: { layer: gold, source: invoices }

schedule:
  trigger: { key: invoices, check: exists }

validation:
  rules:
    - { key: invoices, check: gte, field: rows, value: 1 }

job:
  type: command
  config:
    # this one needs a tax table, which comes too late for the first attempts
    command:
      - sh
      - -c
      - |
        echo "invoices of $$INTERLOCK_DATE, attempt $$INTERLOCK_ATTEMPT"
        case "$$INTERLOCK_DATE/$$INTERLOCK_ATTEMPT" in
          $failed/[012]) echo "there is no tax table for this month" >&2; exit 65 ;;
        esac
        echo "the report is written"
  maxRetries: 0
  maxManualReruns: 1
"""

_CUSTOMER_EXPORT = """\
# The customers for the CRM: paused, with a name and a reason.
pipeline:
  id: customer-export
  owner: sales
  description: Paused since yesterday, with a name and a reason. Resume it.
  tags: { layer: gold, source: crm }

schedule:
  trigger: { key: customers, check: exists }

validation:
  rules:
    - { key: customers, check: gte, field: rows, value: 1000 }

job:
  type: command
  config:
    command: [sh, -c, 'sleep "$$$${DEMO_PAUSE:-3}"; echo "exported the customers of $$INTERLOCK_DATE"']
"""

_SETTINGS = 'watchdog_every = "10s"\n'

_PIPELINES = {
    "earthquake-silver": _EARTHQUAKE_SILVER,
    "earthquake-gold": _EARTHQUAKE_GOLD,
    "crypto-silver": _CRYPTO_SILVER,
    "crypto-gold": _CRYPTO_GOLD,
    "fraud-scores": _FRAUD_SCORES,
    "clickstream-sessions": _CLICKSTREAM,
    "clickstream-report": _CLICKSTREAM_REPORT,
    "card-settlement": _CARD_SETTLEMENT,
    "invoices-report": _INVOICES_REPORT,
    "customer-export": _CUSTOMER_EXPORT,
}


def files(today: date, failed: date) -> dict[str, str]:
    """Every file of the project, by its path."""
    days = {"today": today.isoformat(), "failed": failed.isoformat()}
    texts = {
        f"pipelines/{name}.yaml": Template(text).substitute(days)
        for name, text in _PIPELINES.items()
    }
    return {**texts, "interlock.toml": _SETTINGS}


def write_project(folder: Path, today: date, failed: date) -> None:
    for name, text in files(today, failed).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
