"""Each rule of the wire, with a client on a real socket that breaks it."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest

from interlock.operations.endpoints import SMALL
from interlock.web.gate import HEADERS
from interlock.web.protocol import Bounds
from web.house import OWNER, House, opened
from web.wire import Answer, Wire, answers, wired
from wiring.served import eventually

SENSOR = "/api/v1/pipelines/silver-orders/sensors/refused"
GOOD = "/api/v1/pipelines/silver-orders/sensors/good"
#: Short enough to be waited for, and long enough for a slow machine to send a request.
QUICK = Bounds(head_seconds=2.0, read_seconds=0.5, most_connections=20)


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """One for all: what is refused leaves nothing behind."""
    with opened(tmp_path_factory.mktemp("house")) as house, wired(house) as wire:
        yield wire


@pytest.fixture
def quick(house: House) -> Iterator[Wire]:
    with wired(house, QUICK) as wire:
        yield wire


def is_stored(wire: Wire) -> bool:
    return bool(wire.house.home.store.sensors.find("silver-orders", ["refused"]))


def is_refused(answer: Answer, status: int) -> bool:
    """As a problem document, with the headers of every answer, and nothing more on that connection."""
    assert answer.status == status, answer
    assert answer.headers["content-type"] == "application/problem+json"
    assert all(answer.headers[name] == value for name, value in HEADERS.items())
    return answer.json()["status"] == status and answer.headers["connection"] == "close"


# --- a request that two programs could read in two ways


@pytest.mark.parametrize(
    ("lines", "body"),
    [
        pytest.param(("Content-Length: 2", "Content-Length: 3"), "{}", id="two lengths"),
        pytest.param(("Content-Length: 2", "Content-Length: 2"), "{}", id="a length twice"),
        pytest.param(("Content-Length: 2, 2",), "{}", id="a list of lengths"),
        pytest.param(("Content-Length: -2",), "{}", id="a negative length"),
        pytest.param(("Content-Length: +2",), "{}", id="a length with a sign"),
        pytest.param(("Content-Length: 0x2",), "{}", id="a length in hex"),
        pytest.param(("Content-Length: 99999999999999999999",), "{}", id="a length beyond numbers"),
        pytest.param(("Content-Length: 2", "Transfer-Encoding: chunked"), "0\r\n\r\n", id="both"),
        pytest.param(("Transfer-Encoding: chunked", "Content-Length: 2"), "0\r\n\r\n", id="as both"),
        pytest.param(("Transfer-Encoding : chunked",), "2\r\n{}\r\n0\r\n\r\n", id="space, colon"),
        pytest.param(
            ("Transfer-Encoding: chunked", "Transfer-Encoding: identity"),
            "2\r\n{}\r\n0\r\n\r\n",
            id="two codings",
        ),
        pytest.param(("Transfer-Encoding: chunked",), "zz\r\n{}\r\n0\r\n\r\n", id="no chunk size"),
        pytest.param(("Transfer-Encoding: chunked",), "-2\r\n{}\r\n0\r\n\r\n", id="negative chunk"),
        pytest.param(("Transfer-Encoding: chunked",), f"{'f' * 18}\r\n{{}}", id="endless chunk"),
        pytest.param(("X: a\rContent-Length: 2",), "{}", id="a lone carriage return"),
        pytest.param(("X: a\nContent-Length: 2",), "{}", id="a lone line feed"),
        pytest.param(("X: a", " folded: b", "Content-Length: 2"), "{}", id="a folded line"),
        pytest.param(("X: \x00", "Content-Length: 2"), "{}", id="a zero"),
        pytest.param(("X y: a", "Content-Length: 2"), "{}", id="a name with a space"),
    ],
)  # fmt: skip
def test_what_can_be_read_in_two_ways_is_not_read(
    wire: Wire, lines: tuple[str, ...], body: str
) -> None:
    head = wire.request("PUT", SENSOR, "Content-Type: application/json", *lines).decode("latin-1")

    (answer,) = wire.said(head + body)

    assert answer.status == 400
    assert answer.headers["connection"] == "close"
    assert not is_stored(wire)


@pytest.mark.parametrize("coding", ["gzip, chunked", "gzip", "identity", "xchunked"])
def test_the_only_transfer_coding_is_chunked(wire: Wire, coding: str) -> None:
    head = wire.request("PUT", SENSOR, f"Transfer-Encoding: {coding}")

    (answer,) = wire.said(head + b"2\r\n{}\r\n0\r\n\r\n")

    assert is_refused(answer, 501)
    assert not is_stored(wire)


@pytest.mark.parametrize("coding", ["chunked", "CHUNKED"])
def test_a_body_in_chunks_is_a_body(wire: Wire, coding: str) -> None:
    lines = (f"Transfer-Encoding: {coding}", "Content-Type: application/json")

    (answer,) = wire.said(wire.request("PUT", GOOD, *lines) + b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n")

    assert answer.status == 200


def test_a_request_behind_a_body_is_a_request_of_its_own(wire: Wire) -> None:
    hidden = b"GET /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"

    first, second = wire.said(wire.request("PUT", GOOD, body=b"{}") + hidden, most=2)

    assert (first.status, second.status) == (200, 401)


def test_a_trailer_is_no_header(wire: Wire) -> None:
    head = (
        f"PUT {SENSOR} HTTP/1.1\r\nHost: 127.0.0.1:{wire.port}\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )

    (answer,) = wire.said(f"{head}2\r\n{{}}\r\n0\r\nAuthorization: Bearer {OWNER}\r\n\r\n")

    assert answer.status == 401
    assert not is_stored(wire)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", id="TLS"),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", id="HTTP/2"),
        pytest.param(b"GET /healthz HTTP/9.9\r\nHost: 127.0.0.1\r\n\r\n", id="HTTP/9"),
        pytest.param(b"CONNECT evil.example:80 HTTP/1.1\r\nHost: evil.example:80\r\n\r\n", id="tunnel"),
        pytest.param(b"GET /\xe9 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", id="not ASCII"),
        pytest.param(b"\x00" * 1000, id="zeros"),
        pytest.param(b"EHLO mail.example\r\n", id="mail"),
    ],
)  # fmt: skip
def test_what_is_no_http_is_refused_in_the_same_words(wire: Wire, text: bytes) -> None:
    (answer,) = wire.said(text)

    assert is_refused(answer, 400)


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "DELETE", "PATCH", "PROPFIND"])
def test_an_unsupported_method_does_nothing(wire: Wire, method: str) -> None:
    assert wire.ask(method, "/api/v1/runs").status == 405
    assert OWNER.encode() not in wire.ask("TRACE", "/api/v1/runs").body


@pytest.mark.parametrize(
    "name", ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "_method"]
)
def test_no_header_makes_another_method_of_a_method(wire: Wire, name: str) -> None:
    path = "/api/v1/pipelines/silver-orders/pause"

    assert wire.ask("GET", path, f"{name}: POST").status == 405
    assert wire.ask("GET", f"{path}?_method=POST").status == 405
    assert wire.house.home.queries.config("silver-orders").paused_since is None


def test_a_head_is_a_get_without_its_body(wire: Wire) -> None:
    with wire.connection() as line:
        line.sendall(wire.request("HEAD", "/api/v1/runs", "Connection: close"))
        text = line.makefile("rb").read()

    assert text.startswith(b"HTTP/1.1 200 OK\r\n") and text.endswith(b"\r\n\r\n")


# --- by which name we are called


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1:{port}@evil.example", "127.0.0.1:{port},evil",
     "127.0.0.1.evil.example", "[::1", "::1", "[::ffff:10.0.0.1]", "0.0.0.0", "2130706433", "127.1",
     "127.0.0.1:80:80", "localhost..", "127.0.0.1:x", "xn--lcalhost-11a", "127.0.0.1/"],
)  # fmt: skip
def test_who_calls_us_by_a_name_that_is_not_ours_gets_nothing(wire: Wire, host: str) -> None:
    name = host.format(port=wire.port)

    (answer,) = wire.said(
        f"GET /api/v1/runs HTTP/1.1\r\nHost: {name}\r\nAuthorization: Bearer {OWNER}\r\n\r\n"
    )

    assert answer.status in (400, 421), answer


@pytest.mark.parametrize("host", ["LocalHost:{port}", "127.0.0.1.", "[::1]:{port}", "[::1]"])
def test_our_name_is_ours_however_it_is_spelt(wire: Wire, host: str) -> None:
    name = host.format(port=wire.port)

    (answer,) = wire.said(
        f"GET /api/v1/runs HTTP/1.1\r\nHost: {name}\r\nAuthorization: Bearer {OWNER}\r\n\r\n"
    )

    assert answer.status == 200, answer


def test_two_names_or_none_are_refused(wire: Wire) -> None:
    for lines in ("", f"Host: 127.0.0.1:{wire.port}\r\nHost: 127.0.0.1:{wire.port}\r\n"):
        (answer,) = wire.said(f"GET /api/v1/runs HTTP/1.1\r\n{lines}\r\n")
        assert answer.status == 400


def test_the_request_line_names_no_other_host_than_the_header(wire: Wire) -> None:
    ours = f"http://127.0.0.1:{wire.port}/api/v1/runs"

    assert wire.ask("GET", ours).status == 200
    for other in ("http://evil.example/api/v1/runs", "http://127.0.0.1:1/api/v1/runs", "evil:80"):
        assert wire.ask("GET", other).status == 400
    assert wire.ask("GET", "//evil.example/api/v1/runs").status == 404


@pytest.mark.parametrize(
    "path",
    ["/static/../gate.py", "/static/../../../../../../etc/passwd", "/static/%2e%2e/gate.py",
     "/static/..%2fgate.py", "/static/%2e%2e%2f%2e%2e%2fgate.py", "/static/..%5cgate.py",
     "/static//etc/passwd", "/static/%2fetc%2fpasswd", "/static/app.js%00.css", "/static/.",
     "/static/%c0%ae%c0%ae/gate.py", "/../gate.py", "/static/app.js/../../gate.py",
     "/api/v1/pipelines/..%2f..%2fetc%2fpasswd", "/api/v1/pipelines/../../interlock.toml",
     "/api/v1/runs/..%2f../stream/2026-03-03", "/pipelines/..%2f..%2finterlock.toml"],
)  # fmt: skip
def test_no_path_leads_out_of_what_is_served(wire: Wire, path: str) -> None:
    answer = wire.ask("GET", path)

    assert answer.status == (400 if "%00" in path else 404), answer
    assert b"root:" not in answer.body and b"import " not in answer.body


# --- what breaks off


@pytest.mark.parametrize(
    "path", ["/login", "/logout", "/pipelines/silver-orders/pause", "/api/v1/sensors"]
)
def test_a_caller_who_breaks_off_leaves_no_traceback(
    wire: Wire, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    origin = f"Origin: http://127.0.0.1:{wire.port}"
    head = wire.request("POST", path, origin, "Content-Length: 100")
    with wire.connection() as opened:
        opened.sendall(head + b"secret=")
    assert wire.ask("GET", "/healthz").status == 200
    eventually(lambda: wire.connections == 0, "the end of the connection")
    assert not [record for record in caplog.records if record.exc_info]


# --- too much


def test_the_number_of_headers_is_limited(wire: Wire) -> None:
    assert wire.ask("GET", "/healthz", *["a: b"] * 98).status == 200
    assert is_refused(wire.ask("GET", "/healthz", *["a: b"] * 99), 431)


def test_the_size_of_a_head_is_limited(wire: Wire) -> None:
    assert wire.ask("GET", "/healthz", f"a: {'x' * 60_000}").status == 200
    assert is_refused(wire.ask("GET", "/healthz", f"a: {'x' * 66_000}"), 431)


def test_a_head_that_does_not_end_is_cut_off(wire: Wire) -> None:
    (answer,) = wire.said(b"GET /healthz HTTP/1.1\r\na: " + b"x" * 1_000_000)

    assert is_refused(answer, 431)


@pytest.mark.parametrize("size", [SMALL + 1, 3 * SMALL])
def test_who_sends_too_much_hears_why(wire: Wire, size: int) -> None:
    answer = wire.ask("PUT", SENSOR, body=b'{"a":"' + b"x" * size + b'"}')

    assert answer.status == 413
    assert not is_stored(wire)


def test_who_may_not_send_hears_so_before_everything_is_sent(wire: Wire) -> None:
    body = b"x" * 300_000
    request = wire.request("PUT", SENSOR, body=body).replace(OWNER.encode(), b"wrong")

    with wire.connection() as line:
        line.sendall(request)
        (refused,) = answers(line)
        line.sendall(wire.request("GET", "/healthz"))
        (next_one,) = answers(line)

    assert (refused.status, next_one.status) == (401, 200)


# --- too slow


def test_a_head_that_comes_too_slowly_is_not_waited_for(quick: Wire) -> None:
    with quick.connection() as slow, quick.connection() as silent:
        slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        assert slow.recv(100) == b""
        assert silent.recv(100) == b""


def test_a_head_that_drips_is_not_waited_for(quick: Wire) -> None:
    """Each byte comes in time, and all of them together do not."""
    with quick.connection() as slow:
        slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")
        slow.settimeout(0.1)
        eventually(lambda: _is_cut_off(slow, b"x"), "cut off")


def test_a_second_request_that_drips_is_not_waited_for(quick: Wire) -> None:
    with quick.connection() as slow:
        slow.sendall(quick.request("GET", "/healthz"))
        answers(slow)
        slow.sendall(b"GET /healthz HTTP/1.1\r\nX: ")
        slow.settimeout(0.1)
        eventually(lambda: _is_cut_off(slow, b"x"), "cut off")


def test_the_rest_of_a_body_that_was_refused_is_not_waited_for(quick: Wire) -> None:
    with quick.connection() as slow:
        slow.sendall(b"PUT / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000000\r\n\r\n")
        (answer,) = answers(slow)
        assert answer.status == 401
        slow.settimeout(0.1)
        eventually(lambda: _is_cut_off(slow, b"x"), "cut off")


def test_a_body_that_drips_is_answered_and_others_meanwhile(wire: Wire) -> None:
    with wire.connection() as slow:
        slow.sendall(wire.request("PUT", SENSOR, body=b"x" * 1000)[:-999])
        assert wire.ask("GET", "/api/v1/runs").status == 200
        (answer,) = answers(slow)

    assert answer.status == 408
    assert not is_stored(wire)


def test_who_does_not_read_is_not_written_to_for_ever(quick: Wire) -> None:
    with quick.connection() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.sendall(quick.request("GET", "/openapi.json") * 400)
        eventually(lambda: quick.connections == 1, "connected")
        eventually(lambda: quick.connections == 0, "cut off")
    assert quick.ask("GET", "/healthz").status == 200


def test_who_only_waits_gives_way_to_who_has_something_to_ask(quick: Wire) -> None:
    with ExitStack() as crowd:
        waiting = [crowd.enter_context(quick.connection()) for _ in range(60)]
        for n, each in enumerate(waiting):
            with_some = (
                b"",
                b"GET / HTTP/1.1\r\n",
                quick.request("POST", "/login", body=b"x")[:-1],
            )
            _send(each, with_some[n % 3])
        assert quick.ask("GET", "/api/v1/runs").status == 200
        assert quick.connections <= QUICK.most_connections + 1


def _send(where: socket.socket, text: bytes) -> None:
    with suppress(OSError):  # it has given way already
        where.sendall(text)


def _is_cut_off(where: socket.socket, drop: bytes) -> bool:
    """After one more drop."""
    try:
        where.sendall(drop)
        return where.recv(100) == b""
    except TimeoutError:
        return False
    except OSError:
        return True
