"""The search for an order: histories that it must accept, and histories that it must reject."""

from math import inf
from random import Random

import pytest

from tests.cases import for_each
from tests.chaos.history import by_row
from tests.chaos.linearizability import REJECTED, Operation, order_of
from tests.chaos.row_model import step

REF = ["acme", "a"]
T0, T1, T4, T5, T8, T9 = (f"2027-06-01T00:00:0{second}.000000Z" for second in (0, 1, 4, 5, 8, 9))
PENDING = {"status": "pending", "fence": 0, "generation": 1, "due_at": T0, "lease_until": "", "cancel": False}
RUNNING = {**PENDING, "status": "processing", "fence": 1, "lease_until": T5}


def register(state, call):
    """A register: writes, and reads that return a value."""
    kind, value = call
    if kind == "write":
        return value
    return state if state == value else REJECTED


def is_linearizable(*operations):
    return order_of([Operation(call, *times) for call, *times in operations], 0, register) is not None


def test_a_read_may_return_the_value_before_or_after_a_write_that_it_overlaps():
    for value in (0, 1):
        assert is_linearizable((("write", 1), 0, 3), (("read", value), 1, 2))


def test_a_read_that_begins_after_a_write_must_return_it():
    assert not is_linearizable((("write", 1), 0, 1), (("read", 0), 2, 3))


def test_a_value_that_was_never_written_is_rejected():
    assert not is_linearizable((("write", 1), 0, 1), (("read", 2), 0, 3))


def test_two_reads_must_not_see_two_writes_in_opposite_orders():
    writes = [(("write", 1), 0, 9), (("write", 2), 0, 9)]
    assert is_linearizable(*writes, (("read", 1), 1, 2), (("read", 2), 3, 4))
    assert not is_linearizable(*writes, (("read", 1), 1, 2), (("read", 2), 3, 4), (("read", 1), 5, 6))


def test_a_write_without_a_response_may_take_effect_late_or_never_but_not_before_it_began():
    lost = (("write", 1), 5, inf, False)
    assert is_linearizable(lost, (("read", 0), 6, 7), (("read", 1), 100, 101))
    assert is_linearizable(lost, (("read", 0), 100, 101))
    assert not is_linearizable(lost, (("read", 1), 1, 2))
    assert not is_linearizable(lost, (("read", 1), 6, 7), (("read", 0), 8, 9))


def test_a_write_with_an_end_has_no_effect_after_it():
    perhaps = (("write", 1), 0, 3, False)
    assert is_linearizable(perhaps, (("read", 1), 2, 5))
    assert not is_linearizable(perhaps, (("read", 0), 4, 5), (("read", 1), 6, 7))


@for_each("seed", range(40))
def test_the_search_agrees_with_trying_every_order(seed):
    draw = Random(seed)  # noqa: S311 - guards nothing
    operations = []
    for _ in range(6):
        start = draw.randrange(12)
        call = (draw.choice(("write", "read")), draw.randrange(3))
        must = call[0] == "read" or draw.random() < 0.7
        operations.append(Operation(call, start, start + draw.randrange(8) if must else inf, must))
    assert (order_of(operations, 0, register) is not None) is _any_order(operations, 0)


def _any_order(left, state):
    """Try each operation that may come next, without memory and without pruning."""
    if not any(operation.must for operation in left):
        return True
    for first in left:
        rest = [operation for operation in left if operation is not first]
        is_next = not any(other.must and other.end < first.start for other in rest)
        after = register(state, first.call)
        if is_next and after is not REJECTED and _any_order(rest, after):
            return True
    return False


def recorded(op, start, end, answer=None, *, raised=None, **call):
    """A call as a process records it. Without an answer and an error, its process was killed."""
    line = {"op": op, "ref": REF, "start": start, "process": "worker", **call}
    response = {"end": end, **({"raised": raised} if raised else {"answer": answer} if answer else {})}
    fence = {"fence": call["took"]} if "took" in call else {}
    return line if end is None else line | {"response": response | fence}


def put(start, end, answer="None", **more):
    return recorded("put", start, end, answer, row=PENDING, **more)


def claim(start, end, answer="Claimed", *, took=1, now=T1, until=T5, ended_before=T0, **more):
    took = {"took": took} if answer == "Claimed" else {}
    return recorded(
        "claim", start, end, answer, now=now, lease_until=until, ended_before=ended_before, **took, **more
    )


def settle(start, end, answer="SETTLED", *, fence=1, status="executed", **more):
    return recorded("settle", start, end, answer, fence=fence, status=status, due_at=None, **more)


def final(status, fence, *, at=99, **more):
    row = {**PENDING, "status": status, "fence": fence, **more}
    call = recorded("read", at, at, "Action")
    call["response"]["row"] = row
    return call


def explains(*calls):
    (operations,) = by_row(calls).values()
    return order_of(operations, None, step) is not None


LATE_PUT = put(0, None)
"""Its caller was killed; the request may arrive at any time."""


@pytest.mark.parametrize(
    "calls",
    [
        [put(0, 1), claim(2, 3), settle(4, 5), final("executed", 1)],
        [LATE_PUT, claim(2, 3, "None"), final("pending", 0)],
        [put(0, 1), LATE_PUT, claim(2, 3), settle(4, 5), final("executed", 1)],
        [put(0, 1), claim(2, 3), claim(2, 4, "LeaseHeld"), settle(5, 6), final("executed", 1)],
        # a dead run is taken over; its settle comes late, and changes nothing
        [
            put(0, 1),
            claim(2, 3),
            claim(8, 9, took=2, now=T9, until=T9, ended_before=T8),
            settle(9, 10, "LEASE_LOST"),
            settle(11, 12, fence=2),
            final("executed", 2),
        ],
        # a claim was applied, but its process died before the response
        [put(0, 1), claim(2, None), final("processing", 1, lease_until=T5)],
        # a settle was applied before an error, and its repeat by another message changes nothing
        [put(0, 1), claim(2, 3), settle(4, 5, raised="BackendUnavailable"), final("executed", 1)],
    ],
)
def test_histories_that_the_protocol_permits_have_an_order(calls):
    assert explains(*calls)


@pytest.mark.parametrize(
    "calls",
    [
        # two claims of one lease
        [put(0, 1), claim(2, 3), claim(4, 5)],
        # a live lease is taken over
        [put(0, 1), claim(2, 3), claim(4, 5, took=2, now=T4, ended_before=T4)],
        # a claim before the due time
        [recorded("put", 0, 1, "None", row={**PENDING, "due_at": T9}), claim(2, 3)],
        # a late put overwrites a row that ran
        [put(0, 1), LATE_PUT, claim(2, 3), settle(4, 5), final("pending", 0)],
        # a settle that confirmed, and is not there
        [put(0, 1), claim(2, 3), settle(4, 5), final("processing", 1, lease_until=T5)],
        # a settle under an old fence
        [
            put(0, 1),
            claim(2, 3),
            claim(8, 9, took=2, now=T9, until=T9, ended_before=T8),
            settle(10, 11, fence=1),
        ],
        # a row that its caller stored is gone
        [put(0, 1), recorded("read", 9, 9, "None")],
        # a commit that stated that nothing was written
        [
            put(0, 1),
            claim(2, 3),
            settle(4, 5, raised="CommitRejected", by="commit"),
            final("executed", 1),
        ],
        # a run that is executed twice
        [put(0, 1), claim(2, 3), settle(4, 5), settle(6, 7)],
        # a worker that lost its lease, by its own word, and holds it
        [put(0, 1), claim(2, 3), recorded("renew", 4, 5, "None", fence=1, until=T8), settle(6, 7)],
    ],
)
def test_histories_that_the_protocol_forbids_have_no_order(calls):
    assert not explains(*calls)
