"""The canary: an action of duetime's own, which the sweep schedules every few minutes.

It is due far enough ahead to need every part of an action's path: the stream, arm, a timer, dispatch, a queue
and a worker. The worker's run of it does nothing; its lateness is the metric of the alarm `canary`.
"""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256

from duetime import instant
from duetime.clock import Clock
from duetime.ids import SYSTEM_TENANT, due_shard_of, new_action_id
from duetime.model.action import CANARY, Action
from duetime.ports.actions import ActionStore
from duetime.settings import Settings


class Canary:
    """Schedules one canary for each interval of the setting `canary`; its id is that of the interval."""

    def __init__(self, store: ActionStore, *, clock: Clock, settings: Settings) -> None:
        self._store, self._clock, self._settings = store, clock, settings

    def __call__(self) -> bool:
        """Schedule the canary if an interval has begun since the previous sweep; return whether it did.

        Raises:
            BackendUnavailable: it may not be scheduled.
        """
        now, every = self._clock.now(), self._settings.canary
        if not (every and self._settings.enabled):
            return False
        begun = instant.floor(now, every)
        is_new = now - begun < self._settings.sweep_rate
        if is_new:
            self._store.put(self._of_interval(begun))
        return is_new

    def _of_interval(self, begun: datetime) -> Action:
        action_id = new_action_id(begun, lambda size: sha256(CANARY.encode()).digest()[:size])
        return Action(
            tenant_id=SYSTEM_TENANT,
            id=action_id,
            type=CANARY,
            due_at=begun + self._settings.near_limit + self._settings.sweep_rate,
            due_shard=due_shard_of(action_id, len(self._store.due_shards)),
            created_by="duetime",
            payload=None,
        )
