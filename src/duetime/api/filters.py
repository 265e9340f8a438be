"""Filters of actions in queries and bulk changes, and the views of bulk results."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self, cast

from pydantic import BeforeValidator, Field

from duetime.actions.bulk import BulkResult
from duetime.api.parameters import LARGEST_PAGE
from duetime.api.requests import RedriveBody, RequestBody, read_time
from duetime.api.views import ActionPage, ActionSummary, Instant, ScannedView, View
from duetime.model.content_filter import LONGEST_TEXT, MOST_FIELDS, fields_of
from duetime.model.selection import MOST_IDS, Filters, Selection
from duetime.ports.actions import Page

_TIMES = ("due_after", "due_until", "created_after", "created_until")


def _several(filters: object) -> object:
    many = [filters] if isinstance(filters, str) else filters
    if not isinstance(many, list) or not all(isinstance(value, str) for value in many):
        return filters
    return [part for text in many for part in text.split(",")]


StatusFilter = Literal["pending", "retrying", "processing", "executed", "failed", "cancelled", "skipped"]
"""A status, or `duetime.model.selection.RETRYING`."""
Statuses = Annotated[
    list[StatusFilter] | None,
    BeforeValidator(_several),
    Field(description="one or several: failed,executed; `retrying`: pending, and the last attempt failed"),
]
After = Annotated[str | None, Field(description="only what lies after this ISO 8601 instant")]
Until = Annotated[str | None, Field(description="only what lies at or before this ISO 8601 instant")]
PayloadFields = Annotated[
    list[str] | None,
    Field(
        min_length=1,
        max_length=MOST_FIELDS,
        description="values of payload fields, each as FIELD=VALUE: customer=42, order.id=o-1",
        examples=[["customer=42"]],
    ),
]
Ids = Annotated[
    Annotated[list[str], Field(min_length=1, max_length=MOST_IDS)] | None,
    BeforeValidator(_several),
    Field(
        description=f"the actions and runs with these ids, {MOST_IDS} at most",
        examples=[["0199c1d2-6f00-7a3c-9f21-5d0c8e4b7a16"]],
    ),
]
Cursor = Annotated[str | None, Field(description="`next_cursor` of the page before, with the same filters")]


class FilterBody(RequestBody):
    """The selected actions: those that match all filters."""

    ids: Ids = None
    type: str | None = None
    """only those of this payload type"""
    correlation_id: str | None = None
    """only those with this correlation id"""
    job: Annotated[str | None, Field(description="only runs of this job")] = None
    runs: Annotated[
        bool | None,
        Field(description="false leaves out the runs of jobs, which a search for failed actions includes"),
    ] = None
    due_after: After = None
    due_until: Until = None
    created_after: After = None
    created_until: Until = None
    error: Annotated[
        str | None,
        Field(
            max_length=LONGEST_TEXT,
            description="a text in the message of the last attempt; `…` in it stands for anything",
        ),
    ] = None
    payload: PayloadFields = None

    def includes_runs(self, now: datetime) -> bool:
        """Return whether a search with these filters finds runs of jobs too."""
        return Selection.parse(self.filters(), now).has_runs

    def filters(self) -> Filters:
        """Return the filters for the scheduler; an explicit null differs from an absent filter.

        Raises:
            InvalidArgument: a bound is no ISO 8601 time, or has no offset; or a payload field is malformed.
        """
        filters = {
            name: getattr(self, name) for name in Filters.__annotations__.keys() & self.model_fields_set
        }
        filters |= {name: read_time(filters[name], name) for name in _TIMES if filters.get(name) is not None}
        if filters.get("payload") is not None:
            filters["payload"] = fields_of(filters["payload"])
        return cast("Filters", filters)


class DeadLetterQuery(FilterBody):
    """A page of failed actions."""

    limit: Annotated[int, Field(ge=1, le=LARGEST_PAGE)] = 50
    cursor: Cursor = None


class ActionQuery(DeadLetterQuery):
    """A page of actions."""

    status: Statuses = None


class BulkRequest(FilterBody):
    """One step of a change of all actions that match the filters."""

    status: Statuses = None
    dry_run: Annotated[bool, Field(description="change nothing, only preview the change", strict=True)] = (
        False
    )
    limit: Annotated[int, Field(description="how many at most", strict=True, ge=1, le=LARGEST_PAGE)] = 100
    cursor: Cursor = None


class BulkRedriveRequest(BulkRequest, RedriveBody):
    """A redrive of all that match the filters: at once, without `at` and `in`."""


class SkippedView(View):
    """An action that was left as it is, and why."""

    id: str
    """The action."""
    reason: str
    """Why it was left."""


class MatchedView(View):
    """How many actions a bulk change would change."""

    count: int
    """How many were counted."""
    more: bool
    """Whether there may be more: a preview counts a bounded number."""
    by_type: dict[str, int]
    """How many of each payload type, the most frequent first."""
    by_status: dict[str, int]
    """How many of each status; `retrying` are the pending ones whose last attempt failed."""


class BulkView(View):
    """The result of a step; with `dry_run` a preview of it. `next_cursor` is null after the last step."""

    changed: list[ActionSummary]
    """As they are now; with `dry_run` as they are before."""
    left: list[SkippedView]
    """Those that had changed meanwhile, say."""
    next_cursor: str | None
    """The cursor of the next step; null after the last one."""
    dry_run: bool
    """Whether nothing was changed."""
    includes_runs: bool
    """Whether runs of jobs are among those that match."""
    created_until: Instant | None
    """The cut-off: actions that are scheduled later do not match. A dry run sets it to the present.

    Send it with the next step, and with the change itself. Null: none.
    """
    matched: MatchedView | None
    """The count of all steps; only in the first step of a dry run."""

    @classmethod
    def from_result(cls, step: BulkResult, filters: Filters, matched: MatchedView | None) -> Self:
        """Return the view of a step with these filters."""
        return cls.of(
            step,
            created_until=filters.get("created_until"),
            matched=matched,
            changed=[ActionSummary.of(action) for action in step.changed],
            left=[SkippedView(id=action_id, reason=reason) for action_id, reason in step.left.items()],
            next_cursor=step.cursor,
            dry_run=step.is_dry_run,
        )


def page_view(page: Page, *, includes_runs: bool) -> ActionPage:
    """Return the view of a page."""
    return ActionPage(
        items=[ActionSummary.of(action) for action in page],
        next_cursor=page.cursor,
        includes_runs=includes_runs,
        scanned=None if page.scanned is None else ScannedView.of(page.scanned),
    )
