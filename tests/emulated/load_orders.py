"""Load orders: a user's function, which Interlock calls as a job. Its role has no rights."""

from typing import Any


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    if event.get("failing") == "first" and event["interlock"]["attempt"] == 0:
        raise RuntimeError("out of memory")
    if "reads" in event:
        return {"answer": _read(event["reads"])}
    return {"rows": 4200}


def _read(table: str) -> str:
    """The error when it reads a table that it may not read."""
    import botocore.session  # type: ignore[import-untyped]

    client = botocore.session.get_session().create_client("dynamodb")
    try:
        client.get_item(TableName=table, Key={"PK": {"S": "x"}, "SK": {"S": "x"}})
    except client.exceptions.ClientError as error:
        code: str = error.response["Error"]["Code"]
        return code
    return "granted"
