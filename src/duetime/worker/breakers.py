"""The breakers of a worker's types: count failures, open, probe and close.

A success under a closed breaker writes nothing, and a type without a breaker nothing at all. A failure reads
and writes one small item, until the breaker is open.
"""

from __future__ import annotations

import logging
import os
import secrets
import threading
from collections.abc import Callable, Mapping

from duetime import ids
from duetime.declare.handler import Handler
from duetime.errors import DuetimeError, truncate
from duetime.ids import PLANNER
from duetime.jobs.trusted_reading import KnownPauses
from duetime.model.action import Action, ActionRef, Ending
from duetime.model.breaker import (
    Breaker,
    after_probe,
    begins_probe,
    is_failure,
    of_failed_probe,
    pause_of_breaker,
)
from duetime.model.metric import Metric
from duetime.model.outcome import Outcome
from duetime.model.work_pause import Hold, PauseScope, WorkPause
from duetime.ports.backends import Backends
from duetime.ports.meter import Meter
from duetime.ports.wakeups import DueMessage

log = logging.getLogger(__name__)

_TRIES = 10
"""How often a failure is counted while others write the same count; then it is not counted."""


class Breakers:
    """The breakers of one process. Safe to call from several threads."""

    def __init__(
        self, backends: Backends, known: KnownPauses, handlers: Mapping[str, Handler], meter: Meter
    ) -> None:
        self._pauses, self._known, self._handlers = backends.pauses, known, handlers
        self._clock, self._settings, self._meter = backends.clock, backends.settings, meter
        self._probes: dict[ActionRef, WorkPause] = {}
        self._lock = threading.Lock()

    def probed_by(self, ref: ActionRef) -> str | None:
        """Return the id of the pause that an action's run probes; None if it probes none."""
        with self._lock:
            pause = self._probes.get(ref)
        return None if pause is None else pause.id

    def try_probe(self, hold: Hold, message: DueMessage) -> bool:
        """Return whether the run of a message may begin as the one that probes an open breaker.

        Of several at once, one conditional write decides.

        Raises:
            BackendUnavailable: it is not known which run probes.
        """
        handler, now = self._handlers.get(message.type), self._clock.now()
        if hold.pause.breaker is None or handler is None:
            return False
        until = now + handler.timeout + self._settings.lease
        begun = begins_probe(hold.pause, message.ref.id, now, until)
        if begun is None or not self._replace(hold.pause, begun):
            return False
        with self._lock:
            self._probes[message.ref] = begun
        log.info(
            "probes an open breaker",
            extra={"action": message.ref.id, "tenant": message.ref.tenant_id, "type": message.type},
        )
        return True

    def as_counted(self, action: Action, outcome: Outcome) -> Outcome:
        """Return the outcome to settle: a probe that failed is put off."""
        with self._lock:
            pause = self._probes.get(action.ref)
        if pause is None or pause.breaker is None or not is_failure(outcome):
            return outcome
        return of_failed_probe(outcome, pause.breaker.open_for)

    def end_probe(self, action: Action, outcome: Outcome, *, is_committed: bool) -> bool:
        """End a probe before the settle of its run; return whether the run was one. Nothing is raised.

        The settle may send the action's next message at once: it must not find that its own run still probes.
        """
        if (pause := self._taken(action.ref)) is None:
            return False
        is_failed = is_failure(outcome) and not is_committed
        is_success = is_committed or outcome.ending is Ending.EXECUTED
        try:
            self._end_probe(pause, action, is_failed=is_failed, is_success=is_success)
        except DuetimeError as error:
            log.warning("breaker not written", extra={"type": action.type, "reason": truncate(error)})
        return True

    def ended(self, action: Action, outcome: Outcome, *, is_committed: bool) -> None:
        """Count the end of a run that did not probe, after its settle. Nothing is raised: it has ended."""
        handler = self._handlers.get(action.type)
        if is_committed or not is_failure(outcome) or handler is None or handler.breaker is None:
            return
        try:
            self._count(action, handler.breaker, outcome)
        except DuetimeError as error:
            log.warning("breaker not written", extra={"type": action.type, "reason": truncate(error)})

    def give_back(self, ref: ActionRef) -> None:
        """Let another run probe, if this one has not begun."""
        if (pause := self._taken(ref)) is None:
            return
        try:
            self._write_after(pause, ref, is_failed=False)
        except DuetimeError as error:
            log.warning("breaker not written", extra={"reason": truncate(error)})

    def _taken(self, ref: ActionRef) -> WorkPause | None:
        with self._lock:
            return self._probes.pop(ref, None)

    def _end_probe(self, pause: WorkPause, action: Action, *, is_failed: bool, is_success: bool) -> None:
        if is_success:
            now = self._clock.now()
            self._replace(pause, pause.ended(by=PLANNER, at=now))
            log.info("breaker closed", extra={"type": action.type, "tenant": action.tenant_id})
        else:
            self._write_after(pause, action.ref, is_failed=is_failed)

    def _write_after(self, pause: WorkPause, ref: ActionRef, *, is_failed: bool) -> None:
        after = after_probe(pause, ref.id, self._clock.now(), is_failed=is_failed)
        if after is not None:
            self._replace(pause, after)

    def _replace(self, old: WorkPause, new: WorkPause) -> bool:
        is_done = self._pauses.replace(old, new)
        self._known.forget()  # what this process knows is old now, whether it has won or lost
        return is_done

    def _count(self, action: Action, breaker: Breaker, outcome: Outcome) -> None:
        if self._known.find(_is_open(action)) is not None:
            return
        for _ in range(_TRIES):
            now = self._clock.now()
            stored = self._pauses.failures(action.tenant_id, action.type)
            count = stored.failed(breaker, now, secrets.token_urlsafe(6))
            opened = None
            if count.opens(breaker):
                # The count was read before the pauses: if the breaker opens meanwhile, the write is rejected.
                if self._known.find(_is_open(action), is_fresh=True) is not None:
                    return
                pause_id = ids.new_action_id(now, os.urandom)
                opened = pause_of_breaker(breaker, count, outcome.message, pause_id=pause_id, now=now)
            if self._pauses.count_failure(count if opened is None else count.opened(), opened):
                if opened is not None:
                    self._report(action, opened)
                return
        log.warning("failure not counted, others write the count", extra={"type": action.type})

    def _report(self, action: Action, opened: WorkPause) -> None:
        self._known.forget()
        self._meter.add(Metric.BREAKER_OPENED, of=action)
        log.error(Metric.BREAKER_OPENED.value, extra={"type": action.type, "reason": opened.reason})


def _is_open(action: Action) -> Callable[[WorkPause], bool]:
    """Return a test whether a pause is that of the open breaker of an action's type."""

    def is_open(pause: WorkPause) -> bool:
        is_breaker = pause.breaker is not None and pause.scope is PauseScope.TYPE
        return is_breaker and (pause.name, pause.tenant_id) == (action.type, action.tenant_id)

    return is_open
