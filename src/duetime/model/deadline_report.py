"""The report of a deadline: an item beside the job, written once for each nominal time and kind."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from duetime.ids import ActionId


class ReportKind(StrEnum):
    """What is reported."""

    MISSED = "missed"
    """The nominal time has not succeeded by its deadline."""
    AT_RISK = "at_risk"
    """Its run needs longer than the time that is left, by the usual run time."""
    SILENT = "silent"
    """No run of the job has succeeded for too long."""
    UNACCOUNTED = "unaccounted"
    """A recount found nominal times without a proper result; see `duetime.model.recount`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlineReport:
    """One report, of a nominal time or of a silence."""

    kind: ReportKind
    nominal_at: datetime
    """The nominal time; of a silence its beginning: the last success, or the end of a pause.

    Of a recount, the first of its findings.
    """
    deadline_at: datetime
    """By when a success was due; of a recount, by when the time had to be accounted for."""
    at: datetime
    """When it was reported."""
    status: str = ""
    """What had become of the nominal time then: an `OccurrenceStatus`; of a recount, its `Problem`."""
    reason: str = ""
    """Why it had not succeeded, if its row or its job has a reason."""
    run_id: ActionId | None = None
    expected_at: datetime | None = None
    """When its success was expected; of a prediction."""
