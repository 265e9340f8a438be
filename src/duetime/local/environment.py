"""The address of the local cloud, and the environment while it runs: dummy credentials, and settings.

No other module of this package reads or writes the environment.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, TextIO

from duetime.environment import PREFIX, variable_of
from duetime.settings import VARIABLES, Settings

HOST: Final = "127.0.0.1"
"""The local cloud runs any code without a password, so it accepts connections from this machine only."""

REGION: Final = "us-east-1"
ACCOUNT: Final = "123456789012"
"""moto's own account."""

AWS: Mapping[str, str | None] = {
    "AWS_ACCESS_KEY_ID": "local",
    "AWS_SECRET_ACCESS_KEY": "local",
    "AWS_DEFAULT_REGION": REGION,
    "AWS_REGION": REGION,
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",  # moto has no account-specific endpoints
    "AWS_CONFIG_FILE": os.devnull,  # a developer's profile must not lead to AWS
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_SESSION_TOKEN": None,
    "AWS_PROFILE": None,
    "AWS_DEFAULT_PROFILE": None,
    "AWS_ENDPOINT_URL": None,
    "AWS_ENDPOINT_URL_DYNAMODB": None,
    "AWS_ENDPOINT_URL_DYNAMODB_STREAMS": None,
    "AWS_ENDPOINT_URL_SQS": None,
    "AWS_ENDPOINT_URL_SCHEDULER": None,
    "AWS_ENDPOINT_URL_EVENTBRIDGE": None,
    "AWS_ENDPOINT_URL_SES": None,
    "AWS_ENDPOINT_URL_SNS": None,
}


def for_another_process(url: str, places: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """Return the variables with which the SDK, boto3 and the command line use the local cloud at `url`."""
    aws = {name: value for name, value in AWS.items() if value is not None}
    return {**aws, PREFIX + "URL": url, **places, **settings.to_env()}


def wants_colour(stream: TextIO) -> bool:
    """Return whether `stream` is a terminal without NO_COLOR."""
    return stream.isatty() and not os.environ.get("NO_COLOR")  # noqa: TID251 - see the module's docstring


class Environment:
    """Sets variables of the process' environment, and restores the previous ones at the end."""

    def __init__(self) -> None:
        self._before: dict[str, str | None] = {}

    def use_dummy_credentials(self, places: Mapping[str, str] | None = None) -> None:
        """Set dummy credentials and given endpoints: no boto3 client of this process reaches AWS."""
        self._put({**AWS, **(places or {})})

    def use(self, settings: Settings) -> None:
        """Set these settings, so that ``Scheduler.from_env`` in a handler finds them as in a Lambda."""
        self._put({**dict.fromkeys(map(variable_of, VARIABLES)), **settings.to_env()})

    def restore(self) -> None:
        """Restore the previous variables."""
        self._put(self._before)
        self._before = {}

    def _put(self, variables: Mapping[str, str | None]) -> None:
        environ = os.environ  # noqa: TID251 - see the module's docstring
        for name, value in dict(variables).items():
            self._before.setdefault(name, environ.get(name))
            if value is None:
                environ.pop(name, None)
            else:
                environ[name] = value
