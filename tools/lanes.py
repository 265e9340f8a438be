"""All checks that a change must pass, side by side: ``python -m tools ci``, which `.ci/run` calls.

Two lanes run side by side; when one ends, the next begins. The longest come first, so that the last two end
at about the same time. `browser` runs alone: its clicks wait for a page, which a busy machine draws late.
Each lane writes its own log in .cache/lanes. If a lane fails, its log is printed, and the others go on: one
run shows all that is wrong.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tools.commands import ROOT

LOGS = ROOT / ".cache/lanes"
SIDE_BY_SIDE = 2
LANES = (
    ("e2e", "make e2e"),
    ("test", "make test"),
    ("proof", "make proof SEEDS=250"),
    ("check", "make check"),
    ("contract", "make contract"),
    ("hours", "python -m tools hours"),
    ("chaos", "python -m tools chaos --seconds 20 --guards ''"),
    ("mutation", "python -m tools mutation --sample 60"),
    ("guards", "python -m tools guards"),
)
LAST = ("browser", "make browser")
SHOWN = 4
"""The last lines of a log that are printed if its lane passes."""


@dataclass
class Lane:
    """A lane that runs, or has run.

    Attributes:
        seconds: how long it took.
        processor: its processor time in seconds, with that of its children.
        code: its exit code, once it has ended.
    """

    name: str
    command: str
    seconds: float = 0.0
    processor: float = 0.0
    code: int | None = None

    def run(self) -> None:
        """Run it to its end, and print the end of its log; all of it if it failed."""
        say(f"{self.name}: {self.command}")
        began, path = time.monotonic(), LOGS / f"{self.name}.log"
        words = [sys.executable if word == "python" else word for word in shlex.split(self.command)]
        with path.open("wb") as log:
            process = subprocess.Popen(words, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)  # noqa: S603 - ours
            _, status, used = os.wait4(process.pid, 0)
        self.code = process.returncode = os.waitstatus_to_exitcode(status)
        self.seconds, self.processor = time.monotonic() - began, used.ru_utime + used.ru_stime
        lines = path.read_text(errors="replace").splitlines()
        shown = lines if self.code else lines[-SHOWN:]
        say(
            "\n".join(
                [f"{self.name}: {'FAILED' if self.code else 'passed'} after {minutes(self.seconds)}", *shown]
            )
        )


def run_all(lanes: Sequence[Lane]) -> None:
    """Run them in this order, some side by side."""
    waiting = iter(lanes)  # a list's: threads may share it
    threads = [threading.Thread(target=run_in_turn, args=(waiting,)) for _ in range(SIDE_BY_SIDE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def run_in_turn(waiting: Iterator[Lane]) -> None:
    """Run one lane after the other, until none waits."""
    for lane in waiting:
        lane.run()


def minutes(seconds: float) -> str:
    """Return a time as 4:05."""
    return f"{int(seconds // 60)}:{int(seconds % 60):02}"


def say(text: str) -> None:
    """Print now, since several lanes print."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """Run all lanes, and print the time of each; return 1 if one failed."""
    LOGS.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    lanes, last = [Lane(*lane) for lane in LANES], Lane(*LAST)
    run_all(lanes)
    last.run()
    lanes.append(last)
    say("\nlane       minutes  processor  ended")
    for lane in lanes:
        ended = "passed" if lane.code == 0 else f"code {lane.code}"
        say(f"{lane.name:9} {minutes(lane.seconds):>8} {minutes(lane.processor):>10}  {ended}")
    load = " ".join(f"{number:.1f}" for number in os.getloadavg())
    say(f"{'all':9} {(time.monotonic() - began) / 60:8.1f}  load {load}")
    return int(any(lane.code for lane in lanes))


if __name__ == "__main__":
    sys.exit(main())
