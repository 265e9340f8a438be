"""``python -m duetime.api.openapi docs/openapi.json`` writes the document and the served copy."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from duetime.api.document_route import FILE
from duetime.api.openapi.document import generate

parser = argparse.ArgumentParser(prog="python -m duetime.api.openapi", description=__doc__)
parser.add_argument("file", type=Path, help="where the document is written")
file = parser.parse_args().file
document = generate()
pretty = f"{json.dumps(document, indent=2, ensure_ascii=False)}\n"
file.write_text(pretty, encoding="utf-8")
FILE.write_text(json.dumps(document, separators=(",", ":"), ensure_ascii=False), encoding="utf-8")
