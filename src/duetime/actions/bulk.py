"""Change all actions of a selection, in bounded steps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from duetime.errors import InvalidArgument, NotFound, StateConflict
from duetime.ids import ActionId
from duetime.model.action import Action, Status
from duetime.model.selection import RETRYING, Filters, Selection
from duetime.ports.actions import Page


@dataclass(frozen=True, slots=True)
class BulkResult:
    """The result of one step: at most `limit` actions, and the cursor of the next step."""

    changed: tuple[Action, ...]
    """The actions after the change; in a dry run, the actions that would change."""
    left: Mapping[ActionId, str]
    """Actions that could no longer be changed, with the reason."""
    cursor: str | None
    """For the next step; None after the last one."""
    is_dry_run: bool
    includes_runs: bool = False
    """Whether runs of jobs are among those that match."""


def change_many(
    page: Page, change: Callable[[Action], Action], *, dry_run: bool, includes_runs: bool
) -> BulkResult:
    """Change each action of a page; an action that cannot be changed does not stop the others.

    Raises:
        BackendUnavailable: some may have been changed; the same step may be repeated.
    """
    if dry_run:
        return BulkResult(page.actions, {}, page.cursor, is_dry_run=True, includes_runs=includes_runs)
    changed: list[Action] = []
    left: dict[ActionId, str] = {}
    for row in page:
        try:
            changed.append(change(row))
        except (StateConflict, NotFound) as error:
            left[row.id] = str(error)
    return BulkResult(tuple(changed), left, page.cursor, is_dry_run=False, includes_runs=includes_runs)


def bulk_selection(
    filters: Filters, now: datetime, operation: str, possible: Collection[Status]
) -> Selection:
    """Return the actions that an operation may change.

    Raises:
        InvalidArgument: there is no filter, a filter is None, or no status is one of the `possible` ones.
    """
    if empty := [name for name, value in filters.items() if value is None]:
        raise InvalidArgument(
            f"{empty[0]} is None; leave it out to {operation} actions with any value", field=empty[0]
        )
    selection = Selection.parse(filters, now)
    if selection.is_unrestricted:
        raise InvalidArgument(
            f"there is no filter; name the actions to {operation}: created_until now means all of them",
            field="created_until",
        )
    statuses = selection.statuses.intersection(possible)
    retrying = selection.retrying and Status.PENDING in possible
    if not (statuses or retrying):
        names = [*selection.statuses, *([RETRYING] if selection.retrying else [])]
        given, allowed = (" or ".join(sorted(group)) for group in (names, possible))
        raise InvalidArgument(
            f"{operation} takes {allowed} actions; {given} ones cannot be changed so", field="status"
        )
    return replace(selection, statuses=statuses, retrying=retrying)
