"""Survey: the resources of an installation, as AWS describes them, for checks."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from interlock.adapters.aws.failures import ask
from interlock.ports.engine import Clock


class TableSeen(msgspec.Struct, frozen=True):
    """A table: its state, its keys, its indexes by name with their keys, its stream's view, its TTL
    attribute.
    """

    status: str
    keys: tuple[str, ...]
    indexes: dict[str, tuple[str, ...]]
    building: tuple[str, ...]
    stream: str | None
    expires_by: str | None


class Survey:
    """Every method may raise UnavailableError or TransientError, caused by the SDK's error."""

    def __init__(self, client: Callable[[str], Any], clock: Clock) -> None:
        self._client = client
        self._clock = clock

    def table(self, name: str) -> TableSeen:
        tables = self._client("dynamodb")
        found = ask(tables.describe_table, TableName=name)["Table"]
        expiry = ask(tables.describe_time_to_live, TableName=name)["TimeToLiveDescription"]
        indexes = found.get("GlobalSecondaryIndexes", ())
        stream = found.get("StreamSpecification", {})
        return TableSeen(
            found["TableStatus"],
            _keys(found),
            {each["IndexName"]: _keys(each) for each in indexes},
            tuple(e["IndexName"] for e in indexes if e.get("IndexStatus", _ACTIVE) != _ACTIVE),
            stream.get("StreamViewType") if stream.get("StreamEnabled") else None,
            expiry.get("AttributeName") if expiry["TimeToLiveStatus"] in _EXPIRING else None,
        )

    def bus(self, name: str) -> None:
        ask(self._client("events").describe_event_bus, Name=name)

    def machine(self, arn: str) -> str:
        """Its state."""
        answer = ask(self._client("stepfunctions").describe_state_machine, stateMachineArn=arn)
        return str(answer["status"])

    def function(self, arn: str) -> str:
        """Its state."""
        answer = ask(self._client("lambda").get_function_configuration, FunctionName=arn)
        return str(answer.get("State", "Active"))

    def timers(self, group: str) -> str:
        """The state of a group."""
        return str(ask(self._client("scheduler").get_schedule_group, Name=group)["State"])

    def messages(self, queue_arn: str) -> int:
        """About how many messages a queue holds, including those received but not yet deleted."""
        queues = self._client("sqs")
        account, name = queue_arn.split(":")[-2:]
        url = ask(queues.get_queue_url, QueueName=name, QueueOwnerAWSAccountId=account)["QueueUrl"]
        answer = ask(queues.get_queue_attributes, QueueUrl=url, AttributeNames=list(_COUNTS))
        return sum(int(answer["Attributes"].get(each, 0)) for each in _COUNTS)

    def clock_ahead(self, name: str) -> timedelta | None:
        """By how much this machine's clock is ahead of AWS's, which has a resolution of one second."""
        answer: Any = ask(self._client("dynamodb").describe_table, TableName=name)
        told = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date")
        if told is None:
            return None
        moment: datetime = parsedate_to_datetime(told)
        return self._clock() - moment.astimezone(UTC)


_ACTIVE = "ACTIVE"
_EXPIRING = ("ENABLED", "ENABLING")
_COUNTS = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")


def _keys(described: Mapping[str, Any]) -> tuple[str, ...]:
    """The hash first."""
    found = {each["KeyType"]: each["AttributeName"] for each in described["KeySchema"]}
    return tuple(found[kind] for kind in ("HASH", "RANGE") if kind in found)
