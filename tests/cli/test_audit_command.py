"""`audit`: who asked for what, why, and what came of it."""

from cli.place import Place
from interlock.errors import NotFoundError


def test_requests_are_listed_with_their_reason_and_outcome(place: Place) -> None:
    assert place.shown("audit") == "no requests\n"
    place.happen(lambda home: home.commands("ada").pause("silver-orders"))
    place.shown("rerun", "silver-orders", "2026-03-03", "--reason", "prices were wrong")
    place.run("token", "revoke", "nobody")
    shown = " ".join(place.shown("audit").split())
    assert "TIME UTC WHO ACTION TARGET OUTCOME WHY" in shown
    assert "ada" in shown and "refused:" in shown and "pause" in shown
    rows = [(each["action"], each["outcome"]) for each in place.json("audit")]
    assert rows == [("token revoke", "refused"), ("rerun", "done"), ("pause", "done")]


def test_requests_can_be_narrowed(place: Place) -> None:
    place.happen(lambda home: home.commands("ada").pause("silver-orders"))
    place.happen(lambda home: home.commands("bob").resume("silver-orders"))
    assert [each["actor"] for each in place.json("audit", "--action", "pause")] == ["ada"]
    assert [each["actor"] for each in place.json("audit", "--actor", "bob")] == ["bob"]
    assert len(place.json("audit", "--pipeline", "silver-orders")) == 2
    assert place.json("audit", "--since", "2999-01-01") == []
    result = place.run("audit", "--limit", "1")
    assert "There are more" in result.stderr and "ada" not in result.stdout


def test_an_unknown_pipeline_is_an_error(place: Place) -> None:
    result = place.run("audit", "--pipeline", "nope")
    assert isinstance(result.exception, NotFoundError) and "nope" in str(result.exception)
