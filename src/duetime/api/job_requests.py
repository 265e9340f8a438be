"""What a client may send about jobs; the rules that a job keeps are `duetime.job_rules`', told as it is registered."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from duetime.api.requests import FARTHEST, RequestBody
from duetime.job import Overlap, Precision
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
    backoff: Backoff | None = None
    jitter: Number | None = None
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
    overlap: Overlap | None = None
    catch_up: Whole = 0
    precision: Precision = "second"
    failure_threshold: Whole = 3
    title: Annotated[str, Field(max_length=_LONG)] = ""
    category: Annotated[str, Field(max_length=_LONG)] = ""
    description: Annotated[str, Field(max_length=_LONG)] = ""
    idempotency_key: Annotated[
        str | None, Field(description="the same key again changes nothing", max_length=_LONG)
    ] = None


class RegisterRequest(JobRequest):
    """A job to be registered under a name that is free."""

    name: Annotated[Text, Field(description="two or more kebab-case segments")]
    trigger: Annotated[bool, Field(description="run it at once, too", strict=True)] = False


class ReplaceRequest(JobRequest):
    """A job in the place of the one of its name; the name is in the path."""


class PauseRequest(RequestBody):
    """A pause."""

    reason: Annotated[str, Field(description="why, in 200 characters")] = ""
    until: Annotated[str | None, Field(description="an ISO 8601 instant at which it ends by itself")] = None
    cadence: Annotated[str | None, Field(description="only this one of the job's cadences, by name")] = None


class CadenceRequest(RequestBody):
    """Which of a job's cadences is meant; all of them by default."""

    cadence: str | None = None


class TriggerRequest(RequestBody):
    """A run that is asked for."""

    payload: Annotated[
        dict[str, Any] | None, Field(description="what the run is given instead of the job's own")
    ] = None


class SettingsRequest(RequestBody):
    """How runs are retried, on top of the declared policy; what is left out goes by that policy again."""

    attempts: Whole | None = None
    backoff: Backoff | None = None
    jitter: Number | None = None
    cadence: str | None = None
