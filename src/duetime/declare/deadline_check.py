"""The handler of checks of deadlines; only the system's worker runs it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from duetime import instant
from duetime.declare.handler import Handler
from duetime.ids import JobName, TenantId
from duetime.model.built_in import DEADLINE
from duetime.model.job import JobRef
from duetime.model.run import Run
from duetime.payload import Payload
from duetime.retry import MOST_ATTEMPTS, Retry, RetryPolicy

_TIMEOUT = timedelta(minutes=1)
_SHORTEST_WAIT = timedelta(seconds=1)


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
