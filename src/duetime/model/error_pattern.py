"""The pattern of an error: its text without the parts that differ from one failure to the next. Pure."""

from __future__ import annotations

import re

# The console's list is the same.
_DIFFERING = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        r"https?://\S+",
        r"\"[^\"]*\"|'[^']*'|`[^`]*`|«[^»]*»",
        r"\b[\w.+-]+@[\w-]+\.[\w.-]+\b",
        r"\b0x[0-9a-f]+\b|\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b",
        r"\b[\w:.-]*\d[\w:.-]*",
        r"(…[\s,:;/-]*)+…",
    )
)


def error_pattern(reason: str) -> str:
    """Return an error without ids, numbers, addresses and quoted values."""
    for differing in _DIFFERING:
        reason = differing.sub("…", reason)
    return " ".join(reason.split())
