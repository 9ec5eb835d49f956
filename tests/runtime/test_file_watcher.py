"""The loader: real files that go, come back, and are half written, on a clock of our own."""

import os
import shutil
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from interlock.domain.event import Event, EventType
from interlock.domain.missing import GRACE, MANY_GRACE
from interlock.domain.sightings import PATIENCE, SETTLED
from interlock.errors import ConfigError, NotFoundError
from interlock.files.project_files import DEEPEST_FOLDER
from interlock.runtime.file_watcher import FileWatcher
from interlock.usecases.adopt_config import adopt_config
from interlock.usecases.retire_pipeline import retire_pipeline
from usecases.home import Home, crashed_everywhere
from wiring.served import make_project

SECOND = timedelta(seconds=1)


class Stage:
    """A project folder, its loader, and a controller that adopts what is wanted."""

    def __init__(self, folder: Path, *names: str) -> None:
        self.project = make_project(folder, *names)
        self.home = Home()
        self.start()
        self.look()
        self.look()

    def start(self) -> None:
        """A new process over the same store."""
        self.loader = FileWatcher(self.project, self.home.ports, self.home.store.missing_files)

    def file(self, name: str) -> Path:
        return self.project / "pipelines" / f"{name}.yaml"

    def look(self, span: timedelta = SETTLED) -> None:
        """Time passes, the loader looks, and what is wanted then is adopted."""
        self.home.pass_time(seconds=span.total_seconds())
        self.loader.look()
        for wanted in self.home.store.pipelines.unadopted():
            adopt_config(wanted.pipeline_id, self.home.ports)

    def look_twice(self) -> None:
        self.look()
        self.look()

    def in_force(self) -> set[str]:
        return {config.pipeline.id for config in self.home.store.pipelines.in_force()}

    def since(self, name: str) -> datetime:
        config = self.home.store.pipelines.find(name)
        assert config is not None
        return config.active_since

    def missing(self) -> set[str]:
        return {each.pipeline_id for each in self.home.store.missing_files.kept()}

    def told(self, kind: EventType = EventType.CONFIG_MISSING) -> list[Event]:
        return self.home.events(kind)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path, "alpha", "beta", "gamma")


def test_a_file_that_is_deleted_and_copied_back_is_the_same_pipeline(
    stage: Stage, tmp_path: Path
) -> None:
    since = stage.since("alpha")
    kept = shutil.move(stage.file("alpha"), tmp_path / "kept")
    stage.look_twice()
    assert stage.missing() == {"alpha"}
    assert stage.in_force() == {"alpha", "beta", "gamma"}
    stage.look(GRACE - 3 * SECOND)

    shutil.copy(kept, stage.file("alpha"))
    stage.look_twice()

    assert stage.missing() == set()
    assert stage.since("alpha") == since
    stage.look(GRACE)
    assert stage.in_force() == {"alpha", "beta", "gamma"}
    assert len(stage.told(EventType.CONFIG_ADOPTED)) == 3
    (event,) = stage.told()
    assert (event.pipeline_id, event.severity) == ("alpha", "warning")
    assert (
        "the file of alpha is missing; the pipeline is retired at 2026-03-03T08:1" in event.message
    )


def test_a_file_that_is_gone_between_two_looks_is_never_missing(stage: Stage) -> None:
    text = stage.file("alpha").read_text()
    stage.file("alpha").unlink()
    stage.look()
    stage.file("alpha").write_text(text)
    stage.look_twice()

    assert stage.told() == []


def test_a_file_that_comes_back_changed_is_a_change(stage: Stage) -> None:
    text, since = stage.file("alpha").read_text(), stage.since("alpha")
    stage.file("alpha").unlink()
    stage.look_twice()
    stage.file("alpha").write_text(text.replace("value: 10", "value: 11"))
    stage.look_twice()

    assert stage.told(EventType.CONFIG_ADOPTED)[-1].detail["change"] == "changed"
    assert stage.since("alpha") == since


def test_a_file_that_comes_back_broken_is_refused_and_not_missing(stage: Stage) -> None:
    text = stage.file("alpha").read_text()
    stage.file("alpha").unlink()
    stage.look_twice()
    stage.file("alpha").write_text(text + "colour: red\n")
    stage.look_twice()

    assert stage.missing() == set()
    stage.look(GRACE)
    assert "alpha" in stage.in_force()


def test_after_the_grace_the_pipeline_is_retired_and_a_return_is_new(stage: Stage) -> None:
    text, since = stage.file("alpha").read_text(), stage.since("alpha")
    stage.file("alpha").unlink()
    stage.look_twice()
    stage.look(GRACE - SECOND)
    assert "alpha" in stage.in_force()

    stage.look()
    assert stage.in_force() == {"beta", "gamma"}
    stage.look()
    assert stage.missing() == set()

    stage.file("alpha").write_text(text)
    stage.look_twice()
    changes = [each.detail["change"] for each in stage.told(EventType.CONFIG_ADOPTED)]
    assert changes == ["new", "new", "new", "retired", "new"]
    assert stage.since("alpha") > since


def test_a_restart_neither_ends_the_grace_nor_begins_it_again(stage: Stage) -> None:
    stage.file("alpha").unlink()
    stage.look_twice()
    stage.look(GRACE - 2 * SECOND)

    stage.start()
    stage.look()
    assert "alpha" in stage.in_force()
    stage.look()

    assert "alpha" not in stage.in_force()
    assert len(stage.told()) == 1


def test_a_file_removed_while_the_server_is_down_has_its_grace_from_the_start_on(
    stage: Stage,
) -> None:
    stage.file("alpha").unlink()
    stage.home.pass_time(days=3)
    stage.start()
    stage.look_twice()
    assert "alpha" in stage.in_force()
    stage.look(GRACE)

    assert "alpha" not in stage.in_force()


def test_dying_after_any_write_neither_loses_a_file_nor_tells_twice(tmp_path: Path) -> None:
    project = make_project(tmp_path, "alpha", "beta", "gamma")

    def looks(home: Home) -> None:
        loader = FileWatcher(project, home.ports, home.store.missing_files)
        for _ in range(2):
            home.pass_time(seconds=1)
            loader.look()
            for wanted in home.store.pipelines.unadopted():
                adopt_config(wanted.pipeline_id, home.ports)

    def lose_a_file(home: Home) -> None:
        make_project(tmp_path, "alpha")
        looks(home)
        (project / "pipelines" / "alpha.yaml").unlink()

    for number, home in crashed_everywhere(lose_a_file, looks):
        (event,) = home.events(EventType.CONFIG_MISSING)
        assert event.pipeline_id == "alpha", number
        assert [each.pipeline_id for each in home.store.missing_files.kept()] == ["alpha"], number
        assert len(home.store.pipelines.in_force()) == 3, number


def test_half_of_the_files_are_held_and_told_as_an_error(stage: Stage) -> None:
    stage.file("alpha").unlink()
    stage.file("beta").unlink()
    stage.look_twice()
    stage.look(GRACE)
    stage.look(MANY_GRACE - GRACE - SECOND)
    assert stage.in_force() == {"alpha", "beta", "gamma"}
    (event,) = stage.told()
    assert (event.pipeline_id, event.severity) == (None, "error")
    assert event.detail["pipelines"] == ["alpha", "beta"]
    assert event.message.startswith(
        "the files of 2 of 3 pipelines are missing; they are retired at"
    )

    stage.look()
    assert stage.in_force() == {"gamma"}


def test_an_operator_confirms_that_a_file_was_meant_to_go(stage: Stage) -> None:
    files, ports = stage.home.store.missing_files, stage.home.ports
    with pytest.raises(ConfigError, match="the file of alpha is not missing"):
        retire_pipeline("alpha", files, ports)
    stage.file("alpha").unlink()
    stage.file("beta").unlink()
    stage.look_twice()

    assert retire_pipeline("alpha", files, ports).is_retired
    stage.look()

    assert stage.missing() == {"beta"}
    assert stage.in_force() == {"beta", "gamma"}
    with pytest.raises(NotFoundError):
        retire_pipeline("alpha", files, ports)
    with pytest.raises(NotFoundError):
        retire_pipeline("nobody", files, ports)


def test_without_its_folder_nothing_is_ever_taken_away(stage: Stage, tmp_path: Path) -> None:
    moved = shutil.move(stage.project / "pipelines", tmp_path / "elsewhere")
    stage.look_twice()
    stage.look(30 * MANY_GRACE)
    assert stage.in_force() == {"alpha", "beta", "gamma"}
    (event,) = stage.told()
    assert "no pipeline is retired while the folder is missing" in event.message

    (stage.project / "pipelines").mkdir()
    stage.look_twice()
    stage.look(GRACE)
    assert stage.in_force() == {"alpha", "beta", "gamma"}
    shutil.copytree(moved, stage.project / "pipelines", dirs_exist_ok=True)
    stage.look_twice()
    assert stage.missing() == set()
    assert len(stage.told(EventType.CONFIG_ADOPTED)) == 3


def test_while_a_file_does_not_say_its_id_it_may_be_the_one(stage: Stage) -> None:
    stage.file("alpha").write_text("pipeline: {id: [broken")
    stage.look_twice()
    stage.look(MANY_GRACE)

    assert stage.missing() == set()
    assert "alpha" in stage.in_force()


def test_a_file_that_is_being_written_is_not_read(stage: Stage) -> None:
    whole = (
        stage.file("alpha").read_text().replace("rules: [", "rules: [{key: audit, check: exists}, ")
    )
    half = whole.replace("{key: audit, check: exists}, ", "")
    before = stage.home.store.pipelines.find("alpha")
    with stage.file("alpha").open("w") as file:
        file.write(half.replace("value: 10", "value: 0"))
        file.flush()
        stage.look()
        stage.look(SETTLED / 2)
        file.write("# more to come\n")
        file.flush()
        stage.look(SETTLED / 2)
        assert stage.home.store.pipelines.find("alpha") == before
        file.seek(0)
        file.write(whole)
        file.truncate()
    stage.look_twice()

    after = stage.home.store.pipelines.find("alpha")
    assert after is not None and len(after.pipeline.validation.rules) == 2
    changes = [each.detail["change"] for each in stage.told(EventType.CONFIG_ADOPTED)]
    assert changes == ["new", "new", "new", "changed"]


def test_a_file_whose_write_begins_between_a_look_and_its_reading_is_not_read(stage: Stage) -> None:
    """As at a start on a busy machine: the file was at rest when it was looked at."""
    file, clock = stage.file("alpha"), stage.home.ports.clock
    whole, before = file.read_text(), stage.home.store.pipelines.find("alpha")
    half = whole.replace("value: 10", "value: 0")
    assert half != whole
    writes: list[str] = []

    def now() -> datetime:
        if writes:
            file.write_text(writes.pop())
        return clock()

    ports = replace(stage.home.ports, clock=now)
    stage.loader = FileWatcher(stage.project, ports, stage.home.store.missing_files)
    stage.look()
    stage.home.pass_time(seconds=1)
    writes.append(half)
    stage.loader.look()
    assert stage.home.store.pipelines.unadopted() == []
    file.write_text(whole)
    stage.look_twice()
    assert stage.home.store.pipelines.find("alpha") == before
    assert stage.missing() == set()


def test_a_file_that_never_rests_does_not_blind_the_others(stage: Stage) -> None:
    make_project(stage.project, "delta")
    text = stage.file("alpha").read_text()
    for n in range(int(PATIENCE / SETTLED) + 1):
        stage.file("alpha").write_text(f"{text}# {'x' * n}\n")
        stage.look()

    assert stage.in_force() == {"alpha", "beta", "gamma", "delta"}
    assert stage.missing() == set()


def test_a_file_put_in_place_by_a_rename_is_read_within_two_looks(stage: Stage) -> None:
    fresh = stage.project / "fresh"
    fresh.write_text(stage.file("alpha").read_text().replace("value: 10", "value: 11"))
    fresh.rename(stage.file("alpha"))
    stage.look_twice()

    assert stage.told(EventType.CONFIG_ADOPTED)[-1].detail["change"] == "changed"


def test_links_in_a_circle_are_followed_once(stage: Stage) -> None:
    folder = stage.project / "pipelines"
    (folder / "one").symlink_to(".")
    (folder / "two").symlink_to(".")
    (folder / "up").symlink_to("..")
    make_project(stage.project, "delta")
    stage.look_twice()

    assert stage.in_force() == {"alpha", "beta", "gamma", "delta"}


def test_a_linked_folder_is_read_and_followed(stage: Stage, tmp_path: Path) -> None:
    other = make_project(tmp_path / "team", "delta") / "pipelines"
    (stage.project / "pipelines" / "team").symlink_to(other)
    stage.look_twice()
    assert "delta" in stage.in_force()

    (other / "delta.yaml").unlink()
    stage.look_twice()
    assert stage.missing() == {"delta"}


def test_folders_that_lie_too_deep_are_an_error_and_nothing_changes(stage: Stage) -> None:
    deep = stage.project.joinpath("pipelines", *["deep"] * (DEEPEST_FOLDER + 1))
    os.makedirs(deep)
    with pytest.raises(ConfigError, match=f"more than {DEEPEST_FOLDER} deep"):
        stage.loader.look()

    assert stage.in_force() == {"alpha", "beta", "gamma"}
