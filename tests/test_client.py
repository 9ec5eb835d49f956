"""The SDK against a server on this machine: what it sends, when it tries again, what it says."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from itertools import count

import pytest

from interlock.client import Client
from interlock.errors import ConfigError, InterlockError, NotFoundError, UnavailableError
from tiny_server import Answering, Asked, Said, tiny_server


class Sleeps(list[float]):
    """How long a client would have slept."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
def sleeps() -> Sleeps:
    return Sleeps()


def in_turn(*answers: Said) -> Answering:
    """The answers one after another; the last one repeats."""
    calls: Iterator[int] = count()
    return lambda asked: answers[min(next(calls), len(answers) - 1)]


def test_a_reading_is_put_with_its_fields_and_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    with tiny_server(in_turn(Said({"key": "orders-landed"}))) as server:
        monkeypatch.setenv("INTERLOCK_URL", f"{server.url}/")
        monkeypatch.setenv("INTERLOCK_TOKEN", "a-secret")
        accepted = Client().sensor("silver-orders", "orders-landed", count=4200, date="2026-03-03")
    assert accepted["key"] == "orders-landed"
    (asked,) = server.asked
    assert (asked.method, asked.path) == (
        "PUT",
        "/api/v1/pipelines/silver-orders/sensors/orders-landed",
    )
    assert asked.body == {"count": 4200, "date": "2026-03-03"}
    assert asked.headers["Authorization"] == "Bearer a-secret"
    assert asked.query == {}


def test_keys_with_separators_stay_one_part_of_the_path() -> None:
    with tiny_server(in_turn(Said({}))) as server:
        Client(server.url).sensor("p", "orders#2026-03-03T10/eu?x", n=1)
    assert server.asked[0].path == "/api/v1/pipelines/p/sensors/orders#2026-03-03T10/eu?x"


def test_fields_may_be_called_anything() -> None:
    with tiny_server(in_turn(Said({"ledTo": ["opened"]}))) as server:
        client = Client(server.url)
        client.sensor("p", "k", pipeline="x", key="y", wait=True, self="z")
        assert client.put("p", "k", {"n": 1}, wait=True)["ledTo"] == ["opened"]
    assert server.asked[0].body == {"pipeline": "x", "key": "y", "wait": True, "self": "z"}
    assert server.asked[1].query == {"wait": "decision"}


def test_instants_and_exact_numbers_are_sent_so_that_rules_can_read_them() -> None:
    at = datetime(2026, 3, 3, 10, tzinfo=UTC)
    with tiny_server(in_turn(Said({}))) as server:
        Client(server.url).sensor("p", "k", updatedAt=at, price=Decimal("1.10"))
        with pytest.raises(TypeError, match="set is not JSON"):
            Client(server.url).sensor("p", "k", bad={1})
    assert server.asked[0].body == {"updatedAt": "2026-03-03T10:00:00+00:00", "price": "1.10"}


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_is_asked_again(status: int, sleeps: Sleeps) -> None:
    with tiny_server(in_turn(Said(status=status), Said(status=status), Said({}))) as server:
        Client(server.url, sleep=sleeps).sensor("p", "k")
    assert len(server.asked) == 3
    assert len(sleeps) == 2 and sleeps[1] > 0.1


def test_a_server_may_say_how_long_to_wait_and_is_not_believed_beyond_reason(
    sleeps: Sleeps,
) -> None:
    answers = [Said(status=429, headers={"Retry-After": each}) for each in ("3", "86400", "soon")]
    with tiny_server(in_turn(*answers, Said({}))) as server:
        Client(server.url, sleep=sleeps).sensor("p", "k")
    assert sleeps[:2] == [3.0, 10.0]
    assert sleeps[2] < 1


def test_when_no_server_answers_it_says_so_and_what_to_do(sleeps: Sleeps) -> None:
    with tiny_server(in_turn(Said({}))) as server:
        pass
    with pytest.raises(UnavailableError, match=r"no server answers at .*interlock serve"):
        Client(server.url, sleep=sleeps, tries=3).sensor("p", "k")
    assert len(sleeps) == 2


def test_a_lost_answer_is_asked_for_again_only_where_twice_is_once(sleeps: Sleeps) -> None:
    with tiny_server(in_turn(Said(hang_up=True), Said({}))) as server:
        Client(server.url, sleep=sleeps).sensor("p", "k")
    assert len(server.asked) == 2
    with (
        tiny_server(in_turn(Said(hang_up=True), Said({}))) as server,
        pytest.raises(UnavailableError),
    ):
        Client(server.url, sleep=sleeps).rerun("p", "2026-03-03")
    assert len(server.asked) == 1


def test_a_request_that_was_never_sent_is_sent_again(sleeps: Sleeps) -> None:
    with tiny_server(in_turn(Said({}))) as server:
        pass
    with pytest.raises(UnavailableError):
        Client(server.url, sleep=sleeps, tries=2).rerun("p", "2026-03-03")
    assert len(sleeps) == 1


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (400, ConfigError, "hour is 25"),
        (404, NotFoundError, "hour is 25"),
        (422, ConfigError, "hour is 25"),
        (401, ConfigError, "set INTERLOCK_TOKEN"),
        (403, ConfigError, "set INTERLOCK_TOKEN"),
        (405, InterlockError, "returned 405: hour is 25"),
        (500, UnavailableError, "returned 500: hour is 25"),
    ],
)
def test_a_refusal_is_an_error_with_the_servers_words(
    status: int, kind: type[Exception], words: str, sleeps: Sleeps
) -> None:
    problem = {"title": "Bad", "detail": "hour is 25", "status": status}
    with tiny_server(in_turn(Said(problem, status))) as server, pytest.raises(kind, match=words):
        Client(server.url, sleep=sleeps).sensor("p", "k")
    assert len(server.asked) == 1


def test_a_refusal_that_is_no_problem_document_is_quoted_in_part() -> None:
    answer = in_turn(Said(status=400, text="<html>" + "x" * 1000))
    with tiny_server(answer) as server, pytest.raises(ConfigError) as caught:
        Client(server.url).sensor("p", "k")
    assert str(caught.value).startswith("<html>x") and len(str(caught.value)) <= 300


def test_an_answer_that_is_no_json_is_not_taken_for_one() -> None:
    answer = in_turn(Said(text="hello"))
    with (
        tiny_server(answer) as server,
        pytest.raises(UnavailableError, match="is this an Interlock server"),
    ):
        Client(server.url).pipelines()


def test_lists_are_read_page_after_page_up_to_the_limit() -> None:
    def answer(asked: Asked) -> Said:
        start = int(asked.query.get("cursor", 0))
        return Said({"items": [{"n": start}, {"n": start + 1}], "next": str(start + 2)})

    with tiny_server(answer) as server:
        found = Client(server.url).events(limit=3, since="2026-03-03T00:00:00Z")
    assert [each["n"] for each in found] == [0, 1, 2]
    assert [asked.query.get("cursor") for asked in server.asked] == [None, "2"]
    assert server.asked[0].query["since"] == "2026-03-03T00:00:00Z"


def test_a_list_ends_with_its_last_page() -> None:
    with tiny_server(in_turn(Said({"items": [{"id": "a"}], "next": None}))) as server:
        assert Client(server.url).pipelines() == [{"id": "a"}]
    assert len(server.asked) == 1


def test_operations_send_only_what_was_given() -> None:
    with tiny_server(in_turn(Said({}))) as server:
        client = Client(server.url)
        client.rerun("p", "2026-03-03", reason="fixed", force=True)
        client.pause("p", until="2026-03-04T00:00:00Z")
        client.resume("p")
    assert [(asked.path.rpartition("/")[2], asked.body) for asked in server.asked] == [
        ("reruns", {"date": "2026-03-03", "reason": "fixed", "force": True}),
        ("pause", {"until": "2026-03-04T00:00:00Z"}),
        ("resume", {}),
    ]


def test_server_sent_events_are_read_with_their_ids() -> None:
    text = ": hello\n\nid: 7\ndata: one\ndata: more\n\nid: 8\ndata: two\n\ndata: unfinished"
    with tiny_server(in_turn(Said(text=text))) as server:
        found = list(Client(server.url).stream("/api/v1/events/stream", "6"))
    assert found == [("7", "one\nmore"), ("8", "two")]
    assert server.asked[0].headers["Last-Event-ID"] == "6"


@pytest.mark.parametrize("url", ["ftp://x", "localhost:8787", "http://"])
def test_an_invalid_url_is_refused_at_once(url: str) -> None:
    with pytest.raises(ConfigError, match="is not a URL"):
        Client(url)


def test_the_import_brings_nothing_heavy() -> None:
    code = (
        "import sys; import interlock.client;"
        "print(sorted(n for n in sys.modules if n.split('.')[0] in"
        " ('http', 'ssl', 'socket', 'msgspec', 'click', 'yaml', 'json', 'email', 'decimal', 'urllib')))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
