"""Manner: what a sink can do and wants."""

from datetime import timedelta

import msgspec


class Manner(msgspec.Struct, frozen=True):
    """What a sink can do and wants: threads, a pace, and when to try again."""

    threaded: bool = False
    paced: bool = False
    delays: tuple[timedelta, ...] = ()
