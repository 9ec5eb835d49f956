"""The catalogue and the code agree: what a row lists is published."""

import re
from pathlib import Path

import pytest

import interlock
from interlock.domain.event import EventType

_SOURCES = {
    path: path.read_text()
    for path in Path(interlock.__file__).parent.rglob("*.py")
    if path.name != "event.py"
}
#: Made outside of this code: an EventBridge input transformer makes it of a CloudWatch alarm.
_ELSEWHERE = {EventType.INFRA_ALARM}
_ORIGINS = {kind.spec.twin: kind for kind in EventType if kind.spec.twin is not None}
_OURS = [kind for kind in EventType if kind not in _ELSEWHERE]


def _tellers(kind: EventType) -> str:
    """The text of every module that tells of a type, or of the one that it is the dry-run twin of."""
    names = {f"EventType.{kind}", f"EventType.{_ORIGINS.get(kind, kind)}"}
    return "\n".join(text for text in _SOURCES.values() if any(name in text for name in names))


@pytest.mark.parametrize("kind", _OURS)
def test_every_type_is_published_somewhere(kind: EventType) -> None:
    assert _tellers(kind)


@pytest.mark.parametrize(
    ("kind", "key"), [(kind, key) for kind in _OURS for key in kind.spec.detail]
)
def test_every_detail_that_a_row_lists_is_published(kind: EventType, key: str) -> None:
    assert re.search(rf'\b{key}=|"{key}"', _tellers(kind))
