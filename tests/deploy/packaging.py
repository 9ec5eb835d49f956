"""Packaging: the script that builds the package, as a module, and what it must build for this machine."""

import importlib.util
import platform
import sys
from types import ModuleType

from deploy.terraform import ROOT

ARCH = {"aarch64": "arm64", "arm64": "arm64"}.get(platform.machine(), "x86_64")
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


def packaging() -> ModuleType:
    spec = importlib.util.spec_from_file_location("packaging_", ROOT / "deploy" / "package.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
