"""Alert queue: messages of SQS that come back when they are wanted again, or go where people look."""

from datetime import timedelta
from typing import Any

from interlock.adapters.aws.failures import ask

_LONGEST = timedelta(hours=11)


class AlertQueue:
    """The queue of alerts and its dead letters, which stand side by side."""

    def __init__(self, client: Any, queue_arn: str, dead_letter_url: str) -> None:
        self._client = client
        self._dead_letters = dead_letter_url
        name = queue_arn.rsplit(":", 1)[1]
        self._url = f"{dead_letter_url.rsplit('/', 1)[0]}/{name}"

    def come_again(self, message: dict[str, Any], after: timedelta) -> None:
        """Not before then; a message that failed meanwhile is the queue's affair."""
        wait = min(max(after, timedelta()), _LONGEST)
        ask(
            self._client.change_message_visibility,
            QueueUrl=self._url,
            ReceiptHandle=message["receiptHandle"],
            VisibilityTimeout=int(wait.total_seconds()) + bool(wait.microseconds),
        )

    def give_up(self, message: dict[str, Any]) -> None:
        """To the dead letters, as it came."""
        ask(
            self._client.send_message,
            QueueUrl=self._dead_letters,
            MessageBody=message["body"],
        )
