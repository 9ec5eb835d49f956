"""JSON answers: what each command prints with `--json`, declared with the option, and its JSON Schema."""

from collections.abc import Callable, Iterator
from typing import Any

import click

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
#: Printed with --follow: one document per line, instead of one in all.
FOLLOW = "--follow"


class AnswerOption(click.Option):
    """An option that makes a command print JSON. `answers`: the type of the document, by the option that
    changes it; the usual one under an empty name.
    """

    def __init__(self, *given: Any, answers: dict[str, Any], **attributes: Any) -> None:
        super().__init__(*given, **attributes)
        self.answers = answers


def json_option(
    answer: Any, *, others: dict[str, Any] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """`--json`, for a command that prints a document of that type, or of others with certain options."""
    return click.option(
        "--json",
        "as_json",
        cls=AnswerOption,
        answers={"": answer, **(others or {})},
        is_flag=True,
        help="Print one JSON document.",
    )


def answers_of(command: click.Command) -> dict[str, Any]:
    """By option, what a command prints as JSON; empty if it prints none."""
    for option in command.params:
        if isinstance(option, AnswerOption):
            return option.answers
    return {}


def commands_answering(
    group: click.Group, context: click.Context, prefix: str = ""
) -> Iterator[tuple[str, click.Command]]:
    """Every command that prints JSON, by its name below the group."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if answers_of(command):
            yield f"{prefix}{name}", command
        if isinstance(command, click.Group):
            yield from commands_answering(command, context, f"{prefix}{name} ")


def answer_schema(name: str, command: click.Command) -> dict[str, Any]:
    """The JSON Schema of all that the command may print."""
    import msgspec  # imported here: most commands need no schema

    answers = answers_of(command)
    schemas, components = msgspec.json.schema_components(
        answers.values(), ref_template="#/$defs/{name}"
    )
    head = {"$schema": _DRAFT, "title": f"interlock {name} --json"}
    forms = dict(zip(answers, schemas, strict=True))
    body = (
        schemas[0]
        if len(answers) == 1
        else {"anyOf": [_titled(option, form) for option, form in forms.items()]}
    )
    found: dict[str, Any] = _as_numbers({**head, **body, "$defs": components})
    return found


def _titled(option: str, schema: dict[str, Any]) -> dict[str, Any]:
    if option == FOLLOW:
        return {"title": f"each line, with {option}", **schema}
    return {"title": f"with {option}" if option else "usually", **schema}


def _as_numbers(node: Any) -> Any:
    """Decimals are printed as numbers."""
    if isinstance(node, dict):
        if node.get("format") == "decimal":
            return {"type": "number"}
        return {key: _as_numbers(each) for key, each in node.items()}
    return [_as_numbers(each) for each in node] if isinstance(node, list) else node
