"""Free a slot of a concurrency key, and pass it to the action that has waited longest.

One write removes the holder and makes the next of the line a holder; then a message wakes that one. If the
process dies between the two, the next action is a holder already, and its own later message, or the sweep,
wakes it. Actions in the line that are no longer pending, not due any more, or expired, are removed from it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import islice

from duetime.clock import Clock
from duetime.errors import DuetimeError, truncate
from duetime.ids import ActionId
from duetime.jobs.change_with_retry import CHANGED, Conflict, retry_on_conflict
from duetime.model.action import Action, ActionRef, Status
from duetime.model.slots import MAY_RUN_AGAIN, KeySlots, SlotMove, waits
from duetime.ports.actions import ActionStore, Holder
from duetime.ports.wakeups import DueQueues, Routes
from duetime.wakeups.due_messages import message_of, send_wakes

log = logging.getLogger(__name__)

_FIRST_READ, _READ_AT_ONCE = 1, 20
"""How many rows of the line are read first, and then at once: mostly the first one may go on."""


class PassSlots:
    """Moves the slots of concurrency keys."""

    def __init__(
        self, actions: ActionStore, queues: DueQueues, routes: Routes, *, clock: Clock, skew: timedelta
    ) -> None:
        self._actions, self._queues, self._routes = actions, queues, routes
        self._clock, self._skew = clock, skew

    def free(self, run: Action, begun: KeySlots, status: Status) -> None:
        """Free the slot of a run that is settled, unless it is no longer its slot.

        The slot is the run's if its token is. A take-over that lost its race may have renewed the token; then
        the row decides. So it does if the action may run again, and a slot was taken since: a worker of 0.1.0
        leaves no token.

        Args:
            run: the run, as it was claimed.
            begun: the slots when it began.
            status: the one that it was settled with.
        """

        def attempt() -> Conflict | None:
            slots = self._actions.key_slots(run.tenant_id, run.concurrency_key or "")
            if run.id not in slots.holders:
                return None
            may_run_again = status in MAY_RUN_AGAIN
            is_mine = slots.holders[run.id] == begun.holders[run.id]
            if not is_mine or (may_run_again and slots.taken_at != begun.taken_at):
                return self._give_up(run)
            return None if self._made(self._move(slots, run.id, may_run_again=may_run_again)) else CHANGED

        self._retry(attempt, run)

    def give_up(self, row: Action) -> None:
        """Free the slot of an action that does not run, if it holds one: it ended, or is due later."""
        self._retry(lambda: self._give_up(row), row)

    def _give_up(self, action: Action) -> Conflict | None:
        row = next(iter(self._actions.get_rows([action.ref], damaged=[])), None)
        slots = self._actions.key_slots(action.tenant_id, action.concurrency_key or "")
        if row is None or row.status is Status.PROCESSING or action.id not in slots.holders:
            return None
        return None if self.evict(slots, row.id, row) else CHANGED

    def _retry(self, attempt: Callable[[], Conflict | None], action: Action) -> None:
        if isinstance(retry_on_conflict(attempt), Conflict):
            log.warning("the concurrency key kept changing, its slot is left", extra={"action": action.id})

    def evict(self, slots: KeySlots, dead: ActionId, row: Holder | None) -> bool:
        """Free the slot of a holder that cannot begin or end its run any more; return whether it was freed.

        Args:
            slots: the slots as read.
            dead: the holder.
            row: its row as read; None if it is gone.
        """
        move = self._move(slots, dead)
        is_done = self._actions.evict(move, row)
        if is_done:
            self._wake(move)
        return is_done

    def fill(self, slots: KeySlots, action_id: ActionId) -> bool:
        """Pass free slots on, and tidy the line; return whether the slots as read may have changed.

        Args:
            slots: the slots as read.
            action_id: the action that its caller claims: it needs no message.
        """
        move = self._move(slots, None)
        if move.is_empty:
            return False
        return not self._actions.move_slots(move) or self._wake(move, without=action_id)

    def _made(self, move: SlotMove) -> bool:
        return self._actions.move_slots(move) and self._wake(move)

    def _wake(self, move: SlotMove, without: ActionId | None = None) -> bool:
        """Send the messages of the new holders. A lost one comes later: the sweep sends it again."""
        messages = [message_of(row) for row in move.passed if row.id != without]
        try:
            if messages:
                send_wakes(messages, self._queues, self._routes, self._clock)
        except DuetimeError as error:
            log.warning("not woken", extra={"action": messages[0].ref.id, "reason": truncate(error)})
        return True

    def _move(self, slots: KeySlots, freed: ActionId | None, *, may_run_again: bool = False) -> SlotMove:
        """Return the move by which a holder leaves, and the longest-waiting that may become holders."""
        now = self._clock.now()
        held, passed, dropped = set(slots.holders) - {freed}, list[Action](), set[int]()
        for place, row in self._line(slots):
            action_id = slots.waiting[place]
            if row is None or action_id in held or not waits(row, slots.key, now, self._skew):
                dropped.add(place)
            elif len(held) < row.concurrency_limit:
                held.add(action_id)
                passed.append(row)
                dropped.add(place)
                if freed is not None and len(held) == len(slots.holders):
                    break  # its slot is taken
            elif passed:
                break  # the next ones wait behind this one
        return SlotMove(
            before=slots,
            freed=freed,
            passed=tuple(passed),
            dropped=frozenset(dropped),
            at=now,
            may_run_again=may_run_again,
        )

    def _line(self, slots: KeySlots) -> Iterator[tuple[int, Action | None]]:
        """Yield the actions of the line by their positions: their rows, None if one is gone or damaged."""
        places, size = iter(enumerate(slots.waiting)), _FIRST_READ
        while part := list(islice(places, size)):
            refs = [ActionRef(slots.tenant_id, action_id) for _, action_id in part]
            rows = {row.id: row for row in self._actions.get_rows(refs, damaged=[])}
            yield from ((place, rows.get(action_id)) for place, action_id in part)
            size = _READ_AT_ONCE
