"""Import an app and write the types and jobs that it registers. `duetime.cdk.handlers` runs it as a program.

``python -P read_app.py RESULT MODULE:NAME DIRECTORY…`` imports from these directories first.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from duetime.lambdas.loading import load_app


def main(result: str, app: str, *directories: str) -> None:
    """Write the app's manifest, its jobs and its longest time-out to the file `result`."""
    sys.path[:0] = directories
    loaded = load_app(app)
    slowest = max(loaded.handlers.values(), key=lambda handler: handler.timeout)
    found = {
        "manifest": loaded.manifest.to_json(),
        "jobs": loaded.manifest.jobs_json(),
        "longest": slowest.timeout.total_seconds(),
        "slowest": slowest.where,
    }
    Path(result).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
