"""The package: the same bytes whenever it is built, small, and whole: every handler imports from it alone."""

import importlib.util
import json
import platform
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path
from types import ModuleType

import pytest

from deploy.terraform import ROOT
from interlock.wiring.aws_settings import Function

_ARCH = {"aarch64": "arm64", "arm64": "arm64"}.get(platform.machine(), "x86_64")
_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
_SAYS = """
import sys
sys.path[:] = [p for p in sys.path if "site-packages" not in p]
sys.path.insert(0, sys.argv[1])
"""


def _packaging() -> ModuleType:
    spec = importlib.util.spec_from_file_location("packaging_", ROOT / "deploy" / "package.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The archive, twice, from the same wheels."""
    packaging, folder = _packaging(), tmp_path_factory.mktemp("package")
    try:
        fetched = packaging.fetch(_ARCH, _PYTHON, folder / "fetched")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"pip can't bring the wheels of the package here: {error}")
    return [packaging.build(_ARCH, _PYTHON, folder / n, fetched) for n in ("one", "two")]


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
    assert (manifest["arch"], manifest["python"], manifest["format"]) == (_ARCH, _PYTHON, 1)


def test_it_holds_what_runs_and_no_more(built: list[Path]) -> None:
    with zipfile.ZipFile(built[0]) as archive:
        names = archive.namelist()
        assert sum(entry.file_size for entry in archive.infolist()) < 20 * 1024 * 1024
    assert names == sorted(names)
    tops = {name.split("/")[0] for name in names}
    assert tops.isdisjoint({"yaml", "rich", "click", "starlette", "jsonschema", "holidays"})
    ours = {"/".join(name.split("/")[1:3]) for name in names if name.startswith("interlock/")}
    assert ours.isdisjoint({"adapters/local", "cli/backend.py", "web/app.py"})
    assert not any(name.endswith(("RECORD", "INSTALLER", "direct_url.json")) for name in names)


@pytest.mark.parametrize("function", list(Function))
def test_every_handler_imports_from_it_alone(function: Function, unpacked: Path) -> None:
    module = f"interlock.lambdas.{function.replace('-', '_')}"
    done = _python(unpacked, f"import {module} as m, json; print(m.__file__, callable(m.handler))")
    assert done.stdout.split() == [f"{unpacked}/{module.replace('.', '/')}.py", "True"], done.stderr


def test_every_client_can_be_made_and_no_other(unpacked: Path) -> None:
    services = _packaging().SERVICES
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


def _python(folder: Path, code: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-I", "-c", _SAYS + code, str(folder)],
        capture_output=True, text=True, cwd=folder, env={}, check=False,
    )  # fmt: skip
