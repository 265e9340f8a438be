"""Chains: hold a new action until its predecessors have ended, and have their ends release it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from duetime.errors import BackendUnavailable, InvalidArgument, NotFound, truncate
from duetime.ids import ActionId
from duetime.jobs.change_with_retry import CHANGED, Conflict, retry_on_conflict
from duetime.model import row_parts
from duetime.model.action import Action, ActionRef
from duetime.model.batch import HELD_AT, MOST_FOLLOWERS, ActionBatch, BatchRef, followed
from duetime.model.predecessors import ANY, SKIP, After, AfterFailure, Decision, Predecessors, decide
from duetime.ports.action_store import ActionStore
from duetime.wakeups.count_batch import new_version

log = logging.getLogger(__name__)


_STORED: Mapping[AfterFailure, str | None] = {"fail": None, "skip": SKIP, "run": ANY}


def after_rule(failure: AfterFailure) -> str | None:
    """Return the stored rule of a chain.

    Raises:
        InvalidArgument: there is no such rule.
    """
    if failure not in tuple(_STORED):  # it may be of any type
        raise InvalidArgument("must be 'fail', 'skip' or 'run'", field="after_failure", value=failure)
    return _STORED[failure]


def held(action: Action, after: After, rule: str | None, store: ActionStore, now: datetime) -> Action:
    """Return a new action as it is written: held, unless its predecessors have ended already.

    Raises:
        InvalidArgument: see `Predecessors.of`; or too many actions wait for one of them.
        NotFound: the tenant has no such predecessor.
    """
    predecessors = Predecessors.of(after)
    refs = [ActionRef(action.tenant_id, one) for one in predecessors.ids]
    rows = {row.id: row for row in store.get_rows(refs)} if refs else {}
    batches = {name: _batch(store, BatchRef(action.tenant_id, name)) for name in predecessors.batches}
    for one in predecessors.ids:
        if one not in rows:
            raise NotFound("action", one)
        _check_followers(one, rows[one].followers)
    for name, batch in batches.items():
        _check_followers(name, batch.followers)
    waits = row_parts.After(predecessors.text(), rule)
    waiting = replace(action, due_at=HELD_AT, first_due_at=action.due_at, after=waits)
    verdict = decide(waiting, rows, batches)
    if verdict.decision is Decision.RUN:
        return replace(waiting, due_at=action.due_at, first_due_at=None)
    if verdict.decision is Decision.FAIL:
        return replace(waiting, due_at=now, first_due_at=None, unmet=verdict.unmet)
    return waiting


def follow(action: Action, store: ActionStore) -> None:
    """Have the ends of its predecessors wake a held action that is written.

    This is only a wake: after a failure, the sweep finds the action.
    """
    if not action.is_held:
        return
    predecessors = Predecessors.of_row(action)
    try:
        for one in predecessors.ids:
            store.add_follower(ActionRef(action.tenant_id, one), action.id)
        for name in predecessors.batches:
            retry_on_conflict(lambda name=name: _follow_batch(action, name, store))  # type: ignore[misc]
    except BackendUnavailable as error:
        log.warning("the sweep releases it", extra={"action": action.id, "reason": truncate(error)})


def _follow_batch(action: Action, name: str, store: ActionStore) -> Conflict | None:
    batch = store.find_batch(BatchRef(action.tenant_id, name))
    if batch is None:
        return None
    changed = replace(followed(batch, action.id), version=new_version())
    return None if store.change_batch(batch, changed) else CHANGED


def _batch(store: ActionStore, ref: BatchRef) -> ActionBatch:
    batch = store.find_batch(ref)
    if batch is None:
        raise NotFound("batch", ref.name)
    return batch


def _check_followers(name: str, followers: tuple[ActionId, ...]) -> None:
    if len(followers) >= MOST_FOLLOWERS:
        problem = f"has {len(followers)} actions that wait for it; at most {MOST_FOLLOWERS} are allowed"
        raise InvalidArgument(problem, field="after", value=name)
