"""Run the fast part of the suite on each Python that duetime supports.

``python -m tests.supply.try_pythons [3.12 …]`` searches the PATH and pyenv for each interpreter. It
prints and skips a missing one.
"""

from __future__ import annotations

import sys

from tests.supply.project import ROOT, supported_pythons
from tests.supply.try_environments import FAST, interpreter, passes, prepared


def main() -> None:
    """Try the given versions, or all."""
    results = {version: _try(version) for version in sys.argv[1:] or supported_pythons()}
    for version, result in results.items():
        print(f"Python {version}: {result}")
    if "failed" in results.values():
        sys.exit(1)


def _try(version: str) -> str:
    found = interpreter(version)
    if found is None:
        print(f"Python {version} is not on this machine: skipped")
        return "skipped"
    print(f"Python {version}: {found}", flush=True)
    python = prepared(ROOT / ".cache/pythons" / version, found, "requirements/dev.txt")
    return "passed" if passes(python, *FAST) else "failed"


if __name__ == "__main__":
    main()
