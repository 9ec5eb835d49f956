"""Routing: where an event goes."""

from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase

from interlock.domain import duration
from interlock.domain.alerting.alert_rules import CONSOLE, Alerts, Match, Route
from interlock.domain.alerting.deliveries import Target
from interlock.domain.event import (
    ALIASES,
    Alert,
    Event,
    EventType,
    Severity,
    is_told_elsewhere,
)

_SEVERITIES = list(Severity)
#: What is an alert by default, by whether the event is only for information.
_TOLD = {
    True: (Alert.YES, Alert.OTHER_SINKS),
    False: (Alert.YES, Alert.OTHER_SINKS, Alert.FROM_WARNING),
}


def targets_of(event: Event, alerts: Alerts, open_in: Collection[str]) -> tuple[Target, ...]:
    """The targets that get it, each once. `open_in`: the places with a thread of its date."""
    found = dict.fromkeys(
        target
        for target, asked in _candidates(event, alerts)
        if _is_told(event, asked) or (_is_in_thread(event) and target.place in open_in)
    )
    found |= dict.fromkeys(_escalated(event, alerts, open_in))
    if event.type is EventType.ALERT_UNDELIVERED:
        return _elsewhere(event, tuple(found), alerts)
    return tuple(found)


def escalations_of(event: Event, alerts: Alerts) -> dict[Target, str]:
    """Where it goes unless people act, and after how long. What ends a problem does not escalate."""
    if event.severity is Severity.INFO:
        return {}
    told = targets_of(event, alerts, ())
    found: dict[Target, str] = {}
    for route in _taken(event, alerts):
        if not _is_told(event, _asks_for_more(route, event)):
            continue
        for step in route.escalate:
            for to in step.to:
                target = alerts.target(to.sink, to.channel)
                if target not in told and _is_sooner(step.after, found.get(target)):
                    found[target] = step.after
    return found


def matches(match: Match, event: Event) -> bool:
    """Whether all given fields match."""
    if match.severity is not None and not _is_as_grave(event.severity, match.severity):
        return False
    if match.event is not None and not names_type(match.event, event.type):
        return False
    texts = [(match.pipeline, event.pipeline_id), (match.owner, event.owner)]
    texts += [(glob, event.tags.get(tag)) for tag, glob in match.tags.items()]
    return all(glob is None or _fits(glob, text) for glob, text in texts)


def names_type(glob: str, kind: EventType) -> bool:
    """Whether a glob matches a type, by its name or a former name."""
    older = (name for name, each in ALIASES.items() if each is kind)
    return any(fnmatchcase(name, glob) for name in (kind, *older))


def _candidates(event: Event, alerts: Alerts) -> Iterator[tuple[Target, bool]]:
    """Every target of the matching routes, and whether the route asks for more than default alerts."""
    taken = False
    for route in _taken(event, alerts):
        taken = True
        for to in route.to:
            yield alerts.target(to.sink, to.channel), _asks_for_more(route, event)
    if not taken:
        yield alerts.default_target, False


def _taken(event: Event, alerts: Alerts) -> Iterator[Route]:
    """The routes that it takes, in order."""
    for route in alerts.routes:
        if _takes(route, event):
            yield route
            if not route.goes_on:
                return


def _escalated(event: Event, alerts: Alerts, open_in: Collection[str]) -> Iterator[Target]:
    """The targets of escalations that heard of a problem hear of its end, whatever their route matches."""
    if not _is_in_thread(event):
        return
    for route in alerts.routes:
        for to in (to for step in route.escalate for to in step.to):
            target = alerts.target(to.sink, to.channel)
            if target.place in open_in:
                yield target


def _is_sooner(after: str, than: str | None) -> bool:
    return than is None or duration.parse(after) < duration.parse(than)


def _takes(route: Route, event: Event) -> bool:
    return matches(route.match, event) and (_asks_for_more(route, event) or _is_marked(event))


def _asks_for_more(route: Route, event: Event) -> bool:
    """What people know of already goes only to a route that names its type."""
    if route.match.event is not None:
        return True
    return route.match.severity is not None and not is_told_elsewhere(event)


def _is_marked(event: Event) -> bool:
    return _is_told(event, asked=False) or _is_in_thread(event)


def _is_told(event: Event, asked: bool) -> bool:
    """Whether it is an alert by default, or a route names it."""
    if _is_over(event) or is_told_elsewhere(event):
        return asked
    return asked or event.type.spec.alert in _TOLD[event.severity is Severity.INFO]


def _is_in_thread(event: Event) -> bool:
    return event.type.spec.alert is Alert.THREAD or _is_over(event)


def _is_over(event: Event) -> bool:
    """Whether it ends an alarm: that is sent where the alarm was sent."""
    return event.type is EventType.INFRA_ALARM and event.severity is Severity.INFO


def _elsewhere(event: Event, found: tuple[Target, ...], alerts: Alerts) -> tuple[Target, ...]:
    """The other sinks report that a sink gave up; without another, the console does."""
    broken = event.detail.get("sink")
    others = tuple(target for target in found if target.sink != broken)
    spare = tuple(target for target in (alerts.default_target, CONSOLE) if target.sink != broken)
    return others or spare[:1]


def _is_as_grave(severity: Severity, least: Severity) -> bool:
    return _SEVERITIES.index(severity) >= _SEVERITIES.index(least)


def _fits(glob: str, text: str | None) -> bool:
    return text is not None and fnmatchcase(text, glob)
