"""To add an alert sink: a settings struct, an adapter, and one row of SINK_KINDS. The rest reads the row.

Beyond this made-up one, a real sink has tests against a stand-in that gives every answer it can, and a part
of docs/howto/alerts.md.
"""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import pytest

from interlock.adapters.alerts.sink_context import SinkContext
from interlock.domain.alerting.deliveries import Answer, Posted, SendFailed
from interlock.domain.alerting.manner import Manner
from interlock.domain.alerting.note import Note, headline
from interlock.domain.alerting.sink_kinds import SINK_KINDS, SinkConfig, SinkKind
from interlock.domain.objection import Objection, ProblemKind
from interlock.domain.pipeline import pattern_form
from interlock.files import alerts_schema, load_alerts
from recipes.at_work import ProjectAtWork, reference, registered

Number = Annotated[
    str, pattern_form("number", "whom to beep.", r"[0-9]{3,9}", "a number of 3 to 9 digits")
]


class PagerConfig(SinkConfig, frozen=True, kw_only=True):
    """Beeps."""

    number: Number
    backup: Number | None = None

    def objections(self) -> Iterator[Objection]:
        yield from super().objections()
        if self.backup == self.number:
            yield Objection(("backup",), ProblemKind.CONFLICT, "this is the number itself")


class PagerSink:
    """Refuses one message while it is busy."""

    manner = Manner(delays=(timedelta(seconds=5), timedelta(seconds=30)))
    beeps: list[str] = []  # noqa: RUF012 - it stands for a platform
    is_busy = False

    def __init__(self, number: str) -> None:
        self._number = number

    def post(self, channel: str, note: Note, thread: str | None) -> Answer:
        if PagerSink.is_busy:
            PagerSink.is_busy = False
            return SendFailed("the line is busy")
        self.beeps.append(f"{self._number}: {headline(note)}")
        return Posted("beep")

    def update(self, channel: str, receipt: str, note: Note) -> Answer:
        return Posted(receipt)


def pager_sink(context: SinkContext[PagerConfig]) -> PagerSink:
    return PagerSink(context.config.number)


PAGER = SinkKind(
    name="pager",
    settings=PagerConfig,
    adapter_path=f"{__name__}:pager_sink",
    manner=PagerSink.manner,
)

PIPELINE = """\
pipeline: {id: orders}
schedule:
  trigger: {key: landed, check: exists}
validation: {rules: [{key: landed, check: exists}]}
job: {type: command, config: {command: [no-such-program]}, maxCodeRetries: 0}
"""
ALERTS = """\
sinks:
  night: {type: pager, number: "4711"}
"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[ProjectAtWork]:
    PagerSink.beeps.clear()
    PagerSink.is_busy = False
    with registered(SINK_KINDS, PAGER):
        yield ProjectAtWork(tmp_path, {"pipelines/orders.yaml": PIPELINE, "alerts.yaml": ALERTS})


def test_validate_accepts_a_file_that_uses_it(project: ProjectAtWork) -> None:
    assert "0 errors, 0 warnings" in project.output("validate")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("", "2:10: sinks.night.number: a sink of type pager needs its number"),
        (", number: '12'", "2:32: sinks.night.number: '12' is not a number of 3 to 9 digits"),
        (", number: '123', tone: low", "2:39: sinks.night.tone: unknown key"),
        (", number: '123', url: x", "2:44: sinks.night.url: a sink of type pager has no url"),
        (", number: '123', channel: C0MAIN", "a sink of type pager has no channel"),
        (", number: '123', backup: '123'", "sinks.night.backup: this is the number itself"),
    ],
)
def test_validate_refuses_wrong_settings_and_says_where(
    project: ProjectAtWork, settings: str, said: str
) -> None:
    project.write("alerts.yaml", ALERTS.replace(', number: "4711"', settings))
    assert said in project.output("validate", code=1)


def test_without_its_row_the_type_is_unknown() -> None:
    _, (problem,) = load_alerts(ALERTS)
    assert problem.path == "sinks.night.type"
    assert problem.message == f"'pager' is not one of {', '.join(SINK_KINDS)}"


def test_an_event_is_delivered_to_it_after_a_failure_too(project: ProjectAtWork) -> None:
    PagerSink.is_busy = True
    with project.serving() as controller:
        controller.put()
        controller.wait(minutes=1)
        (beep,) = PagerSink.beeps
        assert beep.startswith("4711: ") and "no-such-program can't be started" in beep
        assert "night: sent" in controller.page("/events")
    assert "night: sent" in project.output("events", "--alerts")
    assert project.screen == []  # the console is for what nobody else takes


def test_it_can_be_tried(project: ProjectAtWork) -> None:
    assert "night: sent" in project.output("alert", "test", "night")
    assert PagerSink.beeps[0].startswith("4711: test alert through night")
    PagerSink.is_busy = True
    assert "night: the line is busy" in project.output("alert", "test", "default", code=1)


def test_what_is_kept_for_the_next_start_is_read_again(project: ProjectAtWork) -> None:
    with project.serving():
        pass
    project.write("alerts.yaml", "sinks: [")
    with project.serving() as controller:
        controller.wait(minutes=1)
    assert any("alerts.yaml is refused" in beep for beep in PagerSink.beeps)


def test_schema_and_reference_have_it() -> None:
    with registered(SINK_KINDS, PAGER):
        form = alerts_schema()["$defs"]["SinkConfig"]
        assert form["properties"]["type"]["enum"][-1] == "pager"
        assert form["allOf"][-1]["then"] == {"$ref": "#/$defs/PagerConfig"}
        assert (
            "| `sinks.NAME.number` | number | **required** |  | `pager`: whom to beep. |"
            in reference().alerts_fields()
        )
