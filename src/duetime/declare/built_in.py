"""The handlers of duetime's own types: the canary, probes, and checks of deadlines.

A probe's payload chooses what it does. It writes nothing but its own row.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache
from typing import Annotated

from pydantic import Field

from duetime import instant
from duetime.declare.handler import Handler
from duetime.ids import SYSTEM_TENANT, JobName, TenantId
from duetime.model.built_in import CANARY, DEADLINE, PROBE, probe_type
from duetime.model.job import JobRef
from duetime.model.run import Run, WorkerDied
from duetime.payload import Payload
from duetime.retry import MOST_ATTEMPTS, NEVER, Fatal, Retry, RetryPolicy

LONGEST_SLEEP = 30
MOST_FAILURES = 2
"""Seconds, and failing attempts: the third succeeds."""

_BACK_OFF = 1
_STEP = timedelta(seconds=0.2)
"""The interval at which a sleeping probe checks whether it should stop."""
_TIMEOUT = timedelta(minutes=1)
_SHORTEST_WAIT = timedelta(seconds=1)


class Probe(Payload, name=PROBE):
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


CANARY_HANDLER = Handler(
    name=CANARY,
    function=lambda: None,
    payload=None,
    payload_parameter=None,
    run_parameter=None,
    retry=NEVER,
    timeout=_TIMEOUT,
)
"""No manifest lists the canary, so the default worker runs it."""


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


class DeadlineCheck(Payload, name=DEADLINE):
    """What a check of a deadline looks at; `duetime.model.deadline.check_row` writes it."""

    tenant_id: str
    job: str
    nominal_at: str | None = None
    """None: the job's silence."""
    deadline_at: str | None = None
    """The deadline when the check was planned; the present one decides."""

    @property
    def ref(self) -> JobRef:
        """The job."""
        return JobRef(TenantId(self.tenant_id), JobName(self.job))


def deadline_handler(
    look: Callable[[JobRef, datetime], datetime | None], look_at_silence: Callable[[JobRef], None]
) -> Handler:
    """Return the handler of checks of deadlines.

    Args:
        look: looks at a nominal time, and returns when to look again.
        look_at_silence: looks at a job's last success.
    """

    def check(payload: DeadlineCheck, run: Run) -> None:
        if run.tenant_id != SYSTEM_TENANT:
            raise Fatal(f"the type {DEADLINE} is reserved for the system's own actions")
        if payload.nominal_at is None:
            look_at_silence(payload.ref)
        elif (again := look(payload.ref, instant.parse(payload.nominal_at))) is not None:
            reason = f"it looks again at {again:%Y-%m-%dT%H:%M:%SZ}"
            raise Retry(max(again - run.now(), _SHORTEST_WAIT), reason)

    return Handler(
        name=DEADLINE,
        function=check,
        payload=DeadlineCheck,
        payload_parameter="payload",
        run_parameter="run",
        retry=RetryPolicy(MOST_ATTEMPTS, backoff=(5, 30, 60, 300)),
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
