"""The process' environment while a local cloud runs: no real credentials, and the settings that a Lambda would have.

The one place of this package that reads or writes it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from typing import TextIO

from duetime.environment import PREFIX
from duetime.local.addresses import REGION
from duetime.settings import Settings

_AWS: Mapping[str, str | None] = {
    "AWS_ACCESS_KEY_ID": "local",
    "AWS_SECRET_ACCESS_KEY": "local",
    "AWS_DEFAULT_REGION": REGION,
    "AWS_REGION": REGION,
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",  # moto knows no account's own endpoints
    "AWS_CONFIG_FILE": os.devnull,  # nothing of a developer's own profile may lead outside
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


def for_another_process(url: str, settings: Settings) -> dict[str, str]:
    """What another process needs in its environment to use the local cloud at `url` through the SDK."""
    aws = {name: value for name, value in _AWS.items() if value is not None}
    return {**aws, "AWS_ENDPOINT_URL": url, **settings.to_env()}


def wants_colour(stream: TextIO) -> bool:
    """Whether `stream` is a terminal whose user has not said NO_COLOR."""
    return stream.isatty() and not os.environ.get("NO_COLOR")  # noqa: TID251 - see the module's docstring


class Environment:
    """Puts variables into the process' environment, and at the end puts back what was there."""

    def __init__(self) -> None:
        self._before: dict[str, str | None] = {}

    def use_dummy_credentials(self) -> None:
        """Have every boto3 client of this process meet moto, whatever the developer's own environment says."""
        self._put(_AWS)

    def use(self, settings: Settings) -> None:
        """Have ``Scheduler.from_env`` in a handler find these settings, as it does in a Lambda."""
        absent: dict[str, str | None] = {PREFIX + field.name.upper(): None for field in fields(Settings)}
        self._put(absent | settings.to_env())

    def restore(self) -> None:
        """Put everything back."""
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
