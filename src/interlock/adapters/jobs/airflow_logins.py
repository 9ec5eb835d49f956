"""Airflow logins: a name and password, as Airflow 2 takes them and as Airflow 3 turns them into a token."""

from base64 import b64encode
from collections.abc import Callable
from typing import Any

from interlock.adapters.http.http_client import HttpResponse
from interlock.adapters.http.platform_error import PlatformError
from interlock.adapters.jobs.platform_api import Api
from interlock.adapters.jobs.refused_calls import expect_yes
from interlock.adapters.secrets.references import MASK, Secrets
from interlock.domain.budgets import Category
from interlock.domain.job_configs import AirflowVersion, Auth

UNAUTHORIZED = 401
#: Airflow 3 says 403 of a token that it can't verify any more.
FORBIDDEN = 403

#: Sends a request with these headers added to it.
Send = Callable[[dict[str, str]], HttpResponse]


class AirflowLogins:
    """Remembers tokens until they are refused."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._tokens: dict[tuple[str, Auth], str] = {}

    def send(self, send: Send, auth: Auth | None, version: str, api: Api) -> HttpResponse:
        """Log in again after a refusal and repeat the request once: a refused request did nothing."""
        if auth is None:
            return send({})
        place = (api.url, auth)
        remembered = place in self._tokens
        answer = send(self._authorization(auth, version, api))
        if version == AirflowVersion.V2:
            again = remembered and answer.status in (UNAUTHORIZED, FORBIDDEN)
        else:
            again = answer.status == UNAUTHORIZED
        if not again:
            return answer
        self._tokens.pop(place, None)
        self._secrets.drop(_references(auth, api))
        return send(self._authorization(auth, version, api))

    def shown(self, auth: Auth | None, version: str) -> dict[str, str]:
        """What stands in the request, without logging in."""
        if auth is None:
            return {}
        kind = "Bearer" if version == AirflowVersion.V2 else "Basic"
        return {"Authorization": f"{kind} {MASK}"}

    def _authorization(self, auth: Auth, version: str, api: Api) -> dict[str, str]:
        if version == AirflowVersion.V2:
            return {"Authorization": f"Bearer {self._token(auth, api)}"}
        name, password = self._revealed(auth, api)
        basic = b64encode(f"{name}:{password}".encode()).decode()
        self._secrets.learn(basic)
        return {"Authorization": f"Basic {basic}"}

    def _token(self, auth: Auth, api: Api) -> str:
        place = (api.url, auth)
        if place not in self._tokens:
            self._tokens[place] = self._log_in(auth, api)
        return self._tokens[place]

    def _log_in(self, auth: Auth, api: Api) -> str:
        """Raises PlatformError; nothing is started yet."""
        answer = self._ask_for_token(auth, api)
        if answer.status == UNAUTHORIZED:
            self._secrets.drop(_references(auth, api))
            answer = self._ask_for_token(auth, api)
        expect_yes(answer, "Airflow's login")
        token = _token_in(answer)
        self._secrets.learn(token)
        return token

    def _ask_for_token(self, auth: Auth, api: Api) -> HttpResponse:
        name, password = self._revealed(auth, api)
        body = {"username": name, "password": password}
        return api.send(api.request("POST", "/auth/token", body, holds_secret=True))

    def _revealed(self, auth: Auth, api: Api) -> tuple[str, str]:
        password = api.texts.secret_text(auth.password)
        self._secrets.learn(password)
        return api.texts.secret_text(auth.username), password


def _references(auth: Auth, api: Api) -> tuple[str, ...]:
    return (*api.texts.references(auth.username), *api.texts.references(auth.password))


def _token_in(answer: HttpResponse) -> str:
    try:
        said: Any = answer.json()
    except ValueError:
        said = None
    token = said.get("access_token") if isinstance(said, dict) else None
    if not isinstance(token, str) or not token:
        raise PlatformError(Category.TRANSIENT, "Airflow's login gives no access_token")
    return token
