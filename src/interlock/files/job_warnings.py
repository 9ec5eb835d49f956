"""Job warnings: what is legal in a job's config and surely not what its author meant."""

from collections.abc import Iterator

from interlock.domain import job_forms
from interlock.domain.pipeline import JobType
from interlock.files.authored import PipelineFile
from interlock.files.nodes import Map, Scalar, scalars
from interlock.files.pipeline_checks import is_daily, placed_schedules
from interlock.files.problem import Kind, Path, printable
from interlock.files.reading import At
from interlock.files.scalars import meaning

Remark = tuple[Path, Kind, str]

#: Has "key" in its name and is none.
_NO_SECRET = frozenset({"idempotency-key"})
_SECRET_PLACES = frozenset({"headers", "auth", "env"})
_ANSWER_PLACES = frozenset({"statusUrl", "cancelUrl"})
_OURS_IN_GLUE = ("--par_day", "--par_hour", "--interlock_token")
_LITERAL = "a secret in the file: use ${INTERLOCK_NAME} or secret://"
_URLS = ("url", "statusUrl", "cancelUrl", "workspaceUrl")


def job_warnings(file: PipelineFile, at: At) -> Iterator[Remark]:
    """Of the config as it was written, so that every warning has its place."""
    for path, text in _texts(at):
        yield from _odd_names(path, text, file)
        if "secret://" in text and path[len(at.path)] not in _SECRET_PLACES:
            yield path, Kind.BAD_VALUE, "secret:// is replaced in headers, auth and env only"
    if isinstance(at.node, Map):
        yield from _literal_secrets(at)
        yield from _literal_password(at)
        yield from _odd_addresses(at)
        if file.job.type is JobType.GLUE:
            yield from _overridden(at)


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
                yield path, Kind.BAD_VALUE, f"${{{shown}}} is known in statusUrl and cancelUrl only"
        elif name == "HOUR":
            if all(is_daily(schedule) for _, schedule in placed_schedules(file)):
                yield path, Kind.CONFLICT, "${HOUR} is an error in a daily run"
        elif name not in job_forms.RUN_NAMES and not name.startswith("INTERLOCK_"):
            message = (
                f"${{{shown}}} is not known and left as it is; write $${{{shown}}} if so meant"
            )
            yield path, Kind.BAD_VALUE, message


def _literal_secrets(at: At) -> Iterator[Remark]:
    headers = at.given("headers")
    for name, value in headers.items.items() if isinstance(headers, Map) else ():
        if name.lower() in _NO_SECRET or not job_forms.names_a_secret(name):
            continue
        if isinstance(value, Scalar) and not _is_replaced(value.text):
            yield (*at.path, "headers", name), Kind.BAD_VALUE, _LITERAL


def _literal_password(at: At) -> Iterator[Remark]:
    auth = at.given("auth")
    password = auth.items.get("password") if isinstance(auth, Map) else None
    if isinstance(password, Scalar) and not _is_replaced(password.text):
        yield (*at.path, "auth", "password"), Kind.BAD_VALUE, _LITERAL


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
        if job_forms.is_private_url(node.text):
            message = "a private address, refused unless INTERLOCK_ALLOW_HOSTS admits it"
            yield (*at.path, key), Kind.BAD_VALUE, message
        if has_secret and node.text.lower().startswith("http://"):
            message = (
                "a secret over plain http, refused unless INTERLOCK_ALLOW_HOSTS admits the host"
            )
            yield (*at.path, key), Kind.BAD_VALUE, message


def _overridden(at: At) -> Iterator[Remark]:
    arguments = at.given("arguments")
    for name in _OURS_IN_GLUE if isinstance(arguments, Map) else ():
        if name in arguments.items:  # type: ignore[union-attr]
            yield (*at.path, "arguments", name), Kind.CONFLICT, "is overridden: ours always wins"
