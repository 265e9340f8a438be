"""The parts of an action's row: facts that one writer writes together.

A part that an action does not have is None. The names of its facts in rows, in the API and in the command
line are those that `duetime.model.action.Action` gives them. The kinds of values:

::

    Text           written by duetime, of at most 500 characters
    Json           JSON of at most 2 KB; a PayloadText has at most 400,000 bytes
    Key            chosen by a caller, and checked by `duetime.ids.key`, as a CorrelationId is
    Names          predecessors, as `duetime.model.predecessors.Predecessors` writes them
    Terms          ``execute``, ``another`` or both
    Policy         a retry policy in its text form
    DueShard       the number of a partition of the due index
    Count, Limit   a number from 0, or from 1
    Share          from 0 to 1, with four digits after the point
    Epoch          an instant in whole seconds
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from duetime.ids import TenantId

TypeName: TypeAlias = str
PayloadText: TypeAlias = str
DueShard: TypeAlias = str
Policy: TypeAlias = str
BatchName: TypeAlias = str
Text: TypeAlias = str
Epoch: TypeAlias = datetime
CorrelationId: TypeAlias = str
Key: TypeAlias = str
Names: TypeAlias = str
Terms: TypeAlias = str
Json: TypeAlias = str
Count: TypeAlias = int
Limit: TypeAlias = int
Share: TypeAlias = float


def named(names: str, default: Any = MISSING) -> Any:
    """Return a field that is stored under these names, separated by spaces: one for each fact of a part."""
    return field(default=default, metadata={"names": tuple(names.split())})


@dataclass(frozen=True, slots=True)
class Act:
    """What a person or a program did."""

    at: datetime
    """When it was done last."""
    by: Text
    """Who did it."""


@dataclass(frozen=True, slots=True)
class Concurrency:
    """The actions that may run at once."""

    key: Key
    """Of the actions that share it only so many run at once."""
    limit: Limit = 1
    """How many of them run at once: the action begins while fewer hold a slot of the key."""


@dataclass(frozen=True, slots=True)
class Debounced:
    """The calls that a pending action takes."""

    key: Key
    """Until its first run begins, further calls with the key change it, and schedule no other."""
    until: datetime | None = None
    """The latest due time that they can give it; None without a bound."""
    calls: Count = 0
    """How many have changed it."""
    latest: Text | None = None
    """Names of the latest of these calls, to recognise one whose response was lost."""


@dataclass(frozen=True, slots=True)
class After:
    """What an action waits or waited for."""

    names: Names
    """The ids, and ``batch:name``, that it waits or waited for, with spaces between them."""
    rule: Text | None = None
    """What it does if one of them is not executed: ``any`` runs, ``skip`` skips; by default it fails."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """How a job's run came about."""

    at: datetime
    """Of a job's run: when its row was written."""
    cadence: Text | None = None
    """Of an occurrence: the name of the cadence that made it due; of an event run, of its trigger."""
    catches_up: bool = False
    """An occurrence that was missed; it waits for its job's lock instead of being skipped."""
    job_tenant: TenantId | None = None
    """The job's tenant, if an event started a run of it for another tenant."""


@dataclass(frozen=True, slots=True)
class HandOver:
    """The latest hand-over; see `duetime.model.hand_over`."""

    fence: Count
    """The fence of the run that handed it over."""
    at: datetime
    """When it was last handed over."""
    times_out_at: datetime
    """When that hand-over ends without a completion."""
    key: Text
    """The key of its token."""
    beat_seconds: Count = 0
    """The longest time between two heartbeats of it; 0: none is needed."""
    question: Text | None = None
    """What a person decides, or decided last; None if it needed no approval."""
    decision_terms: Terms | None = None
    """``execute``: a rejection executes it, and does not fail it. ``another``: another person than the one
    who scheduled it must approve. ``execute another``: both."""

    @property
    def needs_another_approver(self) -> bool:
        """Whether another person than the one who scheduled the action must approve."""
        return "another" in (self.decision_terms or "").split()

    def waits_until(self, now: datetime) -> datetime:
        """Return until when it waits after a heartbeat at `now`: for the next one, or for the time-out."""
        beat_by = now + timedelta(seconds=self.beat_seconds) if self.beat_seconds else self.times_out_at
        return min(beat_by, self.times_out_at)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the work is: a share from 0 to 1, and a note for people, without secrets."""

    share: Share
    """The share that was reported last, from 0 to 1."""
    note: Text = ""
    """What was reported with it."""


PARTS: Mapping[str, type[Any]] = {
    part.__name__: part for part in (Act, Concurrency, Debounced, After, RunPlan, HandOver, Progress)
}
"""All parts, by name."""
