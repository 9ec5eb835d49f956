"""Settings: from the file and the environment, every problem at once, and no secret in any of them."""

from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from interlock.cli import app
from interlock.errors import ConfigError
from interlock.wiring.settings import PORT, read_settings

SECRET = "a-secret-that-must-stay-hidden"


def test_without_a_file_everything_has_its_default(tmp_path: Path) -> None:
    settings = read_settings(tmp_path, {})

    assert settings.database == tmp_path / ".interlock" / "interlock.db"
    assert (settings.host, settings.port, settings.instance) == ("127.0.0.1", PORT, "interlock")
    assert settings.watchdog_every == timedelta(minutes=5)
    assert settings.token is None


def test_the_file_is_read_the_environment_wins_over_it_and_the_command_line_over_both(
    tmp_path: Path,
) -> None:
    _write(
        tmp_path,
        'state = "kept"\nhost = "::1"\nport = 1\ninstance = "a"\nexecution_timeout = "2h"\n'
        'watchdog_every = "1m"\nhosts = ["interlock.example"]\n[retention]\nevents = "10d"\n',
    )
    environment = {"INTERLOCK_INSTANCE": "b", "INTERLOCK_WATCHDOG_EVERY": "30s"}

    settings = read_settings(tmp_path, environment, port=2)

    assert settings.state == tmp_path / "kept"
    assert (settings.host, settings.port, settings.instance) == ("::1", 2, "b")
    assert settings.watchdog_every == timedelta(seconds=30)
    assert settings.execution_timeout == timedelta(hours=2)
    assert settings.hosts == ("interlock.example",)
    assert settings.retention.events == timedelta(days=10)
    assert settings.retention.timers == timedelta(days=7)


def test_every_problem_is_reported_at_once(tmp_path: Path) -> None:
    _write(
        tmp_path,
        'stat = "x"\nhost = "a b"\nport = 70000\ninstance = ""\nexecution_timeout = 5\n'
        'watchdog_every = "often"\n[retention]\nevent = "1d"\n',
    )
    environment = {
        "INTERLOCK_ALLOW_HOSTS": "*",
        "INTERLOCK_TOKEN": "short",
        "DEAD_MAN_URL": "ftp://x",
    }

    with pytest.raises(ConfigError) as raised:
        read_settings(tmp_path, environment)

    text = str(raised.value)
    names = ("stat ", "host", "port", "instance", "execution_timeout", "watchdog_every", "retention",
             "INTERLOCK_ALLOW_HOSTS", "INTERLOCK_TOKEN", "DEAD_MAN_URL")  # fmt: skip
    assert len(text.splitlines()) == len(names)
    for name in names:
        assert name in text


@pytest.mark.parametrize("variable", ["INTERLOCK_TOKEN", "DEAD_MAN_URL"])
def test_no_secret_stands_in_an_error_or_in_what_is_printed(tmp_path: Path, variable: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_settings(tmp_path, {variable: f"{SECRET} \x00"})
    assert SECRET not in str(raised.value)

    good = {"INTERLOCK_TOKEN": SECRET, "DEAD_MAN_URL": f"https://hc.example/{SECRET}"}
    assert SECRET not in repr(read_settings(tmp_path, good))


def test_a_file_that_is_no_toml_says_where(tmp_path: Path) -> None:
    _write(tmp_path, "port = \n")

    with pytest.raises(ConfigError, match=r"interlock\.toml can't be read.*line 1"):
        read_settings(tmp_path, {})


def test_tables_of_others_are_left_to_them(tmp_path: Path) -> None:
    _write(tmp_path, '[aws]\nregion = "eu-central-1"\n')

    assert read_settings(tmp_path, {}).port == PORT


def _write(project: Path, text: str) -> None:
    (project / "interlock.toml").write_text(text)


SOURCES = """
[[lineage]]
job = "load.*"
pipeline = "orders"
key = "landed"

[[ping]]
token = "${INTERLOCK_PING}"
pipeline = "orders"
key = "landed"
hourly = true
"""
PING = {"INTERLOCK_PING": "a-token-of-twenty-four-c"}


def test_lineage_and_pings_are_declared_and_tokens_may_stand_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "interlock.toml").write_text(SOURCES)
    settings = read_settings(tmp_path, PING)
    assert settings.lineage[0].job == "load.*" and settings.lineage[0].namespace == "*"
    assert settings.pings[0].token == PING["INTERLOCK_PING"] and settings.pings[0].hourly
    assert PING["INTERLOCK_PING"] not in repr(settings)


def test_a_command_does_not_need_the_tokens_of_pings(tmp_path: Path) -> None:
    (tmp_path / "interlock.toml").write_text(SOURCES)
    settings = read_settings(tmp_path, {})
    assert (settings.pings, settings.unset) == ((), ("INTERLOCK_PING",))


def test_a_server_does_not_start_without_the_tokens_of_pings(tmp_path: Path) -> None:
    (tmp_path / "interlock.toml").write_text(SOURCES)
    result = CliRunner().invoke(
        app, ["--project", str(tmp_path), "serve"], env={"INTERLOCK_PING": ""}
    )
    assert isinstance(result.exception, ConfigError)
    assert "[[ping]] needs INTERLOCK_PING in the environment of serve" in str(result.exception)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[ping]]\ntoken='short'\npipeline='p'\nkey='k'", "needs a token"),
        ("[[ping]]\npipeline='p'\nkey='k'", "ping is invalid"),
        ("[[ping]]\ntoken='0123456789abcdef'\npipeline='p'\nkey='k'\nnoise=1", "has only: token"),
        ("[[lineage]]\njob=7\npipeline='p'\nkey='k'", "lineage is invalid"),
        ("lineage = 'x'", "is written as [[...]]"),
        (
            "[[ping]]\ntoken='0123456789abcdef'\npipeline='p'\nkey='k'\n"
            "[[ping]]\ntoken='0123456789abcdef'\npipeline='q'\nkey='k'",
            "has a token twice",
        ),
    ],
)
def test_what_is_wrong_with_them_is_said_without_a_token(
    tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "interlock.toml").write_text(text)
    with pytest.raises(ConfigError) as wrong:
        read_settings(tmp_path, {})
    assert said in str(wrong.value)
    assert "0123456789abcdef" not in str(wrong.value) and "short" not in str(wrong.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SLACK_CHANNEL_ID", "#alerts"),
        ("SLACK_BOT_TOKEN", "xoxb with spaces"),
        ("INTERLOCK_PUBLIC_URL", "https://a.example/?x"),
        ("SLACK_API_URL", "ftp://a"),
    ],
)
def test_settings_of_alerts_are_checked_and_never_repeated(
    tmp_path: Path, name: str, value: str
) -> None:
    with pytest.raises(ConfigError) as wrong:
        read_settings(tmp_path, {name: value})
    assert name in str(wrong.value) and value not in str(wrong.value)
