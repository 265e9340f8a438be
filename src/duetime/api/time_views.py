"""The JSON views of a job's or a cadence's times. Instants are as in `views`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self

from pydantic import BeforeValidator, Field

from duetime.api.api_model import ApiModel
from duetime.api.views import Instant, View
from duetime.jobs.occurrence_status import OccurrenceStatus
from duetime.model.action import Action, Status, Trigger
from duetime.model.deadline import DeadlineState


class NextRunView(View):
    """A nominal time to come, and which cadences have it."""

    at: Instant
    """The nominal time."""
    cadences: list[str]
    """Their names."""
    deadline_at: Instant | None = None
    """By when it must have succeeded; null without a deadline."""


class LastRunView(ApiModel):
    """The run that ended last."""

    id: str | None
    """The action."""
    status: str | None
    """How it ended."""
    started_at: Instant
    """When it began."""


class RecentRunView(ApiModel):
    """One of a job's last runs, in few words."""

    id: str
    """The action."""
    status: Status
    """Where it stands; executed, failed, cancelled and skipped are final."""
    trigger: Trigger
    """What made it due."""
    nominal_at: Instant
    """When it was scheduled for."""
    started_at: Instant | None
    """When its last attempt began; null before the first."""
    finished_at: Instant | None
    """When that ended; null while it runs."""
    attempts: int
    """How many it has had."""
    is_retrying: bool
    """Whether it is pending after a failed attempt."""

    @classmethod
    def from_action(cls, run: Action) -> Self:
        """Return the view of the run."""
        last = run.attempts[-1] if run.attempts else None
        return cls(
            id=run.id,
            status=run.status,
            trigger=run.trigger,
            nominal_at=run.nominal_at,
            started_at=last.started_at if last else None,
            finished_at=last.finished_at if last else None,
            attempts=run.attempt,
            is_retrying=run.is_retrying,
        )


class OccurrenceView(View):
    """One nominal time and what became of it; or several in a row, without runs, that share it."""

    at: Instant
    """The nominal time; of several the first."""
    until: Instant | None
    """Of several: the last of them."""
    count: int | None
    """How many they are; null for more than were counted."""
    local: Annotated[str, BeforeValidator(datetime.isoformat)]
    """What the wall clock of the cadence's zone shows then."""
    tz: str
    """That zone."""
    cadences: list[str]
    """Which of the job's cadences have it, by name."""
    version: int
    """Of the job's schedule."""
    account: OccurrenceStatus
    """What became of it."""
    reason: str
    """Why it was skipped or missed, or which calendar silences it; else empty."""
    note: str
    """More on that: who paused it and why, what a change of the clocks did; may be empty."""
    action_id: str | None
    """Its run; null where it has no row."""
    deadline_at: Instant | None
    """By when it must have succeeded; null without a deadline, for several in a row, and if it is excused."""
    deadline: DeadlineState | None
    """The state of that."""


class OccurrencePage(ApiModel):
    """The accounts of a window, in order; `next_from` is null at its end, else where to go on."""

    items: list[OccurrenceView]
    """In order of time."""
    next_from: Instant | None
    """Say it as `from` to go on; null at the window's end."""


class PreviewedView(View):
    """One occurrence of a cadence, or a gap of the clocks that swallowed some."""

    at: Instant | None
    """The instant; null for what a gap swallowed."""
    local: Annotated[str, BeforeValidator(datetime.isoformat)]
    """What the wall clock shows then, or would have shown."""
    mark: str | None
    """What a change of the clocks did: ``moved``, ``skipped``, ``doubled`` or ``once``."""
    note: Annotated[str, Field(validation_alias="words")]
    """What that change did, as a sentence; may be empty."""


class PreviewView(ApiModel):
    """A cadence's times, and the other output of `duetime preview`."""

    cadence: str
    """Its text, in the normal form."""
    name: str
    """Its name within the job."""
    words: str
    """The same as a sentence."""
    tz: str
    """The zone of the local times."""
    occurrences: list[PreviewedView]
    """In order of time."""
    is_cut: bool
    """Whether the requested window has more."""
    changes: list[PreviewedView]
    """What changes of the clocks do within a year of the last one shown; empty if `until` is given."""
    notes: list[str]
    """What is right and may be meant otherwise, a sentence each."""
    disagreements: list[str]
    """Where croniter sees a cron expression's times otherwise, a sentence each."""
    second_opinion: str | None
    """Whether croniter agrees, or why it was not compared; null if the text is no cron expression."""
