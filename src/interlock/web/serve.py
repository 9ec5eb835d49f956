"""Serve: the controller and its HTTP interface, from the first line on the screen to the last."""

import os
import signal
import socket
from collections.abc import Callable

from interlock.adapters.alerts.console import ConsoleAlerts
from interlock.adapters.alerts.slack_signature import SlackSignature
from interlock.adapters.prepared import prepare_types
from interlock.domain.event import Severity
from interlock.errors import ConfigError
from interlock.operations.tokens import new_secret
from interlock.runtime.heartbeat_ping import HeartbeatPing
from interlock.runtime.reading_batcher import ReadingBatcher
from interlock.runtime.server_address import Address, left_at
from interlock.usecases.conclude_pass import PassReport
from interlock.web.access import Access
from interlock.web.api.context import ApiContext, Readiness
from interlock.web.app import application
from interlock.web.gate import LOGIN, KnownHosts, is_loopback
from interlock.web.listener import bound, listen
from interlock.web.logs import log_to_stderr
from interlock.web.metrics import Metrics
from interlock.wiring.local_backend import LocalBackend, utc_now
from interlock.wiring.local_controller import controller_of
from interlock.wiring.settings import Settings

_SECRET = "secret://"  # noqa: S105 - how a reference to one begins

Say = Callable[[str], None]
Show = Callable[[Severity, str], None]


def serve(
    settings: Settings,
    say: Say,
    show: Show,
    *,
    debug: bool = False,
    greet: Callable[[], None] = lambda: None,
) -> bool:
    """Serve a project until a signal stops the server. `greet` is called once the URL is printed.
    Returns whether the signal was Ctrl-C.

    Raises ConfigError or UnavailableError when the server can't start.
    """
    metrics = Metrics()
    on_pass = _after_pass(settings, metrics)

    def sink(backend: LocalBackend) -> ConsoleAlerts:
        log_to_stderr(backend.secrets.mask, debug)
        return ConsoleAlerts(settings.state, show, settings.public_url)

    where: list[socket.socket] = []

    def before(backend: LocalBackend) -> None:
        _check_address(backend)
        where.append(bound(settings.host, settings.port))

    try:
        with controller_of(settings, sink, on_pass, before=before) as (backend, health, controller):
            metrics.watch(backend)
            metrics.watch_files(lambda: len(health.refused.files))
            secret = new_secret()
            access = Access(backend.store.tokens, _owners(settings, secret))
            context = local_context(backend, health, access, metrics)
            context.decisions = controller.runtime.decisions
            context.written = health.written
            backend.secrets.learn(secret)
            address = Address(url_of(settings, where[0]), secret, os.getpid())
            with left_at(settings.state, address):
                what = f"Serving {settings.project.resolve()}"
                interrupted = answer(context, settings, where[0], what, say, greet)
    finally:
        for each in where:
            each.close()
    say("Stopped.")
    return interrupted


def _owners(settings: Settings, secret: str) -> dict[str, str]:
    """The secrets that may do everything, by the name under which they act."""
    return {"owner": secret} | ({} if settings.token is None else {"operator": settings.token})


def local_context(
    backend: LocalBackend, health: Readiness, access: Access, metrics: Metrics
) -> ApiContext:
    """For a server that keeps its backend itself."""
    return ApiContext(
        backend,
        health,
        access,
        metrics,
        intake=ReadingBatcher(backend.store.sensors.submit_all),
        pings=backend.settings.pings,
        lineage=backend.settings.lineage,
        slack=_slack(backend),
    )


def _slack(backend: LocalBackend) -> SlackSignature | None:
    """The signing secret may be a reference; what it stands for is never shown."""
    written, secrets = backend.settings.slack_signing_secret, backend.secrets
    if written is None:
        return None

    def secret() -> str:
        if not written.startswith(_SECRET):
            return written
        value = secrets.get(written.removeprefix(_SECRET)).reveal().strip()
        secrets.learn(value)
        return value

    return SlackSignature(secret, backend.ports.clock)


def answer(
    context: ApiContext,
    settings: Settings,
    where: socket.socket,
    what: str,
    say: Say,
    greet: Callable[[], None] = lambda: None,
) -> bool:
    """Serve there until a signal stops the server; `what` is printed with the URL. Returns whether the
    signal was Ctrl-C.
    """
    url = url_of(settings, where)

    def started() -> None:
        say(f"{what} at {url}")
        say(
            f"To log in (works once, within 15 minutes): {url}{LOGIN}?code={context.access.new_code()}"
        )
        greet()

    def stopping() -> None:
        context.closing = True

    hosts = KnownHosts(settings.host, settings.hosts)
    prepare_types()  # threads parse requests
    return listen(application(context, hosts), where, started, stopping) is signal.SIGINT


def _check_address(backend: LocalBackend) -> None:
    settings = backend.settings
    if is_loopback(settings.host) or settings.token is not None or backend.store.tokens.all():
        return
    raise ConfigError(
        f"other machines can reach {settings.host}, but no token protects it:\n"
        "set INTERLOCK_TOKEN, create a token with `interlock token create`, or listen on 127.0.0.1"
    )


def url_of(settings: Settings, where: socket.socket) -> str:
    host, port = settings.host, where.getsockname()[1]
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - how to reach it
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


def _after_pass(settings: Settings, metrics: Metrics) -> Callable[[PassReport], None]:
    def told(good: bool) -> None:
        metrics.pings.labels("good" if good else "failed").inc()

    url = settings.dead_man_url
    dead_man = None if url is None else HeartbeatPing(url, told)

    def after(report: PassReport) -> None:
        metrics.passed(report, (utc_now() - report.now).total_seconds())
        if dead_man is not None and not report.failures:
            dead_man.live()

    return after
