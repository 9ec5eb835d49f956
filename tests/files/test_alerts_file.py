"""The alerts file: every problem at once, each with its place, and the same again from a store."""

import json
from pathlib import Path

import pytest
from file_samples import pipeline_text
from jsonschema import Draft202012Validator

from interlock.domain import canonical
from interlock.domain.alerting.alert_rules import Alerts
from interlock.domain.alerting.deliveries import Target
from interlock.domain.alerting.sink_kinds import SINK_KINDS
from interlock.domain.event import Severity
from interlock.domain.pipeline import Weekday
from interlock.files import alerts_schema, load_alerts, load_project, read_alerts
from interlock.files.alerts_file import alert_lines
from interlock.files.compiled import compiled
from interlock.files.problem_collector import ProblemCollector
from interlock.files.reader import read_anything
from interlock.files.yaml_nodes import parse

FULL = """\
sinks:
  slack: {type: slack, channel: C0123456789}
  ops:   {type: webhook, url: "${INTERLOCK_OPS_URL}", secret: "${INTERLOCK_OPS_SECRET}"}
  log:   {type: console}
routes:
  - match: {severity: critical}
    to: [{sink: slack, channel: C0ONCALL}, {sink: ops}]
    continue: true
  - match: {pipeline: "gold-*", event: "SLA_*", owner: finance, tags: {tier: "1"}}
    to: [{sink: slack, channel: C0FINANCE}]
  - match: {}
    to: [{sink: slack}]
mutes:
  - {match: {pipeline: "silver-*"}, weekly: {days: [sat, sunday], from: "00:00", until: "24:00",
     timezone: Europe/Berlin}, reason: weekend load}
  - {match: {}, from: 2026-03-05T20:00:00Z, until: 2026-03-05T23:00:00Z, includeCritical: true}
limits: {perSecond: 0.5, digestOver: 7}
"""
VALID = Draft202012Validator(alerts_schema())


def load(text: str) -> Alerts:
    alerts, problems = load_alerts(text)
    assert alerts is not None, problems
    return alerts


def errors(text: str) -> list[tuple[str, str]]:
    return [(each.path, each.kind.value) for each in load_alerts(text)[1] if each.is_error]


def test_the_whole_file_is_read() -> None:
    alerts = load(FULL)
    assert [sink.type for sink in alerts.sinks.values()] == [*SINK_KINDS]
    assert alerts.default_target == Target("slack", "C0123456789")
    first, second, last = alerts.routes
    assert first.goes_on and not second.goes_on
    assert first.match.severity is Severity.CRITICAL
    assert alerts.target(first.to[0].sink, first.to[0].channel) == Target("slack", "C0ONCALL")
    assert last.match == type(last.match)()
    weekend, once = alerts.mutes
    assert weekend.weekly is not None
    assert weekend.weekly.days == (Weekday.SATURDAY, Weekday.SUNDAY)
    assert once.include_critical
    assert (alerts.limits.every.total_seconds(), alerts.limits.digest_over) == (2, 7)


@pytest.mark.parametrize("text", ["{}", "sinks: {a: {type: console}}", "mutes: []", FULL])
def test_what_is_right_is_right_for_editors_too(text: str) -> None:
    load(text)
    value = read_anything(parse(text), (), ProblemCollector())
    VALID.validate(json.loads(json.dumps(value, default=float)))


SINK = "sinks: {s: {type: slack, channel: C0MAIN}, n: {type: slack}, c: {type: console}}\n"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("sinks: {Big: {type: console}}", [("sinks.Big", "bad_value")]),
        ("sinks: {a: {type: mail}}", [("sinks.a.type", "bad_value")]),
        ("sinks: {a: {type: slack, channel: '#alerts'}}", [("sinks.a.channel", "bad_value")]),
        ("sinks: {a: {type: slack, url: 'https://a.example'}}", [("sinks.a.url", "conflict")]),
        (
            "sinks: {a: {type: webhook}}",
            [("sinks.a.url", "missing"), ("sinks.a.secret", "missing")],
        ),
        (
            "sinks: {a: {type: webhook, url: ftp://a, secret: '${INTERLOCK_A}'}}",
            [("sinks.a.url", "bad_value")],
        ),
        (
            "sinks: {a: {type: webhook, url: 'https://a.example', secret: '${INTERLOCK_TOKEN}'}}",
            [("sinks.a.secret", "bad_value")],
        ),
        ("sinks: {console: {type: slack, channel: C0MAIN}}", [("sinks.console", "conflict")]),
        ("routes: [{match: {}, to: [{sink: s}]}]", [("routes[0].to[0].sink", "bad_value")]),
        (SINK + "routes: [{match: {}, to: []}]", [("routes[0].to", "missing")]),
        (SINK + "routes: [{to: [{sink: s}]}]", [("routes[0].match", "missing")]),
        (SINK + "routes: [{match: {}, to: [{sink: n}]}]", [("routes[0].to[0].channel", "missing")]),
        (
            SINK + "routes: [{match: {}, to: [{sink: c, channel: C0MAIN}]}]",
            [("routes[0].to[0].channel", "conflict")],
        ),
        (
            SINK + "routes: [{match: {colour: red}, to: [{sink: s}]}]",
            [("routes[0].match.colour", "unknown_key")],
        ),
        (
            SINK + "routes: [{match: {event: SLAA_*}, to: [{sink: s}]}]",
            [("routes[0].match.event", "bad_value")],
        ),
        (
            SINK + "routes: [{match: {severity: high}, to: [{sink: s}]}]",
            [("routes[0].match.severity", "bad_value")],
        ),
        (SINK + "default: x", [("default", "bad_value")]),
        (SINK + "default: n", [("default", "missing")]),
        ("mutes: [{match: {}}]", [("mutes[0].until", "missing")]),
        ("mutes: [{match: {}, from: 2026-03-05T20:00:00Z}]", [("mutes[0].until", "missing")]),
        (
            "mutes: [{match: {}, from: 2026-03-05T20:00:00Z, until: 2026-03-05T20:00:00Z}]",
            [("mutes[0].until", "out_of_range")],
        ),
        ("mutes: [{match: {}, until: tomorrow}]", [("mutes[0].until", "bad_value")]),
        (
            "mutes: [{match: {}, until: 2026-03-05T20:00:00Z, weekly: {days: [sat], timezone: UTC}}]",
            [("mutes[0].weekly", "conflict")],
        ),
        (
            "mutes: [{match: {}, weekly: {days: [mon, tue, wed, thu, fri, sat, sun], timezone: UTC}}]",
            [("mutes[0].weekly", "out_of_range")],
        ),
        (
            "mutes: [{match: {}, weekly: {days: [], timezone: UTC}}]",
            [("mutes[0].weekly.days", "missing")],
        ),
        (
            "mutes: [{match: {}, weekly: {days: [someday], timezone: UTC}}]",
            [("mutes[0].weekly.days[0]", "bad_value")],
        ),
        (
            "mutes: [{match: {}, weekly: {days: [sat], timezone: UTC, until: '25:00'}}]",
            [("mutes[0].weekly.until", "bad_value")],
        ),
        (
            "limits: {perSecond: 0, digestOver: 0}",
            [("limits.perSecond", "out_of_range"), ("limits.digestOver", "out_of_range")],
        ),
        ("[]", [("", "wrong_type")]),
        ("a: [", [("", "bad_value")]),
    ],
)
def test_every_problem_is_reported_with_its_place(
    text: str, problems: list[tuple[str, str]]
) -> None:
    assert sorted(errors(text)) == sorted(problems)
    assert load_alerts(text)[0] is None
    assert all(each.line for each in load_alerts(text)[1])


def test_the_older_name_of_a_type_may_be_used() -> None:
    assert errors(SINK + "routes: [{match: {event: JOB_STARTED}, to: [{sink: s}]}]") == []


def test_a_secret_in_the_file_is_warned_of() -> None:
    text = "sinks: {a: {type: webhook, url: 'https://a.example', secret: whsec_MfKQ}}"
    alerts, (warning,) = load_alerts(text)
    assert alerts is not None and not warning.is_error
    assert "whsec" not in str(warning)


def test_a_store_reads_back_what_was_compiled(tmp_path: Path) -> None:
    """There maps have no order, so the default is written down."""
    (tmp_path / "pipelines").mkdir()
    (tmp_path / "pipelines/a.yaml").write_text(pipeline_text())
    (tmp_path / "alerts.yaml").write_text(FULL)
    project = load_project(tmp_path)
    document = json.loads(compiled(project))
    assert [*document["alerts"]["sinks"]] == ["log", "ops", "slack"]
    assert "alerts.yaml" in document["sources"]
    alerts, problems = read_alerts(document["alerts"])
    assert problems == () and alerts is not None
    assert alerts.default_target == Target("slack", "C0123456789")
    assert alerts.routes == load(FULL).routes and alerts.mutes == load(FULL).mutes


def test_a_sink_that_was_stored_with_the_settings_of_every_type_is_read() -> None:
    """Earlier versions wrote them all, most of them as nothing."""
    stored = {"type": "console", "channel": None, "url": None, "secret": None}
    alerts, problems = read_alerts({"sinks": {"log": stored}})
    assert problems == () and alerts is not None
    assert alerts.default_target == Target("log")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sinks: {a: {type: slack, url: 'https://a.b'}}", "a sink of type slack has no url"),
        ("sinks: {a: {type: console, channel: C0MAIN}}", "a sink of type console has no channel"),
        (
            "sinks: {a: {type: webhook, url: 'https://a.b'}}",
            "a sink of type webhook needs its secret",
        ),
        ("sinks: {a: {channel: C0MAIN}}", "is missing"),
        ("sinks: {a: {type: slak}}", "'slak' is not one of slack, webhook, console"),
        ("sinks: {a: {type: slack, chanel: C0MAIN}}", "unknown key"),
        ("sinks: {a: {type: slack, type: slack}}", "duplicate key"),
        ("sinks: {a: {type: 5, channel: C0MAIN, channel: C0MAIN}}", "duplicate key"),
        ("sinks: {a: 5}", "expected a map, found a number"),
    ],
)
def test_a_sink_is_read_as_its_type_has_it(text: str, message: str) -> None:
    assert any(each.message.startswith(message) for each in load_alerts(text)[1])


def test_without_the_file_nothing_is_declared(tmp_path: Path) -> None:
    (tmp_path / "pipelines").mkdir()
    (tmp_path / "pipelines/a.yaml").write_text(pipeline_text())
    project = load_project(tmp_path)
    assert project.alerts is None
    assert json.loads(compiled(project))["alerts"] == {}
    assert read_alerts({}) == (Alerts(), ())
    assert read_alerts([])[0] is None


def test_the_file_of_a_project_is_checked_with_it(tmp_path: Path) -> None:
    (tmp_path / "pipelines").mkdir()
    (tmp_path / "pipelines/a.yaml").write_text(pipeline_text())
    (tmp_path / "alerts.yaml").write_text("sinks: {a: {type: mail}}")
    project = load_project(tmp_path)
    (problem,) = project.errors
    assert problem.file.endswith("alerts.yaml") and problem.line == 1
    assert set(project.pipelines) == {"orders"} and project.alerts is None
    (alone,) = load_project(tmp_path / "alerts.yaml").errors
    assert alone.path == problem.path


def test_a_secret_that_can_sign_nothing_is_refused_and_not_repeated() -> None:
    text = "sinks: {a: {type: webhook, url: 'https://a.example', secret: hunter2}}"
    _, (problem,) = load_alerts(text)
    assert "a signing secret begins with whsec_" in str(problem)
    assert "hunter2" not in str(problem)


ESCALATING = """\
sinks:
  slack: {type: slack, channel: C0MAIN}
  log: {type: console}
routes:
  - match: {}
    to: [{sink: slack}]
    escalate:
      - {after: 30m, to: [{sink: slack, channel: C0ONCALL}]}
      - {after: 2h, to: [{sink: log}]}
"""


def test_escalations_are_read_and_read_back() -> None:
    alerts = load(ESCALATING)
    (route,) = alerts.routes
    assert [step.after for step in route.escalate] == ["30m", "2h"]
    assert read_alerts(json.loads(canonical.encode(alerts)))[0] == alerts
    VALID.validate(json.loads(canonical.encode(read_plain(ESCALATING))))


def read_plain(text: str) -> object:
    return read_anything(parse(text), (), ProblemCollector("", {}))


@pytest.mark.parametrize(
    ("old", "new", "path", "line"),
    [
        ("after: 30m", "after: 30s", "routes[0].escalate[0].after", 8),
        ("after: 2h", "after: 8d", "routes[0].escalate[1].after", 9),
        ("after: 2h", "after: 10m", "routes[0].escalate[1].after", 9),
        ("after: 2h", "after: soon", "routes[0].escalate[1].after", 9),
        ("{after: 2h, ", "{", "routes[0].escalate[1].after", 9),
        (", channel: C0ONCALL", "", "routes[0].escalate[0].to[0].sink", 8),
        ("{sink: log}", "{sink: slack, channel: C0ONCALL}", "routes[0].escalate[1].to[0].sink", 9),
        ("{sink: log}", "{sink: ops}", "routes[0].escalate[1].to[0].sink", 9),
        ("[{sink: log}]", "[]", "routes[0].escalate[1].to", 9),
    ],
)
def test_a_wrong_escalation_is_refused_at_its_line(
    old: str, new: str, path: str, line: int
) -> None:
    alerts, problems = load_alerts(ESCALATING.replace(old, new))
    assert alerts is None
    assert [(each.path, each.line) for each in problems if each.is_error] == [(path, line)]


def test_every_part_of_the_file_has_a_line() -> None:
    assert alert_lines(ESCALATING) == {"sinks.slack": 2, "sinks.log": 3, "routes.0": 5}
    assert alert_lines("[]") == alert_lines("sinks: 5") == {}
