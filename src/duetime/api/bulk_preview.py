"""The preview of a bulk change: how many actions match, counted by the server at one cut-off instant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from duetime.actions.bulk import BulkResult
from duetime.api.filters import MatchedView
from duetime.model.action import Action

MOST_STEPS, STEP = 25, 200
"""The most steps of one count, and the rows of a step: a preview counts up to 5,000 actions."""

Step = Callable[[int, str | None], BulkResult]
"""A dry-run step: its limit and its cursor."""


def count_matches(step: Step) -> MatchedView:
    """Count the actions that the steps of a dry run would change."""
    found: list[Action] = []
    cursor: str | None = None
    for _ in range(MOST_STEPS):
        result = step(STEP, cursor)
        found.extend(result.changed)
        cursor = result.cursor
        if cursor is None:
            break
    return MatchedView(
        count=len(found),
        more=cursor is not None,
        by_type=dict(Counter(action.type for action in found).most_common()),
        by_status=dict(Counter(_status(action) for action in found).most_common()),
    )


def _status(action: Action) -> str:
    return "retrying" if action.is_retrying else action.status.value
