"""The handlers of every worker beside the app's own: of the canary and of `duetime deployment verify`.

A probe's payload chooses what it does. It writes nothing but its own row.

pydantic builds the class of its payload when it is first used: few processes run one.
"""

from __future__ import annotations

import types
from datetime import timedelta
from functools import cache
from typing import Annotated

from pydantic import Field

from duetime.declare.handler import Handler
from duetime.model.built_in import CANARY, PROBE, probe_type
from duetime.model.run import Run, WorkerDied
from duetime.payload import Payload
from duetime.retry import NEVER, Fatal, Retry, RetryPolicy

LONGEST_SLEEP = 30
MOST_FAILURES = 2
"""Seconds, and failing attempts: the third succeeds."""

_BACK_OFF = 1
_STEP = timedelta(seconds=0.2)
"""The interval at which a sleeping probe checks whether it should stop."""
_TIMEOUT = timedelta(minutes=1)


class Probe(Payload, name=PROBE, defer_build=True):
    """The behaviour of a probe; by default it succeeds at once."""

    fail: Annotated[int, Field(ge=0, le=MOST_FAILURES)] = 0
    """The number of first attempts that fail; each is retried after a second."""
    poison: bool = False
    """The first run fails for good; after a redrive it succeeds."""
    sleep: Annotated[float, Field(ge=0, le=LONGEST_SLEEP)] = 0
    """Seconds that each run lasts; a cancel or a lost lease ends it sooner."""
    commit: bool = False
    """The run settles by `Run.commit`, in a transaction of its own."""
    die: bool = False
    """The first run ends its process. The API accepts this from operators only."""
    notify: bool = False
    """Metrics, alarms and events include it, as they include an app's action."""


def _does_nothing(name: str) -> Handler:
    """Return a handler of a type that no manifest lists, so that the default worker runs it."""
    return Handler(
        name=name,
        function=lambda: None,
        payload=None,
        payload_parameter=None,
        run_parameter=None,
        retry=NEVER,
        timeout=_TIMEOUT,
    )


UNLISTED = {CANARY: _does_nothing(CANARY)}
"""The handlers of the types that no manifest lists."""


@cache
def probe_handler(worker: str) -> Handler:
    """Return the handler of a worker's probe."""
    name = probe_type(worker)
    payload = Probe if name == PROBE else types.new_class("Probe", (Probe,), {"name": name})

    return Handler(
        name=name,
        function=_act,
        payload=payload,
        payload_parameter="payload",
        run_parameter="run",
        retry=RetryPolicy(MOST_FAILURES + 1, backoff=_BACK_OFF),
        timeout=_TIMEOUT,
    )


def _act(payload: Probe, run: Run) -> None:
    ends = run.now() + timedelta(seconds=payload.sleep)
    while run.now() < ends:
        run.raise_if_cancelled()
        run.clock.wait_until(min(ends, run.now() + _STEP))
    if payload.die and run.fence == 1:
        raise WorkerDied(f"{run.type} ends its process, as its payload says")
    if payload.poison and run.fence == 1:
        raise Fatal("failed for good, as its payload says")
    if run.attempt <= payload.fail:
        raise Retry(reason="failed, as its payload says")
    if payload.commit:
        run.commit([])
