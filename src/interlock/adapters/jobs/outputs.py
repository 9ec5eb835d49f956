"""Outputs: what jobs printed. Commands keep theirs on this machine; of others, the address of their logs."""

from collections.abc import Mapping
from typing import Any

import msgspec

from interlock.adapters.jobs.command.job_folder import JobFolder
from interlock.adapters.jobs.command.kept_output import kept_output
from interlock.adapters.jobs.job_environment import Surroundings
from interlock.adapters.jobs.logs_address import logs_address
from interlock.adapters.secrets.texts import Texts
from interlock.domain.job_kinds import JOB_KINDS, JobKind
from interlock.domain.job_output import JobOutput, OutputRequest, plain_lines
from interlock.errors import ConfigError

COMMAND = "command"

_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
_ELSEWHERE = "the command ran within a function: its logs in CloudWatch have what it printed"
_NO_LINK = (
    "Interlock keeps the output of commands only, and knows no address of the logs of this {} job"
)
_LINKED = "the platform keeps the output of this {} job"


class OutputsByType:
    """The port over every type. Every text that leaves is masked and plain."""

    def __init__(
        self, surroundings: Surroundings, kinds: Mapping[str, JobKind] = JOB_KINDS
    ) -> None:
        self._given = surroundings
        self._kinds = kinds

    def read(self, wanted: OutputRequest) -> JobOutput:
        found = self._found(wanted)
        mask = self._given.secrets.mask
        return msgspec.structs.replace(
            found,
            text=plain_lines(mask(found.text)),
            link=None if found.link is None or mask(found.link) != found.link else found.link,
        )

    def _found(self, wanted: OutputRequest) -> JobOutput:
        if wanted.job_type != COMMAND:
            link = self._link(wanted)
            note = _NO_LINK if link is None else _LINKED
            return JobOutput(link=link, note=note.format(wanted.job_type))
        if self._given.time_left is not None or "ended" in wanted.job:
            return JobOutput(note=_ELSEWHERE)
        return kept_output(JobFolder(self._given.state.resolve(), wanted.token), wanted.part)

    def _link(self, wanted: OutputRequest) -> str | None:
        kind = self._kinds.get(wanted.job_type)
        if kind is None or not wanted.run_id:
            return None
        try:
            return logs_address(kind.logs, self._values(wanted))
        except ConfigError:
            return None  # a variable of the address is not set any more

    def _values(self, wanted: OutputRequest) -> dict[str, str]:
        """The metadata, with the variables of its texts. Raises ConfigError."""
        run: Any = wanted.job.get("run")
        texts = Texts(self._given.environment, run if isinstance(run, Mapping) else {})
        written = {
            name: texts.url(value) if isinstance(value, str) else str(value)
            for name, value in wanted.job.items()
            if isinstance(value, str | int)
        }
        run_id = wanted.run_id or ""
        region = written.get("region") or self._region(run_id)
        return {**written, "region": region, "runId": run_id}

    def _region(self, run_id: str) -> str:
        if run_id.startswith("arn:") and run_id.count(":") > 3:
            return run_id.split(":")[3]
        known = (self._given.environment.get(name) for name in _REGIONS)
        return next((name for name in known if name), "")
