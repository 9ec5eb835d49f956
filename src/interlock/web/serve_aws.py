"""Serve AWS: the pages and the reads of the interface, over an installation on AWS.

The controller does not run here: no engine, no timers, no watchdog, and nothing that writes.
"""

from contextlib import closing

from interlock.adapters.aws.clients import MakeClient
from interlock.domain.callers import Token
from interlock.errors import ConfigError
from interlock.web.access import Access
from interlock.web.api.context import ApiContext
from interlock.web.gate import is_loopback
from interlock.web.listener import bound
from interlock.web.logs import log_to_stderr
from interlock.web.metrics import Metrics
from interlock.web.serve import Say, answer
from interlock.wiring.aws_reads import AwsReads, open_aws_reads
from interlock.wiring.settings import Settings


def show(
    settings: Settings, say: Say, *, make: MakeClient | None = None, debug: bool = False
) -> bool:
    """Serve until a signal stops the server. Returns whether the signal was Ctrl-C.

    Raises ConfigError when the server can't start, and UnavailableError or TransientError when no table
    can be read.
    """
    _check_address(settings)
    with closing(open_aws_reads(settings, make=make)) as backend:
        log_to_stderr(backend.mask, debug)
        _say_troubles(backend, say)
        with closing(bound(settings.host, settings.port)) as where:
            context = context_of(backend, settings)
            interrupted = answer(context, settings, where, f"Showing {backend.info.name}", say)
    say("Stopped.")
    return interrupted


def context_of(backend: AwsReads, settings: Settings) -> ApiContext:
    """Callers authenticate with INTERLOCK_TOKEN or with the printed login code."""
    owners = {} if settings.token is None else {"operator": settings.token}
    return ApiContext(backend, backend, Access(_NoTokens(), owners), Metrics())


class _NoTokens:
    """The AWS tables hold no tokens."""

    def all(self) -> list[Token]:
        return []


def _say_troubles(backend: AwsReads, say: Say) -> None:
    """Readable tables are shown even when others are not; if none can be read, raise."""
    troubles = backend.troubles()
    names = backend.backend.store.names
    if {names.control, names.events} <= troubles.keys():
        raise next(iter(troubles.values()))
    for name, error in troubles.items():
        say(f"can't read {name}; its data will be missing: {error}")


def _check_address(settings: Settings) -> None:
    if is_loopback(settings.host) or settings.token is not None:
        return
    raise ConfigError(
        f"other machines can reach {settings.host}, but no token protects it:"
        " set INTERLOCK_TOKEN, or use 127.0.0.1"
    )
