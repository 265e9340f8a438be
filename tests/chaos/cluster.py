"""The processes of a run: starts, kills, freezes and ends them, each by its id."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from duetime.clock import SystemClock
from tests.chaos.process import Words

ROOT = Path(__file__).parent.parent.parent
CLOCK = SystemClock()


@dataclass
class Cluster:
    """Processes by name. Starts must be called by the main thread: a process dies with the starting thread.

    Attributes:
        environment: of every process.
        directory: of the records and the logs.
    """

    environment: Mapping[str, str]
    directory: Path
    seed: str
    without: str = ""
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    frozen: set[str] = field(default_factory=set)
    killed: int = 0
    froze: int = 0

    def start(self, name: str) -> subprocess.Popen[bytes]:
        """Start the process `ROLE` or `ROLE-NUMBER`."""
        role = name.partition("-")[0]
        words = Words(role, name, str(self.directory), f"{self.seed} {name} {self.killed}", self.without)
        with (self.directory / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(  # noqa: S603 - every argument is from this file
                [sys.executable, "-m", "tests.chaos.process", json.dumps(asdict(words))],
                cwd=ROOT,
                env={**self.environment, "AWS_SDK_UA_APP_ID": name},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.running[name] = process
        return process

    def kill(self, name: str) -> None:
        """Kill a process in the middle of what it does."""
        process = self.running.pop(name)
        process.kill()
        process.wait()
        self.frozen.discard(name)
        self.killed += 1

    def freeze(self, name: str) -> None:
        """Stop a process from running, until `thaw`."""
        self.running[name].send_signal(signal.SIGSTOP)
        self.frozen.add(name)
        self.froze += 1

    def thaw(self, name: str) -> None:
        """Let a frozen process go on."""
        if name in self.frozen:
            self.running[name].send_signal(signal.SIGCONT)
            self.frozen.remove(name)

    def check(self) -> None:
        """Raise an error if a process has ended by itself.

        Raises:
            RuntimeError: with the end of its log.
        """
        for name, process in self.running.items():
            if process.poll() is not None:
                log = (self.directory / f"{name}.log").read_text(errors="replace")[-3_000:]
                raise RuntimeError(f"{name} ended by itself with {process.returncode}:\n{log}")


@contextmanager
def cluster(environment: Mapping[str, str], directory: Path, seed: str, without: str) -> Iterator[Cluster]:
    """A cluster without processes. At its end all are killed."""
    made = Cluster(environment, directory, seed, without)
    try:
        yield made
    finally:
        for name in list(made.running):
            made.kill(name)
