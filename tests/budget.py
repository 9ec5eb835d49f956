"""Budget: how much the costliest tests try. `make test` tries a sample, `make check` all of it."""

import os

FULL = os.environ.get("INTERLOCK_TEST_BUDGET") == "full"


def budget(full: int, sample: int) -> int:
    return full if FULL else sample
