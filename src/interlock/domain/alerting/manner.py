"""Manner: the capabilities and limits of a sink."""

from datetime import timedelta

import msgspec


class Manner(msgspec.Struct, frozen=True):
    """The capabilities and limits of a sink: threads, rate limit, and retry times."""

    threaded: bool = False
    paced: bool = False
    delays: tuple[timedelta, ...] = ()
