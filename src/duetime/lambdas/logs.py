"""Structured logs of a Lambda's process. This module imports no user code."""

from __future__ import annotations

import logging
import sys


def write_json_logs(level: int = logging.INFO) -> None:
    """Write the records of the logger ``duetime`` to standard output, one JSON object a line."""
    from duetime.lambdas.log_lines import LogLines  # noqa: PLC0415 - only a Lambda's process writes so

    output = logging.StreamHandler(sys.stdout)
    output.setFormatter(LogLines())
    root = logging.getLogger("duetime")
    root.handlers, root.propagate = [output], False
    root.setLevel(level)
