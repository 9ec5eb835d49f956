"""Commands: the table of all commands, each imported only when it is called."""

from importlib import import_module
from typing import Any

import click

from interlock.cli.exits import interruptible

#: Name, module below `interlock.cli`, and the line that `--help` shows.
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("init", "Write a working project with one commented pipeline."),
    "validate": ("validate", "Check pipeline files: every problem at once."),
    "schema": ("schema", "Print the JSON Schema of a file, or of a command's output."),
    "serve": ("serve", "Run the controller: API, engine, timers, watchdog, alerts."),
    "token": ("token", "Create, list and revoke API tokens."),
    "demo": ("demo", "Watch a controller run with simulated sources."),
    "simulate": ("simulate", "Play scenarios on a virtual clock, optionally with faults."),
    "compile": ("compile", "Write all pipelines as validated JSON."),
    "sensor": ("sensor", "Write and list readings."),
    "status": ("status", "Show all pipelines, and whether the watchdog is running."),
    "why": ("why", "Explain why a date has or hasn't run, and what would unblock it."),
    "runs": ("runs", "List past and current runs."),
    "run": ("run", "Show the timeline of one run."),
    "logs": ("logs", "Show what the job of a run printed."),
    "events": ("events", "Show the event log."),
    "audit": ("audit", "Show who asked for what, why, and what came of it."),
    "rerun": ("rerun", "Request that a date run again."),
    "cancel": ("cancel", "End the run of a date, and ask its job to stop."),
    "skip": ("skip", "Say that dates need not run."),
    "unskip": ("unskip", "Expect a skipped date again."),
    "mark": ("mark", "State the outcome of a run by hand."),
    "backfill": ("backfill", "Run a range of dates, a few at once."),
    "backfills": ("backfills", "List backfills; show, pause, resume or cancel one."),
    "pause": ("pause", "Pause a pipeline."),
    "resume": ("resume", "Resume a paused pipeline."),
    "retire": ("retire", "Retire a pipeline whose file is missing."),
    "watchdog": ("watchdog", "Run a pass of the watchdog now, and show what each check found."),
    "job": ("job", "Try a pipeline's job once, or show the request it would send."),
    "alert": ("alert", "Show alert routes, acknowledge and snooze alerts, test their delivery."),
    "backup": ("backup", "Copy the state file while it is in use."),
    "prune": ("prune", "Remove expired data, and old runs on request."),
    "completion": (
        "completion",
        "Print or install the completion script of your shell.",
    ),
    "man": ("man", "Print or install the manual page."),
    "doctor": ("doctor", "Check the installation; every finding comes with a remedy."),
}


def _accept_options(command: click.Command) -> None:
    """Let a command and its subcommands take the options of `interlock` as well, where they have no
    option of that name.
    """
    taken = {name for each in command.params for name in each.opts}
    for option in (
        click.Option(["--project"], metavar="DIR"),
        click.Option(["--backend"], type=click.Choice(["local", "aws"])),
        click.Option(["--debug"], is_flag=True, default=None),
    ):
        if not taken & set(option.opts):
            option.hidden, option.expose_value, option.callback = True, False, _take_option
            command.params.append(option)
    if isinstance(command, click.Group):
        for each in command.commands.values():
            _accept_options(each)


def _take_option(context: click.Context, option: click.Parameter, value: Any) -> None:
    if value is not None and option.name is not None:
        context.obj = context.obj._replace(**{option.name: value})


class LazyCommands(click.Group):
    """A group that knows the names of its commands and imports them lazily.

    A command's module holds a function or group named `command`.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _ = COMMANDS[cmd_name]
        command: click.Command = import_module(f"interlock.cli.{module}").command
        _accept_options(command)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        with interruptible():
            return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """An unknown name is answered with the one that was meant."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from interlock.domain.suggestion import did_you_mean

            hint = did_you_mean(args[0], COMMANDS) or "`interlock --help` lists all"
            ctx.fail(f"there is no command {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])
