"""Installation: everything that the Terraform module makes and `doctor` looks at, in moto."""

import io
import zipfile

from aws.homes import NAMES, client
from interlock.cli.aws_checkup import DEAD_LETTERS
from interlock.wiring.aws_settings import Function

NAME = "t-interlock"


def complete_installation() -> None:
    """Beside the tables, the bus, the machine and the group, which are there."""
    for table in (NAMES.control, NAMES.joblog, NAMES.rerun, NAMES.events):
        client("dynamodb").update_time_to_live(
            TableName=table, TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"}
        )
    for queue in DEAD_LETTERS:
        client("sqs").create_queue(QueueName=f"{NAME}-{queue}")
    role = client("iam").create_role(RoleName="r", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    for function in Function:
        client("lambda").create_function(
            FunctionName=f"{NAME}-{function}",
            Runtime="python3.13",
            Role=role,
            Handler="x.x",
            Code={"ZipFile": _package()},
        )


def dead_letter(queue: str) -> None:
    """Something that could not be handled."""
    queues = client("sqs")
    url = queues.get_queue_url(QueueName=f"{NAME}-{queue}")["QueueUrl"]
    queues.send_message(QueueUrl=url, MessageBody="{}")


def _package() -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("x.py", "")
    return written.getvalue()
