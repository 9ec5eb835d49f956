"""Generate: the tables of the reference, from the code's own tables.

    python -m docs.generate

A page is written by hand, except between `<!-- begin NAME -->` and `<!-- end NAME -->`: that part is the
output of the function of that name in BLOCKS. A test generates every page again and compares.
"""

import ast
import dataclasses
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import msgspec
from msgspec import NODEFAULT, inspect

import interlock
from interlock.adapters.alerts import console
from interlock.adapters.aws.history import DynamoHistory
from interlock.adapters.jobs import outputs
from interlock.adapters.jobs.command import supervisor
from interlock.adapters.jobs.job_states import Meaning
from interlock.adapters.sqlite.database import MEMORY
from interlock.adapters.sqlite.history import SqliteHistory
from interlock.adapters.sqlite.retention import Spans
from interlock.cli import app
from interlock.cli.command_table import COMMANDS
from interlock.cli.exits import EXITS, Exit
from interlock.cli.json_answers import FOLLOW, answer_schema, answers_of, commands_answering
from interlock.domain import duration, pipeline
from interlock.domain.alerting.alert_rules import Alerts
from interlock.domain.check import Check, CheckSpec
from interlock.domain.event import ALIASES, EventSpec, EventType
from interlock.domain.job_kinds import JOB_KINDS
from interlock.domain.pipeline import Calendar, Rule, RuleGroup
from interlock.domain.reasons import REASONS
from interlock.domain.run import BY_HAND, TRANSITIONS
from interlock.files import load_text
from interlock.files.authored import PipelineFile
from interlock.files.problem import ProblemKind
from interlock.lifecycle import definition
from interlock.operations import endpoints as web_endpoints
from interlock.operations.requests import MOST_OUTPUT, MOST_READINGS
from interlock.runtime import server_address as address
from interlock.runtime.health import NotedDatabase
from interlock.simulation.scenario import ScenarioFile
from interlock.usecases.watchdog_checks import GUARDS
from interlock.web import access, gate
from interlock.web.api import answering, bodies
from interlock.web.metrics import Metrics
from interlock.web.protocol import Bounds
from interlock.wiring import aws_reads as aws_sight
from interlock.wiring import settings
from interlock.wiring.local_backend import open_local_backend

DOCS = Path(__file__).parent
SOURCE = Path(interlock.__file__).parent

_BLOCK = re.compile(r"(<!-- begin ([a-z-]+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)
_COMMAND = re.compile(r"`interlock ([a-z]+)")


def main() -> None:
    for page in pages():
        page.write_text(fresh(page.read_text(encoding="utf-8")), encoding="utf-8")


def pages() -> list[Path]:
    """Every page of the documentation."""
    return sorted(DOCS.rglob("*.md"))


def fresh(text: str) -> str:
    """The text of a page with its generated parts brought up to date."""

    def block(match: re.Match[str]) -> str:
        return f"{match[1]}\n{BLOCKS[match[2]]().strip()}\n\n{match[3]}"

    return _BLOCK.sub(block, text)


# ------------------------------------------------------------------ fields, from the structs of the reader


class Row(msgspec.Struct, frozen=True):
    """One field of a file, as the reference describes it."""

    path: str
    type: str
    default: str
    bounds: str
    description: str


def pipeline_rows() -> list[Row]:
    """Every field of a pipeline file. `schedules` holds what `schedule` is."""
    return list(_rows(PipelineFile, "", skip="schedules[]"))


def calendar_rows() -> list[Row]:
    return list(_rows(Calendar, ""))


def scenario_rows() -> list[Row]:
    return list(_rows(ScenarioFile, ""))


def job_rows(kind: str) -> list[Row]:
    """Every setting of a job type, below `job.config`."""
    return list(_rows(JOB_KINDS[kind].config, ""))


def _rows(kind: type, prefix: str, skip: str | None = None) -> Iterator[Row]:
    if "variants" in vars(kind):
        yield from _variant_rows(kind, prefix)
        return
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    for field in info.fields:
        path = f"{prefix}{field.encode_name}"
        yield _row(path, field, kind)
        if kind is RuleGroup:
            continue  # its rules have the fields of every rule
        inner, below = _below(field.type)
        if inner is not None and f"{path}{below}" != skip:
            yield from _rows(inner, f"{path}{below}.", skip)
        if _has_groups(field.type):
            yield from _rows(RuleGroup, f"{path}{below}.")


def _variant_rows(kind: type, prefix: str) -> Iterator[Row]:
    """`type`, and what each type may say besides."""
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    yield from (_row(f"{prefix}type", each, kind) for each in info.fields if each.name == "type")
    for name, variant in kind.variants.items():  # type: ignore[attr-defined]
        for row in _rows(variant.settings, prefix):
            key = row.path.removeprefix(prefix)
            if key != "type" and (key != "channel" or variant.has_channels):
                said = f"`{name}`: {row.description}"
                yield msgspec.structs.replace(row, description=said)


def _row(path: str, field: inspect.Field, owner: type) -> Row:
    plain, facts = _stripped(field.type)
    said = _NOTES.get((owner.__name__, field.encode_name)) or facts.get("description")
    return Row(path, _type(field.type), _default(field), _bounds(plain, facts), said or _doc(plain))


def _stripped(kind: inspect.Type) -> tuple[inspect.Type, dict[str, Any]]:
    """The bare type, and all that is said about it; the outermost description counts."""
    facts: dict[str, Any] = {}
    while True:
        if isinstance(kind, inspect.Metadata):
            facts = {**(kind.extra_json_schema or {}), **(kind.extra or {}), **facts}
            kind = kind.type
        elif isinstance(kind, inspect.UnionType):
            (kind,) = (each for each in kind.types if not isinstance(each, inspect.NoneType))
        else:
            return kind, facts


def _has_groups(kind: inspect.Type) -> bool:
    """Whether a list may have groups of rules among its rules."""
    plain, _ = _stripped(kind)
    item = plain.item_type if isinstance(plain, inspect.VarTupleType) else plain
    return _stripped(item)[1].get("rule") == "or group"


def _type(kind: inspect.Type) -> str:
    plain, facts = _stripped(kind)
    if "rule" in facts:
        return "map"
    if "one of" in facts:
        return " ".join(f"`{name}`" for name in facts["one of"])
    if "form" in facts:
        return str(facts["form"])
    if isinstance(plain, inspect.EnumType):
        return " ".join(f"`{member.value}`" for member in plain.cls)
    if isinstance(plain, inspect.VarTupleType):
        return f"list of {_type(plain.item_type)}"
    if isinstance(plain, inspect.DictType):
        return f"map of {_type(plain.key_type)} to {_type(plain.value_type)}"
    if isinstance(plain, inspect.StructType):
        return "map"
    return _NAMES[type(plain)]


def _default(field: inspect.Field) -> str:
    if field.required:
        return "**required**"
    value = field.default_factory() if field.default is NODEFAULT else field.default
    if value is None or value == "" or isinstance(value, msgspec.Struct):
        return ""
    if isinstance(value, tuple):
        return ", ".join(f"`{each}`" for each in value)
    if isinstance(value, dict):
        return ""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"`{text}`"


def _bounds(plain: inspect.Type, facts: dict[str, Any]) -> str:
    least = facts.get("ge", getattr(plain, "ge", None))
    most = facts.get("le", getattr(plain, "le", None))
    found = []
    if least is not None or most is not None:
        found.append(f"at least {least}" if most is None else f"{least} to {most}")
    if "or" in facts:
        found.append(f"or {facts['or']}")
    if "longest" in facts:
        found.append(f"more than 0s, at most {facts['longest']}")
    if getattr(plain, "min_length", None):
        found.append("not empty")
    if facts.get("any case"):
        found.append("any letter case")
    if "also" in facts:
        found.append(f"also: {_ALSO[facts['also']]}")
    return ", ".join(found)


def _doc(plain: inspect.Type) -> str:
    """What a field holds, when only its type says so."""
    cls = getattr(plain, "cls", None)
    return (cls.__doc__ or "").splitlines()[0] if cls is not None else ""


def _below(kind: inspect.Type) -> tuple[type | None, str]:
    """The struct inside a field, and how the path goes on to it."""
    plain, facts = _stripped(kind)
    if "rule" in facts:
        return Rule, ""
    if isinstance(plain, inspect.StructType):
        return plain.cls, ""
    if isinstance(plain, inspect.VarTupleType):
        inner, below = _below(plain.item_type)
        return inner, f"[]{below}"
    if isinstance(plain, inspect.DictType):
        inner, below = _below(plain.value_type)
        return inner, f".NAME{below}"
    return None, ""


def _field_table(rows: Sequence[Row]) -> str:
    cells = [(f"`{r.path}`", r.type, r.default, r.bounds, r.description) for r in rows]
    return table(("field", "type", "default", "bounds", "description"), cells)


def pipeline_fields() -> str:
    groups: dict[str, list[Row]] = {}
    for row in pipeline_rows():
        groups.setdefault(row.path.split(".")[0], []).append(row)
    return "\n\n".join(f"### `{name}`\n\n{_field_table(rows)}" for name, rows in groups.items())


def calendar_fields() -> str:
    return _field_table(calendar_rows())


def alerts_fields() -> str:
    groups: dict[str, list[Row]] = {}
    for row in _rows(Alerts, ""):
        groups.setdefault(re.split(r"[.\[<]", row.path)[0], []).append(row)
    return "\n\n".join(f"## `{name}`\n\n{_field_table(rows)}" for name, rows in groups.items())


def scenario_fields() -> str:
    return _field_table(scenario_rows())


def text_forms() -> str:
    """The forms of text that pipeline files use, with what each looks like."""
    rows = []
    for alias in vars(pipeline).values():
        for meta in getattr(alias, "__metadata__", ()):
            pattern = (meta.extra_json_schema or {}).get("pattern", "")
            shown = f"`{pattern.removeprefix('^').removesuffix('$')}`" if pattern else ""
            if "form" in (meta.extra or {}):
                rows.append((str(meta.extra["form"]), str(meta.description), shown))
    return table(("form", "description", "pattern"), sorted(rows))


def job_types() -> str:
    parts = []
    for name, kind in JOB_KINDS.items():
        doc = (kind.config.__doc__ or "").splitlines()[0]
        needs = f" Needs the extra {_EXTRAS[kind.extra]}." if kind.extra else ""
        parts.append(f"## `{name}`\n\n{doc}{needs}\n\n{_field_table(job_rows(name))}")
    return "\n\n".join(parts)


#: The extra `aws` brings the HTTP client too.
_EXTRAS = {"server": "`server` or `aws`", "aws": "`aws`"}


def job_promises() -> str:
    """How a repeated start is recognised, whether an attempt has one job, and where its output is."""
    rows = [
        (
            f"[`{name}`](../howto/jobs/{name}.md)",
            each.promises.recognised_by,
            each.promises.one_job,
            "kept" if name == outputs.COMMAND else "linked" if each.logs else "-",
        )
        for name, each in JOB_KINDS.items()
    ]
    return table(("type", "a repeat is recognised by", "one job per attempt", "output"), rows)


#: What each meaning of a state says to a reader.
_MEANINGS = {
    Meaning.RUNNING: "running",
    Meaning.SUCCEEDED: "success",
    Meaning.FAILED: "failure; its message decides the category",
    Meaning.UNEXPLAINED: "failure of unknown category",
    Meaning.TRANSIENT: "transient failure",
    Meaning.PERMANENT: "permanent failure",
    Meaning.TIMEOUT: "timeout",
    Meaning.STOPPED: "stopped on purpose",
}


def job_states() -> str:
    """Every state that a platform may report, and what it means."""
    tables = {
        name: getattr(import_module(kind.adapter_path.partition(":")[0]), "STATES", {})
        for name, kind in JOB_KINDS.items()
    }
    rows = [
        (
            f"`{kind}`",
            " ".join(f"`{state}`" for state, each in states.items() if each is meaning),
            said,
        )
        for kind, states in tables.items()
        for meaning, said in _MEANINGS.items()
        if meaning in states.values()
    ]
    return table(("type", "state", "means"), rows)


# ----------------------------------------------------------------------------- checks, events, problems


def checks() -> str:
    rows = [(f"`{each}`", _needed(each.spec), each.spec.passes) for each in Check]
    return table(("check", "needs", "passes when"), rows)


def _needed(spec: CheckSpec) -> str:
    """What a rule of a check must give."""
    optional = "field (optional)" if spec.wants_absence else "field"
    field = [optional] if spec.test is not None else []
    value = [spec.value.name] if spec.value is not None else []
    return ", ".join(field + value) or "nothing"


def reason_kinds() -> str:
    rows = [(f"`{kind}`", reason.meaning) for kind, reason in REASONS.items()]
    return table(("kind", "means"), rows)


def event_list() -> str:
    rows = [
        (f"[`{kind}`](#{kind.lower()})", spec.when, str(spec.severity), str(spec.alert))
        for kind, spec in ((kind, kind.spec) for kind in EventType)
    ]
    return table(("type", "published when", "severity", "alert"), rows)


def event_details() -> str:
    return "\n\n".join(_event(kind, kind.spec) for kind in EventType)


def _event(kind: EventType, entry: EventSpec) -> str:
    names = [old for old, new in ALIASES.items() if new is kind]
    lines = [
        f"### {kind}\n",
        f"{_sentence(entry.when)}\n",
        f"- by `{entry.by}`, severity {entry.severity}, alert: {entry.alert}",
        f"- id: `{'/'.join(['{pipeline}', '{schedule}', '{date}', kind, *(f'{{{p}}}' for p in entry.id)])}`",
        f"- detail: {' '.join(f'`{name}`' for name in entry.detail)}",
    ]
    if entry.hint is not None:
        lines.append(f"- hint: {entry.hint}")
    if entry.twin is not None:
        lines.append(f"- in a dry run: [`{entry.twin}`](#{entry.twin.lower()})")
    if names:
        lines.append(f"- older name, accepted in scenarios: {' '.join(f'`{n}`' for n in names)}")
    return "\n".join(lines)


def hints_ahead() -> str:
    """The commands that hints name and this version does not have."""
    named = {found for kind in EventType for found in _COMMAND.findall(kind.spec.hint or "")}
    ahead = sorted(named - COMMANDS.keys())
    if not ahead:
        return "Every command that a hint names is in the [list of commands](commands.md)."
    return (
        "Some hints name a command that this version does not have yet: "
        f"{', '.join(f'`{name}`' for name in ahead)}."
    )


def unpublished() -> str:
    """The types of the catalogue that nothing in this version publishes."""
    sources = (p for p in SOURCE.rglob("*.py") if p != SOURCE / "domain" / "event.py")
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    named = {kind for kind in EventType if re.search(rf"\bEventType\.{kind.name}\b", text)}
    told = named | {kind.spec.twin for kind in named}
    silent = [f"`{kind}`" for kind in EventType if kind not in told]
    if not silent:
        return "This version publishes every one of them."
    return f"Nothing in this version publishes {', '.join(silent)}."


def problem_kinds() -> str:
    rows = []
    for kind in ProblemKind:
        means, text = _PROBLEMS[kind]
        rows.append((f"`{kind}`", means, f"`{_first_problem(kind, text)}`"))
    return table(("kind", "means", "for example"), rows)


def _first_problem(kind: ProblemKind, text: str) -> str:
    """What the reader says about a file with this problem."""
    whole = _USUAL | {part.split(":")[0]: part for part in text.split("\n")}
    problems = load_text("\n".join(whole.values()), "orders.yaml").problems
    return str(next(problem for problem in problems if problem.kind is kind))


def exit_codes() -> str:
    return table(("code", "means"), [(str(int(code)), EXITS[code]) for code in Exit])


# --------------------------------------------------------------------------------------------- commands


def commands() -> str:
    context = app.make_context("interlock", [*COMMANDS][:1], resilient_parsing=True)
    parts = [f"## `interlock`\n\n{_help(app)}\n\n{_options(app, context)}"]
    return "\n\n".join([*parts, *_commands(app, context)])


def _commands(group: click.Group, context: click.Context) -> Iterator[str]:
    """A part for each command of a group, and for those below it."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        below = click.Context(command, info_name=name, parent=context)
        usage = " ".join([below.command_path, *command.collect_usage_pieces(below)])
        yield (
            f"## `{below.command_path}`\n\n```text\n{usage}\n```\n\n{_help(command)}\n\n"
            f"{_options(command, below)}"
        )
        if isinstance(command, click.Group):
            yield from _commands(command, below)


def _help(command: click.Command) -> str:
    paragraphs = (command.help or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _options(command: click.Command, context: click.Context) -> str:
    rows = []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and record[1]:  # an argument stands in the usage line
            rows.append((f"`{record[0]}`", " ".join(record[1].split())))
    return table(("option", "what it does"), rows)


# ----------------------------------------------------------------------------------------------- states


def json_answers() -> str:
    """What each command prints, by the option that changes it."""
    rows = []
    for name, command in commands_answering(
        app, click.Context(app, info_name="interlock", **app.context_settings)
    ):
        for option, schema in zip(answers_of(command), _forms(name, command), strict=True):
            how = "one per line" if option == FOLLOW else ""
            with_option = f" {option}" if option else ""
            rows.append((f"`{name}{with_option}`", _shape(schema), how))
    return table(("command", "document", ""), rows)


def json_types() -> str:
    found: dict[str, Any] = {}
    for name, command in commands_answering(
        app, click.Context(app, info_name="interlock", **app.context_settings)
    ):
        found |= answer_schema(name, command)["$defs"]
    return "\n\n".join(_json_type(name, found[name]) for name in sorted(found))


def _forms(name: str, command: click.Command) -> list[dict[str, Any]]:
    schema = answer_schema(name, command)
    return list(schema["anyOf"]) if len(answers_of(command)) > 1 else [schema]


def _json_type(name: str, schema: dict[str, Any]) -> str:
    said = schema.get("description", "").split("\n\n")[0].replace("\n", " ")
    head = f"### {name}\n\n{said}" if said else f"### {name}"
    if "enum" in schema:
        return f"{head}\n\nOne of " + ", ".join(f"`{each}`" for each in schema["enum"]) + "."
    if not schema.get("properties"):
        return head
    needed = schema.get("required", ())
    rows = [
        (f"`{key}`", _shape(each), "" if key in needed else "not always there")
        for key, each in schema["properties"].items()
    ]
    return f"{head}\n\n" + table(("property", "type", ""), rows)


def _shape(schema: dict[str, Any]) -> str:
    """A schema in a few words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(map(_shape, schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(f"`{each}`" for each in schema["enum"])
    kind = schema.get("type", "any")
    if kind == "array":
        inner = schema.get("items") or {}
        return f"array of {_shape(inner)}"
    if kind == "object":
        inner = schema.get("additionalProperties")
        return f"map of {_shape(inner)}" if isinstance(inner, dict) else "object"
    return str(schema.get("format", kind))


def states() -> str:
    rows = [
        (f"`{name}`", state["Type"], _does(state), _ways(state), _caught(state))
        for name, state in machine().items()
    ]
    return table(("state", "type", "does", "next", "when it fails"), rows)


def state_picture() -> str:
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> InitEvalLoop"]
    for name, state in machine().items():
        targets = dict.fromkeys(target for _, target in _targets(state))
        lines += [f"    {name} --> {target}" for target in targets]
        special = [c["Next"] for c in state.get("Catch", []) if c["Next"] != "MarkInfraFailure"]
        lines += [f"    {name} --> {target}: fails" for target in special if target not in targets]
        if state["Type"] in ("Succeed", "Fail"):
            lines.append(f"    {name} --> [*]")
    return "\n".join([*lines, "```"])


def run_picture() -> str:
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> PENDING: a run is opened"]
    for status, targets in TRANSITIONS.items():
        for target in sorted(targets):
            said = ": attempt + 1" if target == "PENDING" else ""
            said = ": by hand" if target in BY_HAND.get(status, ()) else said
            lines.append(f"    {status} --> {target}{said}")
    return "\n".join([*lines, "```"])


def machine() -> dict[str, Any]:
    """The states of the file that is deployed."""
    text = definition.render(
        {
            "orchestrator_arn": "orchestrator",
            "sla_monitor_arn": "sla-monitor",
            "sfn_timeout_seconds": 14400,
            "trigger_max_attempts": 3,
        }
    )
    found: dict[str, Any] = json.loads(text)["States"]
    return found


def _does(state: dict[str, Any]) -> str:
    if state["Type"] == "Task":
        return f"{state['Resource']}, mode `{state['Parameters']['mode']}`"
    if state["Type"] == "Wait":
        return f"waits `{state['SecondsPath']}` seconds"
    if state["Type"] == "Pass":
        return f"sets `{state['ResultPath']}`"
    return ""


def _ways(state: dict[str, Any]) -> str:
    return "; ".join(f"{said}{target}" for said, target in _targets(state))


def _targets(state: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if "Next" in state:
        yield "", state["Next"]
    for choice in state.get("Choices", []):
        yield f"{_condition(choice)}: ", choice["Next"]
    if "Default" in state:
        yield "else ", state["Default"]


def _condition(choice: dict[str, Any]) -> str:
    if "Or" in choice:
        return " or ".join(map(_condition, choice["Or"]))
    variable = choice["Variable"]
    for test, wanted in choice.items():
        if test == "BooleanEquals":
            return f"`{variable}`" if wanted else f"not `{variable}`"
        if test == "StringEquals":
            return f"`{variable}` is `{wanted}`"
        if test == "NumericGreaterThanEqualsPath":
            return f"`{variable}` >= `{wanted}`"
    raise ValueError(f"no words for {choice}")


def _caught(state: dict[str, Any]) -> str:
    return ", ".join(dict.fromkeys(each["Next"] for each in state.get("Catch", [])))


def guards() -> str:
    rows = [
        (str(n), f"`{row.name}`", (row.guard.__doc__ or "").splitlines()[0])
        for n, row in enumerate(GUARDS.values(), 1)
    ]
    return table(("", "check", "looks for"), rows)


# ----------------------------------------------------------------------------------------------- shapes


def terraform_variables() -> str:
    rows = [
        (f"`{name}`", f"`{_variable_type(block)}`", _variable_default(block), _description(block))
        for name, block in _blocks_of("variables.tf", "variable")
    ]
    return table(("variable", "type", "default", "description"), rows)


def terraform_outputs() -> str:
    rows = [
        (f"`{name}`", _description(block)) for name, block in _blocks_of("outputs.tf", "output")
    ]
    return table(("output", "description"), rows)


def _blocks_of(file: str, kind: str) -> list[tuple[str, str]]:
    """The blocks of a file of the module, by name."""
    text = (DOCS.parent / "deploy" / "terraform" / file).read_text(encoding="utf-8")
    block = rf'^{kind} "(\w+)" \{{\n(.*?)^\}}'
    return re.findall(block, text, re.DOTALL | re.MULTILINE)


def _description(block: str) -> str:
    return re.findall(r'^  description = "(.*)"$', block, re.MULTILINE)[0]


def _variable_type(block: str) -> str:
    return re.findall(r"^  type\s+= ([\w()]+)", block, re.MULTILINE)[0].rstrip("(")


def _variable_default(block: str) -> str:
    found = re.findall(r"^  default\s+= (.+)$", block, re.MULTILINE)
    return f"`{found[0]}`" if found else "required"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


_NAMES: dict[type[inspect.Type], str] = {
    inspect.StrType: "text",
    inspect.IntType: "whole number",
    inspect.DecimalType: "number",
    inspect.BoolType: "`true` `false`",
    inspect.AnyType: "anything",
}

#: The second way of writing a thing, by the name of the rewrite that turns it into the first.
_ALSO = {
    "seconds": "a number of seconds",
    "digits": "digits in quotes",
    "JSON text": "a number or boolean",
    "JSON object": "text holding a JSON object",
    "command line": "one text",
    "pairs": "a map",
    "weekday": "its first three letters",
}

_USUAL = {
    "pipeline": "pipeline: {id: orders}",
    "schedule": "schedule: {cron: 0 6 * * *}",
    "validation": "validation: {rules: [{key: landed, check: exists}]}",
    "job": "job: {type: command, config: {command: [etl]}}",
}
#: What a kind means, and a line that is wrong in that way.
_PROBLEMS: dict[ProblemKind, tuple[str, str]] = {
    ProblemKind.UNKNOWN_KEY: (
        "the file format has no such key",
        "schedule: {cron: 0 6 * * *, timezon: UTC}",
    ),
    ProblemKind.MISSING: (
        "a required value is missing, or a list is empty",
        "validation: {rules: []}",
    ),
    ProblemKind.WRONG_TYPE: (
        "the value has the wrong type, such as text instead of a number, or a list instead of a map",
        "dryRun: 12",
    ),
    ProblemKind.OUT_OF_RANGE: (
        "a number or duration is out of bounds",
        "job: {type: command, config: {command: [etl]}, maxRetries: 11}",
    ),
    ProblemKind.BAD_VALUE: (
        "the type is right, but the zone, cron, date, id, calendar or pipeline is invalid or does not exist",
        "schedule: {cron: 0 6 * * *, timezone: Europe/Berln}",
    ),
    ProblemKind.CONFLICT: (
        "two settings exclude each other",
        "sla: {deadline: ':30'}",
    ),
    ProblemKind.DUPLICATE: (
        "a key occurs twice, or an id or name is already in use",
        "pipeline: {id: orders, id: sales}",
    ),
}

#: What the types of some fields leave out, by struct and field.
_NOTES: dict[tuple[str, str], str] = {
    ("ScenarioFile", "name"): "The name of the scenario.",
    (
        "ScenarioFile",
        "start",
    ): "When the simulation begins. Pipelines are new then: no earlier run counts as missed.",
    ("ScenarioFile", "until"): "When the simulation ends.",
    ("ScenarioFile", "watchdog"): "How often the watchdog runs.",
    (
        "ScenarioFile",
        "pipelines",
    ): "Pipeline files: whole documents, or paths relative to this file.",
    (
        "ScenarioFile",
        "calendars",
    ): "Calendar files: whole documents, or paths relative to this file.",
    (
        "ScenarioFile",
        "jobs",
    ): "By pipeline, what happens at each launch, in order; the last entry repeats.",
    ("ScenarioFile", "timeline"): "What happens, and when.",
    ("ScenarioFile", "expect"): "What must be true at the end.",
    ("JobScript", "after"): "How long the job takes.",
    ("JobScript", "result"): "How it ends.",
    ("JobScript", "category"): "The category of a failure. Without it, the category is unknown.",
    ("JobScript", "error"): "The error message of a failure.",
    ("JobScript", "launch"): "`error`: the launch itself fails, and no job starts.",
    ("JobScript", "hang"): "The job never ends by itself.",
    (
        "JobScript",
        "launchTakes",
    ): "How long the launch call takes. The job starts halfway through.",
    (
        "JobScript",
        "pollTakes",
    ): "How long each poll takes. It sees the state of the job halfway through.",
    ("TimelineEntry", "sensor"): "A producer puts a reading.",
    ("TimelineEntry", "rerun"): "An operator requests a rerun.",
    ("TimelineEntry", "backfill"): "An operator starts a backfill, or turns the newest one.",
    ("BackfillEntry", "from"): "The first date, or a day that stands for its dates.",
    ("BackfillEntry", "to"): "The last date, included.",
    ("BackfillEntry", "schedule"): "Required if the pipeline has several schedules.",
    ("BackfillEntry", "maxConcurrent"): "How many dates may be at work at once.",
    ("BackfillEntry", "reason"): "The reason.",
    ("BackfillEntry", "turn"): "What happens to the newest backfill of the pipeline.",
    ("TimelineEntry", "delete"): "An operator deletes a reading or a rerun request.",
    ("TimelineEntry", "job"): "The job itself writes a record to the job log.",
    ("TimelineEntry", "cancel"): "An operator cancels the run of a date.",
    ("TimelineEntry", "skip"): "An operator says that a date need not run.",
    ("TimelineEntry", "unskip"): "An operator expects a skipped date again.",
    ("TimelineEntry", "mark"): "A person states the outcome of a run.",
    ("RunActionEntry", "reason"): "Why the operator asks.",
    ("RunActionEntry", "schedule"): "Required if the pipeline has several schedules.",
    ("MarkEntry", "outcome"): "The outcome: `done` or `failed`.",
    ("MarkEntry", "reason"): "Why the person says so.",
    ("MarkEntry", "evidence"): "What the person knows, by name.",
    ("MarkEntry", "schedule"): "Required if the pipeline has several schedules.",
    ("TimelineEntry", "pause"): "An operator pauses the pipeline.",
    ("TimelineEntry", "resume"): "An operator resumes the pipeline.",
    (
        "TimelineEntry",
        "retire",
    ): "An operator confirms that the pipeline's missing file was removed on purpose.",
    (
        "TimelineEntry",
        "config",
    ): "The pipeline file changes to this document. Interlock refuses an invalid one.",
    (
        "TimelineEntry",
        "file",
    ): "Something happens to a pipeline file; the controller notices at its next check.",
    ("FileEntry", "remove"): "The file of this pipeline disappears.",
    ("FileEntry", "restore"): "The removed file comes back unchanged.",
    (
        "FileEntry",
        "writing",
    ): "The half-written file: this document, until the next entry changes it.",
    ("TimelineEntry", "outage"): "The controller is down for that long. Readings still arrive.",
    ("TimelineEntry", "crash"): "The controller dies and restarts immediately.",
    ("TimelineEntry", "fail"): "Outside calls fail.",
    ("RerunEntry", "reason"): "The reason. `data-drift` and `late-data` use the drift budget.",
    ("RerunEntry", "force"): "Run again even if no reading has changed.",
    ("RerunEntry", "schedule"): "Required if the pipeline has several schedules.",
    ("DeleteEntry", "rerun"): "The rerun request to delete.",
    ("JobEntry", "event"): "`success`, `fail` or `timeout`.",
    ("JobEntry", "category"): "The category of a failure.",
    ("JobEntry", "error"): "The error message of a failure.",
    ("FailEntry", "times"): "How many calls fail before they work again.",
    ("FailEntry", "for"): "How long calls fail, however many there are; instead of `times`.",
    ("Expectation", "event"): "Interlock published an event of this type.",
    ("Expectation", "no"): "Interlock published no event of this type.",
    (
        "Expectation",
        "run",
    ): "This run exists, with the given `status`, `attempt` and `slaVerdict`.",
    ("Expectation", "launches"): "The jobs of this pipeline that really started.",
    ("Expectation", "order"): "Events of these types, in this order; others may come in between.",
    ("Expectation", "alerts"): "Alerts about this pipeline.",
    ("Expectation", "pipeline"): "Only events of this pipeline.",
    ("Expectation", "schedule"): "Only of this schedule.",
    ("Expectation", "date"): "Only of this date.",
    ("Expectation", "at"): "Only events at this instant, give or take `within`.",
    ("Expectation", "within"): "How far the event may be from `at`; default 0s.",
    ("Expectation", "count"): "Exactly this many; without it, at least one.",
    ("Expectation", "detail"): "What the event's detail must contain.",
    ("Expectation", "status"): "The status of the run.",
    ("Expectation", "attempt"): "The attempt of the run.",
    ("Expectation", "slaVerdict"): "`MET` or `BREACHED`.",
    ("Expectation", "undisturbed"): "Checked only in a play without faults.",
    ("Expectation", "threads"): "How many threads the alerts form.",
}

# ------------------------------------------------------------------------------------------- operations


def settings_lines() -> str:
    """A setting without a sentence below fails the generation, and so the test."""
    return table(
        ("line", "default", "description"),
        [(f"`{n}`", _usual(n), _LINES_SAID[n]) for n in settings._LINES],
    )


def _usual(name: str) -> str:
    elsewhere = {
        "state": "`.interlock`",
        "retention": "see below",
        "lineage": "none",
        "ping": "none",
    }
    if name in elsewhere:
        return elsewhere[name]
    value = next(f.default for f in dataclasses.fields(settings.Settings) if f.name == name)
    if value is None or value == ():
        return ""
    return f"`{duration.for_people(value) if isinstance(value, timedelta) else value}`"


def retention() -> str:
    rows = [(f"`{f.name}`", duration.for_people(f.default)) for f in dataclasses.fields(Spans)]
    return table(("line", "default"), rows)


def variables() -> str:
    rows = [(f"`{name}`", _VARIABLES_SAID[name]) for name in settings._VARIABLES]
    return table(("variable", "description"), rows)


def endpoints() -> str:
    rows = [
        (
            f"`{row.method} {web_endpoints.API}{row.path.replace(':path', '')}`",
            f"`{row.scope}`",
            row.summary,
        )
        for row in web_endpoints.ENDPOINTS
    ]
    return table(("request", "scope", "does"), rows)


def metrics() -> str:
    """Those that are counted, and those that are asked of the store."""
    with tempfile.TemporaryDirectory() as folder:
        place = settings.Settings(project=Path(folder), state=Path(folder))
        with open_local_backend(place, database=lambda name: NotedDatabase(MEMORY)) as home:
            figures = Metrics()
            figures.watch(home)
            figures.watch_files(lambda: 0)
            found = [(m.name, m.type, m.documentation) for m in figures.registry.collect()]
    rows = [
        (f"`{name}{'_total' if kind == 'counter' else ''}`", kind, said)
        for name, kind, said in sorted(found)
    ]
    return table(("metric", "type", "description"), rows)


def limits() -> str:
    bounds = Bounds()
    return table(
        ("limit", "what it bounds"),
        [
            (f"{web_endpoints.SMALL // 1024} KiB", "the body of a request"),
            (f"{web_endpoints.BATCH // 1024**2} MiB", "the body of a batch of readings"),
            (f"{MOST_READINGS}", "readings in a batch"),
            (f"{bodies.DEEPEST} levels", "nesting depth of a body"),
            (f"{bodies.READ_SECONDS:.0f} s", "time to receive a body"),
            (f"{bounds.head_seconds:.0f} s", "time to receive the head of a request"),
            (f"{bounds.largest_head // 1024} KiB", "the head of a request"),
            (f"{bounds.most_headers}", "headers of a request"),
            (
                f"{bounds.read_seconds:.0f} s",
                "how long the server waits for a client that does not read its answer",
            ),
            (f"{gate.LONGEST_ADDRESS // 1024} KiB", "the URL of a request, with its query"),
            (f"{answering.ANSWER_SECONDS:.0f} s", "time to answer a request, except streams"),
            (
                f"{bounds.most_connections}",
                "connections at once; beyond that, the server closes the one that keeps it waiting longest",
            ),
            (f"{access.LOGIN_SECONDS // 60} min", "how long a login address is valid"),
            (f"{access.SESSION_SECONDS // 3600} h", "how long a browser session lasts"),
            (f"{settings.SHORTEST_TOKEN} characters", "the shortest `INTERLOCK_TOKEN`"),
            (
                f"{console.LARGEST // 1024**2} MiB",
                f"`{console.NAME}`; then the server starts a new one",
            ),
            (
                f"{2 * supervisor.KEPT // 1024**2} MiB",
                "what is kept of stdout, of stderr and of both together of a command; at least the last half",
            ),
            (f"{MOST_OUTPUT // 1024} KiB", "output of a job in one answer"),
            (
                f"{aws_sight.LOOK_SECONDS:.0f} s",
                "time between two checks for news on the AWS backend",
            ),
            (
                f"{aws_sight.KEPT_SECONDS:.0f} s",
                "how long the server reuses an answer about the AWS backend for the same request",
            ),
            (
                f"{DynamoHistory.searched:,}",
                "events that one search covers on the AWS backend; on the local backend,"
                f" {SqliteHistory.searched:,}",
            ),
        ],
    )


def log_actions() -> str:
    found = {
        found
        for path in SOURCE.rglob("*.py")
        for found in _actions(path.read_text(encoding="utf-8"))
    }
    return table(("action", "message"), [(f"`{action}`", said) for action, said in sorted(found)])


def _actions(text: str) -> Iterator[tuple[str, str]]:
    """Every call that logs with an action that is written out."""
    for call in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)):
        if getattr(call.func, "id", "") == "_logged" and isinstance(call.args[0], ast.Constant):
            yield str(call.args[0].value), "housework failed"
        for extra in (
            k.value for k in call.keywords if k.arg == "extra" and isinstance(k.value, ast.Dict)
        ):
            for key, value in zip(extra.keys, extra.values, strict=True):
                if getattr(key, "value", "") == "action" and isinstance(value, ast.Constant):
                    said = call.args[0] if call.args else None
                    yield (
                        str(value.value),
                        str(said.value) if isinstance(said, ast.Constant) else "",
                    )


def state_files() -> str:
    return table(
        ("file", "what it holds"),
        [
            (f"`{settings.DATABASE}`", "the whole state; `interlock backup` copies it"),
            (
                f"`{settings.DATABASE}-wal`, `{settings.DATABASE}-shm`",
                "the latest writes of SQLite; part of the state while a server runs",
            ),
            (f"`{settings.DATABASE}.lock`", "a lock that the serving process holds; one at a time"),
            (
                f"`{address.NAME}`",
                "while the server runs: its address and the secret that commands use; for its owner only",
            ),
            (f"`{console.NAME}`, `{console.NAME}.1`", "every alert, one line of JSON each"),
            (
                "`jobs/`",
                "for each job of type `command`: what was started, its output and how it ended",
            ),
        ],
    )


_LINES_SAID = {
    "state": "The state folder, relative to the project.",
    "host": "The address to listen on. Any address other than this machine's own needs a token.",
    "port": "The port to listen on; 0 picks a free one.",
    "hosts": "More host names that this server answers to, such as that of a proxy.",
    "instance": "The name of this installation, in alerts and on platforms.",
    "execution_timeout": "The longest that an attempt may take, whatever its job says.",
    "watchdog_every": "How often the watchdog runs.",
    "retention": "How long the server keeps rows.",
    "public_url": "The address of the pages, for links in alerts.",
    "slack_signing_secret": "The reference to the signing secret of the Slack app, for buttons in Slack.",
    "lineage": "`[[lineage]]`: which OpenLineage events become readings of which pipeline.",
    "ping": "`[[ping]]`: which pings become readings of which pipeline.",
}
_VARIABLES_SAID = {
    "INTERLOCK_INSTANCE": "Same as `instance`.",
    "INTERLOCK_WATCHDOG_EVERY": "Same as `watchdog_every`.",
    "INTERLOCK_ALLOW_HOSTS": "Private hosts that jobs may call, as `name:port`, separated by commas.",
    "INTERLOCK_CA_FILE": "Certificates to trust when jobs make calls.",
    "INTERLOCK_SECRETS_DIR": "The folder of `secret://file/...`.",
    "INTERLOCK_TOKEN": "A token with all rights.",
    "DEAD_MAN_URL": "The URL to call after each good watchdog pass.",
    "INTERLOCK_PUBLIC_URL": "Same as `public_url`.",
    "SLACK_CHANNEL_ID": "The channel for alerts.",
    "SLACK_BOT_TOKEN": "The token of the Slack bot.",
    "SLACK_SECRET_ARN": "The AWS secret that holds that token.",
    "SLACK_SIGNING_SECRET": "The signing secret of the Slack app, for buttons in Slack.",
    "SLACK_API_URL": "A different address for Slack's API.",
}

BLOCKS: dict[str, Callable[[], str]] = {
    "pipeline-fields": pipeline_fields,
    "calendar-fields": calendar_fields,
    "text-forms": text_forms,
    "job-types": job_types,
    "job-states": job_states,
    "job-promises": job_promises,
    "checks": checks,
    "reason-kinds": reason_kinds,
    "event-list": event_list,
    "event-details": event_details,
    "hints-ahead": hints_ahead,
    "unpublished": unpublished,
    "problem-kinds": problem_kinds,
    "commands": commands,
    "exit-codes": exit_codes,
    "json-answers": json_answers,
    "json-types": json_types,
    "scenario-fields": scenario_fields,
    "alerts-fields": alerts_fields,
    "states": states,
    "state-picture": state_picture,
    "run-picture": run_picture,
    "guards": guards,
    "terraform-variables": terraform_variables,
    "terraform-outputs": terraform_outputs,
    "settings-lines": settings_lines,
    "retention": retention,
    "variables": variables,
    "endpoints": endpoints,
    "metrics": metrics,
    "limits": limits,
    "log-actions": log_actions,
    "state-files": state_files,
}

if __name__ == "__main__":
    main()
