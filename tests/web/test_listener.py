"""The listener: how sockets are set up."""

import socket
from contextlib import closing

from interlock.web.listener import bound


def test_small_answers_do_not_wait_for_each_other() -> None:
    """asyncio switches the delay off for sockets that say that they are TCP, and for no others."""
    with closing(bound("127.0.0.1", 0)) as where:
        assert where.proto == socket.IPPROTO_TCP
