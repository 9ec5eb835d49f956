"""Addresses: where a request may go: no internal address unless the operator lists it.

We keep our own table, because Python calls multicast, site-local, NAT64 and 6to4 addresses global, and not
the same ones in every version. An IPv6 address that embeds an IPv4 one is judged by the embedded one.
"""

import re
from collections.abc import Iterator, Sequence
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

import msgspec

from interlock.domain.job_forms import FORBIDDEN_ADDRESSES
from interlock.errors import ConfigError

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_PRIVATE_V4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",
            "240.0.0.0/4",
        ),
    )
)
_PUBLIC_V6 = IPv6Network("2000::/3")
_PRIVATE_V6 = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "3fff::/20")))
#: Embed an IPv4 address that we can't judge: an unknown gateway translates it, or it is obscured.
_REFUSED_V6 = tuple(map(IPv6Network, ("64:ff9b:1::/48", "2001::/32")))
#: Networks of addresses that embed an IPv4 address, and its bit offset.
_CARRIERS = (
    (IPv6Network("::ffff:0:0/96"), 0),  # mapped
    (IPv6Network("::ffff:0:0:0/96"), 0),  # translated
    (IPv6Network("::/96"), 0),  # compatible
    (IPv6Network("2002::/16"), 80),  # 6to4
    (IPv6Network("64:ff9b::/96"), 0),  # NAT64
)
_NEVER = frozenset(map(ip_address, FORBIDDEN_ADDRESSES))

_ENTRY = re.compile(
    r"\[(?P<v6>[^\[\]]+)\](?::(?P<v6port>[0-9]+))?"
    r"|(?P<bare>[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*(?:/[0-9]+)?)"
    r"|(?P<name>[^\[\]:\s]+)(?::(?P<port>[0-9]+))?"
)
_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?")


class AllowedEntry(msgspec.Struct, frozen=True):
    """A host or a network that the operator listed, on one port or all."""

    place: str | Network
    port: int | None = None

    def admits(self, host: str, port: int, forms: Sequence[Address]) -> bool:
        if self.port is not None and self.port != port:
            return False
        if isinstance(self.place, str):
            return self.place == _plain(host)
        return any(address in self.place for address in forms)


class AllowedHosts(msgspec.Struct, frozen=True):
    """INTERLOCK_ALLOW_HOSTS: the internal hosts that requests may go to."""

    entries: tuple[AllowedEntry, ...] = ()

    @classmethod
    def parse(cls, text: str) -> "AllowedHosts":
        """Raises ConfigError for an invalid list, which could allow too much."""
        words = (word.strip() for word in text.split(","))
        return cls(tuple(_entry(word) for word in words if word))

    def admits(self, host: str, port: int, address: Address) -> bool:
        forms = tuple(_forms(address))
        return any(entry.admits(host, port, forms) for entry in self.entries)


#: No internal hosts.
NOWHERE = AllowedHosts()


def checked(
    host: str, port: int, found: Sequence[str], allowed: AllowedHosts
) -> tuple[Address, ...]:
    """The addresses that a name was resolved to. Raises ValueError unless every one may be used."""
    if not found:
        raise ValueError("the name has no address")
    addresses = tuple(_address(text) for text in found)
    for address in addresses:
        objection = _objection(address, allowed.admits(host, port, address))
        if objection is not None:
            raise ValueError(f"{address} {objection}")
    return addresses


def is_public(address: Address) -> bool:
    """Whether it is public, judged by the address it embeds."""
    return _objection(address, listed=False) is None


def _objection(address: Address, listed: bool) -> str | None:
    forms = tuple(_forms(address))
    if any(form in _NEVER for form in forms):
        return "belongs to a credential service and is never allowed"
    if any(form in network for form in forms for network in _REFUSED_V6):
        return "hides another address"
    if listed or _is_outside(forms[-1]):
        return None
    return "is not a public address; an operator may list it in INTERLOCK_ALLOW_HOSTS"


def _forms(address: Address) -> Iterator[Address]:
    """The address, the one it embeds, the one that embeds, and so on."""
    yield address
    for network, shift in _CARRIERS:
        if address in network:
            yield from _forms(IPv4Address(int(address) >> shift & 0xFFFFFFFF))
            return


def _is_outside(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        inside = any(address in network for network in _PRIVATE_V4)
    else:
        inside = address not in _PUBLIC_V6 or any(address in net for net in _PRIVATE_V6)
    return not inside and address.is_global


def _address(text: str) -> Address:
    """A zone names an interface of this machine; no public host is reached through one."""
    if "%" in text:
        raise ValueError(f"{text} has a zone")
    return ip_address(text)


def _entry(word: str) -> AllowedEntry:
    match = _ENTRY.fullmatch(word)
    if match is None or "*" in word:
        raise _unusable(word, "not a host, host:port, CIDR or CIDR:port")
    place = match["v6"] or match["bare"] or match["name"]
    return AllowedEntry(_place(place, word), _port(match["v6port"] or match["port"], word))


def _place(text: str, word: str) -> str | Network:
    try:
        network = ip_network(text)
    except ValueError as error:
        if "/" in text or ":" in text or _HOST.fullmatch(text) is None:
            raise _unusable(word, "not a network") from error
        return _plain(text)
    if network.prefixlen == 0:
        raise _unusable(word, "it covers every address")
    return network


def _port(text: str | None, word: str) -> int | None:
    if text is None:
        return None
    if not 0 < int(text) < 65536:
        raise _unusable(word, "not a port")
    return int(text)


def _plain(host: str) -> str:
    return host.lower().removesuffix(".")


def _unusable(word: str, why: str) -> ConfigError:
    return ConfigError(f"INTERLOCK_ALLOW_HOSTS: invalid entry {word!r}: {why}")
