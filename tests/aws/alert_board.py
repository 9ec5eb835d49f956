"""Alert board: a sink and a queue for the alert dispatcher, whose answers a test can choose."""

import copy
import json
from datetime import timedelta
from typing import Any

from aws.functions import ENVIRONMENT
from aws.homes import Services
from aws.recorded import payload
from interlock.domain.alerting.deliveries import Answer, Posted
from interlock.domain.alerting.manner import Manner
from interlock.domain.alerting.note import Note

DELAYS = (timedelta(seconds=5), timedelta(seconds=30))
_PLAIN = Manner(delays=DELAYS)


class Queue:
    """Remembers what a function asked of SQS."""

    def __init__(self) -> None:
        self.later: list[tuple[str, int]] = []
        self.dead: list[str] = []

    def change_message_visibility(self, **given: Any) -> Any:
        assert given["QueueUrl"].endswith("/t-interlock-alerts")
        self.later.append((given["ReceiptHandle"], given["VisibilityTimeout"]))

    def send_message(self, QueueUrl: str, MessageBody: str) -> Any:  # noqa: N803
        assert QueueUrl == ENVIRONMENT["ALERT_DLQ_URL"]
        self.dead.append(MessageBody)


class Board:
    """A sink whose answers can be chosen."""

    def __init__(self, manner: Manner = _PLAIN) -> None:
        self.manner = manner
        self.notes: list[Note] = []
        self.answer: Answer = Posted("")

    def post(self, channel: str, note: Note, thread: str | None) -> Answer:
        if isinstance(self.answer, Posted):
            self.notes.append(note)
        return self.answer

    def update(self, channel: str, receipt: str, note: Note) -> Answer:
        return self.answer


def messages(*numbers: int) -> list[dict[str, Any]]:
    recorded = copy.deepcopy(payload("sqs_alerts")["Records"])
    return [recorded[number - 1] for number in numbers]


def put_routes(services: Services, routes: object) -> None:
    services.tables.put_item(
        TableName=ENVIRONMENT["EVENTS_TABLE"],
        Item={
            "PK": {"S": "PIPELINE#_system"},
            "SK": {"S": "ALERTS"},
            "config": {"S": json.dumps(routes)},
        },
    )
