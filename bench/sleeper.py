"""The sleeper: a process that only sleeps until given instants, and prints how late it woke.

It runs beside what is measured: what it is late, this machine is. ``python -m bench.sleeper`` reads seconds
since 1970, one a line, soonest first, and writes the lateness of each.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable

from bench.fresh import ENVIRONMENT, ROOT


def started(instants: Iterable[float]) -> subprocess.Popen[str]:
    """Start a sleeper for these instants; `woken` waits for it."""
    process = subprocess.Popen(  # noqa: S603 - this very module
        [sys.executable, "-m", __spec__.name],
        cwd=ROOT, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.writelines(f"{instant!r}\n" for instant in sorted(instants))
    process.stdin.close()
    return process


def woken(process: subprocess.Popen[str]) -> list[float]:
    """Return the seconds of lateness of each instant."""
    assert process.stdout is not None
    with process.stdout as output:
        late = [float(line) for line in output]
    process.wait()
    return late


def main() -> None:
    for instant in [float(line) for line in sys.stdin]:
        while (left := instant - time.time()) > 0:
            time.sleep(left)
        print(time.time() - instant)


if __name__ == "__main__":
    main()
