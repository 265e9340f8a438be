"""Filters of actions in queries and bulk changes, and the views of bulk results."""

from __future__ import annotations

from typing import Annotated, Self, cast

from pydantic import BaseModel, BeforeValidator, Field

from duetime.actions.bulk import BulkResult
from duetime.api.parameters import LARGEST_PAGE
from duetime.api.requests import RedriveBody, RequestBody, read_time
from duetime.api.views import ActionPage, ActionSummary
from duetime.model.action import Status
from duetime.model.selection import Filters
from duetime.ports.actions import Page

_TIMES = ("due_after", "due_until", "created_after", "created_until")


def _several(filters: object) -> object:
    many = [filters] if isinstance(filters, str) else filters
    if not isinstance(many, list) or not all(isinstance(value, str) for value in many):
        return filters
    return [part for text in many for part in text.split(",")]


Statuses = Annotated[
    list[Status] | None, BeforeValidator(_several), Field(description="one or several: failed,executed")
]
After = Annotated[str | None, Field(description="only what lies after this ISO 8601 instant")]
Until = Annotated[str | None, Field(description="only what lies at or before this ISO 8601 instant")]
Cursor = Annotated[str | None, Field(description="`next_cursor` of the page before, with the same filters")]


class FilterBody(RequestBody):
    """The selected actions: those that match all filters."""

    type: str | None = None
    """only those of this payload type"""
    correlation_id: str | None = None
    """only those with this correlation id"""
    job: Annotated[str | None, Field(description="only runs of this job")] = None
    due_after: After = None
    due_until: Until = None
    created_after: After = None
    created_until: Until = None

    def filters(self) -> Filters:
        """Return the filters for the scheduler; an explicit null differs from an absent filter.

        Raises:
            InvalidTime: a bound is no ISO 8601 time, or has no offset.
        """
        filters = {
            name: getattr(self, name) for name in Filters.__annotations__.keys() & self.model_fields_set
        }
        filters |= {name: read_time(filters[name]) for name in _TIMES if filters.get(name) is not None}
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


class SkippedView(BaseModel):
    """An action that was left as it is, and why."""

    id: str
    """The action."""
    reason: str
    """Why it was left."""


class BulkView(BaseModel):
    """The result of a step; with `dry_run` a preview of it. `next_cursor` is null after the last step."""

    changed: list[ActionSummary]
    """As they are now; with `dry_run` as they are before."""
    left: list[SkippedView]
    """Those that had changed meanwhile, say."""
    next_cursor: str | None
    """The cursor of the next step; null after the last one."""
    dry_run: bool
    """Whether nothing was changed."""

    @classmethod
    def from_result(cls, step: BulkResult) -> Self:
        """Return the view of the step."""
        return cls(
            changed=[ActionSummary.from_action(action) for action in step.changed],
            left=[SkippedView(id=action_id, reason=reason) for action_id, reason in step.left.items()],
            next_cursor=step.cursor,
            dry_run=step.is_dry_run,
        )


def page_view(page: Page) -> ActionPage:
    """Return the view of a page."""
    return ActionPage(items=[ActionSummary.from_action(action) for action in page], next_cursor=page.cursor)
