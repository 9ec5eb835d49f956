"""The catalogue of events, and the one place where events are made."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from contracts.samples import KEY
from declared import declared
from interlock.domain.event import (
    ALIASES,
    LARGEST_DETAIL,
    LONGEST_ID,
    Alert,
    EventType,
    RowOverride,
    Severity,
    Subject,
    bounded,
    clean,
    dry,
    envelope,
    event_from_id,
    event_id,
    happened,
    subject,
)

NOW = datetime(2026, 3, 3, 10, 15, tzinfo=UTC)
PIPELINE = declared()
ABOUT = subject(PIPELINE, KEY, 0, "job-1")

_EXHAUSTED = "kind category spent max lastError runId cancelled follows"
_POLL = "runId runningForSeconds pollWindowSeconds lastState cancelled"
_DEADLINE = "warningAt breachAt status blockedBy lateBy"
_READY = "evaluationDeadline timezone readinessAt status blockedBy lateBy"
_DRIFT = "sensorKey driftField baseline current delta driftThreshold rerunRequested"
_LATE = "key changed completedAt lateBy rerunRequested"
_STARTED = "backfill firstDate lastDate dates maxConcurrent reason requestedBy"
_BACKFILL = "backfill dates completed failed refused waiting notCompleted reason requestedBy"
_REJECTED = "reason requestedBy cause spent max activeAttempt"

#: As the specification has it: severity, who hears of it, how many parts its id has, its detail. After
#: a plus stands what we tell beyond that.
TABLE = f"""
TRIGGER_STARTED            | info     | no     | 1 | openedBy key reason executionName lateBy
VALIDATION_PASSED          | info     | no     | 1 | results waitedSeconds evaluations
VALIDATION_EXHAUSTED       | error    | yes    | 1 | failing passing windowEnd evaluations
JOB_TRIGGERED              | info     | no     | 1 | jobType runId evidence
JOB_COMPLETED              | info     | thread | 1 | runId durationSeconds attempts lateBy
JOB_FAILED                 | error    | yes    | 1 | runId category error willRetry retryAt spent max output
JOB_POLL_EXHAUSTED         | error    | yes    | 1 | {_POLL}
RUN_CANCELLED              | warning  | thread | 1 | reason requestedBy runStatus runId
RUN_SKIPPED                | info     | thread | 2 | reason requestedBy runStatus
RUN_UNSKIPPED              | info     | thread | 2 | reason requestedBy skippedBy skipReason
RUN_MARKED                 | info     | thread | 3 | outcome reason requestedBy runStatus evidence lateBy
RETRY_EXHAUSTED            | error    | yes    | 2 | {_EXHAUSTED}
INFRA_FAILURE              | critical | yes    | 2 | state error cause executionName change
INFRA_ALARM                | error    | yes    | 2 | alarmName alarmState metric threshold reason
SLA_WARNING                | warning  | yes    | 0 | deadline timezone {_DEADLINE}
SLA_BREACH                 | error    | yes    | 0 | deadline timezone {_DEADLINE} failed failure
SLA_MET                    | info     | thread | 0 | breachAt completedAt marginSeconds warned
RELATIVE_SLA_WARNING       | warning  | yes    | 0 | maxDuration firstSensorAt {_DEADLINE}
RELATIVE_SLA_BREACH        | error    | yes    | 0 | maxDuration firstSensorAt {_DEADLINE} + failed failure
READINESS_MISSED           | warning  | yes    | 0 | {_READY}
DEADLINE_UNKNOWN           | warning  | yes    | 0 | deadline problem
SCHEDULE_MISSED            | error    | yes    | 0 | cron timezone due grace cause notWatched
IRREGULAR_SCHEDULE_MISSED  | error    | yes    | 0 | due trigger
SENSOR_DEADLINE_EXPIRED    | error    | yes    | 0 | triggerDeadline deadlineAt trigger
TRIGGER_RECOVERED          | warning  | yes    | 2 | how due key lateBy
SFN_TIMEOUT                | error    | yes    | 1 | executionName leaseUntil engineStatus runStatus runId
POST_RUN_BASELINE_CAPTURED | info     | no     | 2 | baseline
BASELINE_CAPTURE_FAILED    | warning  | yes    | 1 | error
POST_RUN_PASSED            | info     | thread | 2 | results
POST_RUN_FAILED            | error    | yes    | 2 | failing passing
POST_RUN_DRIFT             | warning  | yes    | 3 | {_DRIFT}
POST_RUN_DRIFT_INFLIGHT    | info     | thread | 3 | {_DRIFT}
POST_RUN_SENSOR_MISSING    | warning  | yes    | 1 | missing sensorTimeout completedAt lastSeen
POST_RUN_ENDED             | info     | no     | 1 | outcome results seen unseen windowEnd
LATE_DATA_ARRIVAL          | warning  | yes    | 2 | {_LATE}
RERUN_ACCEPTED             | info     | thread | 1 | reason requestedBy budget spent max forced
RERUN_REJECTED             | warning  | yes    | 1 | {_REJECTED}
BACKFILL_STARTED           | info     | no     | 2 | {_STARTED}
BACKFILL_PAUSED            | info     | no     | 2 | {_BACKFILL}
BACKFILL_RESUMED           | info     | no     | 2 | {_BACKFILL}
BACKFILL_CANCELLED         | info     | no     | 2 | {_BACKFILL}
BACKFILL_DONE              | info     | from warning on | 2 | {_BACKFILL}
PIPELINE_EXCLUDED          | info     | no     | 0 | key excludedBy name
DATE_ALREADY_RUN           | info     | no     | 1 | openedAt runStatus since due key
SENSOR_REJECTED            | warning  | yes    | 3 | key problem field value allowed
CONFIG_ADOPTED             | info     | no     | 2 | change hash previousHash changedPaths schedules
CONFIG_REJECTED            | error    | yes    | 1 | problems inForce
PIPELINE_PAUSED            | info     | no     | 1 | reason requestedBy since until
PIPELINE_RESUMED           | info     | no     | 1 | reason requestedBy since
CONFIG_MISSING             | warning  | yes    | 1 | since until pipelines inForce
WATCHDOG_DEGRADED          | error    | yes    | 3 | failures since + count
WATCHDOG_RECOVERED         | warning  | yes    | 1 | from until firedLate missed recovered notWatched
ALERT_UNDELIVERED          | error    | other sinks only | 2 | sink channel error tries
ALERT_ACKNOWLEDGED         | info     | thread | 2 | reason requestedBy alerts
ALERT_SNOOZED              | info     | thread | 2 | reason requestedBy until includeCritical alerts
ALERT_UNSNOOZED            | info     | thread | 2 | reason requestedBy alerts
ROW_UNREADABLE             | error    | yes    | 2 | table key problem kind
DRY_RUN_WOULD_TRIGGER      | info     | no     | 1 | results wouldLaunch
DRY_RUN_SLA_PROJECTION     | info     | no     | 1 | estimatedCompletion breachAt marginSeconds status
DRY_RUN_COMPLETED          | info     | no     | 1 | triggeredAt slaStatus
DRY_RUN_LATE_DATA          | info     | no     | 2 | {_LATE} triggeredAt
DRY_RUN_DRIFT              | info     | no     | 3 | {_DRIFT}
DRY_RUN_WOULD_RERUN        | info     | no     | 1 | reason requestedBy budget spent max
DRY_RUN_RERUN_REJECTED     | info     | no     | 1 | {_REJECTED}
DRY_RUN_WOULD_RETRY        | info     | no     | 1 | category spent max retryAt
DRY_RUN_RETRY_EXHAUSTED    | info     | no     | 1 | category spent max
"""
ROWS = [[cell.strip() for cell in line.split("|")] for line in TABLE.strip().splitlines()]

TWINS = {
    EventType.JOB_COMPLETED: EventType.DRY_RUN_COMPLETED,
    EventType.LATE_DATA_ARRIVAL: EventType.DRY_RUN_LATE_DATA,
    EventType.POST_RUN_DRIFT: EventType.DRY_RUN_DRIFT,
    EventType.RERUN_ACCEPTED: EventType.DRY_RUN_WOULD_RERUN,
    EventType.RERUN_REJECTED: EventType.DRY_RUN_RERUN_REJECTED,
}


def test_every_type_has_a_row_in_the_catalogue_and_in_the_table() -> None:
    assert [kind.name for kind in EventType] == [kind.value for kind in EventType]
    assert {row[0] for row in ROWS} == set(EventType)


@pytest.mark.parametrize(("name", "severity", "alert", "parts", "detail"), ROWS)
def test_the_catalogue_says_what_the_table_says(
    name: str, severity: str, alert: str, parts: str, detail: str
) -> None:
    entry = EventType(name).spec
    assert (entry.severity, entry.alert, len(entry.id)) == (severity, alert, int(parts))
    assert set(entry.detail) == set(detail.replace("+", "").split())
    assert entry.when and entry.by


@pytest.mark.parametrize("kind", EventType)
def test_every_event_that_needs_a_person_says_what_to_do(kind: EventType) -> None:
    entry = kind.spec
    event = happened(kind, ABOUT, NOW, "told", parts=["x"] * len(entry.id))
    if event.severity is Severity.INFO:
        assert "actionHint" not in event.detail
    else:
        assert event.detail["actionHint"]
        assert "{" not in event.detail["actionHint"]
    assert event.detail["source"] == entry.by


def test_a_hint_names_the_pipeline_and_the_date() -> None:
    event = happened(EventType.SLA_BREACH, ABOUT, NOW, "late")
    assert event.detail["actionHint"] == "see `interlock why silver-orders 2026-03-03`"


def test_an_event_that_is_only_a_remark_today_has_no_hint() -> None:
    event = happened(
        EventType.JOB_FAILED, ABOUT, NOW, "x", parts=(0,), override=RowOverride(Severity.INFO)
    )
    assert "actionHint" not in event.detail


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Severity.INFO, Severity.WARNING),
        (Severity.WARNING, Severity.ERROR),
        (Severity.ERROR, Severity.CRITICAL),
        (Severity.CRITICAL, Severity.CRITICAL),  # there is nothing above
    ],
)
def test_a_severity_is_raised_by_one_step(before: Severity, after: Severity) -> None:
    assert before.raised is after


def test_an_event_carries_its_run_and_its_owner() -> None:
    event = happened(EventType.JOB_TRIGGERED, ABOUT, NOW, "go", parts=(0,), jobType="glue")
    assert event.event_id == "silver-orders/stream/2026-03-03/JOB_TRIGGERED/0"
    assert (event.owner, event.tags, event.run_id) == ("orders-team", {"tier": "1"}, "job-1")
    assert event.timestamp == NOW


def test_what_is_not_known_is_left_out_of_the_detail() -> None:
    event = happened(EventType.JOB_COMPLETED, ABOUT, NOW, "x", parts=(0,), lateBy=None, runId="r")
    assert event.detail == {"runId": "r", "source": "complete-trigger"}


def test_the_source_may_be_another_than_usual() -> None:
    event = happened(
        EventType.JOB_COMPLETED,
        ABOUT,
        NOW,
        "x",
        parts=(0,),
        override=RowOverride(source="watchdog"),
    )
    assert event.detail["source"] == "watchdog"


def test_an_unknown_detail_is_refused() -> None:
    with pytest.raises(ValueError, match="SLA_MET has no detail colour, mood"):
        happened(EventType.SLA_MET, ABOUT, NOW, "x", mood="good", colour="red")


@pytest.mark.parametrize("parts", [(), (0, "job", 1)])
def test_an_id_of_the_wrong_parts_is_refused(parts: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match="the id of RETRY_EXHAUSTED is made of"):
        happened(EventType.RETRY_EXHAUSTED, ABOUT, NOW, "x", parts=parts)


@pytest.mark.parametrize(
    ("about", "parts", "expected"),
    [
        (ABOUT, (), "silver-orders/stream/2026-03-03/SLA_MET"),
        (ABOUT, (0, "job"), "silver-orders/stream/2026-03-03/SLA_MET/0/job"),
        (Subject(), ("x",), "-/-/-/SLA_MET/x"),  # a dash for what does not apply
        (Subject("silver-orders"), (), "silver-orders/-/-/SLA_MET"),
    ],
)
def test_an_id_spells_out_what_happened(
    about: Subject, parts: tuple[Any, ...], expected: str
) -> None:
    assert event_id(EventType.SLA_MET, about, parts) == expected


def test_a_long_id_keeps_its_head_and_stays_unlike_others() -> None:
    place = len(event_id(EventType.SLA_MET, ABOUT, ("",)))
    whole = event_id(EventType.SLA_MET, ABOUT, ("x" * (LONGEST_ID - place),))
    assert len(whole) == LONGEST_ID and "~" not in whole
    one, other = (event_id(EventType.SLA_MET, ABOUT, ("x" * 300, end)) for end in "ab")
    assert len(one) == len(other) == LONGEST_ID
    assert one != other
    assert one.startswith("silver-orders/stream/2026-03-03/SLA_MET/xxx")
    assert one[-17] == "~"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("a\x00b\r\nc\x1b[31m", "a b c [31m"),
        ("\u202eevil\u2066", "evil"),  # no control character may reverse the line
        ("é😀", "é😀"),
        ("  padded  ", "padded"),
    ],
)
def test_a_text_can_not_disturb_the_screen_that_shows_it(text: str, expected: str) -> None:
    assert clean(text) == expected


def test_a_text_is_cut_to_its_limit() -> None:
    assert clean("x" * 2000) == "x" * 2000
    assert clean("x" * 2001) == "x" * 1999 + "…"
    event = happened(EventType.SLA_MET, ABOUT, NOW, "y" * 500)
    assert len(event.message) == 200


@pytest.mark.parametrize(
    "detail",
    [
        {"failing": [{"key": f"rule-{n}", "actual": "x" * 50} for n in range(5000)]},
        {"error": "x" * 100_000},
        {"value": {"deep": ["y" * 70_000]}},
        {"results": ["z" * 100_000]},  # a list of one
        {f"list{n}": ["x" * 100] * 200 for n in range(9)},
        {f"text{n}": "😀" * 2000 for n in range(12)},  # many bytes a character
    ],
)
def test_a_detail_is_cut_until_it_fits(detail: dict[str, Any]) -> None:
    cut = bounded(detail)
    assert len(msgspec.json.encode(cut)) <= LARGEST_DETAIL + 100
    assert cut["truncated"] > 0
    assert detail.keys() <= cut.keys()


def test_a_text_that_is_cut_keeps_its_beginning() -> None:
    texts: dict[str, Any] = {f"text{n}": "😀" * 2000 for n in range(12)}
    assert bounded({"error": "x" * 100_000})["error"] == "x" * 1999 + "…"
    assert all(bounded(texts)[name].startswith("😀") for name in texts)


def test_how_much_was_cut_is_said() -> None:
    detail = {"failing": ["x" * 1000] * 100, "windowEnd": "10:00"}
    cut = bounded(detail)
    assert len(cut["failing"]) + cut["truncated"] == 100
    assert cut["windowEnd"] == "10:00"


def test_a_detail_that_fits_is_left_alone() -> None:
    detail = {"failing": ["x"] * 100}
    assert bounded(detail) is detail


def test_an_event_goes_over_the_wire_with_what_applies() -> None:
    event = happened(
        EventType.VALIDATION_EXHAUSTED, ABOUT, NOW, "closed", parts=(0,), evaluations=3
    )
    assert envelope(event) == {
        "source": "interlock",
        "detail-type": "VALIDATION_EXHAUSTED",
        "detail": {
            "pipelineId": "silver-orders",
            "scheduleId": "stream",
            "date": "2026-03-03",
            "message": "closed",
            "timestamp": "2026-03-03T10:15:00Z",
            "eventId": "silver-orders/stream/2026-03-03/VALIDATION_EXHAUSTED/0",
            "severity": "error",
            "attempt": 0,
            "runId": "job-1",
            "owner": "orders-team",
            "tags": {"tier": "1"},
            "detail": event.detail,
        },
    }


def test_an_event_without_a_subject_names_none() -> None:
    event = happened(EventType.WATCHDOG_RECOVERED, Subject(), NOW, "back", parts=("x",))
    assert set(envelope(event)["detail"]) == {
        "message", "timestamp", "eventId", "severity", "detail",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "pipeline_id", "date"),
    [
        (subject(PIPELINE), "silver-orders", None),
        (subject(None, KEY), "silver-orders", "2026-03-03"),  # its owner is no longer known
        (subject(None), None, None),
    ],
)
def test_a_subject_is_a_run_a_pipeline_or_empty(
    given: Subject, pipeline_id: str | None, date: str | None
) -> None:
    assert (given.pipeline_id, given.date) == (pipeline_id, date)


@pytest.mark.parametrize("kind", EventType)
def test_a_dry_run_tells_under_another_name_or_not_at_all(kind: EventType) -> None:
    expected = kind if kind.startswith("DRY_RUN_") else TWINS.get(kind)
    assert dry(kind) is expected
    assert expected is None or expected.spec.alert is Alert.NO


def test_the_older_name_of_a_type_is_still_understood() -> None:
    assert ALIASES == {"JOB_STARTED": EventType.JOB_TRIGGERED}
    assert "JOB_STARTED" not in EventType.__members__


def test_what_an_id_says_is_enough_for_an_event() -> None:
    whole = happened(
        EventType.SENSOR_REJECTED, subject(PIPELINE), NOW, "x", parts=("a/b", "c", "d")
    )
    found = event_from_id(whole.event_id, NOW)
    assert (found.event_id, found.type, found.severity) == (
        whole.event_id,
        EventType.SENSOR_REJECTED,
        Severity.WARNING,
    )
    assert (found.pipeline_id, found.schedule_id, found.date) == ("silver-orders", None, None)
    assert found.message == "a stored reading can't be used"


@pytest.mark.parametrize("name", ["", "p/s/d", "p/s/d/NEVER_HEARD_OF/0"])
def test_what_is_no_id_of_an_event_says_nothing(name: str) -> None:
    with pytest.raises(ValueError):
        event_from_id(name, NOW)
