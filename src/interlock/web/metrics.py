"""Metrics: figures for Prometheus. Counters are kept here, states are asked of the store when wanted."""

from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from interlock import __version__
from interlock.errors import InterlockError
from interlock.usecases.conclude_pass import PassReport
from interlock.wiring.local_backend import LocalBackend

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """A registry of our own: nothing that others register gets in."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Counter(
            "interlock_http_requests",
            "Requests answered.",
            ["endpoint", "status"],
            registry=registry,
        )
        self.seconds = Histogram(
            "interlock_http_request_seconds",
            "How long answers took.",
            ["endpoint"],
            buckets=(0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0),
            registry=registry,
        )
        self.readings = Counter(
            "interlock_readings", "Readings put.", ["result"], registry=registry
        )
        self._last_ok = Gauge(
            "interlock_watchdog_last_ok_timestamp_seconds",
            "When the watchdog's last good pass began.",
            registry=registry,
        )
        self._pass_seconds = Gauge(
            "interlock_watchdog_pass_seconds", "How long its last pass took.", registry=registry
        )
        self._findings = Counter(
            "interlock_watchdog_findings", "What its checks found.", ["check"], registry=registry
        )
        self._failures = Counter(
            "interlock_watchdog_failures", "Checks that failed.", ["check"], registry=registry
        )
        self.pings = Counter(
            "interlock_dead_man_pings", "Requests to DEAD_MAN_URL.", ["result"], registry=registry
        )
        Gauge("interlock_info", "The version.", ["version"], registry=registry).labels(
            __version__
        ).set(1)

    def watch(self, backend: LocalBackend) -> None:
        """Ask this home's store whenever somebody wants figures."""
        self.registry.register(_States(backend))

    def watch_files(self, refused: Callable[[], float]) -> None:
        Gauge(
            "interlock_files_refused", "Files that can't be used.", registry=self.registry
        ).set_function(refused)

    def passed(self, report: PassReport, seconds: float) -> None:
        self._pass_seconds.set(seconds)
        for check, _, _ in report.findings:
            self._findings.labels(check).inc()
        for failure in report.failures:
            self._failures.labels(failure.check).inc()
        if not report.failures:
            self._last_ok.set(report.now.timestamp())

    def text(self) -> bytes:
        return generate_latest(self.registry)


class _States(Collector):
    """What stands in the store right now."""

    def __init__(self, backend: LocalBackend) -> None:
        self._backend = backend

    def collect(self) -> Iterator[Metric]:
        try:
            figures = self._backend.store.figures.read()
        except InterlockError:
            return
        runs = GaugeMetricFamily("interlock_runs_active", "Runs under way.", labels=["status"])
        for status, count in figures.active_runs.items():
            runs.add_metric([status], count)
        yield runs
        yield CounterMetricFamily(
            "interlock_jobs_unverified",
            "Successes of Glue that could not be held against its analysis.",
            value=self._backend.jobs.unverified,
        )
        yield GaugeMetricFamily(
            "interlock_pipelines", "Pipelines in force.", value=figures.pipelines
        )
        yield GaugeMetricFamily(
            "interlock_changes_waiting", "Changes that nobody handled yet.", value=figures.changes
        )
        yield GaugeMetricFamily(
            "interlock_changes_parked", "Changes that could not be handled.", value=figures.parked
        )
        yield GaugeMetricFamily(
            "interlock_alerts_waiting", "Alerts on their way.", value=figures.alerts
        )
