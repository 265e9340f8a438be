"""Entity tags of public files: a client that has a file does not receive it again (``If-None-Match``)."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256


def tag_of(content: str) -> str:
    """Return the content's ETag. It is weak, since a gateway may compress the content."""
    return f'W/"{sha256(content.encode()).hexdigest()[:32]}"'


def has_tag(headers: Mapping[str, str] | None, tag: str) -> bool:
    """Return whether ``If-None-Match`` of a request has the tag, or is ``*``."""
    found = [value for name, value in (headers or {}).items() if name.lower() == "if-none-match"]
    sent = {part.strip() for value in found for part in value.split(",")}
    return not sent.isdisjoint({tag, tag.removeprefix("W/"), "*"})
