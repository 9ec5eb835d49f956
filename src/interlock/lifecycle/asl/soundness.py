"""Soundness: whether the states of a machine fit together."""

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from interlock.lifecycle.asl.state_errors import ALL
from interlock.lifecycle.asl.states import (
    Catcher,
    Choice,
    Fail,
    Pass,
    Retrier,
    State,
    Succeed,
    Task,
    Wait,
)

States = Mapping[str, State]


def problems(start_at: str, states: States) -> Iterator[str]:
    """Every problem, with its state and field."""
    if start_at not in states:
        yield f"StartAt: there is no state {start_at}"
        return
    for name, state in states.items():
        for problem in (*_dangling(state, states), *_shape(state)):
            yield f"state {name}: {problem}"
    for name in sorted(states.keys() - _reachable(start_at, states)):
        yield f"state {name}: nothing leads here"
    yield from _loops(states)


def ways_on(state: State) -> Iterator[tuple[str, str]]:
    """Each field that names a next state, with the name."""
    if isinstance(state, Task | Pass | Wait) and state.next is not None:
        yield "Next", state.next
    if isinstance(state, Task):
        yield from ((f"Catch[{n}].Next", catcher.next) for n, catcher in enumerate(state.catch))
    if isinstance(state, Choice):
        yield from ((f"Choices[{n}].Next", rule.next) for n, rule in enumerate(state.choices))
        if state.default is not None:
            yield "Default", state.default


def _dangling(state: State, states: States) -> Iterator[str]:
    for field, name in ways_on(state):
        if name not in states:
            yield f"{field}: there is no state {name}"


def _shape(state: State) -> Iterator[str]:
    if isinstance(state, Task | Pass | Wait) and (state.next is None) is not state.end:
        yield "needs either Next or End: true"
    if isinstance(state, Wait) and (state.seconds is None) is (state.seconds_path is None):
        yield "needs either Seconds or SecondsPath"
    if isinstance(state, Task):
        yield from _wildcards("Retry", state.retry)
        yield from _wildcards("Catch", state.catch)
        for n, retrier in enumerate(state.retry):
            if retrier.backoff_rate < 1:
                yield f"Retry[{n}].BackoffRate: must be at least 1"


def _wildcards(field: str, rules: Sequence[Retrier | Catcher]) -> Iterator[str]:
    for n, rule in enumerate(rules):
        if ALL in rule.error_equals and (len(rule.error_equals) > 1 or n < len(rules) - 1):
            yield f"{field}[{n}].ErrorEquals: {ALL} must stand alone, and last"


def _reachable(start_at: str, states: States) -> set[str]:
    seen: set[str] = set()
    waiting = [start_at]
    while waiting:
        name = waiting.pop()
        if name in states and name not in seen:
            seen.add(name)
            waiting.extend(target for _, target in ways_on(states[name]))
    return seen


def _loops(states: States) -> Iterator[str]:
    """A loop without a Task or a Wait would trap the interpreter forever."""
    silent = {
        name: {target for _, target in ways_on(state)}
        for name, state in states.items()
        if isinstance(state, Pass | Choice | Succeed | Fail)
    }
    try:
        TopologicalSorter(silent).prepare()
    except CycleError as error:
        yield f"a loop without a Task or a Wait: {', '.join(error.args[1])}"
