"""`interlock serve --backend aws --read-only`: how it starts, what it says when it can't, how it stops."""

import subprocess
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from aws.gallery import Gallery, name_installation
from aws.shown import TOKEN, Shown, command_line, of_aws
from aws.table_server import refused, served_tables

#: Nothing listens there.
NOWHERE = "http://127.0.0.1:9"


def said(
    project: Path, *arguments: str, endpoint: str = NOWHERE, **more: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command_line(project, "serve", *arguments),
        env={**of_aws(endpoint), **more}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    name_installation(tmp_path)
    return tmp_path


def test_it_shows_what_the_functions_did_and_stops_when_asked(tmp_path: Path) -> None:
    gallery = Gallery(datetime.now(UTC))
    with served_tables(gallery.services.tables) as endpoint:
        shown = Shown(tmp_path, endpoint)
        try:
            request = urllib.request.Request(
                f"{shown.url}/api/v1/pipelines", headers={"Authorization": f"Bearer {TOKEN}"}
            )
            with urllib.request.urlopen(request, timeout=60) as answer:
                assert b'"id":"bronze"' in answer.read()
            assert shown.stop() == 0
        finally:
            shown.close()
    assert "To log in (works once, within 15 minutes): http://127.0.0.1:" in shown.output
    assert shown.output.rstrip().endswith("Stopped.")
    assert TOKEN not in shown.output
    assert {each.name for each in tmp_path.iterdir()} == {"interlock.toml", "output"}


def test_when_nothing_can_be_reached_it_says_so_and_does_not_start(project: Path) -> None:
    done = said(project, "--backend", "aws", "--read-only", "--port", "0")
    assert done.returncode == 3
    assert "can't reach AWS" in done.stderr and "network" in done.stderr
    assert len(done.stderr.splitlines()) == 2


def test_with_some_of_the_tables_it_starts_and_says_what_is_missing(tmp_path: Path) -> None:
    def no_reruns(operation: str, given: dict[str, Any]) -> None:
        if given.get("TableName", "").endswith("-rerun"):
            raise refused(operation, "AccessDeniedException", "dynamodb:GetItem is not yours")

    gallery = Gallery(datetime.now(UTC))
    with served_tables(gallery.services.tables, no_reruns) as endpoint:
        shown = Shown(tmp_path, endpoint)
        shown.close()
    assert "can't read t-interlock-rerun" in shown.output
    assert "dynamodb:GetItem is not yours" in shown.output


def test_the_controller_of_aws_is_not_served_from_here(project: Path) -> None:
    done = said(project, "--backend", "aws")
    assert done.returncode == 1
    assert "interlock serve --backend aws --read-only" in done.stderr


def test_the_local_home_has_tokens_that_only_read(project: Path) -> None:
    done = said(project, "--read-only")
    assert done.returncode == 1
    assert "interlock token create" in done.stderr


def test_others_are_not_let_in_without_a_token(project: Path) -> None:
    done = said(project, "--backend", "aws", "--read-only", "--host", "0.0.0.0")
    assert done.returncode == 1
    assert "INTERLOCK_TOKEN" in done.stderr
