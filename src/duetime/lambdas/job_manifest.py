"""The jobs' definitions as a property of a custom resource: CloudFormation accepts short text only."""

from __future__ import annotations

import base64
import zlib

PLAIN_LIMIT = 20_000
"""The most characters of JSON that the template contains uncompressed."""

_COMPRESSED = "z:"


def packed(json_text: str) -> str:
    """Return the text of the property: the JSON, compressed if it is long."""
    if len(json_text) <= PLAIN_LIMIT:
        return json_text
    return _COMPRESSED + base64.b64encode(zlib.compress(json_text.encode(), 9)).decode()


def unpacked(written: str) -> str:
    """Return the JSON of a property that `packed` has made."""
    if not written.startswith(_COMPRESSED):
        return written
    return zlib.decompress(base64.b64decode(written.removeprefix(_COMPRESSED))).decode()
