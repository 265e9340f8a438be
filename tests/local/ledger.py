"""An app whose handlers write to a file, and a process that runs it.

The process prints each number that it schedules, until it is killed.
"""

# ruff: noqa: T201 - what is accepted

import os
import sys
from datetime import timedelta
from pathlib import Path

from duetime import App, Payload, Run, every
from duetime.clock import SystemClock
from duetime.local import LocalCloud, LocalOptions
from tests.local.conftest import SHORT


class Entry(Payload):
    number: int


def ledger(runs: Path) -> App:
    app = App()

    def write(line: str) -> None:
        with runs.open("a") as file:
            file.write(f"{line} {os.getpid()}\n")

    @app.action
    def enter(payload: Entry, run: Run) -> None:
        write(f"entry {run.id}")

    @app.job(every(seconds=1), name="ledger-tick")
    def tick(run: Run) -> None:
        write(f"tick {run.nominal_at.isoformat()}")

    return app


def options(data: Path) -> LocalOptions:
    return LocalOptions(settings=SHORT, data=data)


def main(data: str, runs: str, first: int) -> None:
    clock = SystemClock()
    with LocalCloud(ledger(Path(runs)), options(Path(data))) as cloud:
        scheduler = cloud.scheduler()
        print("ready", flush=True)
        for number in range(first, first + 10_000):
            # Some are due at once, some while no process runs, and some have a timer.
            action = scheduler.schedule(
                Entry(number=number), at=timedelta(seconds=number % 3 * 2), precision="millisecond"
            )
            print(number, action.id, flush=True)
            clock.wait_until(clock.now() + timedelta(milliseconds=20))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
