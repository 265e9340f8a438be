"""The probe: an action that every worker runs beside the app's own, to verify a deployment end to end.

Its payload chooses what it does. It writes nothing but its own row. Its attempts hold when its message could
be received, when it started and on which process; a failing attempt's message adds the process' start.
"""

from __future__ import annotations

import types
from datetime import timedelta
from functools import cache
from typing import Annotated

from pydantic import Field

from duetime import instant
from duetime.clock import SystemClock
from duetime.declare.handler import Handler
from duetime.ids import DEFAULT_WORKER
from duetime.model.run import Run
from duetime.payload import Payload
from duetime.retry import Fatal, Retry, RetryPolicy

PROBE = "duetime-probe"
"""The probe of the default worker; another worker's has its name after it."""

LONGEST_SLEEP = 30
MOST_FAILURES = 2
"""Seconds, and failing attempts: the third succeeds."""

_BACK_OFF = 1
_TIMEOUT = timedelta(minutes=1)
_LOADED_AT = SystemClock().now()
"""When this process loaded its code: a run whose message is older paid for a cold start."""


class Probe(Payload, name=PROBE):
    """What a probe does; by default it succeeds at once."""

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


def probe_type(worker: str) -> str:
    """Return the name of a worker's probe type."""
    return PROBE if worker == DEFAULT_WORKER else f"{PROBE}-{worker}"


def is_probe(type_name: str) -> bool:
    """Return whether a type's name is reserved for probes."""
    return type_name == PROBE or type_name.startswith(f"{PROBE}-")


def worker_of(type_name: str) -> str:
    """Return the worker of a probe type."""
    return type_name.removeprefix(PROBE).removeprefix("-") or DEFAULT_WORKER


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
    facts = f"as its payload says; process since {instant.text(_LOADED_AT)}"
    if payload.sleep:
        run.stop.wait(payload.sleep)
        run.raise_if_cancelled()
    if payload.die and run.fence == 1:
        raise SystemExit(f"{run.type} ends its process, {facts}")
    if payload.poison and run.fence == 1:
        raise Fatal(f"failed for good, {facts}")
    if run.attempt <= payload.fail:
        raise Retry(reason=f"failed, {facts}")
    if payload.commit:
        run.commit([])
