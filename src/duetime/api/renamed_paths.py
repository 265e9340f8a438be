"""The former paths of routes. They answer as before, with headers that name the successor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

RENAMED: Mapping[str, str] = {"/scheduling": "/actions", "/background-jobs": "/jobs"}
"""The successor of the first segment of each former path."""

FORMER: Mapping[str, str] = {successor: former for former, successor in RENAMED.items()}

DEPRECATED_SINCE = "@1795392000"
"""2026-11-23, as RFC 9745 writes it."""


def successor_of(path: str, prefix: str) -> str | None:
    """Return the present path of a former one; None if `path` is not a former path."""
    first, slash, rest = path.removeprefix(prefix).removeprefix("/").partition("/")
    if not path.startswith(f"{prefix}/") or f"/{first}" not in RENAMED:
        return None
    return f"{prefix}{RENAMED[f'/{first}']}{slash}{rest}"


def with_successor(response: dict[str, Any], link: str) -> dict[str, Any]:
    """Return the response of a former path, with the path of its successor as the client would call it."""
    link = quote(link, safe="/%:@")
    headers = {"Deprecation": [DEPRECATED_SINCE], "Link": [f'<{link}>; rel="successor-version"']}
    return {**response, "multiValueHeaders": {**(response.get("multiValueHeaders") or {}), **headers}}
