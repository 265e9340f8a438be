"""A dismissal is no failure: it publishes no event, and is counted by no metric and no summary."""

from dataclasses import replace

from duetime.memory.store import MemoryStore
from duetime.model.action import Status
from duetime.model.action_events import of_action
from duetime.model.change import Change
from duetime.model.row_parts import Act
from duetime.model.run_counts import count_of
from duetime.telemetry.transition_log import transition_of
from duetime_contract.specimens import HOUR, NOON, claim, end, scheduled, stored_row


def test_only_the_failure_before_a_dismissal_is_published_and_counted():
    store = MemoryStore()
    claimed = claim(store, scheduled(store).ref)
    store.settle(claimed, end(Status.FAILED))
    failed = stored_row(store, claimed.ref)
    dismissed = replace(failed, dismissed_reason="by hand", changed=Act(NOON + HOUR, "ops"))
    failure, dismissal = Change(claimed, failed), Change(failed, dismissed)
    assert [event.word for event in of_action(failure, NOON)] == ["failed"]
    assert count_of(failure, NOON) is not None
    assert list(of_action(dismissal, NOON)) == []
    assert (count_of(dismissal, NOON), transition_of(dismissal)) == (None, None)
