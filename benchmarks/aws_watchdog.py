"""AWS watchdog: the requests of a quiet pass over 1,000 pipelines, counted on stand-ins of the services."""

import contextlib
import io
import sys
from pathlib import Path

from benchmarks.figures import tell

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from aws.fleet import Fleet

#: Two rounds: a pipeline has its turn in every third pass.
_PASSES = 6


def main() -> None:
    fleet = Fleet(daily=700, hourly=300)
    with contextlib.redirect_stdout(io.StringIO()):
        first, *quiet = fleet.passes(1 + _PASSES)
    most = max(quiet, key=lambda each: each.total())
    line = f"at most {most.total()} requests a pass; {first.total()} in the first, which reads everything"
    tell("aws_watchdog", "<= 1,500 requests", line, most=dict(most), first=dict(first))


if __name__ == "__main__":
    main()
