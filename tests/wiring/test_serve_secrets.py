"""Canaries: every kind of secret, used and misused on a real server, is found nowhere afterwards."""

import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from slack_stand_in import TOKEN, SlackStandIn, slack_stand_in
from tiny_server import Said, Tiny, tiny_server
from wiring.served import PATIENCE, Served, eventually

#: By what they are. Long and unlike anything else, so that a find is a leak.
CANARIES = {
    name: f"canary-{name}-9f31c2d7" for name in ("operator", "ping", "env", "file", "sink-url")
} | {"slack": TOKEN, "webhook": "whsec_Y2FuYXJ5LXdlYmhvb2stOWYzMWMyZDc5ZjMxYzJkNw=="}

TOML = """
[[lineage]]
namespace = "spark"
job = "*"
pipeline = "loud"
key = "landed"

[[ping]]
token = "{ping}"
pipeline = "loud"
key = "pinged"
"""

LOUD = """
pipeline: {id: loud}
schedule: {trigger: {key: landed, check: exists}}
validation: {rules: [{key: landed, check: exists}]}
job:
  type: command
  config:
    command: [/bin/sh, -c, 'echo "out $A"; echo "password $A and $B" >&2; exit 64']
    env: {A: "secret://env/INTERLOCK_CANARY", B: "secret://file/canary"}
"""

ASKING = """
pipeline: {id: asking}
schedule: {trigger: {key: landed, check: exists}}
validation: {rules: [{key: landed, check: exists}]}
job:
  type: http
  config:
    url: "${INTERLOCK_PARROT_URL}/start?key=${INTERLOCK_CANARY}"
    headers: {Authorization: "Bearer secret://env/INTERLOCK_CANARY"}
"""

ALERTS = """
sinks:
  slack: {type: slack, channel: C0MAIN}
  hook: {type: webhook, url: "${INTERLOCK_HOOK_URL}", secret: "${INTERLOCK_HOOK_SECRET}"}
routes: [{match: {}, to: [{sink: slack}, {sink: hook}]}]
limits: {perSecond: 100}
"""

LOOKS = (
    "/", "/timeline", "/pipelines", "/pipelines/loud", "/pipelines/asking", "/sla", "/events",
    "/dependencies", "/metrics", "/openapi.json", "/api/v1/pipelines", "/api/v1/pipelines/loud",
    "/api/v1/pipelines/loud/config", "/api/v1/pipelines/asking/config", "/api/v1/pipelines/loud/why",
    "/api/v1/pipelines/asking/why", "/api/v1/pipelines/loud/sensors", "/api/v1/runs",
    "/api/v1/events?limit=1000", "/api/v1/events/alerts?limit=1000", "/api/v1/changes/parked",
    "/api/v1/tokens", "/readyz",
)  # fmt: skip


@pytest.fixture
def slack() -> Iterator[SlackStandIn]:
    with slack_stand_in() as opened:
        yield opened


@pytest.fixture
def parrot() -> Iterator[Tiny]:
    """Refuses everything, and says back what it was told."""
    with tiny_server(lambda asked: Said([asked.path, asked.query, asked.headers], 400)) as opened:
        yield opened


@pytest.fixture
def served(tmp_path: Path, slack: SlackStandIn, parrot: Tiny) -> Iterator[Served]:
    secrets = tmp_path / "secrets"
    for folder in (secrets, tmp_path / "pipelines"):
        folder.mkdir()
    (secrets / "canary").write_text(f"{CANARIES['file']}\n")
    (tmp_path / "interlock.toml").write_text(TOML.format(**CANARIES))
    (tmp_path / "pipelines" / "loud.yaml").write_text(LOUD)
    (tmp_path / "pipelines" / "asking.yaml").write_text(ASKING)
    (tmp_path / "alerts.yaml").write_text(ALERTS)
    served = Served(
        tmp_path,
        INTERLOCK_TOKEN=CANARIES["operator"],
        INTERLOCK_CANARY=CANARIES["env"],
        INTERLOCK_PARROT_URL=parrot.url,
        INTERLOCK_SECRETS_DIR=str(secrets),
        INTERLOCK_ALLOW_HOSTS="127.0.0.1",
        INTERLOCK_HOOK_URL=f"{parrot.url}/{CANARIES['sink-url']}",
        INTERLOCK_HOOK_SECRET=CANARIES["webhook"],
        SLACK_BOT_TOKEN=CANARIES["slack"],
        SLACK_API_URL=slack.url,
    )
    yield served
    served.close()


def test_no_secret_is_found_anywhere_afterwards(served: Served, slack: SlackStandIn) -> None:
    served.start()
    made = served.ask("POST", "/api/v1/tokens", {"name": "ci", "scopes": ["observe"]})["secret"]
    code = re.findall(r"code=(\S+)", served.output)[0]
    session = _log_in(served, code)
    known = {**CANARIES, "made": made, "session": session}

    told = [text for secret in (*known.values(), code) for text in _misused(served, secret)]
    served.put("loud", "landed", count=1)
    served.put("asking", "landed", count=1)
    _send(served, "GET", f"/ping/{CANARIES['ping']}/fail")
    eventually(lambda: set(served.runs().values()) == {"FAILED"}, "failed")
    eventually(lambda: "password" in json.dumps(slack.roots), "told in Slack")
    eventually(
        lambda: re.search(r"alert_(failed|given_up): hook", served.output) is not None,
        "refused by the hook",
    )
    shown = [served.text(path) for path in LOOKS]
    run = re.findall(r'href="(/runs/loud/[^"]+)"', "".join(shown))[0]
    shown += [served.text(run), served.text(f"/api/v1{run}")]
    commands = [_printed(served, *each) for each in (("status",), ("events",), ("doctor",))]
    assert served.stop() == 0

    texts = {
        "pages and answers": "\n".join(shown),
        "refusals": "\n".join(told),
        "log": served.output.replace(code, "", 1),  # the login address, told once on purpose
        "commands": "\n".join(commands),
        "alerts": json.dumps(slack.roots),
        "state": _state(served),
    }
    leaks = [
        (secret, place)
        for place, text in texts.items()
        for secret, value in {**known, "code": code}.items()
        if value in text
    ]
    assert leaks == []
    assert "password *** and ***" in texts["pages and answers"]


def _misused(served: Served, secret: str) -> list[str]:
    """What is answered to a secret that stands where it does not belong."""
    return [
        _send(served, "GET", f"/api/v1/runs?token={secret}"),
        _send(served, "GET", f"/{secret}"),
        _send(served, "GET", f"/ping/{secret}x"),
        _send(served, "GET", f"/api/v1/pipelines/{secret}"),
        _send(served, "PUT", "/api/v1/pipelines/loud/sensors/x", "{", f"Bearer {secret}x"),
        _send(served, "GET", "/api/v1/runs", None, f"Basic {secret}"),
        _send(served, "POST", "/login", f"secret={secret}x"),
    ]


def _send(
    served: Served, method: str, path: str, body: str | None = None, authorization: str = ""
) -> str:
    """The answer to a stranger, whatever it is."""
    host, port = served.address()
    url = f"http://{host}:{port}"
    headers = {"Origin": url, "Content-Type": "application/json"}
    headers |= {"Authorization": authorization} if authorization else {}
    data = None if body is None else body.encode()
    request = urllib.request.Request(url + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            text: str = answer.read().decode()
    except urllib.error.HTTPError as refused:
        with refused:
            text = refused.read().decode()
    return text


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *given: object, **named: object) -> None:
        return None


def _log_in(served: Served, code: str) -> str:
    """The secret of a browser's session."""
    host, port = served.address()
    url = f"http://{host}:{port}"
    request = urllib.request.Request(
        f"{url}/login", f"secret={code}".encode(), {"Origin": url}, method="POST"
    )
    try:
        urllib.request.build_opener(_Stay).open(request, timeout=PATIENCE).close()
    except urllib.error.HTTPError as moved:
        with moved:
            cookie = moved.headers["Set-Cookie"]
    found: str = cookie.partition("=")[2].partition(";")[0]
    assert len(found) > 40
    return found


def _printed(served: Served, *arguments: str) -> str:
    command = [sys.executable, "-m", "interlock", "--project", str(served.project), *arguments]
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=served.environment,
    )
    return done.stdout + done.stderr


def _state(served: Served) -> str:
    """Everything in the state folder, outputs of jobs too."""
    files = [each for each in (served.project / ".interlock").rglob("*") if each.is_file()]
    return "\n".join(each.read_bytes().decode("latin-1") for each in files)
