"""Attack a real server for some seconds, and go through the books.

python -m attack SECONDS [--seed N] [--only NAME,...] [--without NAME,...] [--keep FOLDER]      (in tests/)
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from attack.play import ATTACKERS, SETTLE, Plan, Play


def main() -> int:
    given = _parser().parse_args()
    kinds = frozenset(given.only or ATTACKERS) - frozenset(given.without)
    plan = Plan(given.seconds, given.seed, kinds, given.pause, given.settle)
    _say(f"{plan.seconds:.0f}s, seed {plan.seed}: {', '.join(sorted(kinds)) or 'readings alone'}\n")
    if given.keep is not None:
        return _play(plan, given.keep)
    with tempfile.TemporaryDirectory() as folder:
        return _play(plan, Path(folder))


def _play(plan: Plan, folder: Path) -> int:
    found = Play(plan, folder, _say).run()
    for problem in found:
        _say(f"PROBLEM: {problem}\n")
    return 1 if found else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="attack", description=__doc__)
    parser.add_argument("seconds", type=float)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", type=_names, default=(), help=", ".join(ATTACKERS))
    parser.add_argument("--without", type=_names, default=())
    parser.add_argument("--pause", type=float, default=0.6, help="between two readings, in seconds")
    parser.add_argument("--settle", type=float, default=SETTLE, help="how long dates may take")
    parser.add_argument("--keep", type=Path, help="a new folder for the projects, which stays")
    return parser


def _names(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    unknown = sorted(set(names) - set(ATTACKERS))
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown attacker: {', '.join(unknown)}")
    return names


def _say(line: str) -> None:
    sys.stdout.write(line)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
