"""Mistakes: what people get wrong, one of each, and what Interlock really says to it.

    cd tests && ../.venv/bin/python -m cli.mistakes

writes what it says now into docs/reference/mistakes.md; a test compares the two, so a changed answer is seen.
"""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from cli.place import ORDERS, Place
from interlock.runtime.server_address import Address, find_address

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "mistakes.md"
BEGIN, END = "<!-- made by tests/cli/mistakes.py -->", "<!-- end of the mistakes -->"
_PATIENCE = 60.0
_FILE = "pipelines/silver-orders.yaml"
_DAILY = """\
pipeline: {id: daily}
schedule: {cron: '0 8 * * *', trigger: {key: orders, check: exists}}
validation: {rules: [{key: orders, check: exists}]}
job: {type: command, config: {command: ["true"]}}
"""
_HOURLY = _DAILY.replace("daily", "hourly").replace("0 8 * * *", "0 * * * *")


class Workshop:
    """A project with a pipeline in force, in which mistakes are made; and a server of its own."""

    def __init__(self, folder: Path) -> None:
        self.place = Place(folder)
        for text in (ORDERS, _DAILY, _HOURLY):
            self.place.declare(text)
        self.folder = folder
        self.address: Address | None = None

    def run(self, *arguments: str, **environment: str) -> str:
        """What a command says, as a process of its own."""
        foreign = ("INTERLOCK_", "COLUMNS")
        own = {k: v for k, v in os.environ.items() if not k.startswith(foreign)}
        done = subprocess.run(
            [sys.executable, "-m", "interlock", *arguments],
            check=False,
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={**own, "NO_COLOR": "1", **environment},
        )
        assert "Traceback" not in done.stderr, done.stderr
        return self.plain(done.stderr + done.stdout)

    def plain(self, text: str) -> str:
        """Without what differs from machine to machine and from day to day."""
        text = text.replace(f"{self.folder.resolve()}/", "").replace(f"{self.folder}/", "")
        for pattern, plain in _PLAIN.items():
            text = re.sub(pattern, plain, text)
        lines = (line.strip() for line in text.splitlines())
        noise = ("Usage: ", "Try 'interlock")
        return " / ".join(line for line in lines if line and not line.startswith(noise))


#: Times, ports, tokens and names of processes.
_PLAIN = {
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC": "...",
    r"needs a date up to \d{4}-\d\d-\d\d": "needs a date up to ...",
    r"127\.0\.0\.1:\d+": "127.0.0.1:PORT",
    r"\b(\d{4,5})( is free: --port )\d+(, or port = )\d+": r"PORT\2PORT\3PORT",
    r"il-test-[0-9a-f]+": "TOKEN",
    r" +\d+\.\d s ": " ... s ",
    r"\d{4}-\d\d-\d\d: command job": "DATE: command job",
    r"there are: AD, .* ZW": "there are: AD, ..., ZW",
}


class Mistake(NamedTuple):
    """What is done wrong, how it is done here, and words that the answer must have."""

    what: str
    does: str
    act: Callable[[Workshop], str]
    needs: tuple[str, ...]


def typed(what: str, line: str, *needs: str, **environment: str) -> Mistake:
    """A command line; words are separated by single spaces."""
    return Mistake(
        what, f"$ {line}", lambda shop: shop.run(*line.split()[1:], **environment), needs
    )


def written(what: str, before: str, after: str, *needs: str) -> Mistake:
    """A file in which one text stands for another."""

    def act(shop: Workshop) -> str:
        assert before in ORDERS
        file = shop.folder / _FILE
        file.write_text(ORDERS.replace(before, after), encoding="utf-8")
        try:
            return shop.run("validate", _FILE)
        finally:
            file.write_text(ORDERS, encoding="utf-8")

    shown = after.replace("\t", "[tab]").replace("\n", " / ")
    return Mistake(what, f"in a file: {shown}", act, (_FILE, *needs))


def sent(
    what: str, request: str, *needs: str, body: str = "", kind: str = "application/json"
) -> Mistake:
    """A request to a real server, as its owner."""
    method, path = request.split(" ", 1)

    def act(shop: Workshop) -> str:
        assert shop.address is not None
        host = shop.address.url.removeprefix("http://")
        token = "none-of-its-tokens" if "token" in what else shop.address.token
        heads = {"Authorization": f"Bearer {token}"} | ({"Content-Type": kind} if body else {})
        with closing(http.client.HTTPConnection(host)) as connection:
            connection.request(method, path, body or None, heads)
            answer = connection.getresponse()
            said = json.loads(answer.read())
        return shop.plain(f"{answer.status}: {said['detail']}")

    return Mistake(what, f"{request} {body}".strip(), act, needs)


def _a_taken_port(shop: Workshop) -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        return shop.run("--project", "elsewhere", "serve", "--port", str(taken.getsockname()[1]))


def _a_job(command: str) -> Callable[[Workshop], str]:
    def act(shop: Workshop) -> str:
        config = f"{{command: {command}, timeout: 1s}}"
        file = shop.folder / _FILE
        file.write_text(ORDERS.replace('{command: ["true"]}', config), encoding="utf-8")
        try:
            said = shop.run("job", "test", "silver-orders", "--yes")
        finally:
            file.write_text(ORDERS, encoding="utf-8")
        return said.split(" / ")[-1]

    return act


def _no_pipelines(shop: Workshop) -> str:
    (shop.folder / "empty").mkdir(exist_ok=True)
    return shop.run("validate", "empty")


def _two_with_one_id(shop: Workshop) -> str:
    copy = shop.folder / "pipelines/z.yaml"
    copy.write_text(ORDERS, encoding="utf-8")
    try:
        return shop.run("validate", ".")
    finally:
        copy.unlink()


def _another_program(shop: Workshop) -> str:
    import sqlite3

    state = shop.folder / "foreign/.interlock"
    state.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(state / "interlock.db") as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS customers (name)")
    connection.close()
    return shop.run("--project", "foreign", "status")


def _a_folder_in_a_file(shop: Workshop) -> str:
    (shop.folder / "not-a-folder").write_text("", encoding="utf-8")
    return shop.run("init", "not-a-folder/project")


_PUT = "PUT /api/v1/pipelines/silver-orders/sensors/orders"

MISTAKES: tuple[Mistake, ...] = (
    typed("a typo in a command", "interlock statsu", "did you mean status?"),
    typed("a typo in an option", "interlock runs --statsu done", "--status"),
    typed("an unknown pipeline", "interlock why silver-order", "did you mean silver-orders?"),
    typed("a wrong date", "interlock why silver-orders 03.03.2026", "2026-03-03"),
    typed("a date that does not exist", "interlock why silver-orders 2026-02-30", "2026-02-30"),
    typed(
        "a year off in a date",
        "interlock sensor put silver-orders orders count=1000 --date 2062-03-03",
        "needs a date up to",
    ),
    typed(
        "a wrong reading key",
        "interlock sensor put silver-orders order count=1000",
        "did you mean orders?",
    ),
    typed(
        "an unknown field of a reading",
        "interlock sensor put silver-orders orders cuont=1000",
        "did you mean count?",
    ),
    typed(
        "text where rules want a number",
        "interlock sensor put silver-orders orders count=many",
        "compares it with a number",
    ),
    typed(
        "an hourly label for a daily pipeline",
        "interlock sensor put daily orders --date 2026-03-03 --hour 10",
        "runs once a day",
        "leave the hour out",
    ),
    typed(
        "a daily label for an hourly pipeline",
        "interlock sensor put hourly orders --date 2026-03-03",
        "runs every hour",
        "add the hour",
    ),
    typed(
        "no server, and no state file",
        "interlock --project elsewhere status",
        "`interlock serve` creates it",
    ),
    typed(
        "a server that does not answer",
        "interlock status",
        "127.0.0.1:PORT",
        INTERLOCK_URL="http://127.0.0.1:9",
        INTERLOCK_TOKEN="x" * 20,
    ),
    Mistake("a taken port", "$ interlock serve --port 8787", _a_taken_port, ("is free: --port",)),
    written("a typo in a field", "validation:", "validaton:", "did you mean validation?"),
    written("an unknown key", "sla: {", "colour: red\nsla: {", ":6:1: colour"),
    written("a wrong type", "value: 1000", "value: [1]", ":5:", "a number"),
    written("a text for a duration", "window: 3h", "window: soon", ":4:", "such as"),
    written(
        "a bad cron",
        "trigger: {key: orders, check: exists}",
        "cron: '0 8 * *'",
        "a cron has five",
    ),
    written(
        "a cron beyond its bounds",
        "trigger: {key: orders, check: exists}",
        "cron: '0 25 * * *'",
        "hour 0-23",
    ),
    written(
        "a bad holiday code",
        "schedule:\n",
        "schedule:\n  exclude: {holidays: XX}\n",
        "as in DE-BY",
        "AD, ..., ZW",
    ),
    written(
        "contradictory rules",
        "value: 1000}",
        "value: 1000}, {key: orders, check: lt, field: count, value: 5}",
        "rule [0] in line 5",
        "count can't be >= 1000 and < 5",
    ),
    written(
        "a shell line as the command",
        '["true"]',
        "echo a | tee f",
        "no shell runs this command",
        "[sh, -c,",
    ),
    written("a tab in YAML", "  trigger:", "\ttrigger:", ":3:1", "use spaces"),
    written(
        "a duplicate key", "sla: {", "schedule: {}\nsla: {", "duplicate key", "first set in line 2"
    ),
    Mistake(
        "two pipelines with one id",
        "two files with id: silver-orders",
        _two_with_one_id,
        ("z.yaml", "give one of the two another"),
    ),
    Mistake(
        "an empty folder",
        "$ interlock validate empty",
        _no_pipelines,
        ("interlock init writes an example",),
    ),
    Mistake(
        "a missing program",
        "command: [no-such-program], and interlock job test silver-orders",
        _a_job("[no-such-program]"),
        ("no-such-program can't be started", "check its name"),
    ),
    Mistake(
        "a hanging job",
        "command: [sleep, '60'] with timeout: 1s",
        _a_job("[sleep, '60']"),
        ("ended after 1s, its timeout",),
    ),
    Mistake(
        "a state file of another program",
        "$ interlock status, with its interlock.db",
        _another_program,
        ("another program", "choose another folder"),
    ),
    Mistake(
        "a folder that can't be written",
        "$ interlock init not-a-folder/project",
        _a_folder_in_a_file,
        ("can't write not-a-folder/project",),
    ),
    sent("a wrong token", "GET /api/v1/runs", "401"),
    sent("a wrong HTTP method", "DELETE /api/v1/runs", "405", "allowed: GET"),
    sent("a wrong path", "GET /api/v1/rnus", "404", "/openapi.json"),
    sent(
        "a wrong content type",
        _PUT,
        "415",
        "application/json",
        body="count=1000",
        kind="text/plain",
    ),
    sent("malformed JSON", _PUT, "400", "byte", body='{"count": 1000,}'),
    sent("an unknown parameter", "GET /api/v1/runs?staus=done", "422", "staus"),
    sent(
        "an unknown pipeline, over HTTP",
        "GET /api/v1/pipelines/silver-order",
        "404",
        "did you mean silver-orders?",
    ),
    sent(
        "a year off in a date, over HTTP",
        _PUT,
        "422",
        "needs a date up to",
        body='{"date": "2062-03-03"}',
    ),
)


@contextmanager
def workshop(folder: Path) -> Iterator[Workshop]:
    """With a server in a folder of its own, so that commands find the state file free."""
    shop = Workshop(folder)
    (folder / "elsewhere").mkdir()
    served = Workshop(_made(folder / "served"))
    server = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "interlock",
            "--project",
            str(served.folder),
            "serve",
            "--port",
            "0",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + _PATIENCE
        while (shop.address or find_address(served.folder / ".interlock")) is None:
            assert time.monotonic() < until, "the server does not start"
            time.sleep(0.05)
        shop.address = find_address(served.folder / ".interlock")
        yield shop
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(_PATIENCE)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def row(mistake: Mistake, said: str) -> str:
    """A row of the page."""
    cells = (mistake.what, f"`{mistake.does}`", said)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, workshop(Path(folder)) as shop:
        rows = [row(each, each.act(shop)) for each in MISTAKES]
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    table = "\n".join(["| mistake | for example | Interlock says |", "| --- | --- | --- |", *rows])
    PAGE.write_text(
        f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
