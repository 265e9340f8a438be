"""What each Lambda's process writes: structured logs.

It imports no user code and nothing that user code needs.
"""

from __future__ import annotations

import logging
import sys


def write_json_logs(level: int = logging.INFO) -> None:
    """Have everything below the logger ``duetime`` written to standard output, one JSON object a line."""
    from duetime.lambdas.log_lines import LogLines  # noqa: PLC0415 - only a Lambda's process writes so

    output = logging.StreamHandler(sys.stdout)
    output.setFormatter(LogLines())
    root = logging.getLogger("duetime")
    root.handlers, root.propagate = [output], False
    root.setLevel(level)
