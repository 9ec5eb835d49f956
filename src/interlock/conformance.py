"""Conformance: run files of vectors against the domain and the file reader, and report the results.

    python -m interlock.conformance FILE...

It only translates: `actual` comes from the same code that everything else uses.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from interlock.domain import canonical, duration, rules, timestamp
from interlock.domain.calendars import excluded
from interlock.domain.deadline import closes_at, deadlines
from interlock.domain.drift import drift
from interlock.domain.partition import Label
from interlock.domain.pipeline import Calendar, Mode, RuleEntry, Schedule, Sla, Validation
from interlock.domain.previous_date import previous_key
from interlock.domain.schedule import cron_moments
from interlock.domain.sensor import Reading, Rejection, reading_label, serving, unreadable_reading
from interlock.domain.zones import zone
from interlock.files import load_text, read_part
from interlock.files.holidays import named_calendars

Answer = Callable[[Mapping[str, Any]], Any]


def main(paths: Sequence[str]) -> int:
    """0 when nothing failed, 1 when something did, 2 when a file can't be read."""
    failed = passed = 0
    try:
        vectors = [vector for path in paths for vector in _vectors(path)]
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"conformance: {error}", file=sys.stderr)  # noqa: T201 - a command prints
        return 2
    for area, name, given, expected in vectors:
        actual = _answer(area, given)
        ok = _agrees(_in_order(area, actual), _in_order(area, expected))
        passed, failed = passed + ok, failed + (not ok)
        print(canonical.encode({"id": name, "ok": ok, "actual": actual}))  # noqa: T201
    print(f"{passed} passed, {failed} failed")  # noqa: T201
    return 1 if failed else 0


def _vectors(path: str) -> list[tuple[str, str, Mapping[str, Any], Any]]:
    document = canonical.decode(Path(path).read_bytes())
    area = document["area"]
    if area not in ANSWERS:
        raise ValueError(f"{path}: unknown area {area!r}; known areas: {', '.join(ANSWERS)}")
    return [(area, v["id"], v["input"], v["expected"]) for v in document["vectors"]]


def _answer(area: str, given: Mapping[str, Any]) -> Any:
    try:
        return ANSWERS[area](given)
    except Exception as error:  # noqa: BLE001 - whatever it raises is the answer of this vector
        return {"raised": f"{type(error).__name__}: {error}"}


def _agrees(actual: Any, expected: Any) -> bool:
    """Maps agree in the keys that are expected, lists item by item, instants as instants."""
    if isinstance(actual, dict) and isinstance(expected, dict):
        return all(key in actual and _agrees(actual[key], expected[key]) for key in expected)
    if isinstance(actual, list) and isinstance(expected, list):
        return len(actual) == len(expected) and all(map(_agrees, actual, expected))
    if isinstance(actual, str) and isinstance(expected, str):
        moments = timestamp.instant(actual), timestamp.instant(expected)
        return actual == expected or (moments[0] is not None and moments[0] == moments[1])
    return bool(actual == expected) and isinstance(actual, bool) == isinstance(expected, bool)


def _in_order(area: str, value: Any) -> Any:
    """The problems of a file may come in any order; moments may not."""
    if area != "config" or not isinstance(value, list):
        return value
    return sorted(value, key=lambda problem: (problem["path"], problem["kind"]))


def _rules(given: Mapping[str, Any]) -> dict[str, Any]:
    now = _instant(given["now"])
    entries = [rule for rule in given.get("rules", [given.get("rule")]) if rule]
    declared = msgspec.convert({"rules": entries}, Validation).rules if entries else ()
    readings = _readings(given, declared, now)
    if "rules" in given:
        mode = Mode(given["trigger"].upper())
        return {"ready": rules.judge(declared, readings, now, mode).ready}
    (result,) = rules.judge(declared, readings, now).results
    return {"passed": result.passed} | ({} if result.passed else {"kind": result.kind})


def _readings(
    given: Mapping[str, Any], declared: Sequence[RuleEntry], now: datetime
) -> Mapping[str, Reading]:
    """The sensors of a vector; `null` is one that can't be read, `receivedAt` says when each came, and
    `previous` has those of the previous date.
    """
    came = given.get("receivedAt", {})
    rows = {
        key: _reading(key, fields, _instant(came[key]) if key in came else now)
        for key, fields in given["sensors"].items()
    }
    previous = {
        previous_key(key): _reading(key, fields, now)
        for key, fields in given.get("previous", {}).items()
    }
    if "date" not in given:
        return rows | previous
    validation = Validation(tuple(declared))
    keys = frozenset(key for rule in validation.every_rule for key in rule.keys)
    return serving(keys, rows, Label.parse(given["date"]), zone("UTC")) | previous


def _reading(key: str, fields: dict[str, Any] | None, at: datetime) -> Reading:
    if fields is None:
        return unreadable_reading("p", key, at, "it is damaged")
    return Reading("p", key, fields, at)


def _durations(given: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return {"seconds": duration.seconds(given["text"])}
    except ValueError:
        return {"error": True}


def _labels(given: Mapping[str, Any]) -> dict[str, Any]:
    label = reading_label(given["reading"], zone(given["timezone"]), _instant(given["now"]))
    return {"error": True} if isinstance(label, Rejection) else {"date": str(label)}


def _cron(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    since, until = _instant(given["from"]), _instant(given["to"])
    return [
        {"at": timestamp.spell(moment.due_at), "date": moment.date}
        for moment in cron_moments(given["cron"], given["timezone"], since, until)
    ]


def _deadlines(given: Mapping[str, Any]) -> dict[str, Any]:
    schedule, label = _part(Schedule, given["schedule"]), Label.parse(given["date"])
    first = _instant(given["firstSensorAt"]) if given.get("firstSensorAt") else None
    answer: dict[str, Any] = {}
    if given.get("sla"):
        sla = _part(Sla, given["sla"])
        due = deadlines(schedule, sla, label, first_sensor_at=first).earliest
        answer = {"warningAt": _spelt(due.warning_at), "breachAt": _spelt(due.breach_at)}
    if schedule.trigger is not None and schedule.trigger.deadline is not None:
        answer["closesAt"] = _spelt(closes_at(schedule, label))
    return answer


def _exclusions(given: Mapping[str, Any]) -> bool:
    schedule, day = _part(Schedule, given["schedule"]), Label.parse(given["date"]).day
    known = [_part(Calendar, calendar) for calendar in given["calendars"]]
    return excluded(schedule, named_calendars([schedule], known, day.year), day) is not None


def _drift(given: Mapping[str, Any]) -> bool:
    found = drift(given["baseline"], given["current"], given["field"], given["threshold"])
    return found is not None


def _config(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    calendars = [_part(Calendar, calendar) for calendar in given.get("calendars") or ()]
    loaded = load_text(given["yaml"], calendars=calendars)
    return [{"path": p.path, "kind": p.kind} for p in loaded.problems if p.is_error]


def _part(kind: type[Any], value: Any) -> Any:
    part, problems = read_part(kind, value)
    if part is None:
        raise ValueError("; ".join(str(problem) for problem in problems))
    return part


def _instant(text: str) -> datetime:
    moment = timestamp.instant(text)
    if moment is None:
        raise ValueError(f"{text!r} is not an instant")
    return moment


def _spelt(moment: datetime | None) -> str | None:
    return None if moment is None else timestamp.spell(moment)


ANSWERS: dict[str, Answer] = {
    "rules": _rules,
    "durations": _durations,
    "labels": _labels,
    "cron": _cron,
    "deadlines": _deadlines,
    "exclusions": _exclusions,
    "drift": _drift,
    "config": _config,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
