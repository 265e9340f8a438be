"""The checks of a run reject what the protocol forbids."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from duetime.model import transition
from duetime.model.action import Action, Ending, Status
from duetime.model.change import Change
from duetime.model.lease import ClaimTerms, Settlement
from tests.chaos.checks import commits, forbidden_changes, overlaps

START, SECOND, SKEW = datetime(2027, 6, 1, tzinfo=UTC), timedelta(seconds=1), timedelta(seconds=0.5)
ROW = Action(
    tenant_id="acme",
    id="a",
    type="pay",
    due_at=START,
    due_shard="0",
    created_by="checkout",
    payload="{}",
)
KEYED = replace(ROW, concurrency_key="customer", concurrency_limit=1)


def claimed(row, seconds, lease=5):
    now = START + seconds * SECOND
    return transition.started(
        row,
        ClaimTerms(
            now=now,
            lease_until=now + lease * SECOND,
            skew=SKEW,
            nonce=f"n{seconds}",
            instance="w",
            queued_at=now,
            retry="",
        ),
    )


def settled(row, status=Status.EXECUTED):
    end = Settlement(status=status, ending=Ending.EXECUTED, finished_at=row.attempts[-1].started_at + SECOND)
    return transition.settled(row, end)


def chain(*rows):
    return [Change(old, new) for old, new in zip((None, *rows), rows, strict=False)]


FIRST = claimed(ROW, 1)
DEAD = claimed(FIRST, 7)


@pytest.mark.parametrize(
    "rows",
    [(ROW, FIRST, settled(FIRST)), (ROW, FIRST, DEAD, settled(DEAD)), (ROW, replace(ROW, generation=2))],
)
def test_legal_chains_are_accepted(rows):
    assert not list(forbidden_changes(chain(*rows), SKEW))


@pytest.mark.parametrize(
    ("rows", "flaw"),
    [
        ((ROW, claimed(ROW, -1)), "before it was due"),
        ((ROW, FIRST, claimed(FIRST, 6.4)), "was taken over"),
        ((ROW, FIRST, settled(FIRST), ROW), "executed became pending"),
        ((ROW, FIRST, settled(FIRST), ROW), "went back"),
        ((ROW, FIRST, replace(FIRST, fence=0)), "went back"),
    ],
)
def test_forbidden_changes_are_found(rows, flaw):
    assert any(flaw in found for found in forbidden_changes(chain(*rows), SKEW))


def test_a_change_that_does_not_follow_the_one_before_it_is_found():
    changes = [Change(None, ROW), Change(replace(ROW, generation=2), claimed(replace(ROW, generation=2), 1))]
    assert any("does not follow" in flaw for flaw in forbidden_changes(changes, SKEW))


@pytest.mark.parametrize(("seconds", "is_broken"), [(3, True), (7, False)])
def test_two_live_leases_under_one_concurrency_key_are_found(seconds, is_broken):
    other = replace(KEYED, id="b")
    changes = [*chain(KEYED, claimed(KEYED, 1)), *chain(other, claimed(other, seconds))]
    assert bool(list(overlaps(changes))) is is_broken


@pytest.mark.parametrize(
    ("row", "entry"),
    [
        (settled(FIRST), None),
        (settled(FIRST), (2, 1)),
        (settled(FIRST), (1, 2)),
        (settled(FIRST, Status.FAILED), (1, 1)),
        (FIRST, (1, 1)),
    ],
)
def test_a_commit_that_is_missing_repeated_or_not_its_rows_is_found(row, entry):
    ledger = {} if entry is None else {"acme/a": entry}
    assert list(commits([row], ledger))


def test_one_commit_under_the_last_fence_is_right():
    assert not list(commits([settled(FIRST)], {"acme/a": (1, 1)}))
    assert not list(commits([settled(FIRST, Status.FAILED)], {}))
    assert list(commits([], {"acme/a": (1, 1)}))
