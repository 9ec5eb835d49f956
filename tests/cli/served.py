"""Served: a server that holds a place's state file, over HTTP, with the controller behind it.

It answers the paths that commands use, from the same operations that a real one has.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from cli.place import Place
from interlock.adapters.sqlite.lock import serving
from interlock.domain import canonical
from interlock.domain.timestamp import instant
from interlock.errors import ConfigError, NotFoundError
from interlock.runtime.server_address import NAME as ADDRESS_FILE
from interlock.runtime.server_address import Address
from interlock.wiring.local_backend import LocalBackend
from tiny_server import Asked, Said, Tiny, tiny_server

STATUS = {NotFoundError: 404, ConfigError: 422}


@contextmanager
def served(
    place: Place, *, leaves_address: bool = True, minutes_a_request: int = 0
) -> Iterator[Tiny]:
    """A running server, as far as commands can tell; time may fly after each request."""
    place.catch_up()

    def answer(asked: Asked) -> Said:
        said: list[Said] = []
        place.catch_up()
        place.happen(lambda home: said.append(_answer(asked, home)))
        place.wait(minutes=minutes_a_request)
        return said[0]

    with serving(place.state), tiny_server(answer) as server:
        if leaves_address:
            left = canonical.encode(Address(server.url, "left-for-commands", 1))
            (place.settings.state / ADDRESS_FILE).write_text(left)
        yield server


def _answer(asked: Asked, home: LocalBackend) -> Said:
    try:
        return Said(_found(asked, home))
    except (NotFoundError, ConfigError) as error:
        return Said({"detail": str(error)}, STATUS[type(error)])


def _found(asked: Asked, home: LocalBackend) -> Any:  # noqa: C901 - one flat table of paths
    operations = home.operations
    parts = asked.path.removeprefix("/api/v1/").split("/")
    match asked.method, parts:
        case "GET", ["", "healthz"]:
            return {"status": "ok"}
        case "POST", ["foresee"]:
            return {"items": operations.foresee(asked.body["pipelines"], asked.body["whole"])}
        case "PUT", ["pipelines", pipeline, "sensors", key]:
            return operations.put(pipeline, key, asked.body, decide="wait" in asked.query)
        case "POST", ["pipelines", pipeline, "reruns"]:
            body = dict(asked.body)
            date, schedule = body.pop("date"), body.pop("schedule", None)
            return operations.rerun(pipeline, date, schedule_id=schedule, actor="ada", **body)
        case "POST", ["pipelines", pipeline, "pause"]:
            return operations.pause(pipeline, instant(asked.body.get("until")))
        case "POST", ["pipelines", pipeline, "resume" | "retire" as act]:
            return getattr(operations, act)(pipeline)
        case "POST", ["watchdog"]:
            return operations.watch_pass(instant(asked.query.get("since")))
        case "GET", ["runs", pipeline, schedule, date]:
            run = operations.run(pipeline, date, schedule)
            return {"run": run, "events": operations.history(run.key)}
        case "GET", ["watchdog"]:
            return operations.heartbeat()
        case "GET", _:
            return {"items": _list(asked, parts, home), "next": None}
    raise NotFoundError(asked.path)


def _list(asked: Asked, parts: list[str], home: LocalBackend) -> Any:
    operations, query = home.operations, asked.query
    limit = int(query.get("limit", 100))
    lists: dict[str, Callable[[], Any]] = {
        "pipelines": operations.pipelines,
        "refused": operations.refused,
        "missing": operations.missing,
        "runs": lambda: operations.runs(
            query.get("pipeline"), query.get("from", "0000"), query.get("to", "9999"), limit
        ),
        "events": lambda: operations.events(
            query.get("pipeline"), query.get("type"), instant(query.get("since")), limit
        ),
    }
    if len(parts) == 1:
        return lists[parts[0]]()
    of_pipeline: dict[str, Callable[[str], Any]] = {
        "sensors": operations.readings,
        "why": lambda pipeline: operations.why(pipeline, query.get("date")),
        "backfill": lambda pipeline: operations.backfill(
            pipeline, query["from"], query["to"], query.get("schedule")
        ),
        "resume": operations.would_resume,
    }
    return of_pipeline[parts[2]](parts[1])
