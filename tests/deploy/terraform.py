"""Terraform: plans of the module, made without AWS, once for all workers of a test run.

The provider comes from a local folder: TF_PLUGIN_DIR, or one of the usual places. Without it, or without
Terraform, the tests that need a plan are skipped and say so.
"""

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from interlock.files import load_project
from interlock.files.compiled import compiled
from tiny_server import Asked, Said, tiny_server

ROOT = Path(__file__).parents[2]
MODULE = ROOT / "deploy" / "terraform"
EXAMPLE = ROOT / "examples" / "medallion"
ACCOUNT = "123456789012"
REGION = "eu-central-1"

_PROVIDER = "registry.terraform.io/hashicorp/aws"
_PLACES = (
    Path.home() / ".terraform.d" / "plugins",
    Path("/usr/local/share/terraform/plugins"),
    Path("/usr/share/terraform/plugins"),
    *sorted(Path("/opt").glob("*")),
)
_HOW = (
    "put the AWS provider (5.100 or a later 5.x) into a folder for"
    " `terraform init -plugin-dir` and name it in TF_PLUGIN_DIR"
)


@dataclass(frozen=True)
class Ran:
    """What became of a command; the text is one line, as Terraform breaks its own anywhere."""

    code: int
    text: str


def plugin_folder() -> Path | None:
    """Where a provider lies, if there is one and Terraform too."""
    named = os.environ.get("TF_PLUGIN_DIR")
    places = [Path(named)] if named else list(_PLACES)
    found = (place for place in places if (place / _PROVIDER).is_dir())
    return next(found, None) if shutil.which("terraform") else None


def needed_plugins() -> Path:
    found = plugin_folder()
    if found is None:
        pytest.skip(f"Terraform or its AWS provider is not here: {_HOW}")
    return found


def run(folder: Path, *arguments: str, timeout: float = 600) -> Ran:
    """Terraform, with fake credentials and no settings of this machine."""
    done = subprocess.run(
        ["terraform", *arguments],
        cwd=folder, env=_environment(folder), capture_output=True, text=True, timeout=timeout,
        check=False,
    )  # fmt: skip
    words = (done.stdout + done.stderr).replace("│", " ").split()
    return Ran(done.returncode, " ".join(words))


def _environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "TF_IN_AUTOMATION": "1",
        "TF_CLI_CONFIG_FILE": os.devnull,
        "CHECKPOINT_DISABLE": "1",
        "AWS_EC2_METADATA_DISABLED": "true",
        # The provider reads a large schema at every start, and a fifth of that was collecting garbage.
        "GOGC": "400",
    }


def plan(folder: Path, variables: Mapping[str, Any]) -> tuple[Ran, dict[str, Any]]:
    """What a plan says, and the plan as data (empty when there is none)."""
    ran = plan_all(folder, {"interlock": variables})
    if ran.code:
        return ran, {}
    return ran, shown(folder)


def shown(folder: Path) -> dict[str, Any]:
    """The plan that a folder holds, as data."""
    done = subprocess.run(
        ["terraform", "show", "-json", "plan"],
        cwd=folder, env=_environment(folder), capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def plan_all(
    folder: Path, modules: Mapping[str, Mapping[str, Any]], only: str | None = None
) -> Ran:
    """What one plan says of several uses of the module; `only` names a resource, to look at no other."""
    plugins = needed_plugins()
    folder.mkdir(parents=True, exist_ok=True)
    targets = [f"-target=module.{name}.{only}" for name in modules] if only else []
    with _states() as url:
        root = _root(modules, url, os.path.relpath(MODULE, folder))
        (folder / "main.tf.json").write_text(json.dumps(root))
        begun = run(folder, "init", "-input=false", "-no-color", f"-plugin-dir={plugins}")
        assert begun.code == 0, begun.text
        how = ("-input=false", "-no-color", "-out=plan", "-refresh=false", *targets)
        return run(folder, "plan", *how)


def package(folder: Path, arch: str = "arm64", compiled_format: int = 1) -> Path:
    """A folder as `make package` leaves one, with nothing to run in it."""
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"interlock-{arch}.zip"
    archive.write_bytes(b"nothing to run")
    manifest = {
        "version": "0",
        "format": compiled_format,
        "python": "3.13",
        "arch": arch,
        "sha256": sha256(archive.read_bytes()).hexdigest(),
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def compile_project(project: Path, output: Path) -> Path:
    """As `interlock compile` writes it."""
    loaded = load_project(project)
    assert not loaded.problems, loaded.problems
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(compiled(loaded))
    return output


def planned_once(name: str, variables: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """A plan that every worker shares: the first to ask makes it."""
    base.mkdir(parents=True, exist_ok=True)
    kept = base / f"{name}.json"
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            given = {"dist_path": str(package(base / f"{name}-dist")), **variables}
            if "pipelines_path" in variables:
                project = Path(variables["pipelines_path"]).parent
                file = compile_project(project, base / f"{name}-compiled.json")
                given["compiled_config_path"] = str(file)
            ran, found = plan(base / name, given)
            assert ran.code == 0, ran.text
            kept.write_text(json.dumps(found))
    loaded: dict[str, Any] = json.loads(kept.read_text())
    return loaded


@contextmanager
def _states() -> Iterator[str]:
    """A plan asks Step Functions whether the definition is sound: here, a stand-in says yes."""

    def yes(asked: Asked) -> Said:
        return Said({"result": "OK", "diagnostics": [], "truncated": False})

    with tiny_server(yes) as server:
        yield server.url


def _root(modules: Mapping[str, Mapping[str, Any]], states: str, source: str) -> dict[str, Any]:
    provider = {
        "region": REGION,
        "access_key": "nobody",
        "secret_key": "nobody",
        "skip_credentials_validation": True,
        "skip_requesting_account_id": True,
        "skip_metadata_api_check": True,
        "skip_region_validation": True,
        "endpoints": [{"sfn": states}],
    }
    common = {"source": source, "environment": "t", "account_id": ACCOUNT}
    return {
        "provider": {"aws": provider},
        "module": {name: {**common, **variables} for name, variables in modules.items()},
        "output": {
            f"{name}_viewer": {"value": f"${{module.{name}.viewer_policy_json}}"}
            for name in modules
        },
    }
