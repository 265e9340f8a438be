"""Fresh Python processes in the repository's root, with the environment of a deployed function."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

ENVIRONMENT = {
    **{
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AWS_", "DUETIME_", "PYTHON"))
    },
    "PYTHONPATH": str(ROOT / "src"),
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "eu-west-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "DUETIME_APP": "bench.an_app:app",
    "DUETIME_QUEUES": '{"default": "http://127.0.0.1:1/due"}',
}
"""The endpoint of clients that are created and never called; no process listens on its port."""


def run_fresh(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments.

    Raises:
        RuntimeError: it failed; with what it said.
    """
    done = subprocess.run(  # noqa: S603 - every argument comes from the bench
        [sys.executable, *arguments],
        cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"python {' '.join(arguments)} failed:\n{done.stderr[-2_000:]}")
    return done
