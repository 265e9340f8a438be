"""Request bodies of jobs. `duetime.declare.job_rules` checks the rules at registration."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, cast

from pydantic import BeforeValidator, Field

from duetime.api.requests import LONGEST_TEXT, KeyTtl, Number, RequestBody, Whole, has_options_of
from duetime.declare.job_options import SharedOptions
from duetime.jobs.register import Registration
from duetime.model.job import Definition, Overlap
from duetime.payload import Payload
from duetime.retry import RetryPolicy

LONGEST_CADENCE = 2_000
"""Characters of a cadence's text."""

_SHORT = 200
"""Items of a list at most: it keeps an answer short, and the rules' own limits are narrower."""


def _listed(sent: Any) -> Any:
    return sent if isinstance(sent, list) else [sent]


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


class _TuningRequest(RequestBody):
    attempts: Whole | None = None
    """Runs in all, 1 to 100."""
    backoff: Backoff | None = None
    """Seconds before each further run: one span or a list, whose last one repeats."""
    jitter: Number | None = None
    """The share by which a back-off gets longer at most, at random: 0.1 is 10 %."""


class RetryRequest(_TuningRequest):
    """A retry policy; what is left out is as usual."""

    give_up_after: Annotated[
        Number | None, Field(description="start no further attempt after this time, in seconds")
    ] = None

    def policy(self) -> RetryPolicy:
        """The policy.

        Raises:
            DeclarationError: a value is out of its range.
        """
        return RetryPolicy(**self.model_dump(exclude_none=True))


@has_options_of(SharedOptions, Definition)
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
    idempotency_key: Annotated[
        str | None,
        Field(description="the same key again changes nothing, while it holds", max_length=LONGEST_TEXT),
    ] = None
    idempotency_ttl: KeyTtl = None

    def registration(self, name: str, handler: Payload | str, *, replace: bool = False) -> Registration:
        """Return the registration of a job of this name.

        Args:
            name: the job's name.
            handler: the payload of its runs, or the name of the handler.
            replace: whether it replaces a job of this name.
        """
        options = {option: getattr(self, option) for option in SharedOptions.__annotations__}
        return Registration(
            name=name,
            handler=handler,
            cadences=self.cadences,
            retry=None if self.retry is None else self.retry.policy(),
            idempotency_key=self.idempotency_key,
            idempotency_ttl=None if self.idempotency_ttl is None else timedelta(seconds=self.idempotency_ttl),
            replace=replace,
            **cast("SharedOptions", options),
        )


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


class SettingsRequest(_TuningRequest):
    """How runs are retried, on top of the declared policy; what is left out goes by that policy again."""

    cadence: str | None = None
    """The one cadence that it is for, by name; the whole job without it."""
