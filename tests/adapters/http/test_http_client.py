"""One request to one checked place."""

import socket
import time
from ipaddress import ip_address
from pathlib import Path

import pytest

from adapters.jobs.stand_in import Reply, StandIn, serving
from interlock.adapters.http.addresses import NOWHERE, Address, AllowedHosts
from interlock.adapters.http.http_client import HttpClient, Request
from interlock.adapters.http.pinned import connect
from interlock.adapters.http.platform_error import PlatformError
from interlock.domain.budgets import Category

LOOPBACK = AllowedHosts.parse("127.0.0.0/8")
CLIENT = HttpClient(LOOPBACK)


def refusal(client: HttpClient, request: Request) -> str:
    with pytest.raises(PlatformError) as error:
        client.send(request)
    assert error.value.category is Category.PERMANENT and not error.value.maybe_started
    return str(error.value)


def trouble(client: HttpClient, request: Request) -> PlatformError:
    with pytest.raises(PlatformError) as error:
        client.send(request)
    assert error.value.category is Category.TRANSIENT
    return error.value


def test_an_answer_is_what_was_sent(stand_in: StandIn) -> None:
    stand_in.plan("/x?y=1", Reply(418, b'{"a": 1.10}', {"X-Y": "z"}))
    answer = CLIENT.send(
        Request(url=f"{stand_in.url}/x?y=1#z", method="PUT", body=b"hello", given={"A": "b"})
    )
    assert (answer.status, answer.ok, answer.headers["x-y"]) == (418, False, "z")
    assert str(answer.json()["a"]) == "1.10"
    seen = stand_in.seen[0]
    assert (seen.method, seen.path, seen.body) == ("PUT", "/x?y=1", b"hello")
    assert seen.headers["a"] == "b" and seen.headers["accept-encoding"] == "identity"


def test_the_name_stays_in_the_host_header(stand_in: StandIn) -> None:
    client = HttpClient(LOOPBACK, resolve=lambda host, port: ["127.0.0.1"])
    client.send(Request(url=f"http://Etl.example:{stand_in.port}/echo"))
    assert stand_in.seen[0].headers["host"] == f"etl.example:{stand_in.port}"


def test_nothing_of_the_environment_is_used(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert CLIENT.send(Request(url=f"{stand_in.url}/echo")).ok


def test_no_password_of_a_home_folder_is_sent(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password canary\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(netrc))
    CLIENT.send(Request(url=f"{stand_in.url}/echo"))
    assert "authorization" not in stand_in.seen[0].headers


def test_a_cookie_is_not_brought_back(stand_in: StandIn) -> None:
    stand_in.plan("/echo", Reply(200, b"{}", {"Set-Cookie": "session=1; Path=/"}))
    for _ in range(2):
        CLIENT.send(Request(url=f"{stand_in.url}/echo"))
    assert not any("cookie" in seen.headers for seen in stand_in.seen)


def test_the_file_wins_over_our_own_headers_but_not_over_those_that_frame_the_request(
    stand_in: StandIn,
) -> None:
    own = {"Idempotency-Key": "ours", "X-Own": "1"}
    url = f"{stand_in.url}/echo"
    CLIENT.send(Request(url=url, own=own, given={"idempotency-key": "theirs"}))
    headers = stand_in.seen[0].headers
    assert headers["idempotency-key"] == "theirs" and headers["x-own"] == "1"
    for name in ("Host", "content-length", "Transfer-Encoding", "Connection"):
        assert name in refusal(CLIENT, Request(url=url, given={name: "x"}))


@pytest.mark.parametrize(
    "headers",
    [
        {"A": "canary\r\nB: c"},
        {"A": "canary\n"},
        {"A": "canary\0"},
        {"A": "canary", "a": "y"},
        {"A b": "canary"},
        {"": "canary"},
        {"A": "canary \u20ac"},
    ],
)
def test_headers_that_can_not_be_sent_are_refused_and_not_repeated(
    stand_in: StandIn, headers: dict[str, str]
) -> None:
    message = refusal(CLIENT, Request(url=f"{stand_in.url}/echo", given=headers))
    assert "canary" not in message
    assert not stand_in.seen


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.1", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]"]
)
def test_without_a_list_this_machine_is_out_of_reach(stand_in: StandIn, host: str) -> None:
    message = refusal(HttpClient(NOWHERE), Request(url=f"http://{host}:{stand_in.port}/echo"))
    assert "INTERLOCK_ALLOW_HOSTS" in message
    assert not stand_in.seen


def test_a_resolver_that_changes_its_answer_is_asked_once(stand_in: StandIn) -> None:
    answers = iter([["127.0.0.1"], ["169.254.169.254"]])
    client = HttpClient(LOOPBACK, resolve=lambda host, port: next(answers))
    url = f"http://etl.example:{stand_in.port}/echo"
    assert client.send(Request(url=url)).ok
    assert "never allowed" in refusal(client, Request(url=url))
    assert len(stand_in.seen) == 1


def test_one_bad_address_among_good_ones_refuses_the_request(stand_in: StandIn) -> None:
    client = HttpClient(LOOPBACK, resolve=lambda host, port: ["127.0.0.1", "10.0.0.1"])
    assert "10.0.0.1" in refusal(client, Request(url=f"http://a:{stand_in.port}/echo"))
    assert not stand_in.seen


def test_the_next_address_is_tried_when_one_does_not_answer(stand_in: StandIn) -> None:
    client = HttpClient(LOOPBACK, resolve=lambda host, port: ["127.0.0.2", "127.0.0.1"])
    assert client.send(Request(url=f"http://a:{stand_in.port}/echo")).ok


def test_a_connection_that_ends_up_elsewhere_is_not_used(stand_in: StandIn) -> None:
    def elsewhere(address: Address, port: int, timeout: float) -> socket.socket:
        return connect(ip_address("127.0.0.1"), port, timeout)

    client = HttpClient(LOOPBACK, resolve=lambda *_: ["127.0.0.9"], connect=elsewhere)
    error = trouble(client, Request(url=f"http://a:{stand_in.port}/echo"))
    assert "connected to 127.0.0.1" in str(error) and not error.maybe_started
    assert not stand_in.seen


def test_a_refused_connection_means_not_started() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/"
        assert not trouble(CLIENT, Request(url=url)).maybe_started


def test_an_unknown_host_name_means_not_started() -> None:
    def unknown(host: str, port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    error = trouble(HttpClient(LOOPBACK, resolve=unknown), Request(url="http://etl.example/"))
    assert not error.maybe_started


def test_a_slow_lookup_ends_at_the_deadline() -> None:
    def slow(host: str, port: int) -> list[str]:
        time.sleep(1)
        return ["127.0.0.1"]

    began = time.monotonic()
    error = trouble(HttpClient(LOOPBACK, resolve=slow), Request(url="http://a/", timeout=0.1))
    assert time.monotonic() - began < 0.8
    assert not error.maybe_started


def test_a_slow_drip_ends_at_the_deadline(stand_in: StandIn) -> None:
    stand_in.plan("/echo", Reply(200, b"x" * 1000, drip=0.02))
    began = time.monotonic()
    error = trouble(CLIENT, Request(url=f"{stand_in.url}/echo", timeout=0.3))
    assert time.monotonic() - began < 2
    assert error.maybe_started and "timed out" in str(error)


def test_a_connection_lost_after_sending_may_have_done_its_work(stand_in: StandIn) -> None:
    stand_in.plan("/echo", Reply(None))
    assert trouble(CLIENT, Request(url=f"{stand_in.url}/echo")).maybe_started


def test_an_answer_cut_short_may_have_done_its_work(stand_in: StandIn) -> None:
    stand_in.plan("/echo", Reply(200, b"{}", {"Content-Length": "100"}))
    assert trouble(CLIENT, Request(url=f"{stand_in.url}/echo")).maybe_started


def test_a_long_answer_is_cut_and_no_json_any_more(stand_in: StandIn) -> None:
    stand_in.plan("/echo", Reply(200, b'["' + b"x" * 10 * 1024 * 1024 + b'"]'))
    answer = CLIENT.send(Request(url=f"{stand_in.url}/echo"))
    assert answer.cut and len(answer.body) == 64 * 1024
    with pytest.raises(ValueError, match="too long"):
        answer.json()


def test_a_long_answer_fits_where_it_may_be_long(stand_in: StandIn) -> None:
    stand_in.plan("/echo", Reply(200, b'"' + b"x" * 1024 * 1024 + b'"'))
    answer = CLIENT.send(Request(url=f"{stand_in.url}/echo", limit=4 * 1024 * 1024))
    assert not answer.cut and len(answer.json()) == 1024 * 1024


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"a":', b"\xff", b"[" * 100_000])
def test_what_is_not_json_is_said_to_be_none(stand_in: StandIn, body: bytes) -> None:
    stand_in.plan("/echo", Reply(200, body))
    with pytest.raises(ValueError):
        CLIENT.send(Request(url=f"{stand_in.url}/echo", limit=1 << 20)).json()


def test_a_redirect_is_an_answer_unless_it_may_be_followed(stand_in: StandIn) -> None:
    stand_in.plan("/a", Reply(307, headers={"Location": "/echo"}))
    assert CLIENT.send(Request(url=f"{stand_in.url}/a")).status == 307
    assert len(stand_in.seen) == 1


def test_a_followed_redirect_repeats_the_request(stand_in: StandIn) -> None:
    stand_in.plan("/a", Reply(307, headers={"Location": "/b"}))
    stand_in.plan("/b", Reply(308, headers={"Location": f"{stand_in.url}/echo"}))
    request = Request(
        url=f"{stand_in.url}/a", method="POST", body=b"x", given={"A": "b"}, follow_redirects=True
    )
    assert CLIENT.send(request).ok
    assert [(each.method, each.body, each.headers["a"]) for each in stand_in.seen] == [
        ("POST", b"x", "b")
    ] * 3


@pytest.mark.parametrize("status", [301, 302, 303])
def test_a_redirect_that_would_change_the_request_is_not_followed(
    stand_in: StandIn, status: int
) -> None:
    stand_in.plan("/a", Reply(status, headers={"Location": "/echo"}))
    answer = CLIENT.send(Request(url=f"{stand_in.url}/a", follow_redirects=True))
    assert answer.status == status


def test_after_three_hops_it_is_enough(stand_in: StandIn) -> None:
    stand_in.fault = lambda seen: Reply(307, headers={"Location": "/again"})
    message = refusal(CLIENT, Request(url=f"{stand_in.url}/a", follow_redirects=True))
    assert "redirects" in message
    assert len(stand_in.seen) == 4


def test_another_origin_does_not_get_the_headers_of_the_file(stand_in: StandIn) -> None:
    with serving() as other:
        stand_in.plan("/a", Reply(307, headers={"Location": f"{other.url}/echo"}))
        request = Request(
            url=f"{stand_in.url}/a",
            own={"X-Own": "1"},
            given={"Authorization": "canary", "X-Own": "theirs"},
            follow_redirects=True,
        )
        assert CLIENT.send(request).ok
        headers = other.seen[0].headers
    assert "authorization" not in headers and headers["x-own"] == "1"


def test_a_redirect_is_checked_like_any_other_place(stand_in: StandIn) -> None:
    for place in ("http://169.254.169.254/latest", "http://10.0.0.1/", "ftp://127.0.0.1/"):
        stand_in.plan("/a", Reply(307, headers={"Location": place}))
        refusal(CLIENT, Request(url=f"{stand_in.url}/a", follow_redirects=True))


def test_a_secret_goes_over_plain_http_only_where_an_operator_allowed_it(stand_in: StandIn) -> None:
    request = Request(url=f"http://a:{stand_in.port}/echo", holds_secret=True)
    public = HttpClient(NOWHERE, resolve=lambda *_: ["8.8.8.8"])
    assert "plain http" in refusal(public, request)
    listed = HttpClient(LOOPBACK, resolve=lambda *_: ["127.0.0.1"])
    assert listed.send(request).ok


def test_a_request_does_not_show_what_it_holds() -> None:
    request = Request(url="http://a/canary", given={"A": "canary"}, body=b"canary")
    assert "canary" not in repr(request)
