"""Profiles: several deployments by name, in one file without secrets."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from duetime.cli.failures import BadUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One deployment: ``[profiles.NAME]`` of the file. None where a key is missing."""

    url: str | None = None
    sign: bool | None = None
    region: str | None = None
    tenant: str | None = None
    user: str | None = None
    prefix: str | None = None


_KEYS = [field.name for field in fields(Profile)]


def profile_named(name: str, file: str) -> Profile:
    """Read one profile.

    Raises:
        BadUsage: the file cannot be read, has no such profile, or the profile has an invalid key.
    """
    profiles = _profiles(Path(file).expanduser())
    if name not in profiles:
        known = ", ".join(sorted(profiles)) or "none"
        raise BadUsage(f"{file} has no profile {name!r}; it has: {known}")
    profile = profiles[name]
    if not isinstance(profile, dict) or not all(map(_is_right, profile, profile.values())):
        raise BadUsage(
            f"the profile {name!r} in {file} may have {', '.join(_KEYS)}:"
            " sign is true or false, the others text"
        )
    if "url" not in profile:
        raise BadUsage(f'the profile {name!r} in {file} needs a url: url = "https://…"')
    return Profile(**profile)


def _profiles(file: Path) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415 - without a profile it is not needed

    try:
        profiles = tomllib.loads(file.read_text(encoding="utf-8")).get("profiles", {})
    except OSError as error:
        raise BadUsage(f"the profiles are in {file}, which cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise BadUsage(f"{file} is no TOML: {error}") from None
    return profiles if isinstance(profiles, dict) else {}


def _is_right(key: str, value: object) -> bool:
    return key in _KEYS and isinstance(value, bool if key == "sign" else str)
