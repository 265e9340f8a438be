"""Which scheduler a command asks, and as whom: what the command line says, then a profile, then the environment."""

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
"""Where the local cloud is, unless it was told otherwise."""

_GATEWAY = re.compile(r"https://[a-z0-9-]+\.execute-api\.[a-z0-9-]+\.amazonaws\.com(\.cn)?(/|$)")


def connect(arguments: argparse.Namespace) -> Client:
    """The client of the scheduler that is meant.

    Raises:
        BadUsage: the profile cannot be had; both a token and a signature are asked for; a secret would go in the clear.
    """
    told = CommandLine.from_env()
    name = arguments.profile or (told.profile if arguments.url is None else None)
    profile = profile_named(name, told.config) if name else Profile()
    url = _first(arguments.url, profile.url, told.url, LOCAL)
    signs = _signs(arguments, profile, told, url)
    token = None if signs else arguments.token or told.token
    if (signs or token) and not url.startswith("https://") and not is_loopback(url):
        raise BadUsage(f"{url!r} is not encrypted: a token, or a signature, goes to https:// alone")
    return Client(
        url,
        arguments.tenant or profile.tenant,
        arguments.user or profile.user,
        token=token,
        signs=signs,
        region=arguments.region or profile.region,
        prefix=_first(profile.prefix, told.api_prefix, PREFIX),
    )


def _first(*said: str | None) -> str:
    return next(each for each in said if each is not None)


def _signs(arguments: argparse.Namespace, profile: Profile, told: CommandLine, url: str) -> bool:
    """Whether requests are signed; unasked, where only a signature can help: at API Gateway, without a token."""
    if arguments.sign and arguments.token:
        raise BadUsage("say --token or --sign, not both")
    if arguments.sign or arguments.token:
        return bool(arguments.sign)
    if profile.sign is not None:
        return profile.sign
    return told.signs or (told.token is None and _GATEWAY.match(url) is not None)
