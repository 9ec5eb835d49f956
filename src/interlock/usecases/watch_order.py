"""Watch order: in which order the watchdog looks at pipelines, and at which of them more closely."""

import zlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from interlock.domain.config import Config
from interlock.domain.watchdog_state import WatchdogState

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def in_order(configs: Iterable[Config], state: WatchdogState, now: datetime) -> list[Config]:
    """Lagging pipelines come first, the longest first; then all from where the last pass left off."""
    first = state.left_at or ""

    def place(config: Config) -> tuple[datetime, bool, str]:
        name = config.pipeline.id
        return state.lagging.get(name, now), name < first, name

    return sorted(configs, key=place)


def in_turn(
    configs: Iterable[Config], state: WatchdogState, now: datetime, every: timedelta
) -> set[str]:
    """The pipelines whose readings and requests are compared with what they led to.

    Each pipeline has its moment, spread over `every`. A pipeline that is suspected of a problem, lags
    behind, or has a new file does not wait for it; after a gap the moment of every pipeline has passed.
    """
    since = state.since
    if since is None or not every:
        return {config.pipeline.id for config in configs}
    suspected = {name.split("/", 1)[0] for name in state.suspects}
    at_once = suspected | state.lagging.keys()
    return {
        config.pipeline.id
        for config in configs
        if config.pipeline.id in at_once
        or config.adopted_at > since
        or _round(config.pipeline.id, now, every) > _round(config.pipeline.id, since, every)
    }


def _round(pipeline_id: str, moment: datetime, every: timedelta) -> int:
    """How many turns of a pipeline come before this instant."""
    own = timedelta(seconds=zlib.crc32(pipeline_id.encode()) % every.total_seconds())
    return (moment - _EPOCH - own) // every
