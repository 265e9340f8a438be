"""The record of a small world: each change of a row, each answer to a token, and what must hold of them."""

from dataclasses import dataclass

from duetime.errors import DuetimeError, HandOverEnded
from duetime.model.action import Status
from duetime.model.batch import BatchState

OF_RUNS = frozenset({"settle", "beat", "hand_over", "renew", "report"})
"""Writes of a run, or by its token."""


@dataclass(frozen=True)
class Ticket:
    """A token, as its party has it."""

    text: str
    action: str
    fence: int


class SettleRecord:
    """Counts the settles of each action by the changes of its row."""

    def __init__(self, clock):
        self.clock, self.problems = clock, []
        self.answers = []
        self.settles, self.redrives, self.releases, self.ended = {}, {}, {}, {}

    def changed(self, change):
        """Record a change of a row, and check that it was allowed."""
        old, new = change.old, change.new
        if old is None or new is None:
            return
        if old.status.is_final and new.status.is_final and _end_of(old) != _end_of(new):
            self.problems.append(f"{new.id} is settled again: {old.status} becomes {new.status}")
        if old.status.is_final and not new.status.is_final:
            self.redrives[new.id] = self.redrives.get(new.id, 0) + 1
        if not old.status.is_final and new.status.is_final:
            self.settles.setdefault(new.id, []).append((old.fence, new.status))
        if old.is_held and not new.is_held:
            self.releases[new.id] = self.releases.get(new.id, 0) + 1
        if old.status is Status.PROCESSING and new.completion != old.completion:
            self.check_completion(old, new)

    def by_run(self, store, name, method, claimed, *args, **more):
        """Do a write of a run; one of a run that was taken over must change nothing."""
        before = store.get(claimed.ref)
        answer = method(claimed, *args, **more)
        if before is not store.get(claimed.ref) and before.fence != claimed.fence:
            self.problems.append(f"{name} of a run that was taken over has changed {before.id}")
        return answer

    def check_completion(self, old, new):
        """Check that a party ended its own hand-over, within its time."""
        ended_at = new.attempts[-1].finished_at
        if not old.is_handed_over:
            self.problems.append(f"{old.id} is ended by a token of a run that has lost it")
        elif old.lease_until is None or ended_at >= old.lease_until:
            self.problems.append(f"{old.id} is ended at {ended_at}, after its hand-over")

    def called(self, ticket, call, ends_as, store):
        """Make a call by a token, and check its answer; `ends_as` is None for a heartbeat.

        Raises:
            DuetimeError: of the call.
        """
        try:
            answer = call()
        except DuetimeError as error:
            self.answers.append(type(error).__name__)
            self.check_rejection(ticket, error, store)
            raise
        self.answers.append(type(answer).__name__)
        if ends_as is None:
            return
        if ticket in self.ended:
            self.problems.append(f"{ticket.action} is ended twice by one token")
        self.ended[ticket] = ends_as  # the answer's status may be that of a later run

    def check_rejection(self, ticket, error, store):
        """Check that a hand-over has ended if the error states it."""
        row = store.get(_ref(store, ticket.action))
        lasts = row.is_handed_over and row.lease_until and self.clock.now() < row.lease_until
        if isinstance(error, HandOverEnded) and row.fence == ticket.fence and lasts:
            self.problems.append(f"{row.id} still waits for its token, which was rejected")

    def broken(self, world):
        """Return what does not hold at the end."""
        return [*self.problems, *self.of_actions(world), *self.of_batch(world)]

    def of_actions(self, world):
        """Each action is settled once, and once more after each redrive; an accepted end stays."""
        for row in world.store.rows():
            settles, rounds = self.settles.get(row.id, []), 1 + self.redrives.get(row.id, 0)
            if not row.status.is_final or len(settles) != rounds:
                yield f"{row.id} is {row.status.value}, settled {len(settles)} times in {rounds} rounds"
            fences = [fence for fence, status in settles if status is not Status.CANCELLED]
            if len(fences) != len(set(fences)):
                yield f"{row.id} was settled twice under one fence"
        for ticket, status in self.ended.items():
            row = world.store.get(_ref(world.store, ticket.action))
            if status is not Status.EXECUTED:
                continue
            if row.status is not Status.EXECUTED or row.result != str(ticket.fence):
                yield f"{row.id} is {row.status.value}, though its completion was accepted"

    def of_batch(self, world):
        """The batch is complete with the counts of its rows, and its completion action ran once."""
        from tests.proof.small_world import final_counts  # noqa: PLC0415 - a cycle

        batch, members = world.batch(), world.members()
        if batch.state is not BatchState.COMPLETE or tuple(batch.counts) != final_counts(members):
            yield f"the batch is {batch.state} with {batch.counts}, and its rows have {final_counts(members)}"
        released = self.releases.get(batch.on_complete, 0)
        if released > 1:
            yield f"the completion action was released {released} times"


def _end_of(row):
    return row.status, row.completion, row.result, row.fence


def _ref(store, action_id):
    return next(ref for ref in store.table.by_ref if ref.id == action_id)
