"""Applied: the installation as the Terraform module makes it, its provider pointed at the emulator."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deploy.packaging import ARCH
from deploy.terraform import ACCOUNT, MODULE, REGION, needed_plugins, run, shown
from emulated.emulator import Emulator
from emulated.project import Project

#: The services that the module calls, as the provider names them.
_SERVICES = (
    "cloudwatch", "dynamodb", "events", "iam", "lambda", "logs", "scheduler", "secretsmanager", "sfn",
    "sqs", "sts",
)  # fmt: skip
#: Much of an apply is waiting, and far from the limit of the emulator.
_AT_ONCE = "-parallelism=30"
_QUIET = ("-input=false", "-no-color")
_HOURS = 3600.0


@dataclass(frozen=True)
class Applied:
    """A root module in a folder; what it holds follows the project."""

    folder: Path
    emulator: Emulator
    dist: Path
    variables: dict[str, Any]
    #: What each later load has changed, by address.
    changes: list[set[str]] = field(default_factory=list)

    def load(self, project: Project) -> None:
        """The first time it makes everything."""
        project.compile()
        (self.folder / "main.tf.json").write_text(json.dumps(self._root(project)))
        if not (self.folder / ".terraform").is_dir():
            self._run("init", *_QUIET, f"-plugin-dir={needed_plugins()}")
            self._run("apply", *_QUIET, _AT_ONCE, "-auto-approve")
            return
        self._run("plan", *_QUIET, _AT_ONCE, "-out=plan")
        self._run("apply", *_QUIET, _AT_ONCE, "plan")
        planned = shown(self.folder)["resource_changes"]
        changed = {each["address"] for each in planned if each["change"]["actions"] != ["no-op"]}
        self.changes.append({address.removeprefix("module.interlock.") for address in changed})

    def toml(self) -> str:
        said = self._run("output", "-json").text
        found: str = json.loads(said)["interlock_toml"]["value"]
        return found

    def destroy(self) -> None:
        self._run("destroy", *_QUIET, _AT_ONCE, "-auto-approve", "-refresh=false")

    def _run(self, *arguments: str) -> Any:
        ran = run(self.folder, *arguments, timeout=_HOURS)
        assert ran.code == 0, f"terraform {arguments[0]}: {ran.text[-4000:]}"
        return ran

    def _root(self, project: Project) -> dict[str, Any]:
        provider = {
            "region": REGION,
            "access_key": "test",
            "secret_key": "test",
            "custom_ca_bundle": str(self.emulator.certificate),
            "skip_credentials_validation": True,
            "skip_requesting_account_id": True,
            "skip_metadata_api_check": True,
            "skip_region_validation": True,
            "endpoints": [dict.fromkeys(_SERVICES, self.emulator.url)],
        }
        module = {
            "source": os.path.relpath(MODULE, self.folder),
            "environment": "t",
            "account_id": ACCOUNT,
            "dist_path": str(self.dist),
            "lambda_architecture": ARCH,
            "pipelines_path": str(project.pipelines),
            "compiled_config_path": str(project.compiled),
            "deletion_protection": False,
            **self.variables,
        }
        return {
            "provider": {"aws": provider},
            "module": {"interlock": module},
            "resource": {"aws_iam_role_policy": {"timers": _TIMERS}},
            "output": {"interlock_toml": {"value": "${module.interlock.interlock_toml}"}},
        }


#: The emulator takes every timer for one of the group `default` when it looks for a right.
_TIMERS = {
    "for_each": "${module.interlock.function_role_names}",
    "name": "timers-of-the-emulator",
    "role": "${each.value}",
    "policy": json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": {
                "Effect": "Allow",
                "Action": [
                    f"scheduler:{verb}Schedule" for verb in ("Create", "Update", "Delete", "Get")
                ],
                "Resource": f"arn:aws:scheduler:{REGION}:{ACCOUNT}:schedule/default/*",
            },
        }
    ),
}
