"""A contender: a scheduler, its store and its processes."""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from rivals.process import Process, Runs
from rivals.servers import NewStore

HERE = Path(__file__).parent
Settings = Mapping[str, Any]
NOTHING: Settings = {}


class Cast(NamedTuple):
    """The client, and the worker that may be killed; some contenders have one process for both.

    Attributes:
        client: schedules.
        worker: runs what is due.
        another: returns a further worker, not yet started.
        runs: the runs that handlers record.
    """

    client: Process
    worker: Process
    another: Callable[[], Process]
    runs: Runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """One measured scheduler.

    Attributes:
        name: heads its column.
        how: its settings, in words.
        script: its program.
        new_store: creates an empty store and returns its URL.
        worker: the role of its worker.
        client: the role of its client; empty if the worker is the client.
        beats: its schedulers of recurring jobs are separate processes.
        schema: it needs a schema.
        interpreter: of its environment.
    """

    name: str
    how: str
    script: str
    new_store: NewStore = field(default=str)
    worker: str = "worker"
    client: str = "client"
    beats: bool = False
    schema: bool = False
    interpreter: Path = field(default=Path(sys.executable))

    def process(self, role: str, store: str, runs: Runs, settings: Settings = NOTHING) -> Process:
        """Return one of its processes, not yet started."""
        script = str(HERE / self.script)
        return Process([str(self.interpreter), script, role, store, json.dumps(settings)], runs)

    @contextlib.contextmanager
    def clerk(self) -> Iterator[Process]:
        """Yield a client alone."""
        with contextlib.ExitStack() as stack:
            store, runs = self._empty(stack)
            yield stack.enter_context(self.process(self.client or self.worker, store, runs))

    @contextlib.contextmanager
    def playing(self, settings: Settings = NOTHING) -> Iterator[Cast]:
        """Yield a client and a worker, on a store of their own."""
        with contextlib.ExitStack() as stack:
            store, runs = self._empty(stack)
            worker = stack.enter_context(self.process(self.worker, store, runs, settings))
            client = worker
            if self.client:
                client = stack.enter_context(self.process(self.client, store, runs, settings))
            yield Cast(client, worker, lambda: self.process(self.worker, store, runs, settings), runs)

    def apart(self, settings: Settings = NOTHING) -> contextlib.AbstractContextManager[Cast]:
        """Yield the same, with a worker whose end does not affect the store."""
        return self.playing(settings)

    @contextlib.contextmanager
    def twins(self) -> Iterator[Runs]:
        """Yield the runs of two schedulers of one recurring job on one store."""
        with contextlib.ExitStack() as stack:
            store, runs = self._empty(stack)
            roles = [*([self.worker] if self.beats else []), "scheduler", "scheduler"]
            for role in roles:
                stack.enter_context(self.process(role, store, runs))
            yield runs

    @contextlib.contextmanager
    def alone(self, role: str, settings: Settings = NOTHING) -> Iterator[Process]:
        """Yield one process, without a store."""
        with fresh_runs() as runs, self.process(role, "", runs, settings) as process:
            yield process

    def _empty(self, stack: contextlib.ExitStack) -> tuple[str, Runs]:
        store, runs = self.new_store(), stack.enter_context(fresh_runs())
        if self.schema:
            with self.process("schema", store, runs):
                pass
        return store, runs


@contextlib.contextmanager
def fresh_runs() -> Iterator[Runs]:
    with tempfile.TemporaryDirectory() as place:
        yield Runs(Path(place, "runs"))
