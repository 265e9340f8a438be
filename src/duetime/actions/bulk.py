"""Many: one change of all actions that a selection means, in bounded steps, and first as a dry run if wanted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from duetime.errors import ActionConflict, ActionNotFound, InvalidSelection
from duetime.ids import ActionId
from duetime.model.action import Action, Status
from duetime.model.selection import Filters, Selection
from duetime.ports.actions import Page


@dataclass(frozen=True, slots=True)
class BulkResult:
    """What one step did: at most so many actions as were asked for, and where the next step begins."""

    changed: tuple[Action, ...]
    """As they are now; in a dry run those that would be changed, as they are."""
    left: Mapping[ActionId, str]
    """Those that changed meanwhile in a way that forbids it, and why."""
    cursor: str | None
    """For the next step; None when all that the selection means has been seen."""
    is_dry_run: bool


def change_many(page: Page, change: Callable[[Action], Action], *, dry_run: bool) -> BulkResult:
    """Change each action of a page; one that cannot be changed any more holds up no other.

    Raises:
        BackendUnavailable: some may have been changed; the same step may be made again.
    """
    if dry_run:
        return BulkResult(page.actions, {}, page.cursor, is_dry_run=True)
    changed: list[Action] = []
    left: dict[ActionId, str] = {}
    for row in page:
        try:
            changed.append(change(row))
        except (ActionConflict, ActionNotFound) as refused:
            left[row.id] = str(refused)
    return BulkResult(tuple(changed), left, page.cursor, is_dry_run=False)


def meant(filters: Filters, now: datetime, asked: str, possible: Collection[Status]) -> Selection:
    """What is to be changed: never more than is meant by an oversight, nor what cannot be.

    Raises:
        InvalidSelection: there is no filter, one is None, or its statuses are none of the `possible` ones.
    """
    if empty := [name for name, said in filters.items() if said is None]:
        raise InvalidSelection(f"{empty[0]} is None; to {asked} whatever it is, leave it out")
    selection = Selection.of(filters, now)
    if selection.says_nothing:
        raise InvalidSelection(f"say which actions to {asked}; created_until now means all of them")
    wanted = selection.statuses.intersection(possible)
    if not wanted:
        told, can = (" or ".join(sorted(each)) for each in (selection.statuses, possible))
        raise InvalidSelection(f"{asked} takes {can} actions; {told} ones cannot be changed so")
    return replace(selection, statuses=wanted)
