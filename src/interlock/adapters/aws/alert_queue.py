"""Alert queue: SQS messages that return when they are due again, or move to the dead-letter queue."""

from datetime import timedelta
from typing import Any

from interlock.adapters.aws.failures import ask

_LONGEST = timedelta(hours=11)


class AlertQueue:
    """The alert queue and its dead-letter queue, in the same account and region."""

    def __init__(self, client: Any, queue_arn: str, dead_letter_url: str) -> None:
        self._client = client
        self._dead_letters = dead_letter_url
        name = queue_arn.rsplit(":", 1)[1]
        self._url = f"{dead_letter_url.rsplit('/', 1)[0]}/{name}"

    def come_again(self, message: dict[str, Any], after: timedelta) -> None:
        """Deliver again, not before then; the queue itself handles a message that failed meanwhile."""
        wait = min(max(after, timedelta()), _LONGEST)
        ask(
            self._client.change_message_visibility,
            QueueUrl=self._url,
            ReceiptHandle=message["receiptHandle"],
            VisibilityTimeout=int(wait.total_seconds()) + bool(wait.microseconds),
        )

    def give_up(self, message: dict[str, Any]) -> None:
        """Move it to the dead-letter queue, unchanged."""
        ask(
            self._client.send_message,
            QueueUrl=self._dead_letters,
            MessageBody=message["body"],
        )
