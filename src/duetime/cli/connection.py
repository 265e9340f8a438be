"""Chooses the scheduler and the caller: by the command line, then a profile, then the environment.

A profile names one deployment in a file without secrets.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from duetime._english import nearest
from duetime.api import PREFIX
from duetime.cli.client import Client
from duetime.cli.exchange import TIMEOUT, is_loopback
from duetime.cli.failures import BadUsage
from duetime.cli.times import positive_seconds
from duetime.environment import CommandLine

LOCAL = "http://127.0.0.1:8080"
"""The default URL of the local cloud."""

_GATEWAY = re.compile(r"https://[a-z0-9-]+\.execute-api\.[a-z0-9-]+\.amazonaws\.com(\.cn)?(/|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Profile:
    """One deployment: ``[profiles.NAME]`` of the file. None where a key is missing."""

    url: str | None = None
    sign: bool | None = None
    region: str | None = None
    tenant: str | None = None
    user: str | None = None
    prefix: str | None = None


_KEYS = [field.name for field in fields(_Profile)]


def connect(arguments: argparse.Namespace) -> Client:
    """Return the client of the chosen scheduler.

    Raises:
        BadUsage: the profile cannot be read; both a token and a signature are requested; a secret
            would be sent unencrypted.
    """
    environment = CommandLine.from_env()
    name = arguments.profile or (environment.profile if arguments.url is None else None)
    profile = _profile(name, environment.config) if name else _Profile()
    url = _first(arguments.url, profile.url, environment.url, LOCAL)
    signs = _signs(arguments, profile, environment, url)
    token = None if signs else arguments.token or environment.token
    if (signs or token) and not url.startswith("https://") and not is_loopback(url):
        raise BadUsage(f"{url!r} is not encrypted: tokens and signatures are sent to https:// only")
    return Client(
        url,
        arguments.tenant or profile.tenant,
        arguments.user or profile.user,
        token=token,
        signs=signs,
        region=arguments.region or profile.region,
        prefix=_first(profile.prefix, environment.api_prefix, PREFIX),
        timeout=arguments.timeout or _timeout(environment.timeout),
    )


def _timeout(written: str | None) -> float:
    try:
        return positive_seconds(written) if written else TIMEOUT
    except ValueError as error:
        raise BadUsage(f"DUETIME_TIMEOUT: {error}") from None


def _first(*values: str | None) -> str:
    return next(value for value in values if value is not None)


def _signs(arguments: argparse.Namespace, profile: _Profile, environment: CommandLine, url: str) -> bool:
    """Return whether requests are signed; by default at API Gateway without a token."""
    if arguments.sign and arguments.token:
        raise BadUsage("use --token or --sign, not both")
    if arguments.sign or arguments.token:
        return bool(arguments.sign)
    if profile.sign is not None:
        return profile.sign
    return environment.signs or (environment.token is None and _GATEWAY.match(url) is not None)


def _profile(name: str, file: str) -> _Profile:
    profiles = _profiles(Path(file).expanduser())
    if name not in profiles:
        known = ", ".join(sorted(profiles)) or "none"
        raise BadUsage(f"{file} has no profile {name!r}; it has: {known}")
    profile = profiles[name]
    _check_keys(f"the profile {name!r} in {file}", profile, _KEYS)
    if not isinstance(profile, dict) or not all(map(_is_right, profile, profile.values())):
        raise BadUsage(
            f"the profile {name!r} in {file} may have {', '.join(_KEYS)}:"
            " sign is true or false, the others text"
        )
    if "url" not in profile:
        raise BadUsage(f'the profile {name!r} in {file} needs a url: url = "https://…"')
    return _Profile(**profile)


def _profiles(file: Path) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415 - without a profile it is not needed

    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadUsage(f"the profiles are in {file}, which cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise BadUsage(f"{file} is not TOML: {error}") from None
    _check_keys(str(file), content, ["profiles"])
    return profiles if isinstance(profiles := content.get("profiles"), dict) else {}


def _check_keys(owner: str, written: object, allowed: list[str]) -> None:
    if unknown := sorted(written.keys() - set(allowed)) if isinstance(written, dict) else []:
        meant = nearest(unknown[0], allowed)
        raise BadUsage(
            f"{owner} has no key {unknown[0]!r};"
            + (f" did you mean {meant!r}?" if meant else f" it may have {', '.join(allowed)}")
        )


def _is_right(key: str, value: object) -> bool:
    return isinstance(value, bool if key == "sign" else str)
