"""Metrics: figures for Prometheus. Counters live here; gauges are read from the store at each scrape."""

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
    """Our own registry: metrics that other libraries register stay out."""

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
            "Time to answer a request.",
            ["endpoint"],
            buckets=(0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0),
            registry=registry,
        )
        self.readings = Counter(
            "interlock_readings", "Readings received.", ["result"], registry=registry
        )
        self._last_ok = Gauge(
            "interlock_watchdog_last_ok_timestamp_seconds",
            "When the watchdog's last good pass began.",
            registry=registry,
        )
        self._pass_seconds = Gauge(
            "interlock_watchdog_pass_seconds",
            "Duration of the watchdog's last pass.",
            registry=registry,
        )
        self._findings = Counter(
            "interlock_watchdog_findings",
            "Findings of the watchdog's checks.",
            ["check"],
            registry=registry,
        )
        self._failures = Counter(
            "interlock_watchdog_failures",
            "Watchdog checks that failed.",
            ["check"],
            registry=registry,
        )
        self.pings = Counter(
            "interlock_dead_man_pings", "Requests to DEAD_MAN_URL.", ["result"], registry=registry
        )
        Gauge("interlock_info", "The version.", ["version"], registry=registry).labels(
            __version__
        ).set(1)

    def watch(self, backend: LocalBackend) -> None:
        """Read this backend's store at each scrape."""
        self.registry.register(_States(backend))

    def watch_files(self, refused: Callable[[], float]) -> None:
        Gauge("interlock_files_refused", "Files refused.", registry=self.registry).set_function(
            refused
        )

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
    """Gauges read from the store at scrape time."""

    def __init__(self, backend: LocalBackend) -> None:
        self._backend = backend

    def collect(self) -> Iterator[Metric]:
        try:
            figures = self._backend.store.figures.read()
        except InterlockError:
            return
        runs = GaugeMetricFamily("interlock_runs_active", "Runs in progress.", labels=["status"])
        for status, count in figures.active_runs.items():
            runs.add_metric([status], count)
        yield runs
        yield CounterMetricFamily(
            "interlock_jobs_unverified",
            "Glue successes that could not be verified against its analysis.",
            value=self._backend.jobs.unverified,
        )
        yield GaugeMetricFamily(
            "interlock_pipelines", "Pipelines in force.", value=figures.pipelines
        )
        yield GaugeMetricFamily(
            "interlock_changes_waiting", "Changes not yet handled.", value=figures.changes
        )
        yield GaugeMetricFamily(
            "interlock_changes_parked",
            "Changes set aside after handling failed.",
            value=figures.parked,
        )
        yield GaugeMetricFamily(
            "interlock_alerts_waiting", "Alerts not yet delivered.", value=figures.alerts
        )
