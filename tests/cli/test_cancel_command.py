"""`cancel`: end the run of a date."""

from cli.place import Place
from cli.served import served
from interlock.errors import ConflictError, NotFoundError


def test_a_waiting_run_is_cancelled_with_a_reason(place: Place) -> None:
    place.put(count=940)
    shown = place.shown("cancel", "silver-orders", place.today, "--reason", "wrong upstream")
    assert shown == f"silver-orders {place.today}: cancelled\n"
    assert "cancelled 0s ago" in " ".join(place.shown("why", "silver-orders").split())
    assert place.json("audit")[0]["action"] == "cancel"
    kinds = [event["type"] for event in place.json("events", "--type", "RUN_CANCELLED")]
    assert kinds == ["RUN_CANCELLED"]


def test_a_reason_is_asked_for(place: Place) -> None:
    place.put(count=940)
    result = place.run("cancel", "silver-orders", place.today)
    assert result.exit_code == 2 and "--reason" in result.output


def test_a_run_that_is_over_is_refused_and_audited(lived_in: Place) -> None:
    result = lived_in.run("cancel", "silver-orders", lived_in.today, "--reason", "why not")
    assert isinstance(result.exception, ConflictError)
    assert "it is done: there is nothing to cancel" in str(result.exception)
    (entry,) = lived_in.json("audit")
    assert entry["outcome"] == "refused" and "it is done" in entry["problem"]


def test_a_date_without_a_run_is_named(place: Place) -> None:
    result = place.run("cancel", "silver-orders", "2026-01-05", "--reason", "why not")
    assert isinstance(result.exception, NotFoundError) and "2026-01-05" in str(result.exception)


def test_a_server_is_asked_when_there_is_one(place: Place) -> None:
    place.put(count=940)
    with served(place) as server:
        assert "cancelled" in place.shown(
            "cancel", "silver-orders", place.today, "--reason", "wrong"
        )
    assert server.asked[-1].path.endswith(f"/{place.today}/cancel")
