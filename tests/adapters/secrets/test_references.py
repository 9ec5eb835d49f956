"""Where secrets come from, how long they are kept, and that they do not show."""

import base64
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.adapters.secrets.references import KEPT_SECONDS, Secret, Secrets
from interlock.errors import ConfigError

ENVIRONMENT = {
    "INTERLOCK_A": "alpha",
    "INTERLOCK_EMPTY": "",
    "INTERLOCK_TOKEN": "ours",
    "HOME": "/",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "secrets"
    (inside / "deep").mkdir(parents=True)
    (inside / "deep" / "key").write_text("from a file\n")
    (inside / "lines").write_text("two\nlines\n\n")
    (inside / "bytes").write_bytes(b"\xff\xfe")
    (tmp_path / "outside").write_text("outside")
    (inside / "out").symlink_to(tmp_path / "outside")
    (inside / "in").symlink_to("deep/key")
    return inside


@pytest.mark.parametrize(
    ("reference", "value"),
    [
        ("env/INTERLOCK_A", "alpha"),
        ("file/deep/key", "from a file"),
        ("file/in", "from a file"),  # a link that stays inside, as mounted secrets have
        ("file/lines", "two\nlines\n"),  # only the last newline is dropped
        ("aws-sm/arn:one", '{"user": "u", "n": 1}'),
        ("aws-sm/arn:one#user", "u"),
    ],
)
def test_places_that_secrets_come_from(folder: Path, reference: str, value: str) -> None:
    secrets = Secrets(ENVIRONMENT, folder, fetch=lambda arn: '{"user": "u", "n": 1}')
    assert secrets.get(reference).reveal() == value


@pytest.mark.parametrize(
    "reference",
    [
        "env/INTERLOCK_UNSET",
        "env/INTERLOCK_EMPTY",
        "env/INTERLOCK_TOKEN",  # the controller's own
        "env/HOME",
        "file/missing",
        "file/deep",
        "file/bytes",
        "file/../outside",
        "file/deep/../../outside",
        "file//etc/passwd",
        "file/out",
        "aws-sm/arn:one#n",
        "aws-sm/arn:one#missing",
        "vault/x",
        "",
    ],
)
def test_a_secret_that_is_not_there_is_an_error(folder: Path, reference: str) -> None:
    secrets = Secrets(ENVIRONMENT, folder, fetch=lambda arn: '{"user": "u", "n": 1}')
    with pytest.raises(ConfigError) as error:
        secrets.get(reference)
    assert "outside" not in str(error.value).replace(reference, "")


def test_without_aws_it_says_what_to_install() -> None:
    with pytest.raises(ConfigError, match=r"interlock\[aws\]"):
        Secrets({}).get("aws-sm/arn:one")


def test_a_secret_is_kept_five_minutes_unless_it_is_dropped() -> None:
    asked: list[str] = []
    at = 0.0

    def fetch(arn: str) -> str:
        asked.append(arn)
        return f"value-{len(asked)}"

    secrets = Secrets({}, fetch=fetch, monotonic=lambda: at)
    assert [secrets.get("aws-sm/a").reveal() for _ in range(2)] == ["value-1"] * 2
    at = KEPT_SECONDS
    assert secrets.get("aws-sm/a").reveal() == "value-2"
    secrets.drop(["aws-sm/a", "aws-sm/never"])
    assert secrets.get("aws-sm/a").reveal() == "value-3"
    assert secrets.mask("value-1 value-2 value-3") == "*** *** ***"  # an old one may still be seen


def test_a_secret_does_not_show_itself() -> None:
    secret = Secret("alpha")
    assert f"{secret} {secret!r} {[secret]}" == "*** *** [***]"


def test_a_secret_is_masked_in_every_spelling() -> None:
    secrets = Secrets({"INTERLOCK_Q": 'a"b/c\n', "INTERLOCK_A": 'xa"b/c\ny'})
    for name in ("INTERLOCK_Q", "INTERLOCK_A"):
        secrets.get(f"env/{name}")
    assert secrets.mask('plain a"b/c\n.') == "plain ***."
    assert secrets.mask(r"json a\"b/c\n.") == "json ***."
    assert secrets.mask("url a%22b%2Fc%0A.") == "url ***."
    assert secrets.mask('longer xa"b/c\ny.') == "longer ***."


KEY = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nabc\n  q83v-EjRWeJCr/8=\n-----END KEY-----\n"


@pytest.mark.parametrize(
    "said",
    [
        "10:04 | MIIEvQIBADANBgkq",  # line by line, behind the time of a logger
        "ssh: q83v-EjRWeJCr/8= is no key",  # indented in the file, trimmed by a tool
        r"{\"key\": \"MIIEvQIBADANBgkq\"}",
        "q83v-EjRWeJCr%2F8%3D",
    ],
)
def test_each_line_of_a_secret_is_masked(said: str) -> None:
    secrets = Secrets({"INTERLOCK_KEY": KEY})
    secrets.get("env/INTERLOCK_KEY")
    masked = secrets.mask(said)
    assert "***" in masked
    assert not any(part in masked for part in ("MIIE", "q83v"))


def test_a_short_line_of_a_secret_is_a_word_like_any_other() -> None:
    secrets = Secrets({"INTERLOCK_KEY": KEY})
    secrets.get("env/INTERLOCK_KEY")
    assert secrets.mask("abc") == "abc"


@pytest.mark.parametrize("before", ["", "u", "us", "user:", "a longer name:"])
@pytest.mark.parametrize("after", ["", "x", "\n", "and more"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("value", ["hunter2-hunter2", "ÿ~?>ÿ~?>ÿ~"])
def test_the_base64_of_a_secret_is_masked_wherever_it_stands(
    before: str, after: str, encode: Callable[[bytes], bytes], value: str
) -> None:
    secrets = Secrets({"INTERLOCK_A": value})
    secrets.get("env/INTERLOCK_A")
    encoded = encode(f"{before}{value}{after}".encode()).decode()
    masked = secrets.mask(f"Authorization: Basic {encoded}")
    assert "***" in masked
    # at most a byte at either end is left, which shares its characters with a neighbour
    assert len(masked.replace("Authorization: Basic ", "")) <= len(encoded) - len(value)
