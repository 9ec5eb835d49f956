"""The output of jobs over HTTP: asked for in parts, and followed."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from interlock.web.api import output_stream
from web.house import House, is_problem
from web.listening import Listening, run_apart

JOB = """
pipeline: {id: printing}
schedule: {trigger: {key: orders, check: exists}, evaluation: {window: 1h, interval: 1s}}
validation: {rules: [{key: orders, check: exists}]}
job: {type: command, config: {command: [/bin/sh, -c, "%s"]}}
"""


class Printing:
    """A server with a pipeline whose job prints."""

    def __init__(self, house: House, script: str) -> None:
        self.house = house
        house.declare(JOB % script)
        house.runtime.settle()
        house.put({"date": "2026-03-03"}, "printing")
        self.settle(lambda: any(self.folder().glob("*/pid")))

    def folder(self) -> Path:
        return self.house.home.settings.state / "jobs"

    def settle(self, until: Any) -> None:
        patience = time.monotonic() + 30
        while not until():
            assert time.monotonic() < patience
            self.house.runtime.settle()
            time.sleep(0.02)

    def ended(self) -> "Printing":
        self.settle(lambda: any(self.folder().glob("*/exit.json")))
        return self

    def get(self, query: str = "", path: str = "printing/stream/2026-03-03") -> Any:
        return self.house.client.get(f"/api/v1/runs/{path}/output{query}")


@pytest.fixture
def printing(house: House) -> Printing:
    return Printing(house, "seq 1 5; echo bad >&2; exit 3").ended()


def test_the_output_of_a_run_is_an_endpoint(printing: Printing) -> None:
    found = printing.get("?stream=stdout").json()
    assert found["text"] == "1\n2\n3\n4\n5\n"
    assert (found["state"], found["succeeded"], found["exitCode"]) == ("ended", False, 3)
    assert found["sizes"] == {"stdout": 10, "stderr": 4}
    assert printing.get("?tail=1&stream=stderr").json()["text"] == "bad\n"


def test_parts_are_asked_for_by_offset_and_limit(printing: Printing) -> None:
    found = printing.get("?stream=stdout&offset=4&limit=4").json()
    assert (found["text"], found["start"], found["end"], found["size"]) == ("3\n4\n", 4, 8, 10)


@pytest.mark.parametrize(
    "query",
    ["?tail=0", "?tail=1&offset=0", "?offset=-1", "?stream=both%00", "?limit=999999999", "?x=1"],
)
def test_a_malformed_question_is_refused(printing: Printing, query: str) -> None:
    assert is_problem(printing.get(query), 422)


def test_what_is_not_there_is_not_found(printing: Printing) -> None:
    assert is_problem(printing.get("?attempt=9"), 404)
    assert is_problem(printing.get(path="printing/stream/2026-03-04"), 404)
    assert is_problem(printing.get(path="nothing/stream/2026-03-03"), 404)


def test_only_who_may_read_sees_output(printing: Printing) -> None:
    path = "/api/v1/runs/printing/stream/2026-03-03/output"
    house = printing.house
    assert house.client_of(None).get(path).status_code == 401
    assert house.client_of(house.token("observe")).get(path).status_code == 403
    assert house.client_of(house.token("read")).get(path).status_code == 200


# --- following ------------------------------------------------------------------------------------

STREAM = "/api/v1/runs/printing/stream/2026-03-03/output/stream"


def followed(house: House, query: str = "", last_id: str | None = None) -> str:
    async def follow() -> str:
        async with Listening(house.app, query, last_id, STREAM).open() as listening:
            return await listening.until("event: end")

    return run_apart(follow())


def text_of(stream: str) -> str:
    parts = [line[6:] for line in stream.splitlines() if line.startswith("data: {")]
    return "".join(json.loads(part).get("text", "") for part in parts)


def test_a_follower_gets_what_is_printed_until_the_job_ends(house: House) -> None:
    printing = Printing(house, "echo one; sleep 1; echo two; sleep 1; echo three")
    stream = followed(printing.house)
    assert text_of(stream) == "one\ntwo\nthree\n"
    assert stream.count("data: {") >= 3 and '"state":"running"' in stream


def test_a_follower_of_an_ended_job_gets_it_whole_and_the_end(printing: Printing) -> None:
    assert text_of(followed(printing.house, "stream=stdout&offset=0&limit=4")) == "1\n2\n3\n4\n5\n"


def test_who_comes_back_goes_on_where_the_stream_broke_off(printing: Printing) -> None:
    assert text_of(followed(printing.house, "stream=stdout", last_id="0-6")) == "4\n5\n"
    stream = f"{STREAM}?stream=stdout"
    for wrong in ("x", "0-x", "0", "-1-2", "0-" + "9" * 30):
        answer = printing.house.client.get(stream, headers={"Last-Event-ID": wrong})
        assert is_problem(answer, 400), wrong


def test_what_can_not_be_followed_is_refused_before_the_stream(printing: Printing) -> None:
    client = printing.house.client
    assert is_problem(client.get(STREAM + "?attempt=3"), 404)
    assert is_problem(client.get(STREAM.replace("03-03", "03-04")), 404)
    assert is_problem(client.get(STREAM + "?offset=1&offset=2"), 422)
    assert printing.house.client_of(None).get(STREAM).status_code == 401
    observer = printing.house.client_of(printing.house.token("observe"))
    assert observer.get(STREAM).status_code == 403


def test_only_so_many_follow_at_once(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output_stream, "MOST_FOLLOWERS", 1)
    Printing(house, "echo one; exec sleep 2")

    async def follow() -> None:
        async with Listening(house.app, path=STREAM).open() as listening:
            await listening.until("one")
            assert is_problem(house.client.get(STREAM), 503)
            await listening.until("event: end")

    run_apart(follow())
    assert house.client.get(STREAM).status_code == 200


# --- the page -------------------------------------------------------------------------------------

PAGE = "/runs/printing/stream/2026-03-03"


def page(house: House, query: str = "") -> str:
    answer = house.client.get(PAGE + query)
    assert answer.status_code == 200
    return str(answer.text)


def test_the_page_of_a_run_shows_the_last_lines_of_its_output(house: House) -> None:
    printing = Printing(house, "seq 101 200; echo '<b>bad</b>' >&2; exit 3").ended()
    shown = page(printing.house)
    assert "exit code 3" in shown and "\n200\n" in shown and "&lt;b&gt;bad&lt;/b&gt;" in shown
    assert ">182\n" in shown and "181\n" not in shown  # 20 lines, the last of stderr
    assert "The last 20 lines of 411 bytes." in shown and "data-follow" not in shown
    assert "\n101\n" not in page(house, "?stream=stdout")
    assert ">101\n102" in page(house, "?stream=stdout&lines=1000")
    assert "200" not in page(house, "?stream=stderr").partition("<pre")[2].partition("</pre>")[0]


def test_the_page_of_a_running_job_names_the_stream_to_follow(house: House) -> None:
    printing = Printing(house, "echo one; exec sleep 3")
    printing.settle(lambda: b"one" in b"".join(p.read_bytes() for p in _files(printing)))
    shown = page(printing.house)
    follow = "/api/v1/runs/printing/stream/2026-03-03/output/stream"
    assert f'data-follow="{follow}?stream=both&amp;attempt=0&amp;offset=4"' in shown
    printing.ended()


def _files(printing: Printing) -> list[Path]:
    return list(printing.folder().glob("*/output"))


def test_a_page_of_an_attempt_that_there_is_not_has_no_output(printing: Printing) -> None:
    assert "<pre" not in page(printing.house, "?attempt=7")
    assert printing.house.client.get(PAGE + "?stream=none").status_code in (200, 422)
