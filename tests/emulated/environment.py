"""The environment in which other processes and handlers use the emulated deployment."""

from duetime.environment import PREFIX
from duetime.local.environment import AWS, Environment
from duetime.settings import Settings

__all__ = ["Environment", "for_another_process"]


def for_another_process(url: str, settings: Settings) -> dict[str, str]:
    """Return the variables with which the SDK, boto3 and the command line use the deployment at `url`."""
    aws = {name: value for name, value in AWS.items() if value is not None}
    return {**aws, "AWS_ENDPOINT_URL": url, PREFIX + "URL": url, **settings.to_env()}
