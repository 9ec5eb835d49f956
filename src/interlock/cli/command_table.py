"""Commands: the table of all commands, each imported only when it is called."""

from importlib import import_module

import click

#: Name, module below `interlock.cli`, and the line that `--help` shows.
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("init", "Write a working project with one commented pipeline."),
    "validate": ("validate", "Check pipeline files: every problem at once."),
    "schema": ("schema", "Print the JSON Schema of a kind of file."),
    "serve": ("serve", "Run the controller: API, engine, timers, watchdog, alerts."),
    "token": ("token", "Create, list and revoke API tokens."),
    "demo": ("demo", "Watch a controller at work, with simulated sources."),
    "simulate": ("simulate", "Play scenarios on a virtual clock, with faults if you like."),
    "compile": ("compile", "Write all pipelines as checked JSON."),
    "sensor": ("sensor", "Write and list readings."),
    "status": ("status", "All pipelines at a glance, and whether the watchdog is awake."),
    "why": ("why", "Why a date has or hasn't run, and what would unblock it."),
    "runs": ("runs", "The history of runs."),
    "run": ("run", "The timeline of one run."),
    "events": ("events", "The event log."),
    "rerun": ("rerun", "Ask for a date to run again."),
    "backfill": ("backfill", "Run a range of dates, a few at a time."),
    "pause": ("pause", "Hold a pipeline back."),
    "resume": ("resume", "Let a paused pipeline go on."),
    "retire": ("retire", "Take a pipeline away whose file is missing."),
    "watchdog": ("watchdog", "One pass of the watchdog now, and what each check found."),
    "job": ("job", "Try a pipeline's job once, or see the request it would send."),
    "alert": ("alert", "Send a test message by a route of alerts."),
    "backup": ("backup", "Copy the state file while it is in use."),
    "prune": ("prune", "Remove what has expired, and old runs if asked to."),
    "doctor": ("doctor", "Check the installation; every finding with its remedy."),
}


class LazyCommands(click.Group):
    """A group that knows the names of its commands and imports them late.

    A command's module holds a function or group named `command`.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _ = COMMANDS[cmd_name]
        command: click.Command = import_module(f"interlock.cli.{module}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("LazyCommands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])
