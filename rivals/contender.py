"""A contender: who is measured, with what store, and in which processes."""

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
    """Who is asked, and the worker that may be killed; for some they are the same.

    Attributes:
        client: schedules.
        worker: runs what is due.
        another: makes a worker beside it, not started yet.
        runs: what the handlers write down.
    """

    client: Process
    worker: Process
    another: Callable[[], Process]
    runs: Runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """One scheduler as it is measured.

    Attributes:
        name: heads its column.
        how: its settings, in words.
        script: what plays it.
        new_store: makes an empty store, and returns its URL.
        worker: the role of its worker.
        client: the role of its client; empty: its worker is asked.
        beats: its schedulers of recurring jobs are processes beside its workers.
        schema: it wants a schema applied first.
        interpreter: of the environment that it is installed in.
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
        """One of its processes, not started yet."""
        script = str(HERE / self.script)
        return Process([str(self.interpreter), script, role, store, json.dumps(settings)], runs)

    @contextlib.contextmanager
    def clerk(self) -> Iterator[Process]:
        """What schedules, alone."""
        with contextlib.ExitStack() as stack:
            store, runs = self._empty(stack)
            yield stack.enter_context(self.process(self.client or self.worker, store, runs))

    @contextlib.contextmanager
    def playing(self, settings: Settings = NOTHING) -> Iterator[Cast]:
        """A client and a worker, on a store of their own."""
        with contextlib.ExitStack() as stack:
            store, runs = self._empty(stack)
            worker = stack.enter_context(self.process(self.worker, store, runs, settings))
            client = worker
            if self.client:
                client = stack.enter_context(self.process(self.client, store, runs, settings))
            yield Cast(client, worker, lambda: self.process(self.worker, store, runs, settings), runs)

    def apart(self, settings: Settings = NOTHING) -> contextlib.AbstractContextManager[Cast]:
        """The same, with a worker whose end leaves the store as it is."""
        return self.playing(settings)

    @contextlib.contextmanager
    def twins(self) -> Iterator[Runs]:
        """Two schedulers of one recurring job on one store."""
        with contextlib.ExitStack() as stack:
            store, runs = self._empty(stack)
            roles = [*([self.worker] if self.beats else []), "scheduler", "scheduler"]
            for role in roles:
                stack.enter_context(self.process(role, store, runs))
            yield runs

    @contextlib.contextmanager
    def alone(self, role: str, settings: Settings = NOTHING) -> Iterator[Process]:
        """One process of it, without a store."""
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
