"""Free a slot of a concurrency key, and pass it to the action that has waited longest.

One write removes the holder and makes the next of the line a holder; then a message wakes that one. If the
process dies between the two, the next action is a holder already, and its own later message, or the sweep,
wakes it. Actions in the line that are no longer pending, not due any more, or expired, are removed from it.

If the line becomes short, the same write appends the first of its tail.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice

from duetime.errors import DuetimeError, truncate
from duetime.ids import ActionId, TenantId
from duetime.jobs.change_with_retry import CHANGED, Conflict, retry_on_conflict
from duetime.model.action import Action, ActionRef, Status
from duetime.model.slots import KeySlots, SlotMove, TailEntry, waits
from duetime.ports.actions import Holder
from duetime.ports.backends import Backends
from duetime.wakeups.due_messages import message_of, send_wakes

log = logging.getLogger(__name__)

_FIRST_READ, _READ_AT_ONCE = 1, 20
"""How many rows of the line are read first, and then at once: mostly the first one may go on."""

_TAIL_AT_ONCE = 25
"""How many entries of the tail are read at once."""

_MOST_FILLS = 10
"""How often free slots are passed on, if those that were read do not wait any more."""


class PassSlots:
    """Moves the slots of concurrency keys."""

    def __init__(self, backends: Backends) -> None:
        self._actions, self._queues, self._routes = backends.store, backends.queues, backends.routes
        self._clock, self._skew = backends.clock, backends.settings.clock_skew

    def free(self, run: Action, token: int) -> None:
        """Free the slot of a run that is settled, unless its action has begun again with it.

        If the slot has another token, its action has taken it again: for a retry, or for a take-over that
        lost its race. Then the row decides.

        Args:
            run: the run, as it was claimed.
            token: the fence with which it took its slot.
        """

        def attempt() -> Conflict | None:
            slots = self._actions.key_slots(run.tenant_id, run.slot_key)
            if slots.holders.get(run.id) != token:
                return self._give_up(run)
            return None if self._made(self._move(slots, run.id)) else CHANGED

        self._retry(attempt, run)

    def give_up(self, row: Action) -> None:
        """Free the slot of an action that does not run, if it holds one: it ended, or is due later."""
        self._retry(lambda: self._give_up(row), row)

    def _give_up(self, action: Action) -> Conflict | None:
        row = next(iter(self._actions.get_rows([action.ref], damaged=[])), None)
        slots = self._actions.key_slots(action.tenant_id, action.slot_key)
        if row is None or row.status is Status.PROCESSING or action.id not in slots.holders:
            return None
        return None if self.evict(slots, row.id, row) else CHANGED

    def _retry(self, attempt: Callable[[], Conflict | None], action: Action) -> None:
        if isinstance(retry_on_conflict(attempt), Conflict):
            log.warning(
                "the concurrency key kept changing, its slot is left",
                extra={"action": action.id, "tenant": action.tenant_id},
            )

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
            self._after(move)
        return is_done

    def fill(self, slots: KeySlots, action_id: ActionId | None = None) -> bool:
        """Pass free slots on, and tidy the line; return whether the slots as read may have changed.

        Args:
            slots: the slots as read.
            action_id: the action that its caller claims: it needs no message.
        """
        move = self._move(slots, None)
        if move.is_empty and not move.tail_left:
            return False
        if self._filled(move, action_id) and move.ends_tail:
            self._fill_from_tail(slots)
        return True

    def _filled(self, move: SlotMove, without: ActionId | None = None) -> bool:
        is_done = move.is_empty or self._actions.move_slots(move)
        if is_done:
            self._wake(move, without)
            self._leave_tail(move)
        return is_done

    def _made(self, move: SlotMove) -> bool:
        is_done = self._actions.move_slots(move)
        if is_done:
            self._after(move)
        return is_done

    def _after(self, move: SlotMove) -> None:
        """Wake the new holders, and see to the tail.

        An action that has joined the tail since may have seen the mark, or no free slot.
        """
        self._wake(move)
        self._leave_tail(move)
        if move.ends_tail or (move.needs_same_line and move.before.has_tail):
            self._fill_from_tail(move.before)

    def _fill_from_tail(self, former: KeySlots) -> None:
        tenant_id, key = former.tenant_id, former.key
        for _ in range(_MOST_FILLS):
            if not self._actions.tail(tenant_id, key, limit=1):
                return
            move = self._move(self._actions.mark_tail(tenant_id, key, self._clock.now()), None)
            if move.is_empty and not move.tail_left:
                return
            self._filled(move)

    def _leave_tail(self, move: SlotMove) -> None:
        """Remove the entries that a move needs no more. One that stays is found and removed again."""
        try:
            self._actions.leave_tail(move.before.tenant_id, move.before.key, move.tail_left)
        except DuetimeError as error:
            log.warning("the tail keeps entries", extra={"key": move.before.key, "reason": truncate(error)})

    def _wake(self, move: SlotMove, without: ActionId | None = None) -> None:
        """Send the messages of the new holders. A lost one comes later: the sweep sends it again."""
        messages = [message_of(row) for row in move.passed if row.id != without]
        try:
            if messages:
                send_wakes(messages, self._queues, self._routes, self._clock)
        except DuetimeError as error:
            log.warning(
                "not woken",
                extra={
                    "action": messages[0].ref.id,
                    "tenant": messages[0].ref.tenant_id,
                    "reason": truncate(error),
                },
            )

    def _move(self, slots: KeySlots, freed: ActionId | None) -> SlotMove:
        """Return the move by which a holder leaves, and the longest-waiting that may become holders."""
        now = self._clock.now()
        choice, dropped = _Choice(slots, freed, now, self._skew), set[int]()
        for place, row in enumerate(self._rows(slots.tenant_id, slots.waiting)):
            if choice.is_over:
                break
            if choice.leaves(row):
                dropped.add(place)
        move = SlotMove(
            before=slots,
            freed=freed,
            passed=tuple(choice.passed),
            dropped=frozenset(dropped),
            at=now,
        )
        needs_tail = slots.has_tail and (not choice.is_over or move.is_short)
        return self._with_tail(move, choice) if needs_tail else move

    def _with_tail(self, move: SlotMove, choice: _Choice) -> SlotMove:
        """Let a move pass slots to the first of the tail too, and append the next ones to the line."""
        slots = move.before
        tail = self._actions.tail(slots.tenant_id, slots.key, limit=_TAIL_AT_ONCE)
        is_known = {*slots.waiting, *slots.holders}
        new = [entry.action_id for entry in tail if entry.action_id not in is_known]
        rows = iter(self._rows(slots.tenant_id, new))
        appended, left = list[ActionId](), list[TailEntry]()
        for entry in tail:
            if entry.action_id in is_known or (not choice.is_over and choice.leaves(next(rows))):
                left.append(entry)
            elif len(appended) < move.room:
                appended.append(entry.action_id)
                left.append(entry)
        return replace(
            move,
            passed=tuple(choice.passed),
            appended=tuple(appended),
            tail_left=tuple(left),
            ends_tail=len(left) == len(tail) < _TAIL_AT_ONCE,
        )

    def _rows(self, tenant_id: TenantId, action_ids: Sequence[ActionId]) -> Iterator[Action | None]:
        """Yield the rows of the actions in order, None for one that is gone or damaged."""
        rest, size = iter(action_ids), _FIRST_READ
        while part := list(islice(rest, size)):
            refs = [ActionRef(tenant_id, action_id) for action_id in part]
            rows = {row.id: row for row in self._actions.get_rows(refs, damaged=[])}
            yield from map(rows.get, part)
            size = _READ_AT_ONCE


class _Choice:
    """Chooses the longest-waiting rows whose limits permit them a slot."""

    def __init__(self, slots: KeySlots, freed: ActionId | None, now: datetime, skew: timedelta) -> None:
        self._slots, self._freed, self._now, self._skew = slots, freed, now, skew
        self._held = set(slots.holders) - {freed}
        self.passed = list[Action]()
        self.is_over = False
        """Whether no further row gets a slot."""

    def leaves(self, row: Action | None) -> bool:
        """Judge the next row; return whether it leaves the line: it gets a slot, or does not wait."""
        if row is None or row.id in self._held or not waits(row, self._slots.key, self._now, self._skew):
            return True
        if len(self._held) < row.slot_limit:
            self._held.add(row.id)
            self.passed.append(row)
            self.is_over = self._freed is not None  # the slot that it left is taken
            return True
        self.is_over = bool(self.passed)  # the next ones wait behind this one
        return False
