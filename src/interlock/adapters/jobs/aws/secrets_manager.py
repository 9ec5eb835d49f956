"""AWS secrets: what stands in Secrets Manager under an ARN. The SDK is loaded with the first of them."""

from functools import cache
from typing import TYPE_CHECKING

from interlock.adapters.http.platform_error import PlatformError
from interlock.domain.budgets import Category
from interlock.errors import ConfigError, TransientError

if TYPE_CHECKING:
    from interlock.adapters.jobs.aws.job_clients import AwsClients


def fetch_secret(arn: str, clients: "AwsClients | None" = None) -> str:
    """Raises ConfigError for what can't work, TransientError for what may work later."""
    region = (arn.split(":") + [""] * 4)[3] or None
    asked = {"SecretId": arn}
    try:
        found = (clients or _clients()).call("secretsmanager:GetSecretValue", region, asked)
    except PlatformError as error:
        if error.category is Category.TRANSIENT:
            raise TransientError(f"secret://aws-sm/{arn}: {error}") from error
        raise ConfigError(f"secret://aws-sm/{arn}: {error}") from error
    text = found.get("SecretString")
    if not isinstance(text, str):
        raise ConfigError(f"secret://aws-sm/{arn} is not text")
    return text


@cache
def _clients() -> "AwsClients":
    try:
        from interlock.adapters.jobs.aws.job_clients import AwsClients
    except ImportError as error:
        raise ConfigError("secret://aws-sm needs: pip install 'interlock[aws]'") from error
    return AwsClients()
