"""Page request: a request for a page, admitted by the gate and parsed."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from interlock.domain.callers import Scope
from interlock.domain.config import Config
from interlock.web.access import Caller
from interlock.web.api.context import ApiContext

Text = Annotated[str, Meta(max_length=200)]
Cursor = Annotated[str, Meta(max_length=2000)]
#: A date label, the beginning of one, or nothing.
DayBound = Annotated[str, Meta(pattern=r"^([0-9T:-]{4,16})?$(?!\n)")]
Number = Annotated[int, Meta(ge=0, le=1_000_000)]

#: The variables of a template.
Shown = dict[str, Any]


class NoPageQuery(msgspec.Struct, frozen=True, kw_only=True):
    """No query parameters. Pages ignore parameters they don't know."""


class PageRequest(msgspec.Struct, frozen=True):
    """The caller and the request; `now` is the same for the whole page."""

    context: ApiContext
    caller: Caller
    path: dict[str, str]
    query: Any
    now: datetime
    #: When this browser looked last; None when that is unknown, and on pages that don't ask.
    looked_at: datetime | None = None

    def may_operate(self, pipeline_id: str) -> bool:
        """Whether to show the forms: the caller may submit them, and the server is not read-only."""
        return not self.context.only_reads and self.caller.may(Scope.OPERATE, pipeline_id)

    def may_observe(self, pipeline_id: str) -> bool:
        """The same for readings."""
        return not self.context.only_reads and self.caller.may(Scope.OBSERVE, pipeline_id)


@dataclass(frozen=True)
class PageRow:
    """A page: its path, the function that builds it, and its template."""

    path: str
    template: str
    build: Callable[[PageRequest], Shown]
    query: type[msgspec.Struct] = NoPageQuery
    #: Whether it shows what happened since the reader looked last.
    since_looked: bool = False


class PipelineSelection(msgspec.Struct, frozen=True):
    """The pipelines in force that match a search, one page at a time."""

    configs: list[Config]
    total: int
    start: int
    size: int

    @property
    def before(self) -> int | None:
        return max(0, self.start - self.size) if self.start else None

    @property
    def after(self) -> int | None:
        end = self.start + self.size
        return end if end < self.total else None


def found_pipelines(
    asked: PageRequest,
    wanted: str,
    start: int,
    size: int,
    which: Callable[[Config], bool] | None = None,
) -> PipelineSelection:
    """Match id, owner or tags; every word must occur in one of them."""
    words = wanted.lower().split()
    configs = [
        config
        for config in asked.context.backend.ports.pipelines.in_force()
        if (which is None or which(config)) and (not words or _holds(config, words))
    ]
    start = min(start, max(0, len(configs) - 1) // size * size)
    return PipelineSelection(configs[start : start + size], len(configs), start, size)


def _holds(config: Config, words: list[str]) -> bool:
    identity = config.pipeline.pipeline
    tags = " ".join(f"{name}:{value}" for name, value in identity.tags.items())
    text = f"{identity.id} {identity.owner or ''} {tags}".lower()
    return all(word in text for word in words)
