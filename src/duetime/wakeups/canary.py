"""The canary: an action of duetime's own, which the sweep schedules every few minutes.

It is due far enough ahead to need every part of an action's path: the stream, arm, a timer, dispatch, a queue
and a worker. The worker's run of it does nothing; its lateness is the metric of the alarm `canary`.
"""

from __future__ import annotations

from duetime import instant
from duetime.clock import Clock
from duetime.model.built_in import canary_row
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
        now, every = self._clock.now(), self._settings.made.canary
        if not (every and self._settings.enabled):
            return False
        begun = instant.floor(now, every)
        is_new = now - begun < self._settings.sweep_rate
        if is_new:
            self._store.put(canary_row(begun, self._settings, len(self._store.due_shards)))
        return is_new
