"""The preview of a bulk change: how many actions match, counted by the server at one cut-off instant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta

from duetime.actions.bulk import BulkResult
from duetime.api.filters import MatchedView
from duetime.clock import Clock
from duetime.model.action import Action

MOST_STEPS, STEP = 25, 200
"""The most steps of one count, and the rows of a step: a preview counts up to 5,000 actions."""

LONGEST = timedelta(seconds=5)
"""A count ends after the step in which this time has passed."""

Step = Callable[[int, str | None], BulkResult]
"""A dry-run step: its limit and its cursor."""


def count_matches(first: BulkResult, step: Step, clock: Clock) -> MatchedView:
    """Count the actions that a dry run would change, from its first step on, for some seconds at most."""
    found: list[Action] = [*first.changed]
    cursor = first.cursor
    ends = clock.now() + LONGEST
    for _ in range(MOST_STEPS):
        if cursor is None or clock.now() >= ends:
            break
        result = step(STEP, cursor)
        found.extend(result.changed)
        cursor = result.cursor
    return MatchedView(
        count=len(found),
        more=cursor is not None,
        by_type=dict(Counter(action.type for action in found).most_common()),
        by_status=dict(Counter(_status(action) for action in found).most_common()),
    )


def _status(action: Action) -> str:
    return "retrying" if action.is_retrying else action.status.value
