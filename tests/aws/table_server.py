"""Table server: quick tables behind HTTP, for processes of their own. It answers as DynamoDB does."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from botocore.exceptions import ClientError  # type: ignore[import-untyped]

_OPERATIONS = {
    "GetItem": "get_item",
    "BatchGetItem": "batch_get_item",
    "Query": "query",
    "PutItem": "put_item",
    "UpdateItem": "update_item",
    "TransactWriteItems": "transact_write_items",
}

#: Sees the operation and what it is given first, and may raise a ClientError.
Doorkeeper = Callable[[str, dict[str, Any]], None]


def every_call(operation: str, given: dict[str, Any]) -> None:
    """Allows every caller."""


@contextmanager
def served_tables(tables: Any, doorkeeper: Doorkeeper = every_call) -> Iterator[str]:
    """The address at which the tables answer."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            operation = self.headers["X-Amz-Target"].rpartition(".")[2]
            given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                doorkeeper(operation, given)
                self._answer(200, getattr(tables, _OPERATIONS[operation])(**given))
            except ClientError as error:
                told = {"__type": f"x#{error.response['Error']['Code']}"}
                told["message"] = error.response["Error"].get("Message", "")
                self._answer(400, told | {k: v for k, v in error.response.items() if k != "Error"})

        def _answer(self, status: int, document: Any) -> None:
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/x-amz-json-1.0")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(30)


def refused(operation: str, code: str, message: str = "") -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": message}}, operation)
