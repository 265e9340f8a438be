"""An app whose handlers write what they run to a file, and a process that runs it.

It schedules numbered errands and prints each number that was accepted, until it is killed.
"""

# ruff: noqa: T201 - what is accepted

import os
import sys
from datetime import timedelta
from pathlib import Path

from duetime import App, Payload, Run
from duetime.clock import SystemClock


class Errand(Payload):
    number: int


def shop(runs: Path) -> App:
    app = App()

    @app.action
    def run_errand(payload: Errand, run: Run) -> None:
        line = f"{payload.number} {run.id} {os.getpid()}\n"
        with runs.open("a") as file:
            file.write(line)

    return app


def runs_in(file: Path) -> list[tuple[int, str, int]]:
    """The number, action and process of each run."""
    lines = file.read_text().splitlines() if file.exists() else []
    return [(int(number), action, int(process)) for number, action, process in map(str.split, lines)]


def main(database: str, runs: str, first: int) -> None:
    clock = SystemClock()
    with shop(Path(runs)).embedded(database) as scheduler:
        print("ready", flush=True)
        for number in range(first, first + 10_000):
            action = scheduler.schedule(Errand(number=number), at=timedelta(milliseconds=1))
            print(number, action.id, flush=True)
            clock.wait_until(clock.now() + timedelta(milliseconds=2))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
