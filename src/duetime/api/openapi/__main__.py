"""``python -m duetime.api.openapi docs/openapi.json`` writes the document."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from duetime.api import PREFIX
from duetime.api.openapi.whole import whole


def main(file: str) -> None:
    """Write the document to a file."""
    text = json.dumps(whole(PREFIX), indent=2, ensure_ascii=False)
    Path(file).write_text(f"{text}\n", encoding="utf-8")


main(*sys.argv[1:])
