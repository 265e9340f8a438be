"""All checks that a change must pass, side by side: ``python -m tools ci``, which `.ci/run` calls.

Two tracks run side by side, one with most of what computes and one with most of what waits, so that no
processor is idle. Each lane writes its own log in .cache/lanes. If a lane fails, its log is printed, and the
others go on: one run shows all that is wrong.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from tools.commands import ROOT

LOGS = ROOT / ".cache/lanes"
FIRST_TRACK = (
    ("check", "make check"),
    ("contract", "make contract"),
    ("chaos", "python -m tools chaos --seconds 20 --guards ''"),
    ("proof", "make proof SEEDS=250"),
    ("mutation", "python -m tools mutation --sample 60"),
    ("guards", "python -m tools guards"),
    ("hours", "python -m tools hours"),
)
SECOND_TRACK = (
    ("test", "make test"),
    ("e2e", "make e2e"),
)
LAST = (("browser", "make browser"),)
"""Alone: its clicks wait for a page, which a busy machine draws late."""
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


def run_in_turn(lanes: Sequence[Lane]) -> None:
    """Run lanes one after the other."""
    for lane in lanes:
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
    *tracks, last = [[Lane(*lane) for lane in track] for track in (FIRST_TRACK, SECOND_TRACK, LAST)]
    threads = [threading.Thread(target=run_in_turn, args=(track,)) for track in tracks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run_in_turn(last)
    lanes = [lane for track in (*tracks, last) for lane in track]
    say("\nlane       minutes  processor  ended")
    for lane in lanes:
        ended = "passed" if lane.code == 0 else f"code {lane.code}"
        say(f"{lane.name:9} {minutes(lane.seconds):>8} {minutes(lane.processor):>10}  {ended}")
    load = " ".join(f"{number:.1f}" for number in os.getloadavg())
    say(f"{'all':9} {(time.monotonic() - began) / 60:8.1f}  load {load}")
    return int(any(lane.code for lane in lanes))


if __name__ == "__main__":
    sys.exit(main())
