"""Serve AWS: the pages and the reads of the interface, over an installation that runs elsewhere.

Nothing of the controller is here: no engine, no timers, no watchdog, and nothing that writes.
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
) -> None:
    """Serve until somebody asks us to stop.

    Raises ConfigError when it can't be begun, UnavailableError or TransientError when no table can be read.
    """
    _check_address(settings)
    with closing(open_aws_reads(settings, make=make)) as backend:
        log_to_stderr(backend.mask, debug)
        _say_troubles(backend, say)
        with closing(bound(settings.host, settings.port)) as where:
            answer(
                context_of(backend, settings), settings, where, f"Showing {backend.info.name}", say
            )
    say("Stopped.")


def context_of(backend: AwsReads, settings: Settings) -> ApiContext:
    """Callers are known by INTERLOCK_TOKEN, or by the code that was printed."""
    owners = {} if settings.token is None else {"operator": settings.token}
    return ApiContext(backend, backend, Access(_NoTokens(), owners), Metrics())


class _NoTokens:
    """The tables of AWS hold none."""

    def all(self) -> list[Token]:
        return []


def _say_troubles(backend: AwsReads, say: Say) -> None:
    """With some of the tables there is something to show; with none there is nothing."""
    troubles = backend.troubles()
    names = backend.backend.store.names
    if {names.control, names.events} <= troubles.keys():
        raise next(iter(troubles.values()))
    for name, error in troubles.items():
        say(f"{name} can't be read, and what it holds will be missing: {error}")


def _check_address(settings: Settings) -> None:
    if is_loopback(settings.host) or settings.token is not None:
        return
    raise ConfigError(
        f"others can reach {settings.host}, and there is no token: set INTERLOCK_TOKEN, or use 127.0.0.1"
    )
