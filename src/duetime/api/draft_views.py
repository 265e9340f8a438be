"""The JSON view of a job that is not registered yet, and of its effect."""

from __future__ import annotations

from duetime.api.api_model import ApiModel
from duetime.api.definition_views import DefinitionView, FieldChangeView
from duetime.api.time_views import PreviewedView
from duetime.api.views import Instant, View


class DraftCadenceView(ApiModel):
    """A cadence of a draft."""

    name: str
    """Its name within the job."""
    text: str
    """Its text, in the normal form."""
    words: str
    """The same as a sentence."""
    tz: str
    """The zone of the local times."""
    next_runs: list[PreviewedView]
    """The next times, and what changes of the clocks do to them."""
    changes: list[PreviewedView]
    """What changes of the clocks do within a year of the last one shown."""
    notes: list[str]
    """What is right and may be meant otherwise, a sentence each."""
    disagreements: list[str]
    """Where croniter sees a cron expression's times otherwise, a sentence each."""


class MinuteLoadView(View):
    """The runs of other jobs in the minute of one of the draft's runs."""

    at: Instant
    """The begin of the minute."""
    runs: int
    """The planned runs of other jobs in it."""
    jobs: list[str]
    """The jobs that have them, by name."""


class DraftView(ApiModel):
    """What a registration would do, and why it would be rejected."""

    name: str
    """The job's name."""
    problems: list[str]
    """The reasons for which it would be rejected; none if it can be registered."""
    is_new: bool
    """Whether the tenant has no job of this name."""
    version: int
    """The version that the job would have."""
    changes_plan: bool
    """Whether a new version begins: planned runs of the former one are skipped, and planned again."""
    changes: list[FieldChangeView]
    """What differs from the present definition; none for a new job."""
    definition: DefinitionView
    """What would be stored; its payload is null while it is not valid."""
    cadences: list[DraftCadenceView]
    """When it would run."""
    runs_per_day: float | None
    """On average over a year; null if only events or callers start it."""
    dollars_per_month: float | None
    """What its runs cost, by a dated list of AWS' prices, without free tiers; null as above."""
    load: list[MinuteLoadView]
    """The minutes of the next runs in which other jobs run, too."""
    load_jobs: int
    """How many other jobs were read for that."""
    load_is_complete: bool
    """Whether these are all that the caller sees."""
