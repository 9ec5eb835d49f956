"""The package: the same bytes whenever it is built, small, and whole: every handler imports from it alone."""

import json
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from deploy.packaging import ARCH, PYTHON, packaging
from interlock.wiring.aws_settings import Function

_SAYS = """
import sys
sys.path[:] = [p for p in sys.path if "site-packages" not in p]
sys.path.insert(0, sys.argv[1])
"""

_SDK = """
import boto3
for service in ("dynamodb", "events", "scheduler", "stepfunctions"):
    boto3.client(service, region_name="eu-central-1")
"""
#: Other processes on the machine may disturb one measurement, but hardly all.
_TRIES = 9

#: Who needs a part of the package when it is imported; others import it when they come to need it.
PARTS: dict[str, set[Function]] = {
    "interlock.usecases.route_change": {Function.STREAM_ROUTER},
    "interlock.usecases.watch": {Function.WATCHDOG},
    "interlock.usecases.adopt_config": {Function.WATCHDOG},
    "interlock.lifecycle": {Function.ORCHESTRATOR, Function.SLA_MONITOR},
    "interlock.files": {Function.WATCHDOG, Function.ALERT_DISPATCHER},
    "interlock.adapters.jobs": {
        Function.ORCHESTRATOR,
        Function.SLA_MONITOR,
        Function.WATCHDOG,
        Function.ALERT_DISPATCHER,
    },
    "interlock.adapters.http.http_client": {Function.ALERT_DISPATCHER},
    "interlock.adapters.alerts": {Function.ALERT_DISPATCHER},
    "interlock.adapters.aws.timers": {Function.ALERT_DISPATCHER},
    "interlock.adapters.aws.workflows": set(),
    "interlock.adapters.aws.deliveries": {Function.ALERT_DISPATCHER},
    "interlock.adapters.aws.history": set(),
}
_NOBODYS = {
    "asyncio",
    "boto3",
    "ctypes",
    "jsonschema",
    "multiprocessing",
    "re2",  # only a rule that matches a pattern loads it
    "sqlite3",
    "unittest",
    "yaml",
}
_MOST_OF_OURS = 200


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The archive, twice, from the same wheels."""
    build, folder = packaging(), tmp_path_factory.mktemp("package")
    try:
        fetched = build.fetch(ARCH, PYTHON, folder / "fetched")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"pip can't bring the wheels of the package here: {error}")
    return [build.build(ARCH, PYTHON, folder / n, fetched) for n in ("one", "two")]


@pytest.fixture(scope="module")
def unpacked(built: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("task")
    with zipfile.ZipFile(built[0]) as archive:
        archive.extractall(folder)
    return folder


def test_built_twice_it_is_the_same(built: list[Path]) -> None:
    one, two = (archive.read_bytes() for archive in built)
    assert one == two
    manifest = json.loads((built[0].parent / "manifest.json").read_text())
    assert manifest["sha256"] == sha256(one).hexdigest()
    assert (manifest["arch"], manifest["python"], manifest["format"]) == (ARCH, PYTHON, 1)


def test_it_holds_what_runs_and_no_more(built: list[Path]) -> None:
    with zipfile.ZipFile(built[0]) as archive:
        names = archive.namelist()
        assert sum(entry.file_size for entry in archive.infolist()) < 20 * 1024 * 1024
    assert names == sorted(names)
    tops = {name.split("/")[0] for name in names}
    assert tops.isdisjoint({"yaml", "rich", "click", "starlette", "jsonschema", "holidays"})
    ours = {"/".join(name.split("/")[1:3]) for name in names if name.startswith("interlock/")}
    assert ours.isdisjoint({"adapters/sqlite", "cli/backend.py", "web/app.py"})
    assert not any(name.endswith(("RECORD", "INSTALLER", "direct_url.json")) for name in names)


@pytest.mark.parametrize("function", list(Function))
def test_every_handler_imports_from_it_alone(function: Function, unpacked: Path) -> None:
    module = f"interlock.lambdas.{function.replace('-', '_')}"
    done = _python(unpacked, f"import {module} as m, json; print(m.__file__, callable(m.handler))")
    assert done.stdout.split() == [f"{unpacked}/{module.replace('.', '/')}.py", "True"], done.stderr


@pytest.mark.parametrize("part", PARTS)
def test_a_handler_imports_what_it_needs_and_no_more(
    part: str, imported: dict[Function, set[str]]
) -> None:
    assert {function for function, names in imported.items() if part in names} == PARTS[part]


def test_no_handler_imports_what_none_needs(imported: dict[Function, set[str]]) -> None:
    for function, names in imported.items():
        assert names.isdisjoint(_NOBODYS), function
        assert sum(name.startswith("interlock") for name in names) <= _MOST_OF_OURS, function


@pytest.mark.parametrize("function", list(Function))
def test_a_handler_is_imported_in_little_more_time_than_the_sdk_alone(
    function: Function, unpacked: Path
) -> None:
    """In processor time, against the SDK in the same minute: 400 ms where that takes 220."""
    for _ in range(_TRIES):
        sdk, ours = _processor_time(unpacked, _SDK), _processor_time(unpacked, _importing(function))
        if ours <= 400 / 220 * sdk:
            return
    pytest.fail(f"{ours:.0f} ms of a processor, where boto3 with four clients takes {sdk:.0f}")


def test_every_client_can_be_made_and_no_other(unpacked: Path) -> None:
    services = packaging().SERVICES
    made = f"""
import botocore.session
session = botocore.session.get_session()
for service in {services!r}:
    session.create_client(service, region_name="eu-central-1")
try:
    session.create_client("ec2", region_name="eu-central-1")
except Exception as error:
    print(type(error).__name__, "ec2" in str(error))
"""
    assert _python(unpacked, made).stdout.split() == ["UnknownServiceError", "True"]


@pytest.fixture(scope="module")
def imported(unpacked: Path) -> dict[Function, set[str]]:
    """The names of all modules that the import of each handler brings."""
    code = "import sys; print(*sys.modules)"
    return {
        each: set(_python(unpacked, f"{_importing(each)}; {code}").stdout.split())
        for each in Function
    }


def _importing(function: Function) -> str:
    return f"import interlock.lambdas.{function.replace('-', '_')}"


def _processor_time(folder: Path, code: str) -> float:
    """Milliseconds that a processor is busy with it, in a process of its own."""
    timed = f"from time import process_time as t; begin = t()\n{code}\nprint((t() - begin) * 1000)"
    return float(_python(folder, timed).stdout)


def _python(folder: Path, code: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-I", "-c", _SAYS + code, str(folder)],
        capture_output=True, text=True, cwd=folder, env={}, check=False,
    )  # fmt: skip
