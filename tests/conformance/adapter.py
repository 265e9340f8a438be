"""The loop of an adapter in Python."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any


class Unsupported(Exception):
    """The library does not know an expression, or a rule."""


def serve(answer: Callable[[dict[str, Any]], Iterable[datetime]]) -> None:
    """Answer each question on standard input."""
    for line in sys.stdin:
        try:
            runs = [f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" for at in answer(json.loads(line))]
            found: dict[str, Any] = {"runs": runs}
        except Unsupported as why:
            found = {"unsupported": str(why)}
        print(json.dumps(found), flush=True)
