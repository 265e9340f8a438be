"""The result of a recount of the runs: counts, and the nominal times and actions without a proper end.

Facts only; `duetime.recount` finds them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Self

from duetime import instant
from duetime._english import counted

BOOKMARK, REPORT, BEGUN = "recount", "report", "begun"
"""The bookmark, and its marks: the last complete report, and one that a later pass goes on with."""

MOST_FINDINGS = 100
"""A report lists so many findings; it counts all."""


class RecountProblem(StrEnum):
    """What is wrong with a nominal time, or with an action."""

    NO_ROW = "no_row"
    """It has neither a row nor a recorded reason."""
    RAN_TWICE = "ran_twice"
    """Runs of two versions of the job took place."""
    NOT_NOMINAL = "not_nominal"
    """A run took place, or waits, at a time that the cadence does not have."""
    NO_REASON = "no_reason"
    """It was skipped, and its row has no reason."""
    NOT_MADE_UP_FOR = "not_made_up_for"
    """It was missed, and is one of the latest that its job runs later."""
    NOT_PLANNED = "not_planned"
    """It passed, and no planner has come to it."""
    NO_END = "no_end"
    """A final action has no end: no run, or no time of its removal."""
    NOT_IN_DUE_INDEX = "not_in_due_index"
    """An overdue action is not in the due index, so no sweep can find it."""


class Account(StrEnum):
    """The counted results of nominal times and actions."""

    EXECUTED = "executed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"
    MISSED = "missed"
    OPEN = "open"
    """It runs, waits for a retry, or its job is paused before it was planned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One nominal time, or one action, whose result is not proper."""

    problem: RecountProblem
    """What is wrong."""
    tenant_id: str
    """The tenant that owns it; ``system`` for code's jobs."""
    at: datetime
    """The nominal time; of a one-shot its due time."""
    job: str | None = None
    """The job; None for a one-shot."""
    version: int | None = None
    """The job's version."""
    action_id: str | None = None
    """Its row, if it has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecountReport:
    """The result of a recount of all jobs, and of a sample of the one-shots."""

    began_at: datetime
    """When it began."""
    ended_at: datetime | None = None
    """None while jobs are left."""
    since: datetime
    """It recounted the nominal times after this instant."""
    until: datetime
    """And up to this one."""
    jobs: int = 0
    """The number of recounted jobs."""
    left_out: int = 0
    """The number of jobs of paused tenants."""
    unread: tuple[str, ...] = ()
    """Jobs that could not be read or recounted, as ``tenant/name``."""
    times: Mapping[str, int] = field(default_factory=dict)
    """The number of nominal times, by `Account`."""
    one_shots: Mapping[str, int] = field(default_factory=dict)
    """The number of one-shots of the sample, by `Account`."""
    found: int = 0
    """The number of findings."""
    findings: tuple[Finding, ...] = ()
    """The first of them."""
    next_job: str = ""
    """Where the next pass continues; empty once all jobs are recounted."""

    def plus(self, findings: Iterable[Finding], times: Mapping[str, int]) -> Self:
        """Return the report with one more job."""
        found = tuple(findings)
        return replace(
            self,
            jobs=self.jobs + 1,
            times=_sum(self.times, times),
            found=self.found + len(found),
            findings=(*self.findings, *found)[:MOST_FINDINGS],
        )

    def with_one_shots(self, findings: Iterable[Finding], counts: Mapping[str, int]) -> Self:
        """Return the report with the sample of one-shots."""
        found = tuple(findings)
        return replace(
            self,
            one_shots=_sum(self.one_shots, counts),
            found=self.found + len(found),
            findings=(*self.findings, *found)[:MOST_FINDINGS],
        )

    def in_words(self) -> str:
        """Return the result in a line: ``12 jobs, 340 nominal times, 0 findings``."""
        words = [
            counted(self.jobs, "job"),
            counted(sum(self.times.values()), "nominal time"),
            counted(self.found, "finding"),
        ]
        if self.unread:
            words.append(f"not read: {', '.join(self.unread)}")
        if self.next_job:
            words.append("the next pass goes on")
        return ", ".join(words)

    def to_json(self) -> str:
        """Return a JSON form; `from_json` reads it."""
        return json.dumps(asdict(self), default=instant.text, separators=(",", ":"))

    @classmethod
    def from_json(cls, written: str) -> Self:
        """Read the result of `to_json`; unknown fields of a later version are ignored."""
        fields = {name: value for name, value in json.loads(written).items() if name in cls.__slots__}
        moments = {name: instant.parse(fields[name]) for name in ("began_at", "since", "until")}
        ended_at = fields.get("ended_at")
        return cls(
            **fields
            | moments
            | {
                "ended_at": instant.parse(ended_at) if ended_at else None,
                "unread": tuple(fields.get("unread", ())),
                "findings": tuple(_finding(found) for found in fields.get("findings", ())),
            }
        )


def last_report(marks: Mapping[str, str]) -> RecountReport | None:
    """Return the last complete report in the bookmark; None before the first one."""
    return RecountReport.from_json(marks[REPORT]) if REPORT in marks else None


def begun_report(marks: Mapping[str, str]) -> RecountReport | None:
    """Return the report that a later pass goes on with; None without one."""
    return RecountReport.from_json(marks[BEGUN]) if BEGUN in marks else None


def _finding(fields: Mapping[str, Any]) -> Finding:
    known: dict[str, Any] = {name: value for name, value in fields.items() if name in Finding.__slots__}
    return Finding(
        **known | {"problem": RecountProblem(fields["problem"]), "at": instant.parse(fields["at"])}
    )


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in sorted({*one, *other})}
