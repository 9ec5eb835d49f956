"""Job forms: the texts that a job config may contain, and what each must look like.

Each checks or reads one text and raises ValueError with a sentence for the author. The texts may still
contain `${...}` and `secret://`: they are replaced when the job starts. No sentence repeats a URL or a
header, which may contain a secret.
"""

import re
import shlex
from decimal import Decimal
from ipaddress import IPv4Address, IPv6Address
from socket import inet_aton
from typing import Any

import msgspec

from interlock.domain import canonical

#: Our own settings: a file that used one could leak the controller's token.
OWN_SETTINGS = frozenset(
    f"INTERLOCK_{name}"
    for name in (
        "TOKEN",
        "URL",
        "INSTANCE",
        "ALLOW_HOSTS",
        "CA_FILE",
        "SECRETS_DIR",
        "WATCHDOG_EVERY",
    )
)
#: The names of `${...}` that a run provides.
RUN_NAMES = frozenset({"PIPELINE", "SCHEDULE", "DATE", "HOUR", "LABEL", "RUN_ID", "ATTEMPT"})
#: Known only once the job was started.
JOB_RUN_ID = "JOB_RUN_ID"

LONGEST_URL = 2048
#: What Linux accepts as one argument.
LONGEST_COMMAND = 128 * 1024

#: Where clouds hand out credentials. No setting allows these.
FORBIDDEN_ADDRESSES = frozenset(
    {
        "169.254.169.254",
        "169.254.170.2",
        "169.254.170.23",
        "168.63.129.16",
        "100.100.100.200",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
    }
)

_NAMED = re.compile(r"\$\$\{|\$\{([^{}]*)\}")
_URL = re.compile(r"(?i:https?)://([^/?#]+)([/?#].*)?")
_HOST = re.compile(r"\[([^\]]*)\]|([0-9A-Fa-fxX.]+)(?=:|$)")
_BAD_IN_URL = re.compile(r"[\x00-\x20\x7f-\x9f\\]")
_SECRET_NAME = re.compile(r"authorization|token|key|secret|cookie|passw", re.IGNORECASE)
_SECRET = re.compile(r"secret://([^\s\"',;]*)")
_SECRET_PLACES = re.compile(r"env/INTERLOCK_[A-Z0-9_]+|file/[^#]+|aws-sm/arn:[^#]+(#.+)?")


def names_in(text: str) -> tuple[str, ...]:
    """The names in `${...}`; `$${` is a literal and names nothing."""
    return tuple(match[1] for match in _NAMED.finditer(text) if match[1] is not None)


def names_a_secret(name: str) -> bool:
    """Whether a header or variable of this name probably contains a secret."""
    return _SECRET_NAME.search(name) is not None


def own_setting_in(text: str) -> str | None:
    """The first of our own settings that a text refers to, in either syntax."""
    for name in names_in(text):
        if name.strip() in OWN_SETTINGS:
            return name.strip()
    for match in _SECRET.finditer(text):
        if match[1].removeprefix("env/") in OWN_SETTINGS:
            return match[1].removeprefix("env/")
    return None


def check_secrets(text: str) -> None:
    """A reference to a secret must have a known type."""
    for match in _SECRET.finditer(text):
        place = match[1]
        if _SECRET_PLACES.fullmatch(place) is None or ".." in place.split("/"):
            raise ValueError(
                "a secret is secret://env/INTERLOCK_NAME, secret://file/PATH or secret://aws-sm/ARN"
            )


def check_url(text: str) -> None:
    """A URL that the HTTP client will accept; only its host is resolved later, at the start."""
    plain = _NAMED.sub("x", text)
    if len(text) > LONGEST_URL:
        raise ValueError(f"a URL has at most {LONGEST_URL} characters")
    if _BAD_IN_URL.search(plain):
        raise ValueError("a URL can't contain spaces, control characters or backslashes")
    if text.startswith("${"):
        return  # scheme and host come from the environment
    match = _URL.fullmatch(plain)
    if match is None:
        raise ValueError("a URL must begin with http:// or https:// and a host")
    if "@" in match[1]:
        raise ValueError("a URL can't contain a user or password: use a header and secret://")
    if str(_literal_address(match[1])) in FORBIDDEN_ADDRESSES:
        raise ValueError("this address belongs to a credential service and is never allowed")


def is_private_url(text: str) -> bool:
    """Whether a URL has a literal address, not a host name, that is not public."""
    match = _URL.fullmatch(_NAMED.sub("x", text))
    address = None if match is None else _literal_address(match[1])
    return address is not None and not address.is_global


def _literal_address(authority: str) -> IPv4Address | IPv6Address | None:
    """The address that stands for a host, in any spelling that a resolver accepts."""
    host = _HOST.match(authority)
    if host is None:
        return None
    try:
        if host[1] is not None:
            address = IPv6Address(host[1].partition("%")[0])
            return address.ipv4_mapped or address
        return IPv4Address(inet_aton(host[2]))
    except (ValueError, OSError):
        return None


def check_https_url(text: str) -> None:
    check_url(text)
    if not text.startswith("${") and not text.lower().startswith("https://"):
        raise ValueError("this URL must begin with https://")


def check_header_value(text: str) -> None:
    if any(character in text for character in "\r\n\0"):
        raise ValueError("a header must be one line")
    check_secrets(text)


def argv(text: str) -> list[str]:
    """A command line, split by POSIX quoting rules. No shell ever sees it."""
    if len(text) > LONGEST_COMMAND:
        raise ValueError(f"a command line has at most {LONGEST_COMMAND} characters")
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"the quotes of this command are unbalanced ({error})") from None
    if not words:
        raise ValueError("the command is empty")
    return words


def json_object(text: str) -> dict[str, Any]:
    """A map that was written as JSON text."""
    try:
        value = canonical.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ValueError(f"the text is not JSON ({error})") from None
    if not isinstance(value, dict):
        raise ValueError("the text is JSON, but not an object")
    return value


def seconds_text(number: int | Decimal) -> str:
    """A bare number of seconds as a duration."""
    if number < 0:
        raise ValueError("a duration can't be negative")
    return f"{number:f}s" if isinstance(number, Decimal) else f"{number}s"
