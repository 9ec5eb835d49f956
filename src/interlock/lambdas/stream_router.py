"""Stream router: records of the two streams, and the timers that open runs."""

from typing import Any

from interlock.adapters.aws.stream import read_change
from interlock.lambdas.invocation import begin, home_of, in_order, report
from interlock.usecases.route_change import route_change
from interlock.wiring.aws_ports import AwsBackend
from interlock.wiring.aws_settings import Function

_backend = home_of(Function.STREAM_ROUTER)


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return handle(event, context, _backend())


def handle(event: dict[str, Any], context: Any, backend: AwsBackend) -> dict[str, Any]:
    """A batch of a stream, or the payload of an EventBridge Scheduler timer."""
    begin(backend, context)
    if "Records" in event:
        return in_order(event["Records"], lambda record: _route(record, backend))
    from interlock.usecases.fire_timer import fire_timer  # not needed for batches

    fire_timer(event["timer"], event, backend.ports)
    backend.settle()
    report(backend)
    return {}


def _route(record: dict[str, Any], backend: AwsBackend) -> None:
    backend.begin()
    change = read_change(record, backend.store.unreadable)
    if change is not None:
        if change.reading is not None:
            backend.store.foresee(change.reading)
        route_change(change, backend.ports)
        backend.settle()
    report(backend)
