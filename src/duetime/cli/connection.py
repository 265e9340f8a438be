"""Chooses the scheduler and the caller: by the command line, then a profile, then the environment."""

from __future__ import annotations

import argparse
import re

from duetime.api import PREFIX
from duetime.cli.client import Client
from duetime.cli.exchange import is_loopback
from duetime.cli.failures import BadUsage
from duetime.cli.profiles import Profile, profile_named
from duetime.environment import CommandLine

LOCAL = "http://127.0.0.1:8080"
"""The default URL of the local cloud."""

_GATEWAY = re.compile(r"https://[a-z0-9-]+\.execute-api\.[a-z0-9-]+\.amazonaws\.com(\.cn)?(/|$)")


def connect(arguments: argparse.Namespace) -> Client:
    """Return the client of the chosen scheduler.

    Raises:
        BadUsage: the profile cannot be read; both a token and a signature are requested; a secret
            would be sent unencrypted.
    """
    environment = CommandLine.from_env()
    name = arguments.profile or (environment.profile if arguments.url is None else None)
    profile = profile_named(name, environment.config) if name else Profile()
    url = _first(arguments.url, profile.url, environment.url, LOCAL)
    signs = _signs(arguments, profile, environment, url)
    token = None if signs else arguments.token or environment.token
    if (signs or token) and not url.startswith("https://") and not is_loopback(url):
        raise BadUsage(f"{url!r} is not encrypted: a token, or a signature, goes to https:// alone")
    return Client(
        url,
        arguments.tenant or profile.tenant,
        arguments.user or profile.user,
        token=token,
        signs=signs,
        region=arguments.region or profile.region,
        prefix=_first(profile.prefix, environment.api_prefix, PREFIX),
    )


def _first(*values: str | None) -> str:
    return next(value for value in values if value is not None)


def _signs(arguments: argparse.Namespace, profile: Profile, environment: CommandLine, url: str) -> bool:
    """Return whether requests are signed; by default at API Gateway without a token."""
    if arguments.sign and arguments.token:
        raise BadUsage("use --token or --sign, not both")
    if arguments.sign or arguments.token:
        return bool(arguments.sign)
    if profile.sign is not None:
        return profile.sign
    return environment.signs or (environment.token is None and _GATEWAY.match(url) is not None)
