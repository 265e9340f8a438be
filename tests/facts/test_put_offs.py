"""Of two messages of one action, a process sends one again."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime import instant
from duetime.model.action import ActionRef
from duetime.ports.wakeups import DueMessage
from duetime.worker.put_offs import PutOffs
from duetime_contract.specimens import HOUR, NOON

SOON = NOON + timedelta(minutes=5)
MESSAGE = DueMessage(ref=ActionRef("acme", "an-action"), type="errand", due_at=NOON, generation=1)


@pytest.mark.parametrize(
    ("until", "now", "is_replaced"),
    [
        (NOON + HOUR, NOON, True),
        (NOON + HOUR, SOON, False),  # it is the one that was sent
        (NOON + HOUR, SOON - timedelta(seconds=1), False),
        (NOON + 2 * HOUR, NOON, False),  # of two chains, the one that ends later goes on
    ],
)
def test_a_message_is_replaced_by_one_under_way_whose_chain_ends_no_sooner(until, now, is_replaced):
    put_offs = PutOffs()
    put_offs.sent(MESSAGE, SOON, NOON + HOUR, NOON)
    assert put_offs.is_under_way(MESSAGE, until, now) is is_replaced


def test_a_message_of_another_due_time_is_replaced_by_none():
    put_offs = PutOffs()
    put_offs.sent(MESSAGE, SOON, instant.LATEST, NOON)
    assert not put_offs.is_under_way(replace(MESSAGE, generation=2), NOON, NOON)


@pytest.mark.parametrize(("by", "is_replaced"), [(SOON - timedelta(seconds=1), True), (NOON, False)])
def test_a_message_is_replaced_by_none_that_comes_too_late(by, is_replaced):
    put_offs = PutOffs()
    put_offs.sent(MESSAGE, SOON, instant.LATEST, NOON)
    assert put_offs.is_under_way(MESSAGE, instant.LATEST, NOON, by=by) is is_replaced


def test_a_process_forgets_what_has_come_when_it_knows_many():
    put_offs, late = PutOffs(), [replace(MESSAGE, generation=number) for number in range(2, 1_001)]
    put_offs.sent(MESSAGE, SOON, NOON, NOON)
    for message in late:
        put_offs.sent(message, NOON, instant.LATEST, NOON)
    assert len(put_offs._next) == 1_000  # only its memory shows that
    put_offs.sent(replace(MESSAGE, generation=1_001), NOON, instant.LATEST, NOON)
    assert put_offs.is_under_way(MESSAGE, NOON, NOON)
    assert len(put_offs._next) == 1
