"""Run the fast part of the suite with the oldest allowed version of each dependency.

``python -m tests.supply.try_floors [PATH …]`` installs ``requirements/floors.txt`` on the oldest supported
Python, and runs these tests instead of the fast part.
"""

from __future__ import annotations

import sys

from tests.supply.project import ROOT, supported_pythons
from tests.supply.try_environments import FAST, interpreter, passes, prepared

OVER_AWS = ("tests/contract", "tests/functions", "tests/local", "tests/asynchronous")


def main() -> None:
    """Try the given tests, or the fast part with the tests over moto."""
    version, *_ = supported_pythons()
    found = interpreter(version)
    if found is None:
        sys.exit(f"Python {version} is not on this machine; install it, or add it to the PATH")
    python = prepared(ROOT / ".cache/floors", found, "requirements/floors.txt")
    if not passes(python, "-m", "not (long or e2e or dynamodb_local)", *(sys.argv[1:] or (*FAST, *OVER_AWS))):
        sys.exit("a floor in pyproject.toml is too low: raise it, then `python -m tools lock`")


if __name__ == "__main__":
    main()
