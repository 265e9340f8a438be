"""The JSON view of the options of a job, which a job and each of its definitions show."""

from __future__ import annotations

from typing import Any, Self

from duetime.api.api_model import ApiModel
from duetime.model.job import Definition, Overlap, Precision
from duetime.model.redaction import Redacted
from duetime.retry import RetryPolicy


class RetryView(ApiModel):
    """A retry policy; spans are in seconds."""

    attempts: int
    """Runs in all."""
    backoff: list[float]
    """Before each further run; the last one repeats."""
    jitter: float
    """The share by which a back-off gets longer at most, at random: 0.1 is 10 %."""
    give_up_after: float | None
    """After this long since it was first due no further run is started; null: never."""

    @classmethod
    def from_policy(cls, policy: RetryPolicy) -> Self:
        """Return the view of the policy."""
        return cls(
            attempts=policy.attempts,
            backoff=[delay.total_seconds() for delay in policy.backoff],
            jitter=policy.jitter,
            give_up_after=None if policy.give_up_after is None else policy.give_up_after.total_seconds(),
        )


class JobOptionsView(ApiModel):
    """The options of a job."""

    payload: Any
    """The payload of each run, or null. Sensitive values are `[redacted]` without `payloads:read`."""
    redacted: list[str]
    """The paths of sensitive values that are hidden from the caller; `*` if all is hidden."""
    retry: RetryView | None
    """Null where the handler's own policy applies."""
    overlap: Overlap
    """What becomes of an occurrence while another run has not ended."""
    catch_up: int
    """How many of the latest missed occurrences run later."""
    precision: Precision
    """`second`, or `minute` if a run may be that late."""
    failure_threshold: int
    """Failures in a row after which a notification is sent."""
    deadline: str | None
    """The wall time by which a nominal time must have succeeded, such as `06:00`; null without one."""
    within: int | None
    """Or the seconds after the nominal time."""
    every_success_within: int | None
    """Seconds: a longer time without a success is reported; null: never."""
    after: str | None
    """The job whose run of the same nominal day must have succeeded before a run begins; null without one."""
    description: str
    """What it is for; may be empty."""


def option_fields(definition: Definition, redacted_payload: Redacted) -> dict[str, Any]:
    """Return the fields of `JobOptionsView`: the payload as the caller may see it."""
    retry = definition.retry
    return {
        "payload": redacted_payload.payload,
        "redacted": list(redacted_payload.paths),
        "retry": None if retry is None else RetryView.from_policy(RetryPolicy.parse(retry)),
        "overlap": definition.overlap,
        "catch_up": definition.catch_up,
        "precision": definition.precision,
        "failure_threshold": definition.failure_threshold,
        "deadline": definition.deadline,
        "within": definition.within,
        "every_success_within": definition.every_success_within,
        "after": definition.after,
        "description": definition.description,
    }
