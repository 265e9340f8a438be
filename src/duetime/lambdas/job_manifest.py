"""The jobs' definitions as a property of a custom resource.

CloudFormation carries text, and not much of it.
"""

from __future__ import annotations

import base64
import zlib

PLAIN_LIMIT = 20_000
"""Characters up to which the JSON is left readable in the template."""

_COMPRESSED = "z:"


def packed(json_text: str) -> str:
    """The text to put into the property: the JSON as it is, compressed where it is long."""
    if len(json_text) <= PLAIN_LIMIT:
        return json_text
    return _COMPRESSED + base64.b64encode(zlib.compress(json_text.encode(), 9)).decode()


def unpacked(written: str) -> str:
    """The JSON that `packed` was given."""
    if not written.startswith(_COMPRESSED):
        return written
    return zlib.decompress(base64.b64decode(written.removeprefix(_COMPRESSED))).decode()
