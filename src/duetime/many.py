"""Many: one change of all actions that a selection means, in bounded steps, and first as a dry run if wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from duetime.action import Action
from duetime.action_ports import Page
from duetime.errors import ActionConflict, ActionNotFound
from duetime.ids import ActionId


@dataclass(frozen=True, slots=True)
class Many:
    """What one step did: at most so many actions as were asked for, and where the next step begins."""

    changed: tuple[Action, ...]
    """As they are now; in a dry run those that would be changed, as they are."""
    left: Mapping[ActionId, str]
    """Those that changed meanwhile in a way that forbids it, and why."""
    cursor: str | None
    """For the next step; None when all that the selection means has been seen."""
    is_dry_run: bool


def change_many(page: Page, change: Callable[[Action], Action], *, dry_run: bool) -> Many:
    """Change each action of a page; one that cannot be changed any more holds up no other.

    Raises:
        BackendUnavailable: some may have been changed; the same step may be made again.
    """
    if dry_run:
        return Many(page.actions, {}, page.cursor, is_dry_run=True)
    changed: list[Action] = []
    left: dict[ActionId, str] = {}
    for row in page:
        try:
            changed.append(change(row))
        except (ActionConflict, ActionNotFound) as refused:
            left[row.id] = str(refused)
    return Many(tuple(changed), left, page.cursor, is_dry_run=False)
