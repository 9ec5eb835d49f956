"""Server address: published while the server runs, or a start that says why it can't be."""

from pathlib import Path

import pytest

from interlock.errors import UnavailableError
from interlock.runtime.server_address import NAME, Address, find_address, left_at

HERE = Address("http://127.0.0.1:8787", "secret", 1)


def test_the_address_is_there_while_the_server_runs(tmp_path: Path) -> None:
    with left_at(tmp_path, HERE):
        assert find_address(tmp_path) == HERE
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_takes_no_address_refuses_the_start_in_plain_words(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()  # a folder stands where the file should be
    with (
        pytest.raises(UnavailableError, match="free some space on its disk"),
        left_at(tmp_path, HERE),
    ):
        pass
    assert [each.name for each in tmp_path.iterdir()] == [NAME]
