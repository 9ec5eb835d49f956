"""Quick services: a bus, a scheduler and an engine in this process, as far as the adapters ask them."""

from collections.abc import Callable
from threading import RLock
from typing import Any

from botocore.exceptions import ClientError  # type: ignore[import-untyped]

_PAGE = 3


class QuickBus:
    """Delivers each entry at once, as a rule's target would get it."""

    def __init__(self, deliver: Callable[[dict[str, Any]], None]) -> None:
        self._deliver = deliver

    def put_events(self, Entries: list[dict[str, Any]]) -> Any:  # noqa: N803
        assert 0 < len(Entries) <= 10
        for entry in Entries:
            self._deliver(entry)
        return {"FailedEntryCount": 0, "Entries": [{"EventId": "x"} for _ in Entries]}


class QuickScheduler:
    """Entries by name; firing them is left to others."""

    def __init__(self) -> None:
        self.entries: dict[str, dict[str, Any]] = {}
        self._lock = RLock()

    def create_schedule(self, **entry: Any) -> Any:
        with self._lock:
            if entry["Name"] in self.entries:
                raise _refused("CreateSchedule", "ConflictException")
            self.entries[entry["Name"]] = entry
        return {}

    def update_schedule(self, **entry: Any) -> Any:
        self.get_schedule(entry["GroupName"], entry["Name"])
        self.entries[entry["Name"]] = entry
        return {}

    def get_schedule(self, GroupName: str, Name: str) -> Any:  # noqa: N803
        if Name not in self.entries:
            raise _refused("GetSchedule", "ResourceNotFoundException")
        return self.entries[Name]

    def delete_schedule(self, GroupName: str, Name: str) -> Any:  # noqa: N803
        self.get_schedule(GroupName, Name)
        del self.entries[Name]
        return {}


class QuickEngine:
    """Executions by name, with what they were given."""

    def __init__(self) -> None:
        self.given: dict[str, str] = {}
        self.status: dict[str, str] = {}
        self._lock = RLock()

    def start_execution(self, stateMachineArn: str, name: str, input: str) -> Any:  # noqa: N803, A002
        with self._lock:
            if name in self.given:
                raise _refused("StartExecution", "ExecutionAlreadyExists")
            self.given[name] = input
            self.status[name] = "RUNNING"
        return {}

    def describe_execution(self, executionArn: str) -> Any:  # noqa: N803
        name = executionArn.rsplit(":", 1)[1]
        if name not in self.status:
            raise _refused("DescribeExecution", "ExecutionDoesNotExist")
        return {"status": self.status[name], "input": self.given[name]}

    def list_executions(
        self,
        stateMachineArn: str,  # noqa: N803
        statusFilter: str,  # noqa: N803
        maxResults: int,  # noqa: N803
        nextToken: str = "0",  # noqa: N803
    ) -> Any:
        """Pages of few, so that there are several."""
        assert maxResults <= 1000
        found = [name for name, status in self.status.items() if status == statusFilter]
        first = int(nextToken)
        rest = {"nextToken": str(first + _PAGE)} if len(found) > first + _PAGE else {}
        return {"executions": [{"name": n} for n in found[first : first + _PAGE]], **rest}


def _refused(operation: str, code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": ""}}, operation)
