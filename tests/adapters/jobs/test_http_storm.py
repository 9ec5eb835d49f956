"""A thousand launches over a connection that breaks at random: no job twice, none lost."""

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from adapters.jobs.job_samples import a_context, a_job, surroundings
from adapters.jobs.stand_in import Reply, Seen, StandIn
from interlock.adapters.jobs.by_type import JobsByType
from interlock.domain.job import JobContext, Launched
from interlock.errors import LaunchError, TransientError

LAUNCHES = 1000
MOST_TRIES = 40


def test_a_thousand_launches_over_a_breaking_connection(tmp_path: Path, stand_in: StandIn) -> None:
    chance = random.Random(20260303)

    def fault(seen: Seen) -> Reply | None:
        """Lose the request, or the answer after the work was done."""
        roll = chance.random()
        if roll < 0.15:
            return Reply(None, after=True)
        return Reply(None) if roll < 0.25 else None

    stand_in.fault = fault
    jobs = JobsByType(surroundings(tmp_path))
    pipeline = a_job(
        "http",
        url=f"{stand_in.url}/jobs/hang",
        statusUrl=f"{stand_in.url}/runs/${{JOB_RUN_ID}}",
    )

    def launch_at_last(context: JobContext) -> str:
        """As the trigger does: look first, once it can't be the first try any more."""
        for attempt in range(MOST_TRIES):
            try:
                found = jobs.find(pipeline, context) if attempt else None
                if isinstance(found, Launched):
                    return found.run_id
                return jobs.launch(pipeline, context).run_id
            except TransientError:
                pass
            except LaunchError as error:
                if error.category != "TRANSIENT":
                    raise
        raise AssertionError("never launched")

    contexts = [a_context(attempt) for attempt in range(LAUNCHES)]
    with ThreadPoolExecutor(4) as pool:
        run_ids = list(pool.map(launch_at_last, contexts))
    assert run_ids == [context.token for context in contexts]
    assert stand_in.starts == dict.fromkeys(run_ids, 1)
    assert len(stand_in.seen) > 1.2 * LAUNCHES  # it did break
