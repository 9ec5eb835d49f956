"""Cold start: how long a function of the built zip takes to become ready, each time in a fresh process.

    python -m benchmarks.coldstart

Measures the import of the handler and its first client, against boto3 with four clients from the same zip.
"""

import importlib.util
import json
import platform
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from types import ModuleType

from benchmarks.figures import spread, tell
from interlock.wiring.aws_settings import Function

_RUNS = 7
_HEAD = """
import sys
sys.path[:] = [p for p in sys.path if "site-packages" not in p]
sys.path.insert(0, sys.argv[1])
from time import perf_counter
begin = perf_counter()
"""
_TAIL = "\nprint((perf_counter() - begin) * 1000)"
_CLIENT = """
from interlock.adapters.aws.clients import make_client
make_client("dynamodb", "eu-central-1")
"""
_BOTO3 = """
import boto3
for service in ("dynamodb", "events", "scheduler", "stepfunctions"):
    boto3.client(service, region_name="eu-central-1")
"""


def main() -> None:
    packaging = _packaging()
    arch = {"aarch64": "arm64", "arm64": "arm64"}.get(platform.machine(), "x86_64")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    with tempfile.TemporaryDirectory() as folder:
        archive = packaging.build(arch, version, Path(folder, "dist"))
        task = Path(folder, "task")
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(task)
        manifest = json.loads((archive.parent / "manifest.json").read_text())
        boto3 = spread(_times(task, _BOTO3))
        figures = {str(function): spread(_times(task, _of(function))) for function in Function}
    router = figures[Function.STREAM_ROUTER]["p50"]
    slowest = max(figures, key=lambda name: figures[name]["p50"])
    tell(
        "coldstart",
        "router <= 230 ms; <= 20 MB",
        f"router {router:.0f} ms, slowest {slowest} {figures[slowest]['p50']:.0f} ms;"
        f" boto3 with four clients {boto3['p50']:.0f} ms (ratio {router / boto3['p50']:.2f});"
        f" {manifest['unzipped'] / 1e6:.1f} MB unzipped",
        figures=figures,
        boto3=boto3,
        unzipped=manifest["unzipped"],
    )


def _of(function: Function) -> str:
    return f"import interlock.lambdas.{function.replace('-', '_')}\n{_CLIENT}"


def _times(task: Path, code: str) -> list[float]:
    """Milliseconds of each run, after one that warms the disk."""
    command = [sys.executable, "-I", "-c", _HEAD + code + _TAIL, str(task)]
    runs = [
        subprocess.run(command, capture_output=True, text=True, check=True, env={})
        for _ in range(_RUNS + 1)
    ]
    return [float(each.stdout) for each in runs[1:]]


def _packaging() -> ModuleType:
    path = Path(__file__).parents[1] / "deploy" / "package.py"
    spec = importlib.util.spec_from_file_location("package_of_functions", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
