"""Written files: the text of a pipeline's file, as long as it is at hand."""

from pathlib import Path

import pytest

from interlock.files import load_project
from interlock.runtime.written_files import LONGEST, WrittenFiles

TEXT = """# why it is so
pipeline: {id: orders}
schedule: {trigger: {key: landed, check: exists}}
validation: {rules: [{key: landed, check: exists}]}
job: {type: command, config: {command: [etl]}}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "pipelines" / "team").mkdir(parents=True)
    file = tmp_path / "pipelines" / "team" / "any-name.yaml"
    file.write_text(TEXT)
    return file


@pytest.fixture
def written(file: Path, tmp_path: Path) -> WrittenFiles:
    files = WrittenFiles()
    project = load_project(tmp_path, 2026)
    assert not project.errors
    files.note(tmp_path, project)
    return files


def test_a_file_is_found_whatever_its_name_and_shown_with_its_comments(
    written: WrittenFiles,
) -> None:
    found = written.of("orders")
    assert found is not None
    assert (found.name, found.text, found.has_changed) == (
        "pipelines/team/any-name.yaml",
        TEXT,
        False,
    )


def test_a_file_that_changed_since_says_so(written: WrittenFiles, file: Path) -> None:
    file.write_text(TEXT + "# more")
    found = written.of("orders")
    assert found is not None and found.has_changed


def test_a_file_that_is_gone_or_unknown_is_not_at_hand(written: WrittenFiles, file: Path) -> None:
    assert written.of("other") is None
    file.unlink()
    assert written.of("orders") is None
    assert WrittenFiles().of("orders") is None


def test_a_very_long_file_is_cut_off(written: WrittenFiles, file: Path) -> None:
    file.write_text("#" * (LONGEST + 10))
    found = written.of("orders")
    assert found is not None and len(found.text) == LONGEST + 2
