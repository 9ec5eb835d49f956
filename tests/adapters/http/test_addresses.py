"""Where a request may go: every spelling, every carrier, every address."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.adapters.http.addresses import NOWHERE, AllowedHosts, checked, is_public
from interlock.adapters.http.lookups import resolve
from interlock.domain.job_forms import FORBIDDEN_ADDRESSES
from interlock.errors import ConfigError

EVERYTHING_ELSE = AllowedHosts.parse("0.0.0.0/1,128.0.0.0/1,[::/1],[8000::/1]")


@pytest.mark.parametrize(
    "spelling",
    [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "0x7f.1",
        "0x7f000001",
        "0177.0.0.1",
        "2130706433",
        "017700000001",
    ],
)
def test_this_machine_is_refused_however_it_is_spelt(spelling: str) -> None:
    with pytest.raises(ValueError, match=r"127\.0\.0\.1 is not a public address"):
        checked(spelling, 80, resolve(spelling, 80), NOWHERE)


INSIDE = """
0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.255 169.254.0.1
172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.9 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1
198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
:: ::1 ::7f00:1 ::127.0.0.1 ::10.0.0.1 ::ffff:127.0.0.1 ::ffff:10.1.2.3 ::ffff:0:127.0.0.1
64:ff9b::127.0.0.1 64:ff9b::10.0.0.1 2002:7f00:1:: 2002:a00:1::1 2002:c0a8:101::
fe80::1 fec0::1 fc00::1 fd12:3456::1 ff02::1 100::1 2001:2::1 2001:10::1 2001:1ff::1
2001:db8::1 3fff::1 3fff:fff::1 4000::1 1fff::1 5f00::1 ::ffff:0.0.0.0
"""
HIDING = "64:ff9b:1::8.8.8.8 64:ff9b:1:ffff::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2"
OUTSIDE = """
1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 128.0.0.1 172.15.0.1 172.32.0.1
192.0.1.1 192.88.98.1 198.17.255.255 198.20.0.0 223.255.255.255 93.184.216.34
2606:4700::1111 2a00:1450::1 2001:200::1 2001:4860:4860::8888 2002:808:808::1 ::ffff:8.8.8.8
::ffff:0:8.8.8.8 64:ff9b::8.8.8.8 ::8.8.8.8
"""


@pytest.mark.parametrize("text", INSIDE.split())
def test_inside_is_refused_and_an_operator_may_open_it(text: str) -> None:
    assert not is_public(ip_address(text))
    with pytest.raises(ValueError, match="not a public address"):
        checked("etl", 80, [text], NOWHERE)
    assert checked("etl", 80, [text], EVERYTHING_ELSE) == (ip_address(text),)


@pytest.mark.parametrize("text", OUTSIDE.split())
def test_outside_is_where_requests_go(text: str) -> None:
    assert is_public(ip_address(text))
    assert checked("etl", 80, [text], NOWHERE) == (ip_address(text),)


@pytest.mark.parametrize("text", HIDING.split())
def test_what_hides_another_address_is_refused_even_if_listed(text: str) -> None:
    with pytest.raises(ValueError, match="hides"):
        checked("etl", 80, [text], EVERYTHING_ELSE)


@pytest.mark.parametrize("text", sorted(FORBIDDEN_ADDRESSES))
def test_a_credential_service_is_refused_even_if_listed_and_however_it_is_carried(
    text: str,
) -> None:
    address = ip_address(text)
    carried = [address]
    if isinstance(address, IPv4Address):
        bits = int(address)
        carried += [
            IPv6Address((0xFFFF << 32) | bits),
            IPv6Address((0xFFFF << 48) | bits),
            IPv6Address(bits),
            IPv6Address((0x2002 << 112) | (bits << 80) | 0x1234),
            IPv6Address((0x64FF9B << 96) | bits),
        ]
    for each in carried:
        with pytest.raises(ValueError, match="never allowed"):
            checked("etl", 80, [str(each)], EVERYTHING_ELSE)
        with pytest.raises(ValueError, match="never allowed"):
            checked("etl", 80, [str(each)], AllowedHosts.parse("etl"))


def test_one_bad_address_among_good_ones_spoils_them_all() -> None:
    for bad in ("10.0.0.1", "169.254.169.254", "fe80::1%eth0", "2001::1"):
        for found in ([bad, "8.8.8.8"], ["8.8.8.8", "1.1.1.1", bad]):
            with pytest.raises(ValueError):
                checked("etl", 80, found, NOWHERE)


def test_a_zone_or_no_address_at_all_is_refused() -> None:
    for found in (["fe80::1%eth0"], ["2606:4700::1111%1"], []):
        with pytest.raises(ValueError):
            checked("etl", 80, found, EVERYTHING_ELSE)


@pytest.mark.parametrize(
    ("entries", "host", "port", "address", "admitted"),
    [
        ("etl.internal", "etl.internal", 80, "10.0.0.1", True),
        ("etl.internal", "ETL.Internal.", 80, "10.0.0.1", True),
        ("etl.internal", "x.etl.internal", 80, "10.0.0.1", False),  # no suffixes
        ("etl.internal:8080", "etl.internal", 8080, "10.0.0.1", True),
        ("etl.internal:8080", "etl.internal", 80, "10.0.0.1", False),
        ("cafe:8080", "cafe", 8080, "10.0.0.1", True),  # could be hexadecimal, and is a name
        ("10.20.0.0/16", "any", 80, "10.20.255.1", True),
        ("10.20.0.0/16", "any", 80, "10.21.0.1", False),
        ("10.20.0.0/16:8080", "any", 8080, "::ffff:10.20.0.1", True),
        ("10.20.0.0/16:8080", "any", 8081, "10.20.0.1", False),
        ("127.0.0.1", "localhost", 80, "127.0.0.1", True),
        ("127.0.0.1:90", "127.1", 90, "127.0.0.1", True),
        ("::1", "localhost", 80, "::1", True),
        ("[::1]:90", "localhost", 90, "::1", True),
        ("[fd00::/8]:90", "any", 90, "fd00::5", True),
        ("fd00::/8", "any", 90, "fd00::5", True),
        (" a , ,b:1 ", "b", 1, "10.0.0.1", True),
        ("", "etl", 80, "10.0.0.1", False),
    ],
)
def test_what_an_operator_lists(
    entries: str, host: str, port: int, address: str, admitted: bool
) -> None:
    assert AllowedHosts.parse(entries).admits(host, port, ip_address(address)) is admitted


@pytest.mark.parametrize(
    "entries",
    ["*", "*.internal", "0.0.0.0/0", "::/0", "[::/0]:80", "10.0.0.1/8", "10.0.0.0/33", "a/8", "a:0",
     "a:65536", "a:b", "http://a", "a b", "[::1", "a:1:2x"],
)  # fmt: skip
def test_a_list_that_opens_everything_or_says_nothing_is_refused(entries: str) -> None:
    with pytest.raises(ConfigError, match="INTERLOCK_ALLOW_HOSTS"):
        AllowedHosts.parse(entries)


@given(st.ip_addresses(v=4))
def test_every_public_v4_address_is_one_to_python_too_and_almost_the_other_way(
    address: IPv4Address,
) -> None:
    odd = address.is_multicast or address.packed[:3] in (b"\xc0\0\0", b"\xc0\x58\x63")
    assert is_public(address) is (address.is_global and not odd)


@given(st.ip_addresses(v=6) | st.integers(0, 2**32 - 1).map(IPv6Address))
def test_every_public_v6_address_is_global_unicast_to_python_too(address: IPv6Address) -> None:
    if is_public(address) and _carried(address) is None:
        assert address.is_global and not address.is_multicast and not address.is_site_local
        assert int(address) >> 125 == 1


@given(st.ip_addresses(v=4), st.integers(0, 2**80 - 1))
def test_a_carrier_is_judged_by_what_it_carries(inner: IPv4Address, rest: int) -> None:
    bits = int(inner)
    for carrier in (
        IPv6Address((0xFFFF << 32) | bits),
        IPv6Address((0xFFFF << 48) | bits),
        IPv6Address(bits),
        IPv6Address((0x2002 << 112) | (bits << 80) | rest),
        IPv6Address((0x64FF9B << 96) | bits),
    ):
        assert is_public(carrier) is is_public(inner)


@given(st.ip_addresses())
def test_nothing_is_admitted_by_an_empty_list_but_what_is_public(
    address: IPv4Address | IPv6Address,
) -> None:
    if is_public(address):
        assert checked("etl", 80, [str(address)], NOWHERE) == (address,)
    else:
        with pytest.raises(ValueError):
            checked("etl", 80, [str(address)], NOWHERE)


def _carried(address: IPv6Address) -> IPv4Address | None:
    return address.ipv4_mapped or address.sixtofour or _low(address)


def _low(address: IPv6Address) -> IPv4Address | None:
    high = int(address) >> 32
    return (
        IPv4Address(int(address) & 0xFFFFFFFF) if high in (0, 0xFFFF0000, 0x64FF9B << 64) else None
    )
