"""Init: a working project, with one pipeline whose comments explain what to change."""

from pathlib import Path

import click

from interlock.cli.options import Options
from interlock.errors import ConfigError


@click.command("init")
@click.argument("folder", required=False, metavar="[DIR]", type=click.Path(path_type=Path))
@click.pass_obj
def command(options: Options, folder: Path | None) -> None:
    """Write a working project with one commented pipeline into DIR. Overwrites nothing."""
    root = folder or Path(options.project)
    existing = [name for name in FILES if (root / name).exists() and name != _IGNORED]
    if existing:
        raise ConfigError(
            f"{root / existing[0]} already exists, and init overwrites nothing.\n"
            "Choose a new or empty folder: interlock init DIR"
        )
    for name, text in FILES.items():
        if name == _IGNORED and (root / name).exists():
            click.echo(f"left {root / name} as it is: add .interlock/ to it")
            continue
        _write(root / name, text)
        click.echo(f"wrote {root / name}")
    click.echo(f"Next: interlock validate {root}")


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ConfigError(f"can't write {path}: {error.strerror}") from error


_PIPELINE = """\
# One file per pipeline. `interlock validate` reports every problem at once;
# `interlock schema > schema.json` and the next line let an editor check while you type.
# yaml-language-server: $schema=../schema.json

pipeline:
  id: silver-orders # the identity; you may rename the file
  owner: data-platform
  description: Cleans yesterday's orders.

schedule:
  timezone: Europe/Berlin
  trigger: # the reading that opens a run
    key: orders-landed
    check: exists
    deadline: "09:00" # after this, no run opens by itself
  exclude:
    weekends: true
    calendar: closing-days # calendars/closing-days.yaml
  evaluation:
    window: 1h # how long the rules may take to hold
    interval: 5m # how often they are judged

sla:
  deadline: "10:00" # of the day after the run's date, see dayOffset
  expectedDuration: 30m # warn that long before

validation: # what must be true before the job may start
  trigger: ALL
  rules:
    - { key: orders-landed, check: gte, field: count, value: 1000 }
    - { key: orders-landed, check: age_lt, field: updatedAt, value: 6h }

job:
  type: command # or http, airflow, glue, emr, emr-serverless, step-function, databricks, lambda
  config:
    command: [echo, "cleaning orders of ${DATE}"]
    timeout: 10m
  maxRetries: 2

postRun: # keep watching after completion
  driftField: count
  driftThreshold: 100
  rules:
    - { key: orders-audit, check: gte, field: count, value: 1000 }
"""

_CALENDAR = """\
# Days without runs, for every schedule that names this calendar.
name: closing-days
dates:
  - 2026-12-24
  - 2026-12-31
"""

_SETTINGS = """\
# Settings of this installation. An environment variable wins over a line here.
# Every line is optional; the values shown are the defaults.

# state = ".interlock"
# host = "127.0.0.1"
# port = 8787
# instance = "interlock"
# execution_timeout = "4h"
# watchdog_every = "5m"
"""

_README = """\
# Pipelines

    interlock validate          # every problem of every file, at once
    interlock serve             # run the controller here
    interlock sensor put silver-orders orders-landed count=4200
    interlock why silver-orders # why it has or hasn't run

- `pipelines/` one YAML file per pipeline
- `calendars/` named days without runs
- `interlock.toml` settings of this installation
"""

_GITIGNORE = """\
# the state of a local server: never commit it
.interlock/
schema.json
"""

#: A repository often has one already.
_IGNORED = ".gitignore"

FILES: dict[str, str] = {
    "pipelines/silver-orders.yaml": _PIPELINE,
    "calendars/closing-days.yaml": _CALENDAR,
    "interlock.toml": _SETTINGS,
    "README.md": _README,
    _IGNORED: _GITIGNORE,
}
