"""Request bodies of jobs. `duetime.declare.job_rules` checks the rules at registration."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from duetime.api.requests import FARTHEST, KeyTtl, RequestBody
from duetime.model.job import Overlap, Precision
from duetime.retry import RetryPolicy

LONGEST_CADENCE = 2_000
"""Characters of a cadence's text."""

_SHORT, _LONG, _MANY = 200, 2_000, 1_000_000
"""Bounds that keep an answer short; the rules' own limits are narrower, and say what is right."""


def _listed(sent: Any) -> Any:
    return sent if isinstance(sent, list) else [sent]


Whole = Annotated[int, Field(strict=True, ge=-_MANY, le=_MANY)]
Number = Annotated[float, Field(strict=True, ge=0, le=FARTHEST, allow_inf_nan=False)]
Backoff = Annotated[
    list[Number],
    Field(max_length=_SHORT),
    BeforeValidator(
        _listed, json_schema_input_type=Number | Annotated[list[Number], Field(max_length=_SHORT)]
    ),
]
"""Seconds: one back-off, or a list of them."""
Text = Annotated[str, Field(max_length=_SHORT)]
CadenceText = Annotated[str, Field(max_length=LONGEST_CADENCE)]


class RetryRequest(RequestBody):
    """A retry policy; what is left out is as usual."""

    attempts: Whole | None = None
    """Runs in all, 1 to 100; 3 if it is left out."""
    backoff: Backoff | None = None
    """Seconds before each further run: one span or a list, whose last one repeats."""
    jitter: Number | None = None
    """The share by which a back-off gets longer at most, at random: 0.1 is 10 %."""
    give_up_after: Annotated[Number | None, Field(description="seconds")] = None

    def policy(self) -> RetryPolicy:
        """The policy.

        Raises:
            DeclarationError: a value is out of its range.
        """
        return RetryPolicy(**self.model_dump(exclude_none=True))


class JobRequest(RequestBody):
    """A job to be registered."""

    type: Annotated[
        Text, Field(description="whose handler runs it: a payload type that the app has registered")
    ]
    payload: Annotated[dict[str, Any] | None, Field(description="what each run is given")] = None
    cadences: Annotated[
        tuple[CadenceText, ...],
        Field(description="when it runs; none for a job that is triggered", max_length=_SHORT),
    ] = ()
    retry: RetryRequest | None = None
    """How runs are retried; the handler's own policy if it is left out."""
    overlap: Overlap | None = None
    """What becomes of an occurrence while another run has not ended; `skip` if it is left out."""
    catch_up: Whole = 0
    """How many of the latest missed occurrences run later, 0 to 100."""
    precision: Precision = "second"
    """`second`, or `minute` if a run may be that late."""
    failure_threshold: Whole = 3
    """Failures in a row after which a notification is sent."""
    deadline: Annotated[
        Text | None, Field(description="the wall time by which a nominal time must have succeeded: `06:00`")
    ] = None
    within: Annotated[Number | None, Field(description="or the seconds after the nominal time")] = None
    every_success_within: Annotated[
        Number | None, Field(description="seconds: a longer time without a success is reported")
    ] = None
    after: Annotated[
        Text | None,
        Field(description="a registered job, whose run of the same nominal day must have succeeded"),
    ] = None
    after_timeout: Annotated[
        Number | None, Field(description="seconds for which a run waits for it, 12 hours by default")
    ] = None
    title: Annotated[str, Field(max_length=_LONG)] = ""
    """Its name for people."""
    category: Annotated[str, Field(max_length=_LONG)] = ""
    """What lists may group it by."""
    description: Annotated[str, Field(max_length=_LONG)] = ""
    """What it is for."""
    idempotency_key: Annotated[
        str | None, Field(description="the same key again changes nothing, while it holds", max_length=_LONG)
    ] = None
    idempotency_ttl: KeyTtl = None


class RegisterRequest(JobRequest):
    """A job to be registered under a name that is free."""

    name: Annotated[Text, Field(description="two or more kebab-case segments")]
    trigger: Annotated[bool, Field(description="run it at once, too", strict=True)] = False


class ReplaceRequest(JobRequest):
    """A job in the place of the one of its name; the name is in the path."""


class DraftRequest(JobRequest):
    """A job that is not registered yet; its type and payload may still be wrong."""

    name: Annotated[Text, Field(description="two or more kebab-case segments")]
    replace: Annotated[
        bool, Field(description="whether it is to replace the tenant's job of this name", strict=True)
    ] = False


class PauseRequest(RequestBody):
    """A pause."""

    reason: Annotated[str, Field(description="why, in 200 characters")] = ""
    until: Annotated[str | None, Field(description="an ISO 8601 instant at which it ends by itself")] = None
    cadence: Annotated[str | None, Field(description="only this one of the job's cadences, by name")] = None


class CadenceRequest(RequestBody):
    """Which of a job's cadences is meant; all of them by default."""

    cadence: str | None = None
    """Its name; all of the job's without it."""


class TriggerRequest(RequestBody):
    """A requested run."""

    payload: Annotated[
        dict[str, Any] | None, Field(description="what the run is given instead of the job's own")
    ] = None


class SettingsRequest(RequestBody):
    """How runs are retried, on top of the declared policy; what is left out goes by that policy again."""

    attempts: Whole | None = None
    """Runs in all, 1 to 100."""
    backoff: Backoff | None = None
    """Seconds before each further run: one span or a list, whose last one repeats."""
    jitter: Number | None = None
    """The share by which a back-off gets longer at most, at random: 0.1 is 10 %."""
    cadence: str | None = None
    """The one cadence that it is for, by name; the whole job without it."""
