"""Package: one zip with the six functions and their dependencies; every build gives the same bytes.

    python deploy/package.py [--arch arm64|x86_64] [--python 3.13] [--dist dist]

Writes interlock-{arch}.zip and manifest.json. The libraries are those of constraints.txt, as wheels for the
target; botocore keeps only the models of the services that the functions call. If an interpreter of the
target's version is installed, the code is compiled for it: a function can't store what it compiles itself.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ARCHITECTURES = {"arm64": "aarch64", "x86_64": "x86_64"}
LIBRARIES = ("boto3", "cronsim", "google-re2", "msgspec", "tzdata", "urllib3")
#: What the functions run on, Amazon Linux 2023, has glibc 2.34: wheels for these run there.
PLATFORMS = ("manylinux2014", "manylinux_2_28")
#: The services that the functions call, and the jobs on AWS.
SERVICES = (
    "dynamodb", "emr", "emr-serverless", "events", "glue", "lambda", "logs", "scheduler",
    "secretsmanager", "sqs", "stepfunctions", "sts",
)  # fmt: skip
#: The parts of the package that only run locally, or read people's files.
_NOT_INSIDE = (
    "adapters/sqlite", "cli", "client.py", "conformance.py", "demo", "simulation", "web", "__main__.py",
)  # fmt: skip
_NOT_OF_LIBRARIES = re.compile(
    r"(^|/)(__pycache__|bin|tests?)/|\.dist-info/(RECORD|INSTALLER|REQUESTED|direct_url\.json)$"
    r"|^boto3/(data|examples)/|\.pyc$|\.pyi$"
)
_LARGEST = 20 * 1024 * 1024
_EPOCH = (1980, 1, 1, 0, 0, 0)


def build(arch: str, python: str, dist: Path, fetched: Path | None = None) -> Path:
    """The zip. `fetched` is a folder with the libraries, if they are already downloaded."""
    with tempfile.TemporaryDirectory() as folder:
        libraries = fetched or fetch(arch, python, Path(folder, "fetched"))
        stage = Path(folder, "stage")
        _copy_libraries(libraries, stage)
        _copy_interlock(stage / "interlock")
        compiled = _compile(stage, python)
        size = sum(file.stat().st_size for file in stage.rglob("*") if file.is_file())
        if size > _LARGEST:
            raise SystemExit(
                f"the package has {size} bytes unzipped; Lambda allows at most {_LARGEST}"
            )
        dist.mkdir(parents=True, exist_ok=True)
        archive = dist / f"interlock-{arch}.zip"
        _zip(stage, archive)
    manifest = {
        "version": _constant("__init__.py", "__version__").strip('"'),
        "format": int(_constant("files/compiled.py", "FORMAT")),
        "python": python,
        "arch": arch,
        "compiled": compiled,
        "sha256": sha256(archive.read_bytes()).hexdigest(),
        "unzipped": size,
    }
    (dist / "manifest.json").write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n")
    return archive


def fetch(arch: str, python: str, folder: Path) -> Path:
    """The libraries for the target, as pip lays them out."""
    platforms = [f"{base}_{ARCHITECTURES[arch]}" for base in PLATFORMS]
    command = [
        sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile",
        "--target", str(folder), "--only-binary=:all:", "--implementation", "cp",
        *(word for platform in platforms for word in ("--platform", platform)),
        "--python-version", python,
        "--constraint", str(ROOT / "constraints.txt"), *LIBRARIES,
    ]  # fmt: skip
    subprocess.run(command, check=True)
    return folder


def _copy_libraries(fetched: Path, stage: Path) -> None:
    for file in _files(fetched):
        name = file.relative_to(fetched).as_posix()
        if not _NOT_OF_LIBRARIES.search(name) and _is_ours_to_call(name):
            _copy(file, stage / name)


def _is_ours_to_call(name: str) -> bool:
    """Of botocore's models, only those of our services; everything else is kept."""
    parts = name.split("/")
    if parts[:2] != ["botocore", "data"] or len(parts) < 4:
        return True
    return parts[2] in SERVICES and not parts[-1].startswith(("examples-", "waiters-"))


def _copy_interlock(target: Path) -> None:
    source = ROOT / "src" / "interlock"
    for file in _files(source):
        name = file.relative_to(source).as_posix()
        inside = not any(name == part or name.startswith(f"{part}/") for part in _NOT_INSIDE)
        if inside and "__pycache__" not in name:
            _copy(file, target / name)


def _compile(stage: Path, python: str) -> bool:
    """With unchecked hashes: a zip does not keep times, and the folder is read-only in Lambda."""
    interpreter = _interpreter(python)
    if interpreter is None:
        message = f"python{python} is not installed: the code is not compiled, so every cold start is slower"
        sys.stderr.write(f"package: {message}\n")
        return False
    command = [
        interpreter, "-I", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash",
        "-s", str(stage), "-p", "/var/task", str(stage),
    ]  # fmt: skip
    subprocess.run(command, check=True)
    return True


def _interpreter(python: str) -> str | None:
    """An interpreter of that version, if it runs: a name on the path may be a broken shim."""
    ask = ["-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    for found in (sys.executable, shutil.which(f"python{python}")):
        if found is None:
            continue
        done = subprocess.run([found, *ask], capture_output=True, text=True, check=False)
        if done.stdout.strip() == python:
            return found
    return None


def _zip(stage: Path, archive: Path) -> None:
    with zipfile.ZipFile(archive, "w") as out:
        for file in _files(stage):
            entry = zipfile.ZipInfo(file.relative_to(stage).as_posix(), _EPOCH)
            entry.external_attr = 0o100644 << 16
            entry.create_system = 3
            entry.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(entry, file.read_bytes(), compresslevel=9)


def _files(folder: Path) -> Iterator[Path]:
    found = (file for file in folder.rglob("*") if file.is_file())
    return iter(sorted(found, key=lambda file: file.as_posix()))


def _copy(file: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, target)


def _constant(module: str, name: str) -> str:
    text = (ROOT / "src" / "interlock" / module).read_text(encoding="utf-8")
    found = re.search(rf"^{name} = (.+)$", text, re.MULTILINE)
    assert found is not None, name
    return found[1]


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the zip of the AWS functions.")
    parser.add_argument("--arch", choices=sorted(ARCHITECTURES), default="arm64")
    parser.add_argument("--python", default="3.13", help="the version of the runtime")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist")
    given = parser.parse_args()
    archive = build(given.arch, given.python, given.dist)
    print(f"{archive}: {archive.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
