"""Job warnings: what is legal in a job's config but certainly a mistake."""

import re
from collections.abc import Iterable, Iterator

from interlock.domain import job_forms
from interlock.domain.job_kinds import JOB_KINDS
from interlock.files import shell_marks
from interlock.files.authored import PipelineFile
from interlock.files.nodes import List, Map, Node, Scalar, scalars
from interlock.files.pipeline_checks import is_daily, placed_schedules
from interlock.files.problem import Path, ProblemKind, printable
from interlock.files.problem_collector import At
from interlock.files.scalars import meaning

Remark = tuple[Path, ProblemKind, str]

#: Names that contain "key" but are not secrets.
_NO_SECRET = frozenset({"idempotency-key"})
_SECRET_PLACES = frozenset({"headers", "auth", "env"})
_ANSWER_PLACES = frozenset({"statusUrl", "cancelUrl"})
_LITERAL = "a secret in the file: use ${INTERLOCK_NAME} or secret://"
_EXPANDED_BY_SHELLS = re.compile(r"\$[A-Z][A-Z0-9_]*\b|^~(?=/)")
_URLS = ("url", "statusUrl", "cancelUrl", "workspaceUrl")


def job_warnings(file: PipelineFile, at: At) -> Iterator[Remark]:
    """Warnings on the config as written, so that each has its position."""
    for path, text in _texts(at):
        yield from _odd_names(path, text, file)
        if "secret://" in text and path[len(at.path)] not in _SECRET_PLACES:
            yield path, ProblemKind.BAD_VALUE, "secret:// works only in headers, auth and env"
    if isinstance(at.node, Map):
        yield from _literal_secrets(at)
        yield from _literal_password(at)
        yield from _odd_addresses(at)
        config = JOB_KINDS[file.job.type].config
        if config.without_shell:
            yield from _shell_marks(at)
        for key, names in config.ours.items():
            yield from _overridden(key, names, at)


def _texts(at: At) -> Iterator[tuple[Path, str]]:
    for path, scalar in scalars(at.node, at.path):
        value = meaning(scalar)
        if isinstance(value, str):
            yield path, value


def _odd_names(path: Path, text: str, file: PipelineFile) -> Iterator[Remark]:
    for name in dict.fromkeys(job_forms.names_in(text)):
        shown = printable(name)
        if name == job_forms.JOB_RUN_ID:
            if not _ANSWER_PLACES & set(path):
                yield (
                    path,
                    ProblemKind.BAD_VALUE,
                    f"${{{shown}}} works only in statusUrl and cancelUrl",
                )
        elif name == "HOUR":
            if all(is_daily(schedule) for _, schedule in placed_schedules(file)):
                yield path, ProblemKind.CONFLICT, "${HOUR} is an error in a daily run"
        elif name not in job_forms.RUN_NAMES and not name.startswith("INTERLOCK_"):
            message = f"${{{shown}}} is unknown and left unchanged; if that is intended, write $${{{shown}}}"
            yield path, ProblemKind.BAD_VALUE, message


def _literal_secrets(at: At) -> Iterator[Remark]:
    headers = at.given("headers")
    for name, value in headers.items.items() if isinstance(headers, Map) else ():
        if name.lower() in _NO_SECRET or not job_forms.names_a_secret(name):
            continue
        if isinstance(value, Scalar) and not _is_replaced(value.text):
            yield (*at.path, "headers", name), ProblemKind.BAD_VALUE, _LITERAL


def _literal_password(at: At) -> Iterator[Remark]:
    auth = at.given("auth")
    password = auth.items.get("password") if isinstance(auth, Map) else None
    if isinstance(password, Scalar) and not _is_replaced(password.text):
        yield (*at.path, "auth", "password"), ProblemKind.BAD_VALUE, _LITERAL


def _is_replaced(text: str) -> bool:
    return "secret://" in text or any(
        name.startswith("INTERLOCK_") for name in job_forms.names_in(text)
    )


def _odd_addresses(at: At) -> Iterator[Remark]:
    has_secret = any("secret://" in text for _, text in _texts(at))
    for key in _URLS:
        node = at.given(key)
        if not isinstance(node, Scalar):
            continue
        if "{{" in node.text:
            message = "{{ }} is not replaced; for the date of the run, write ${DATE}"
            yield (*at.path, key), ProblemKind.BAD_VALUE, message
        if job_forms.is_private_url(node.text):
            message = "a private address, refused unless INTERLOCK_ALLOW_HOSTS allows it"
            yield (*at.path, key), ProblemKind.BAD_VALUE, message
        if has_secret and node.text.lower().startswith("http://"):
            message = (
                "a secret over plain http, refused unless INTERLOCK_ALLOW_HOSTS allows the host"
            )
            yield (*at.path, key), ProblemKind.BAD_VALUE, message


def _shell_marks(at: At) -> Iterator[Remark]:
    """No shell reads a command, its folder, or its environment."""
    command = at.given("command")
    if isinstance(command, Scalar):
        words = shell_marks.words_of_line(command.text)
        found = dict.fromkeys(mark for _, each in shell_marks.marks(words) for mark in each)
        if found:
            literal = ", for a literal character single quotes"
            yield (
                (*at.path, "command"),
                ProblemKind.BAD_VALUE,
                _said(found, words[0].text) + literal,
            )
    elif isinstance(command, List):
        words = shell_marks.words_of_list([_text(item) for item in command.items])
        for position, each in shell_marks.marks(words):
            message = _said(dict.fromkeys(each), words[0].text)
            yield (*at.path, "command", position), ProblemKind.BAD_VALUE, message
    yield from _unexpanded(at)


def _said(found: Iterable[str], program: str) -> str:
    *most, last = found
    what = f"{', '.join(most)} and {last} as they are" if most else f"{last} as it is"
    return (
        f"no shell runs this command, so {printable(program)} gets {what};"
        ' for shell syntax write [sh, -c, "..."], for the date of the run ${DATE}'
    )


def _unexpanded(at: At) -> Iterator[Remark]:
    env = at.given("env")
    places: dict[tuple[str, ...], Node | None] = {("cwd",): at.given("cwd")}
    if isinstance(env, Map):
        places |= {("env", name): node for name, node in env.items.items()}
    for path, node in places.items():
        if not isinstance(node, Scalar) or job_forms.names_a_secret(path[-1]):
            continue
        found = _EXPANDED_BY_SHELLS.search(node.text)
        if found is not None:
            message = f"{found[0]} is left unchanged: no shell expands it"
            yield (*at.path, *path), ProblemKind.BAD_VALUE, message


def _text(node: Node) -> str:
    return node.text if isinstance(node, Scalar) else ""


def _overridden(key: str, ours: Iterable[str], at: At) -> Iterator[Remark]:
    given = at.given(key)
    for name in ours if isinstance(given, Map) else ():
        if name in given.items:  # type: ignore[union-attr]
            yield (*at.path, key, name), ProblemKind.CONFLICT, "is overridden: ours always wins"
