"""The raw loop: sqlite3 alone, with the transactions of a burst of actions in the local cloud's file.

For each action the very rows of claim and settle, each read and written in a transaction of its own. The file
is the loop's own, with the same tables, so that the local cloud's own parts have nothing to do with it.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from duetime import instant
from duetime.aws.items import to_item
from duetime.clock import SystemClock
from duetime.ids import TenantId, due_shard_of, new_action_id
from duetime.model import transition
from duetime.model.action import Action, Ending, Status
from duetime.model.lease import ClaimTerms, Settlement
from duetime.sqlite.database import to_text
from duetime.sqlite.rows import TABLE

_READ = "SELECT row FROM rows WHERE tenant = 'acme' AND place = '' AND id = ?"
_CLAIM = "UPDATE rows SET row = ? WHERE tenant = 'acme' AND place = '' AND id = ?"
_SETTLE = (
    "UPDATE rows SET row = ?, due_shard = NULL, kept_until = due_at"
    " WHERE tenant = 'acme' AND place = '' AND id = ?"
)


class RawLoop:
    """A connection that reads, claims and settles rows of a file."""

    def __init__(self, path: Path) -> None:
        self._connection, self._clock = sqlite3.connect(path, isolation_level=None), SystemClock()
        self._connection.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; {TABLE}")

    def drain(self, actions: int) -> float:
        """Put rows, then process them; return actions a second."""
        prepared = [self._put(self._action()) for _ in range(actions)]
        before = time.perf_counter()
        for action_id, claim, settle in prepared:
            self._update(_CLAIM, claim, action_id)
            self._update(_SETTLE, settle, action_id)
        return actions / (time.perf_counter() - before)

    def _update(self, statement: str, text: str, action_id: str) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute(_READ, (action_id,)).fetchone()
        self._connection.execute(statement, (text, action_id))
        self._connection.execute("COMMIT")

    def _put(self, action: Action) -> Sequence[str]:
        """Put a row; return its id, and its texts once it is claimed and settled."""
        now = self._clock.now()
        terms = ClaimTerms(
            now=now,
            lease_until=now + timedelta(minutes=5),
            skew=timedelta(seconds=5),
            nonce=action.id[-12:],
            instance="raw-1",
            queued_at=now,
            retry="[1,[60],0.1,null]",
        )
        settlement = Settlement(
            status=Status.EXECUTED,
            ending=Ending.EXECUTED,
            finished_at=now,
            kept_until=now + timedelta(days=30),
        )
        claimed = transition.started(action, terms)
        pending, claim, settle = (
            to_text(to_item(row)) for row in (action, claimed, transition.settled(claimed, settlement))
        )
        due_at = instant.text(now)
        values = (action.tenant_id, "", action.id, pending, action.due_shard, due_at, None, None, None)
        self._connection.execute("INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
        return action.id, claim, settle

    def _action(self) -> Action:
        now = self._clock.now()
        action_id = new_action_id(now)
        return Action(
            tenant_id=TenantId("acme"),
            id=action_id,
            type="tick",
            due_at=now,
            due_shard=due_shard_of(action_id, 16),
            created_by="raw",
            payload="{}",
        )
