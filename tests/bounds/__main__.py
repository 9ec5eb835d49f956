"""Bounds: try the lowest and the newest versions that pyproject.toml allows, on each Python that is here.

    python -m bounds [--python python3.12]... [--set lowest|newest]...

Each Python gets one environment per set, and runs the part of the suite that meets every dependency:
commands, files, scenarios, a real server on its socket, jobs, a store on AWS. A Python that is not here is
named and left out.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from bounds.requirements import EXTRAS, ROOT, bounds, number, plain

PYTHONS = ("python3.11", "python3.12", "python3.13")
SETS = ("lowest", "newest")
HOME = ROOT / ".venv" / "bounds"
UV = HOME / "uv" / "bin" / "uv"
#: httpx is for the test client of older versions of starlette.
TOOLS = (
    "cryptography", "httpx", "httpx2", "hypothesis", "jsonschema", "moto[glue,stepfunctions]", "pytest",
    "pytest-xdist", "standardwebhooks",
)  # fmt: skip
#: What a version of a dependency could change.
TESTS = (
    "tests/bounds",
    "tests/web/test_wire.py",
    "tests/web/test_security.py",
    "tests/web/test_listener.py",
    "tests/web/test_stream.py",
    "tests/web/test_reads.py",
    "tests/cli/test_app.py",
    "tests/cli/test_sensor_command.py",
    "tests/cli/test_simulate_command.py",
    "tests/cli/test_status_command.py",
    "tests/cli/test_validate_command.py",
    "tests/cli/test_with_a_server.py",
    "tests/domain/test_canonical.py",
    "tests/domain/test_cron.py",
    "tests/domain/test_time_vectors.py",
    "tests/files/test_holidays.py",
    "tests/files/test_reader.py",
    "tests/files/test_yaml_nodes.py",
    "tests/lifecycle/test_modes.py",
    "tests/adapters/http/test_http_client.py",
    "tests/adapters/jobs/test_aws_clients.py",
    "tests/contracts/test_sensors.py",
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Try the bounds of the dependencies.")
    parser.add_argument(
        "--python", action="append", dest="pythons", help="a Python; all by default"
    )
    parser.add_argument("--set", action="append", dest="sets", choices=SETS)
    parser.add_argument("--workers", default="auto")
    given = parser.parse_args()
    _install_uv()
    found = _found(given.pythons or [*PYTHONS, sys.executable])
    outcomes = [
        (version, which, _try(interpreter, version, which, given.workers))
        for version, interpreter in found.items()
        for which in given.sets or SETS
    ]
    for version, which, passed in outcomes:
        print(f"Python {version}, {which} versions: {'passed' if passed else 'FAILED'}")
    if not outcomes or not all(passed for *_, passed in outcomes):
        raise SystemExit(1)


def _found(names: list[str]) -> dict[str, str]:
    """Interpreters by version. A name on the path may be a promise only, so each is asked."""
    ask = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"
    found: dict[str, str] = {}
    for name in names:
        try:
            done = subprocess.run(
                [name, "-I", "-c", ask], capture_output=True, text=True, check=False
            )
        except OSError:
            done = None
        if done is None or done.returncode:
            print(f"{name} is not here: skipped")
            continue
        version, interpreter = done.stdout.split(maxsplit=1)
        found.setdefault(version, interpreter.strip())
    return found


def _install_uv() -> None:
    if not UV.exists():
        subprocess.run([sys.executable, "-m", "venv", str(UV.parents[1])], check=True)
        pip = [str(UV.with_name("python")), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "--disable-pip-version-check", "uv"], check=True)


def _try(interpreter: str, version: str, which: str, workers: str) -> bool:
    folder = HOME / f"{version}-{which}"
    python = folder / "bin" / "python"
    print(f"--- Python {version}, {which} versions", flush=True)
    _build(interpreter, folder, python, which)
    if which == "lowest" and (missed := _missed(python)):
        print("\n".join(missed))
        return False
    pytest = [str(python), "-m", "pytest", "-q", "-n", workers, "-p", "no:cacheprovider", *TESTS]
    return subprocess.run(pytest, cwd=ROOT, check=False).returncode == 0


def _build(interpreter: str, folder: Path, python: Path, which: str) -> None:
    """The product's versions are found first, so that no tool of the tests moves them.

    Only wheels: a bound that needs a compiler on one of our Pythons is no bound for every user.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    pins = folder.with_name(f"{folder.name}.txt")
    resolution = {"lowest": "lowest-direct", "newest": "highest"}[which]
    extras = [part for extra in EXTRAS for part in ("--extra", extra)]
    _uv("venv", "--clear", "--python", interpreter, str(folder))
    _uv("pip", "compile", "--python", str(python), "--only-binary", ":all:", "--resolution", resolution,
        *extras, "--output-file", str(pins), "--upgrade", "pyproject.toml")  # fmt: skip
    _uv("pip", "install", "--python", str(python), "--only-binary", ":all:",
        "--requirement", str(pins), *TOOLS)  # fmt: skip
    _uv("pip", "install", "--python", str(python), "--no-deps", "--editable", ".")


def _missed(python: Path) -> list[str]:
    """Bounds whose own version is not the one that was installed: nothing tries them."""
    listed = subprocess.run(
        [str(UV), "pip", "list", "--quiet", "--format", "json", "--python", str(python)],
        capture_output=True, check=True,
    )  # fmt: skip
    installed = {plain(each["name"]): each["version"] for each in json.loads(listed.stdout)}
    return [
        f"{name}>={lowest}: the lowest that can be installed is {installed[name]}; raise the bound"
        for name, lowest in bounds()
        if number(installed[name]) != number(lowest)
    ]


def _uv(*arguments: str) -> None:
    environment = os.environ | _index()
    quiet = [str(UV), *arguments, "--quiet", "--no-config"]
    subprocess.run(quiet, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)


def _index() -> dict[str, str]:
    """uv does not read pip's settings: the index that pip was given is handed on."""
    ask = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    told = subprocess.run(ask, capture_output=True, text=True, check=False).stdout.strip()
    address = os.environ.get("PIP_INDEX_URL") or told
    return {"UV_DEFAULT_INDEX": address} if address else {}


if __name__ == "__main__":
    main()
