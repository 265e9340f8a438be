"""All checks that a change must pass, side by side: ``python -m tools ci``, which `.ci/run` calls.

Lanes that compute run beside lanes that wait, so that no processor is idle; check and test find most, so they
begin. Each lane writes its own log in .cache/lanes. If a lane fails, its log is printed, and the others are
ended.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from tools.commands import ROOT

LOGS = ROOT / ".cache/lanes"
COMPUTING = (
    ("check", "make check"),
    ("contract", "make contract"),
    ("chaos", "python -m tools chaos --seconds 20 --guards ''"),
    ("proof", "make proof SEEDS=700"),
    ("mutation", "python -m tools mutation --sample 60"),
    ("guards", "python -m tools guards"),
)
WAITING = (
    ("test", "make test"),
    ("e2e", "make e2e"),
    ("hours", "python -m tools hours"),
    ("browser", "make browser"),
)
SHOWN = 4
"""The last lines of a log that are printed if its lane passes."""


@dataclass
class Lane:
    """A lane that runs, or has run.

    Attributes:
        seconds: how long it took.
        code: its exit code, once it has ended.
    """

    name: str
    command: str
    seconds: float = 0.0
    code: int | None = None
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def run(self) -> bool:
        """Run it to its end; return whether it passed."""
        say(f"{self.name}: {self.command}")
        began = time.monotonic()
        words = [sys.executable if word == "python" else word for word in shlex.split(self.command)]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(  # noqa: S603 - a command of this file
                words, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
            self.code = self.process.wait()
        self.seconds = time.monotonic() - began
        lines = self.log.read_text(errors="replace").splitlines()
        shown = lines if self.code else lines[-SHOWN:]
        say("\n".join([f"{self.name}: {'FAILED' if self.code else 'passed'} after {minutes(self)}", *shown]))
        return not self.code

    def end(self) -> None:
        """End it, with all processes that it started."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)

    @property
    def log(self):  # noqa: ANN201 - a path of pathlib
        """Return the file of its output."""
        return LOGS / f"{self.name}.log"


class Lanes:
    """All lanes of a run."""

    def __init__(self) -> None:
        self.begun: list[Lane] = []
        self.has_failed = False
        self._lock = threading.Lock()

    def run(self, *tracks: Sequence[tuple[str, str]]) -> None:
        """Run tracks beside each other, the lanes of each one after the other, up to the first failure."""
        threads = [threading.Thread(target=self._run, args=(track,)) for track in tracks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _run(self, track: Sequence[tuple[str, str]]) -> None:
        for name, command in track:
            lane = Lane(name, command)
            with self._lock:
                if self.has_failed:
                    return
                self.begun.append(lane)
            if not lane.run():
                with self._lock:
                    self.has_failed = True
                    for other in self.begun:
                        other.end()
                return


def minutes(lane: Lane) -> str:
    """Return how long a lane took, as 4:05."""
    return f"{int(lane.seconds // 60)}:{int(lane.seconds % 60):02}"


def say(text: str) -> None:
    """Print now, since several lanes print."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """Run all lanes, and print the time of each; return 1 if one failed."""
    LOGS.mkdir(parents=True, exist_ok=True)
    began, lanes = time.monotonic(), Lanes()
    lanes.run(COMPUTING, WAITING)
    say("\nlane       minutes  ended")
    for lane in lanes.begun:
        say(f"{lane.name:9} {minutes(lane):>8}  {'passed' if lane.code == 0 else f'code {lane.code}'}")
    load = " ".join(f"{number:.1f}" for number in os.getloadavg())
    say(f"{'all':9} {(time.monotonic() - began) / 60:8.1f}  load {load}")
    return int(lanes.has_failed)


if __name__ == "__main__":
    sys.exit(main())
