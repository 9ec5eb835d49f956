"""Plot: values over dates with axes; this module computes every position, in percent of its area."""

from collections.abc import Callable, Sequence
from math import ceil, floor, log10
from statistics import median

import msgspec

from interlock.domain.run import RunKey

Spell = Callable[[float], str]
#: Steps between the lines of a scale of seconds.
_SPANS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400)
_LINES = 4
#: How many dates have their label below the plot.
_LABELS = 3


class Measured(msgspec.Struct, frozen=True):
    """A value on a date; with a key where the date has a run."""

    date: str
    value: float
    key: RunKey | None = None
    tone: str = "busy"


class PlotLine(msgspec.Struct, frozen=True):
    """A horizontal line: of the scale, or a bound that is drawn into it."""

    y: float
    text: str


class PlotPoint(msgspec.Struct, frozen=True):
    x: float
    y: float
    text: str
    measured: Measured


class Plot(msgspec.Struct, frozen=True, kw_only=True):
    """A plot as it is drawn. `unit` says what its values are."""

    name: str
    title: str
    unit: str
    points: list[PlotPoint]
    lines: list[PlotLine]
    bounds: list[PlotLine]
    #: The dates below the plot.
    labels: list[str]
    summary: str
    #: Whether each value is a bar that stands on zero.
    is_bars: bool = False

    @property
    def width(self) -> float:
        """Of a bar."""
        return round(70 / max(20, len(self.points)), 2)


class Axis(msgspec.Struct, frozen=True):
    """How values are spelled, whether they are seconds, and whether the scale begins at zero."""

    spell: Spell
    is_seconds: bool = False
    from_zero: bool = False


def plot(
    name: str,
    titles: tuple[str, str],
    measured: Sequence[Measured],
    axis: Axis,
    bounds: Sequence[tuple[float, str]] = (),
) -> Plot:
    """`titles` are the title and the unit. There must be a value."""
    values = [each.value for each in measured]
    ticks = scale([*values, *(at for at, _ in bounds)], axis)
    low, whole = ticks[0], ticks[-1] - ticks[0]

    def height(value: float) -> float:
        return round(100 - (value - low) / whole * 100, 2)

    step = 100 / len(measured)
    return Plot(
        name=name,
        title=titles[0],
        unit=titles[1],
        points=[
            PlotPoint(round((n + 0.5) * step, 2), height(each.value), axis.spell(each.value), each)
            for n, each in enumerate(measured)
        ],
        lines=[PlotLine(height(tick), axis.spell(tick)) for tick in ticks],
        bounds=[PlotLine(height(at), text) for at, text in bounds],
        labels=_labels([each.date for each in measured]),
        summary=_summary(values, axis.spell),
        is_bars=axis.from_zero,
    )


def scale(values: Sequence[float], axis: Axis) -> list[float]:
    """Round values that enclose all of them, the lowest first; at least two."""
    low, high = min(values), max(values)
    if axis.from_zero:
        low = min(0.0, low)
    least = (high - low) / _LINES or abs(high) / _LINES or 1.0
    if all(value == round(value) for value in values):
        least = max(1.0, least)
    step = _step(least, axis.is_seconds)
    first, last = floor(low / step), ceil(high / step)
    if first == last:
        first, last = first - (not axis.from_zero), last + 1
    return [round(n * step, 10) for n in range(first, last + 1)]


def _step(least: float, is_seconds: bool) -> float:
    """The smallest round step that is no smaller."""
    if is_seconds:
        found = next((step for step in _SPANS if step >= least), None)
        return float(found or ceil(least / _SPANS[-1]) * _SPANS[-1])
    power = 10.0 ** floor(log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least * (1 - 1e-9))


def _labels(dates: Sequence[str]) -> list[str]:
    if len(dates) <= _LABELS:
        return list(dates)
    return [dates[0], dates[len(dates) // 2], dates[-1]]


def _summary(values: Sequence[float], spell: Spell) -> str:
    newest = f"last {spell(values[-1])}"
    if len(values) < _LABELS:
        return newest
    low, middle, high = spell(min(values)), spell(median(values)), spell(max(values))
    return f"{newest}, median {middle}, from {low} to {high}"


def as_number(value: float) -> str:
    """At most six digits: `1,250`, `0.125`."""
    return f"{value:,.0f}" if value == round(value) else f"{value:,.6g}"
