"""Baseline: the post-run readings as the job of an attempt saw them."""

import msgspec

from interlock.domain.run import Evidence


class Baseline(msgspec.Struct, frozen=True, rename="camel"):
    """The post-run readings as the job of an attempt saw them."""

    attempt: int
    readings: dict[str, Evidence]
