"""Certificates are always checked, against the name and not the address."""

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.jobs.stand_in import Reply, StandIn, serving
from certificates import self_signed
from interlock.adapters.http.addresses import AllowedHosts
from interlock.adapters.http.http_client import HttpClient, Request
from interlock.adapters.http.platform_error import PlatformError
from interlock.domain.budgets import Category

LOOPBACK = AllowedHosts.parse("127.0.0.0/8")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that vouches for itself, for etl.example."""
    return self_signed(tmp_path_factory.mktemp("tls") / "both.pem", "etl.example")


@pytest.fixture
def names() -> list[str]:
    """The names that clients asked for in SNI."""
    return []


@pytest.fixture
def secure(certificate: Path, names: list[str]) -> Iterator[StandIn]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.sni_callback = lambda _, name, __: names.append(name)
    with serving(lambda plain: context.wrap_socket(plain, server_side=True)) as stand_in:
        yield stand_in


def client(ca_file: Path | None, address: str = "127.0.0.1") -> HttpClient:
    return HttpClient(LOOPBACK, ca_file, resolve=lambda host, port: [address])


def test_a_private_authority_vouches_for_the_name(
    secure: StandIn, certificate: Path, names: list[str]
) -> None:
    request = Request(url=f"https://etl.example:{secure.port}/echo", holds_secret=True)
    assert client(certificate).send(request).ok
    assert names == ["etl.example"]
    assert secure.seen[0].headers["host"] == f"etl.example:{secure.port}"


def test_an_unknown_authority_is_refused(secure: StandIn) -> None:
    with pytest.raises(PlatformError, match="not trusted") as error:
        client(None).send(Request(url=f"https://etl.example:{secure.port}/echo"))
    assert error.value.category is Category.PERMANENT
    assert not secure.seen


def test_a_certificate_for_another_name_is_refused(secure: StandIn, certificate: Path) -> None:
    with pytest.raises(PlatformError, match="not trusted") as error:
        client(certificate).send(Request(url=f"https://other.example:{secure.port}/echo"))
    assert error.value.category is Category.PERMANENT


def test_a_slow_drip_ends_over_tls_too(secure: StandIn, certificate: Path) -> None:
    secure.plan("/echo", Reply(200, b"x" * 1000, drip=0.02))
    request = Request(url=f"https://etl.example:{secure.port}/echo", timeout=0.5)
    with pytest.raises(PlatformError, match="timed out"):
        client(certificate).send(request)


def test_a_server_that_speaks_no_tls_may_be_asked_again(
    stand_in: StandIn, certificate: Path
) -> None:
    with pytest.raises(PlatformError) as error:
        client(certificate).send(Request(url=f"https://etl.example:{stand_in.port}/", timeout=2))
    assert error.value.category is Category.TRANSIENT and not error.value.maybe_started


def test_an_authority_that_can_not_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(PlatformError, match="INTERLOCK_CA_FILE"):
        client(tmp_path / "missing").send(Request(url="https://etl.example/"))
