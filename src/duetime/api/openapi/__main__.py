"""``python -m duetime.api.openapi docs/openapi.json`` writes the document and the served copy."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from duetime.api.document_route import FILE
from duetime.api.openapi.document import generate

document = generate()
pretty = f"{json.dumps(document, indent=2, ensure_ascii=False)}\n"
Path(sys.argv[1]).write_text(pretty, encoding="utf-8")
FILE.write_text(json.dumps(document, separators=(",", ":"), ensure_ascii=False), encoding="utf-8")
