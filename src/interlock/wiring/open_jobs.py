"""Open jobs: the adapters of jobs and the secrets they use, as the settings say."""

from interlock.adapters.jobs.aws.secrets_manager import fetch_secret
from interlock.adapters.jobs.by_type import JobsByType
from interlock.adapters.jobs.job_environment import Surroundings
from interlock.adapters.secrets.references import Secrets, UnreadSecrets
from interlock.adapters.secrets.texts import PREFIX
from interlock.domain.job_forms import names_a_secret
from interlock.ports.engine import Clock
from interlock.wiring.settings import Settings


def open_secrets(settings: Settings) -> Secrets:
    """They know what must never be shown, our own settings too."""
    secrets = Secrets(settings.environment, settings.secrets_folder, fetch_secret)
    _learn_own(settings, secrets)
    return secrets


def open_jobs(settings: Settings, secrets: Secrets, clock: Clock, spares: int = 0) -> JobsByType:
    return JobsByType(
        Surroundings(
            clock=clock,
            environment=settings.environment,
            secrets=secrets,
            state=settings.state,
            project=settings.project,
            allowed=settings.allowed,
            ca_file=settings.ca_file,
            spares=spares,
        )
    )


def open_previews(settings: Settings, clock: Clock) -> JobsByType:
    """For looking only: no secret is read, and what the environment calls a secret is not shown."""
    secrets = UnreadSecrets()
    _learn_own(settings, secrets)
    for name, value in settings.environment.items():
        if name.startswith(PREFIX) and names_a_secret(name):
            secrets.learn(value)
    return open_jobs(settings, secrets, clock)


def _learn_own(settings: Settings, secrets: Secrets) -> None:
    signing = settings.slack_signing_secret
    for known in (settings.token, settings.dead_man_url, settings.slack_token, signing):
        if known is not None and not known.startswith("secret://"):
            secrets.learn(known)
    for source in settings.pings:
        secrets.learn(source.token)
