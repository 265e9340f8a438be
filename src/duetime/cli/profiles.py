"""Profiles: several deployments by name, in one file. What is secret is not kept there."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from duetime.cli.failures import BadUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One deployment: ``[profiles.NAME]`` of the file. None where it says nothing."""

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
        BadUsage: the file cannot be read, or has no such profile; or it says what no profile may.
    """
    held = _profiles(Path(file).expanduser())
    if name not in held:
        known = ", ".join(sorted(held)) or "none"
        raise BadUsage(f"{file} has no profile {name!r}; it has: {known}")
    said = held[name]
    if not isinstance(said, dict) or not all(map(_is_right, said, said.values())):
        raise BadUsage(
            f"the profile {name!r} in {file} may say {', '.join(_KEYS)}: sign is true or false, the others text"
        )
    if "url" not in said:
        raise BadUsage(f'the profile {name!r} in {file} needs a url: url = "https://…"')
    return Profile(**said)


def _profiles(file: Path) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415 - who has no profiles reads none

    try:
        held = tomllib.loads(file.read_text(encoding="utf-8")).get("profiles", {})
    except OSError as error:
        raise BadUsage(f"profiles are kept in {file}, which cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise BadUsage(f"{file} is no TOML: {error}") from None
    return held if isinstance(held, dict) else {}


def _is_right(key: str, value: object) -> bool:
    return key in _KEYS and isinstance(value, bool if key == "sign" else str)
