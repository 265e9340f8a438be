"""``redrive --staged``: redrives one action, then ten, then all; stops when the same error comes back."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from duetime.cli.arguments import Filters
from duetime.cli.client import Client, Json, client_of
from duetime.cli.failures import BadUsage
from duetime.cli.many import OPEN, VERBS, agreed, change, chosen_by
from duetime.cli.output import ProgressBar, print_json
from duetime.cli.tables import plain
from duetime.clock import SystemClock
from duetime.model.error_pattern import error_pattern

STAGES = (1, 10, None)
"""The sizes of the stages; None is the rest."""

WAIT = 600
"""Seconds that a stage waits for its actions, by default."""

# The number of ids in one change, in one read, whose URL has them, and in a report.
_STEP, _LOOK, _FIRST = 100, 50, 5

# The outcomes of an action, in the order of a report.
_OUTCOMES = {
    "executed": "executed",
    "same_error": "failed with the same error",
    "other_error": "failed with another error",
    "ended": "cancelled or skipped",
    "running": "still running",
}


@dataclass(slots=True)
class _Stage:
    """One stage: the actions as they were, and as they are now."""

    number: int
    before: dict[str, Json] = field(default_factory=dict)
    now: dict[str, Json] = field(default_factory=dict)
    left: list[Json] = field(default_factory=list)

    def outcome(self, action_id: str) -> str:
        """Return the outcome of an action since its redrive, by its first new attempt."""
        action = self.now[action_id]
        if action["status"] == "failed" or action["is_retrying"]:
            is_same = _pattern(action) == _pattern(self.before[action_id])
            return "same_error" if is_same else "other_error"
        if action["status"] == "executed":
            return "executed"
        return "running" if action["status"] in OPEN else "ended"

    def of(self, outcome: str) -> list[Json]:
        """Return the actions with an outcome."""
        return [self.now[action_id] for action_id in self.now if self.outcome(action_id) == outcome]

    def stop_reason(self) -> str | None:
        """Return why no stage may follow; None if one may."""
        if same := self.of("same_error"):
            return f"the same error came back: {plain(_error(same[0]))} ({same[0]['id']})"
        if running := self.of("running"):
            return f"{len(running)} still running, such as {running[0]['id']}: wait longer, as in --staged 1h"
        return "no action of this stage was executed" if self.now and not self.of("executed") else None

    def document(self) -> Json:
        """Return the report as JSON: the ids by outcome."""
        ids = {outcome: [action["id"] for action in self.of(outcome)] for outcome in _OUTCOMES}
        return {"stage": self.number, "redriven": len(self.now), **ids, "left": self.left}

    def lines(self) -> Iterator[str]:
        """Yield the report as text."""
        counts = Counter(map(self.outcome, self.now))
        shown = ", ".join(f"{counts[name]} {text}" for name, text in _OUTCOMES.items() if counts[name])
        yield f"stage {self.number}: redriven {len(self.now)}" + (f": {shown}" if shown else "")
        others = self.of("other_error")[:_FIRST]
        yield from (f"  another error {action['id']}: {plain(_error(action))}" for action in others)
        yield from (f"  left {action['id']}: {plain(action['reason'])}" for action in self.left[:_FIRST])


def redrive(arguments: argparse.Namespace) -> int:
    """Run failed actions again, with ``--all`` every dead letter; return 0 if all stages were executed.

    Raises:
        BadUsage: ids were given, or no filter; or there is no terminal for the confirmation.
        OperationFailed: the API failed; some may be redriven, and a repeat is safe.
    """
    filters, verb = chosen_by(arguments), VERBS["redrive"]
    if arguments.staged is None:
        return change(arguments)
    if arguments.ids or arguments.dry_run or not filters:
        raise BadUsage("--staged takes filters such as --type, without ids and --dry-run")
    client = client_of(arguments)
    chosen = filters if arguments.yes else agreed(client, verb, filters)
    if chosen is None:
        return 0
    run = _StagedRedrive(client, chosen, timedelta(seconds=arguments.staged))
    stages, reason = [], None
    for stage in run.stages():
        stages.append(stage)
        reason = stage.stop_reason()
        if not arguments.json:
            print("\n".join(stage.lines()), flush=True)
    unread = run.is_more and reason is not None
    if arguments.json:
        documents = [stage.document() for stage in stages]
        print_json({"stages": documents, "stopped": reason, "has_more": unread})
    elif not stages:
        print("no actions to redrive")
    elif reason is not None:
        rest = "; the others were not redriven" if unread else ""
        print(f"stopped after stage {stages[-1].number}{rest}: {reason}", file=sys.stderr)
    return int(any(stage.left or len(stage.of("executed")) < len(stage.now) for stage in stages))


class _StagedRedrive:
    """The state of the stages: what was redriven is in the rows, so an interrupted command loses nothing."""

    def __init__(self, client: Client, filters: Filters, wait: timedelta) -> None:
        self._client, self._clock, self._wait = client, SystemClock(), wait
        self._filters: dict[str, Any] = {**filters, "dry_run": True, "cursor": None}
        self.is_more = True
        """Whether some that match may not be redriven yet."""

    def stages(self) -> Iterator[_Stage]:
        """Yield each stage when its actions have an outcome, until one must be the last."""
        for number, size in enumerate(STAGES, 1):
            stage = _Stage(number)
            with ProgressBar(f"stage {number}") as bar:
                self._redrive(stage, size, bar)
                self._await(stage, bar)
            if stage.now or stage.left:
                yield stage
            if not (stage.now or stage.left) or stage.stop_reason() or not self.is_more:
                return

    def _redrive(self, stage: _Stage, size: int | None, bar: ProgressBar) -> None:
        """Redrive the next ones; while a large stage goes on, the same error ends it too."""
        while self.is_more and (size is None or len(stage.before) < size):
            if not (found := self._next(_STEP if size is None else size - len(stage.before))):
                continue
            stage.before |= {action["id"]: action for action in found}
            given = {"ids": [action["id"] for action in found], "limit": _STEP}
            step = self._client.call("redriveActions", given).body
            stage.now |= {action["id"]: action for action in step["changed"]}
            stage.left += step["left"]
            bar.done(len(stage.now))
            if size is None:
                self._look(stage, _undecided(stage)[:_LOOK])
                if stage.of("same_error"):
                    return

    def _next(self, limit: int) -> Sequence[Json]:
        """Return the next failed actions as they are; a page may be empty."""
        page = self._client.call("redriveActions", {**self._filters, "limit": limit}).body
        self._filters["cursor"] = page["next_cursor"]
        self._filters["created_until"] = page["created_until"] or self._filters.get("created_until")
        self.is_more = page["next_cursor"] is not None
        found: Sequence[Json] = page["changed"]
        return found

    def _await(self, stage: _Stage, bar: ProgressBar) -> None:
        """Wait until each action has an outcome, or the time of the stage is over."""
        until = self._clock.now() + self._wait
        while (undecided := _undecided(stage)) and self._clock.now() < until:
            line = f"stage {stage.number}: {len(undecided)} not done yet"
            bar.wait(len(stage.now) - len(undecided), line, self._clock)
            for first in range(0, len(undecided), _LOOK):
                self._look(stage, undecided[first : first + _LOOK])

    def _look(self, stage: _Stage, ids: Sequence[str]) -> None:
        """Read actions again."""
        if ids:
            page = self._client.call("listActions", {"ids": ",".join(ids), "limit": _LOOK}).body
            stage.now |= {action["id"]: action for action in page["items"]}


def _undecided(stage: _Stage) -> list[str]:
    return [action_id for action_id in stage.now if stage.outcome(action_id) == "running"]


def _error(action: Json) -> str:
    last = action["attempts"][-1]["message"] if action["attempts"] else None
    return action["failure_reason"] or last or "-"


def _pattern(action: Json) -> tuple[str, str]:
    return action["type"], error_pattern(_error(action))
