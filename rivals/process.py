"""One process of a contender: it exchanges JSON lines, writes its runs to a file, and ends with the bench."""

from __future__ import annotations

import contextlib
import json
import math
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bench.fresh import ENVIRONMENT, ROOT
from rivals.environment import log_of

_STARTS_WITHIN, _ANSWERS_WITHIN = 60.0, 120.0
LOOK_EVERY, _QUIET = 0.02, 7.0
"""Seconds."""
INTERRUPTED = threading.Event()
"""Set when the bench is ending, so that all waits end."""


class Refused(Exception):
    """A contender's exception as the response to a request.

    Attributes:
        kind: the name of its class.
    """

    def __init__(self, script: str, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(f"{script}: {kind}: {message}")


@dataclass(slots=True)
class Runs:
    """The runs that handlers recorded, in the order of their starts."""

    file: Path

    def read(self) -> list[Mapping[str, Any]]:
        """Return the recorded runs."""
        if not self.file.exists():
            return []
        return [json.loads(line) for line in self.file.read_text().splitlines()]

    def wait_for(self, count: int, until: float, quiet_from: float = math.inf) -> list[Mapping[str, Any]]:
        """Wait for `count` runs until `until`; after `quiet_from`, some quiet seconds end the wait."""
        seen, last = 0, time.time()
        while len(found := self.read()) < count and time.time() < min(until, max(quiet_from, last + _QUIET)):
            if len(found) > seen:
                seen, last = len(found), time.time()
            if INTERRUPTED.wait(LOOK_EVERY):
                break
        return found


@dataclass(slots=True)
class Process:
    """A script in one of its roles."""

    command: list[str]
    runs: Runs
    environment: Mapping[str, str] = field(default_factory=dict)
    popen: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        log = log_of(Path(self.command[1]))
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a") as stderr:
            self.popen = subprocess.Popen(  # noqa: S603 - every argument comes from the bench
                self.command, cwd=self.runs.file.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=stderr, text=True, bufsize=1, start_new_session=True,
                env={
                    **ENVIRONMENT, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "RUNS": str(self.runs.file),
                    **self.environment,
                },
            )  # fmt: skip
        try:
            self._read(_STARTS_WITHIN)
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.kill()

    def request(self, do: str, **arguments: Any) -> Any:
        """Send one request, and return its response.

        Raises:
            Refused: the contender raised an exception.
            RuntimeError: no response in time.
        """
        assert self.popen is not None
        assert self.popen.stdin is not None
        self.popen.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        return self._read(_ANSWERS_WITHIN).get("answer")

    def kill(self) -> None:
        """Kill the process and its children."""
        if self.popen is None:
            return
        if self.popen.poll() is None:
            os.killpg(self.popen.pid, signal.SIGKILL)
            self.popen.wait()
        for pipe in (self.popen.stdin, self.popen.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _read(self, within: float) -> dict[str, Any]:
        assert self.popen is not None
        assert self.popen.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self.popen.stdout, selectors.EVENT_READ)
            line = self.popen.stdout.readline() if selector.select(within) else ""
        if not line:
            name = Path(self.command[1])
            raise RuntimeError(f"{name.stem} {self.command[2]} sent no response; its log is {log_of(name)}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise Refused(Path(self.command[1]).stem, answer["error"], answer["message"])
        return answer
