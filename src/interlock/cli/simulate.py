"""Simulate: play scenario files, or random worlds, against the real controller on a virtual clock."""

import sys
from pathlib import Path

import click
import msgspec
from click.core import ParameterSource

from interlock.cli.exits import Exit
from interlock.cli.json_answers import json_option
from interlock.cli.progress import Step, progress, working
from interlock.cli.shown import document, printable
from interlock.domain.timestamp import spell
from interlock.errors import ConfigError
from interlock.simulation.play import (
    PAIRS,
    FaultOptions,
    Played,
    PlayedScenario,
    play,
    play_with_faults,
    played_scenario,
)
from interlock.simulation.random_play import BrokenWorld, play_random
from interlock.simulation.scenario import Scenario, load_scenario

_FAULTS = "--faults"


class SimulateAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Every scenario, in the order given."""

    scenarios: list[PlayedScenario]


class RandomAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """How many random worlds were asked for, from which seed, and the first that broke, if one did."""

    worlds: int
    seed: int
    broken: BrokenWorld | None


class _Simulate(click.Command):
    """Parses `--faults` with or without a number; anything else after it is a file."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, _with_depth(args))


def _with_depth(args: list[str]) -> list[str]:
    found: list[str] = []
    for arg in args:
        if found[-1:] == [_FAULTS]:
            found[-1] = f"{_FAULTS}={arg if arg.isdigit() else 1}"
            if arg.isdigit():
                continue
        found.append(arg)
    return [f"{_FAULTS}=1" if arg == _FAULTS else arg for arg in found]


@click.command("simulate", cls=_Simulate)
@click.argument("files", nargs=-1, metavar="FILE...", type=click.Path(path_type=Path))
@click.option(
    _FAULTS,
    "depth",
    type=click.IntRange(1, 2),
    metavar="[DEPTH]",
    help="Also crash after each write, and fail each call once; with 2, also pairs of such faults.",
)
@click.option(
    "--pairs",
    type=click.IntRange(1),
    default=PAIRS,
    show_default=True,
    help="With --faults 2: how many pairs to draw, besides all pairs within one step.",
)
@click.option("--random", "count", type=click.IntRange(1), help="Play this many random worlds.")
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="The seed of the random worlds, and of the pairs of faults drawn.",
)
@json_option(SimulateAnswer, others={"--random": RandomAnswer})
@click.option("--quiet", is_flag=True, help="Print only what failed, and the summary.")
@click.pass_context
def command(
    context: click.Context,
    files: tuple[Path, ...],
    depth: int | None,
    pairs: int,
    count: int | None,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Play scenarios in a virtual world: real controller, virtual clock, scripted jobs.

    A month takes seconds. Exits 1 when an expectation or an invariant fails.
    """
    if depth != 2 and context.get_parameter_source("pairs") is not ParameterSource.DEFAULT:
        raise click.UsageError("--pairs needs --faults 2")
    if count is not None and (files or depth is not None):
        raise click.UsageError("--random can't be combined with files or --faults")
    if count is not None:
        sys.exit(_random(count, seed, as_json, quiet))
    if not files:
        raise click.UsageError("name at least one scenario file, or use --random N")
    how = None if depth is None else FaultOptions(depth=depth, pairs=pairs, seed=seed)
    played = _play(files, how, as_json, quiet)
    if as_json:
        document(SimulateAnswer(scenarios=played))
    sys.exit(Exit.FINE if all(each.ok for each in played) else Exit.FOUND_PROBLEMS)


def _play(
    files: tuple[Path, ...], how: FaultOptions | None, as_document: bool, quiet: bool
) -> list[PlayedScenario]:
    documents = []
    for path in files:
        try:
            played = _played(load_scenario(path), how, as_document or quiet)
        except ConfigError as error:
            documents.append(_unreadable(path, error, as_document))
            continue
        documents.append(played_scenario(played))
        if not as_document:
            _show(path, played, quiet, meant_faults=how is not None)
    if not as_document:
        held = sum(each.ok for each in documents)
        click.echo(f"{held} passed, {len(documents) - held} failed")
    return documents


def _played(scenario: Scenario, how: FaultOptions | None, silent: bool) -> Played:
    name = printable(scenario.name)
    if how is None:
        with working(f"playing {name}", silent):
            return play(scenario)
    with progress(f"faults of {name}", stride=10, quiet=silent) as step:
        return play_with_faults(scenario, how if step is None else how.telling(step))


def _unreadable(path: Path, error: ConfigError, as_document: bool) -> PlayedScenario:
    if not as_document:
        click.echo(str(error), err=True)
    lines = str(error).splitlines()
    return PlayedScenario(name=str(path), ok=False, failed=lines)


def _show(path: Path, played: Played, quiet: bool, meant_faults: bool) -> None:
    mark = click.style("ok", fg="green") if played.ok else click.style("FAILED", fg="red")
    if not quiet:
        click.echo(f"\n{printable(played.scenario.name)}")
        for event in sorted(played.outcome.events, key=lambda event: event.timestamp):
            where = f"{event.pipeline_id or '-'} {event.date or '-'}"
            click.echo(
                f"  {spell(event.timestamp)}  {where:32}  {event.type:26}  {printable(event.message)}"
            )
    click.echo(f"{mark}  {path}{_faults_of(played, meant_faults)}")
    for problem in played.failed:
        click.echo(f"    {printable(str(problem))}")


def _faults_of(played: Played, meant_faults: bool) -> str:
    if meant_faults and not played.branches and not played.ok:
        return ", faults skipped: it fails without them"
    with_faults = f", {played.branches} faults" if played.branches else ""
    return with_faults + (f", {played.pairs} pairs" if played.pairs else "")


def _random(count: int, seed: int, as_json: bool, quiet: bool) -> Exit:
    """Stop at the first world that breaks an invariant, and print the smallest scenario that shows it."""
    with progress("random worlds", stride=1, quiet=as_json or quiet) as step:
        found = _first_broken(count, seed, step)
    if as_json:
        document(RandomAnswer(worlds=count, seed=seed, broken=found))
    elif found is None:
        click.echo(f"{count} random worlds from seed {seed}: nothing broke")
    else:
        click.echo(f"# seed {found.seed} breaks:")
        for problem in found.problems:
            click.echo(f"#   {problem}")
        click.echo(found.text)
    return Exit.FINE if found is None else Exit.FOUND_PROBLEMS


def _first_broken(count: int, seed: int, step: Step | None) -> BrokenWorld | None:
    for position in range(count):
        if step is not None:
            step(position, count)
        found = play_random(seed + position)
        if found is not None:
            return found
    return None
