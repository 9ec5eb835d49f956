"""Each rule of access, with a caller who tries to get around it."""

import logging
import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.datastructures import Headers
from starlette.testclient import TestClient

import interlock.web
from interlock.errors import ConfigError
from interlock.operations.endpoints import API, ENDPOINTS, Endpoint
from interlock.web.access import COOKIE, LOGIN_SECONDS, SESSION_SECONDS, Access
from interlock.web.gate import HEADERS, KnownHosts, cookie_of, is_loopback
from interlock.web.serve import serve
from interlock.wiring.settings import Settings
from web.house import OWNER, URL, House, is_problem

SENSOR = "/api/v1/pipelines/silver-orders/sensors/orders"
SAME = {"Origin": URL, "Sec-Fetch-Site": "same-origin"}

#: Every kind of request, and the scope that it needs.
REQUESTS = [
    ("GET", "/api/v1/pipelines", "read"),
    ("GET", "/api/v1/runs", "read"),
    ("GET", "/api/v1/events", "read"),
    ("GET", "/api/v1/events/alerts", "read"),
    ("GET", "/metrics", "read"),
    ("GET", "/openapi.json", "read"),
    ("PUT", SENSOR, "observe"),
    ("POST", "/api/v1/pipelines/silver-orders/pause", "operate"),
    ("POST", "/api/v1/pipelines/silver-orders/resume", "operate"),
    ("POST", "/api/v1/watchdog", "operate"),
    ("GET", "/api/v1/tokens", "own"),
    ("POST", "/api/v1/tokens", "own"),
]


@pytest.mark.parametrize(("method", "path", "scope"), REQUESTS)
def test_nothing_is_shown_or_done_without_a_secret(
    house: House, method: str, path: str, scope: str
) -> None:
    answer = house.client_of(None).request(method, path)

    assert is_problem(answer, 401)
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize(("method", "path", "scope"), REQUESTS)
@pytest.mark.parametrize("given", ["read", "observe", "operate"])
def test_a_token_does_what_its_scope_says_and_no_more(
    house: House, method: str, path: str, scope: str, given: str
) -> None:
    body: dict[str, str] | None = {} if method == "PUT" else None
    answer = house.client_of(house.token(given)).request(method, path, json=body)

    assert (answer.status_code == 403) == (given != scope), answer.text


@pytest.mark.parametrize("row", ENDPOINTS, ids=lambda row: row.name)
def test_every_endpoint_of_the_table_refuses_a_caller_without_its_scope(
    house: House, row: Endpoint
) -> None:
    path = API + re.sub(r"\{[a-z:]+\}", "silver-orders", row.path)
    assert is_problem(house.client_of(None).request(row.method, path), 401)
    for given in {"read", "observe", "operate"} - {str(row.scope)}:
        answer = house.client_of(house.token(given)).request(row.method, path)
        assert is_problem(answer, 403)


@pytest.mark.parametrize(
    "secret", ["", "x", OWNER[:-1], OWNER + "x", OWNER.upper(), "\x00", "é" * 20]
)
def test_a_wrong_secret_is_refused(house: House, secret: str) -> None:
    header = f"Bearer {secret}".encode()
    answer = house.client_of(None).get("/api/v1/runs", headers={b"Authorization": header})

    assert is_problem(answer, 401)
    assert not secret or secret not in answer.text


def test_a_secret_under_another_scheme_is_refused(house: House) -> None:
    answer = house.client_of(None).get("/api/v1/runs", headers={"Authorization": f"Basic {OWNER}"})

    assert is_problem(answer, 401)


def test_a_token_for_one_pipeline_reports_for_no_other(house: House) -> None:
    client = house.client_of(house.token("observe", pipelines=("silver-orders",)))

    assert client.put(SENSOR, json={}).status_code == 200
    other = SENSOR.replace("silver", "gold")
    assert is_problem(client.put(other, json={}), 403)
    batch: list[dict[str, object]] = [
        {"pipelineId": name, "key": "orders", "fields": {}}
        for name in ("silver-orders", "gold-orders")
    ]
    assert is_problem(client.post("/api/v1/sensors", json=batch), 403)
    assert not house.home.store.sensors.of_pipeline("gold-orders")


@pytest.mark.parametrize(
    "path",
    ["/api/v1/pipelines/silver-orders/why", "/api/v1/pipelines/silver-orders/sensors",
     "/api/v1/pipelines/silver-orders", "/api/v1/events?pipeline=silver-orders",
     "/api/v1/events/stream?pipeline=silver-orders", "/api/v1/runs?pipeline=silver-orders",
     "/pipelines/silver-orders", "/metrics", "/openapi.json"],
)  # fmt: skip
def test_a_token_that_reports_for_a_pipeline_reads_not_even_that_one(
    house: House, path: str
) -> None:
    client = house.client_of(house.token("observe", pipelines=("silver-orders",)))

    assert client.get(path).status_code == 403


def test_waiting_for_the_decision_opens_no_other_pipeline(house: House) -> None:
    client = house.client_of(house.token("observe", pipelines=("silver-orders",)))

    answer = client.put(f"{SENSOR.replace('silver', 'gold')}?wait=decision", json={})

    assert is_problem(answer, 403)
    assert not house.home.store.sensors.of_pipeline("gold-orders")


@pytest.mark.parametrize("scopes", [("read",), ("operate",), ("observe", "read")])
def test_only_reporting_can_be_limited_to_pipelines(house: House, scopes: tuple[str, ...]) -> None:
    """A limit that would be obeyed in one place and not in another is refused."""
    body = {"name": "ci", "scopes": scopes, "pipelines": ["silver-orders"]}

    assert is_problem(house.client.post("/api/v1/tokens", json=body), 422)


def test_a_revoked_token_is_refused_from_then_on(house: House) -> None:
    made = house.client.post("/api/v1/tokens", json={"name": "ci", "scopes": ["read"]})
    client = house.client_of(made.json()["secret"])
    assert client.get("/api/v1/runs").status_code == 200

    assert house.client.delete("/api/v1/tokens/ci").status_code == 204

    assert is_problem(client.get("/api/v1/runs"), 401)
    assert is_problem(house.client.delete("/api/v1/tokens/ci"), 404)


def test_only_the_hash_of_a_token_is_kept_and_its_secret_is_shown_once(house: House) -> None:
    made = house.client.post("/api/v1/tokens", json={"name": "ci", "scopes": ["read"]}).json()

    listed = house.client.get("/api/v1/tokens").text
    dump = "\n".join(house.database.read(lambda connection: list(connection.iterdump())))
    assert made["secret"] not in listed
    assert made["secret"] not in dump
    again = house.client.post("/api/v1/tokens", json={"name": "ci", "scopes": ["read"]})
    assert is_problem(again, 409)


def test_no_token_can_be_given_the_installation_itself(house: House) -> None:
    answer = house.client.post("/api/v1/tokens", json={"name": "x", "scopes": ["own"]})

    assert is_problem(answer, 422)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8787",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "10.0.0.1",
        "127.0.0.1@evil.example",
        "[::1].evil.example",
        "[evil.example]",
        "",
    ],
)
def test_a_page_that_made_its_name_ours_does_not_reach_us(house: House, host: str) -> None:
    answer = house.client.get("/api/v1/runs", headers={"Host": host})

    assert answer.status_code in (400, 421)
    assert "items" not in answer.text


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8787", "localhost:1", "[::1]:8787", "LOCALHOST", "interlock.example"]
)
def test_our_own_names_are_known(house: House, host: str) -> None:
    assert house.client.get("/api/v1/runs", headers={"Host": host}).status_code == 200


def test_who_listens_everywhere_goes_by_addresses_but_not_by_any_name() -> None:
    hosts = KnownHosts("0.0.0.0")

    assert hosts.admits("192.168.1.7:8787")
    assert not hosts.admits("evil.example")


@pytest.mark.parametrize("path", [f"/api/v1/runs?pipeline={'x' * 9000}", f"/{'x' * 9000}"])
def test_an_address_that_is_too_long_is_refused(house: House, path: str) -> None:
    assert is_problem(house.client.get(path), 414)


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_needs_no_secret_and_no_name(house: House, path: str) -> None:
    answer = house.client_of(None).get(path, headers={"Host": "10.1.2.3"})

    assert answer.status_code in (200, 503)


# --- browsers


def test_a_login_address_gives_a_session_that_scripts_and_other_sites_never_see(
    house: House,
) -> None:
    browser = house.client_of(None)
    code = house.access.new_code()

    page = browser.get(f"/login?code={code}")
    answer = browser.post("/login", content=f"secret={code}", headers=SAME)

    assert code in page.text
    cookie = answer.headers["set-cookie"].lower()
    assert answer.status_code == 303
    assert cookie.startswith(COOKIE)
    assert "httponly" in cookie and "samesite=strict" in cookie and "path=/" in cookie
    assert browser.get("/api/v1/runs").status_code == 200
    assert browser.put(SENSOR, json={}, headers=SAME).status_code == 200


def test_behind_a_proxy_with_tls_the_cookie_is_for_tls_alone(house: House) -> None:
    """The proxy speaks plainly to us, and calls us as the browser calls it."""
    code = house.access.new_code()
    headers = {"Host": "interlock.example", "Origin": "https://interlock.example"}

    answer = house.client_of(None).post("/login", content=f"secret={code}", headers=headers)

    assert answer.status_code == 303
    assert "; secure" in answer.headers["set-cookie"].lower()
    plain = house.client_of(None).post(
        "/login", content=f"secret={house.access.new_code()}", headers=SAME
    )
    assert "; secure" not in plain.headers["set-cookie"].lower()


def test_looking_at_the_login_page_spends_nothing(house: House) -> None:
    browser = house.client_of(None)
    code = house.access.new_code()

    for _ in range(3):
        answer = browser.get(f"/login?code={code}")
        assert "set-cookie" not in answer.headers
    assert browser.post("/login", content=f"secret={code}", headers=SAME).status_code == 303


def test_a_login_address_is_good_once(house: House) -> None:
    code = house.access.new_code()
    first = house.client_of(None).post("/login", content=f"secret={code}", headers=SAME)
    second = house.client_of(None).post("/login", content=f"secret={code}", headers=SAME)

    assert first.status_code == 303
    assert second.status_code == 403 and "set-cookie" not in second.headers


def test_guessing_spends_nothing_and_finds_nothing(house: House) -> None:
    code, stranger = house.access.new_code(), house.client_of(None)

    for guess in ("", code[:-1], f"{code}x", code.swapcase(), "x" * 43, f" {code}", "\x00"):
        answer = stranger.post("/login", content=urlencode({"secret": guess}), headers=SAME)
        assert answer.status_code == 403 and "set-cookie" not in answer.headers

    assert stranger.post("/login", content=f"secret={code}", headers=SAME).status_code == 303


def test_a_planted_session_is_not_the_one_that_is_opened(house: House) -> None:
    browser, planted = house.client_of(None), "a-session-that-an-attacker-knows"
    browser.cookies.set(COOKIE, planted)

    answer = browser.post("/login", content=f"secret={house.access.new_code()}", headers=SAME)

    assert planted not in answer.headers["set-cookie"]
    attacker = house.client_of(None)
    attacker.cookies.set(COOKIE, planted)
    assert is_problem(attacker.get("/api/v1/runs"), 401)


def test_every_login_is_a_session_of_its_own(house: House) -> None:
    first, second = _logged_in(house), _logged_in(house)

    first.post("/logout", headers=SAME)

    assert second.get("/api/v1/runs").status_code == 200


@pytest.mark.parametrize(
    "cookie", [f"{COOKIE}=", f"{COOKIE}=x; {COOKIE}=y", "\x00", "=;=;", "a" * 9000]
)
def test_an_invalid_cookie_is_no_session(house: House, cookie: str) -> None:
    answer = house.client_of(None).get("/api/v1/runs", headers={"Cookie": cookie})

    assert is_problem(answer, 401)


def test_codes_and_sessions_end(house: House) -> None:
    now = 0.0
    access = Access(house.home.store.tokens, {}, monotonic=lambda: now)
    code, later = access.new_code(), access.new_code()
    session = access.log_in(code)
    assert session is not None and access.by_session(session) is not None

    now = LOGIN_SECONDS + 1.0
    assert access.log_in(later) is None
    now = SESSION_SECONDS + 1.0
    assert access.by_session(session) is None


def test_a_session_of_a_token_ends_with_the_token(house: House) -> None:
    secret = house.token("read")
    browser = house.client_of(None)
    browser.post("/login", content=f"secret={secret}", headers=SAME)
    assert browser.get("/api/v1/runs").status_code == 200
    assert is_problem(browser.post("/api/v1/watchdog", headers=SAME), 403)

    house.home.store.tokens.revoke("t-read")
    house.access.refresh()

    assert is_problem(browser.get("/api/v1/runs"), 401)


def test_the_login_page_shows_nothing_that_its_address_brings_as_markup(house: House) -> None:
    page = house.client_of(None).get('/login?code="><script>alert(1)</script>')

    assert "<script>" not in page.text


def test_logging_out_ends_the_session(house: House) -> None:
    browser = _logged_in(house)
    session = browser.cookies[COOKIE]

    browser.post("/logout", headers=SAME)

    browser.cookies.set(COOKIE, session)
    assert is_problem(browser.get("/api/v1/runs"), 401)


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "http://evil.example"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Origin": "https://127.0.0.1"},
        {"Origin": "ftp://127.0.0.1:8787"},
        {"Origin": "null"},
        {"Origin": URL, "Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"},
        {},
    ],
)
@pytest.mark.parametrize("path", ["/api/v1/pipelines/silver-orders/pause", "/logout"])
def test_another_sites_page_can_not_use_the_session(
    house: House, headers: dict[str, str], path: str
) -> None:
    answer = _logged_in(house).post(path, headers=headers)

    assert answer.status_code in (401, 403)
    config = house.home.queries.config("silver-orders")
    assert config.paused_since is None


def test_another_site_can_not_log_a_browser_in(house: House) -> None:
    code = house.access.new_code()
    headers = {"Origin": "http://evil.example"}

    answer = house.client_of(None).post("/login", content=f"secret={code}", headers=headers)

    assert is_problem(answer, 403)


def test_a_program_with_a_token_needs_no_origin(house: House) -> None:
    assert house.client.post("/api/v1/pipelines/silver-orders/pause").status_code == 200


@pytest.mark.parametrize("path", ["/", "/login", "/api/v1/runs", "/nowhere", "/healthz"])
def test_every_answer_carries_the_strict_headers(house: House, path: str) -> None:
    answer = house.client.get(path)

    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy and "default-src 'none'" in policy
    assert "access-control-allow-origin" not in answer.headers


def test_pages_hold_no_script_and_no_style_of_their_own(house: House) -> None:
    for path in ("/", "/login"):
        text = house.client.get(path).text
        assert not re.search(r"<style|style=|\son[a-z]+=|javascript:", text)
        assert all(
            re.search(r'src="/static/[^"]+"', tag) for tag in re.findall(r"<script[^>]*>", text)
        )
        assert not re.search(r"<script[^>]*>[^<]", text)


def test_no_get_changes_anything(house: House) -> None:
    house.client.get("/api/v1/events")  # opens whatever is opened once
    paths = house.client.get("/openapi.json").json()["paths"]
    before = house.database.commits

    for path, operations in paths.items():
        if "get" in operations and "stream" not in path:
            concrete = re.sub(r"\{[a-z]+\}", "silver-orders", path)
            house.client.get(concrete, params={"from": "2026-03-01", "to": "2026-03-02"})
    for path in ("/", "/login?code=x", "/readyz", "/metrics"):
        house.client.get(path)

    assert house.database.commits == before


def test_secrets_stand_in_no_log_and_no_error(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = "ilk_a-very-secret-thing"

    texts = [
        house.client_of(secret).get("/api/v1/runs").text,
        house.client_of(None).get(f"/api/v1/runs?token={secret}").text,
        house.client_of(None).post("/login", content=f"secret={secret}", headers=SAME).text,
    ]

    assert not any(secret in text for text in texts)
    assert secret not in caplog.text.replace(f"?token={secret}", "")  # the test's own client logs


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "interlock.example"])
def test_others_can_reach_us_only_when_there_is_a_token(tmp_path: Path, host: str) -> None:
    settings = Settings(project=tmp_path, state=tmp_path / ".interlock", host=host, port=0)

    with pytest.raises(ConfigError, match="no token protects it"):
        serve(settings, lambda line: None, lambda severity, line: None)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("127.9.9.9", True),
     ("0.0.0.0", False), ("10.0.0.1", False), ("localhost.evil.example", False)],
)  # fmt: skip
def test_loopback_is_this_machine_alone(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


def test_operations_stand_in_the_audit_log_with_who_and_why(house: House) -> None:
    client = house.client_of(house.token("operate"))
    base = "/api/v1/pipelines/silver-orders"

    client.post(f"{base}/pause", json={"reason": "upstream is being fixed"})
    client.post(f"{base}/resume", json={"reason": "fixed"})
    client.post(f"{base}/reruns", json={"date": "2026-03-03", "reason": "wrong prices"})

    told = [(e.actor, e.action, e.reason) for e in house.home.store.audit.newest(3)]
    assert told == [
        ("t-operate", "rerun", "wrong prices"),
        ("t-operate", "resume", "fixed"),
        ("t-operate", "pause", "upstream is being fixed"),
    ]


def _logged_in(house: House) -> TestClient:
    browser = house.client_of(None)
    browser.post("/login", content=f"secret={house.access.new_code()}", headers=SAME)
    return browser


@pytest.mark.parametrize(
    ("cookie", "session"),
    [
        (f"{COOKIE}=abc", "abc"),
        (f"theme=dark; {COOKIE}=a-b_c=; other=1", "a-b_c="),
        (f"{COOKIE}x=1; x{COOKIE}=2", None),
        ('"' + "\\" * 60_000 + '"', None),
        (f"a=1;;; ={COOKIE};{COOKIE}", ""),
        ("", None),
    ],
)
def test_the_session_is_found_in_any_cookie_header(cookie: str, session: str | None) -> None:
    assert cookie_of(Headers({"cookie": cookie}), COOKIE) == session


def test_a_cookie_that_is_hard_to_read_costs_no_more_than_its_length(house: House) -> None:
    """Quoted backslashes take the parser of the standard library minutes on some Pythons."""
    hostile = f'{COOKIE}="' + "\\" * 30_000 + '"'
    assert house.client_of(None, Cookie=hostile).get("/api/v1/pipelines").status_code == 401
    assert house.client_of(None, Cookie=hostile).get("/login").status_code == 200


def test_no_part_of_the_server_reads_cookies_by_the_standard_library() -> None:
    sources = [path.read_text() for path in Path(interlock.web.__file__).parent.rglob("*.py")]
    assert len(sources) > 20 and not any(".cookies" in source for source in sources)
