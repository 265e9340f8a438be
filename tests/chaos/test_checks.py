"""The checks of a run reject what the protocol forbids."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from duetime import ids
from duetime.model import transition
from duetime.model.action import Action, Ending, SkipReason, Status
from duetime.model.change import Change
from duetime.model.job import JobSpan, SpanKind
from duetime.model.lease import ClaimTerms, Settlement
from duetime.model.row_parts import Act, Concurrency
from duetime.settings import Settings
from tests.chaos.checks import (
    commits,
    forbidden_changes,
    lost,
    nominal_times,
    not_linearizable,
    overlaps,
    starts_beyond_the_rate,
)
from tests.chaos.outcome import Outcome
from tests.chaos.shop import EVERY, RATED

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
KEYED = replace(ROW, concurrency=Concurrency("customer"))


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


def test_starts_beyond_a_rate_limit_are_found():
    rated = replace(ROW, type=RATED, payload='{"customer":"ada"}')
    rows = [replace(rated, id=f"a{number}") for number in range(3)]
    for seconds, is_broken in (((1, 1, 1.4), True), ((1, 1, 1.5), False)):
        claims = [chain(row, claimed(row, at)) for row, at in zip(rows, seconds, strict=True)]
        assert bool(list(starts_beyond_the_rate([change for some in claims for change in some]))) is is_broken
    others = [replace(row, payload=f'{{"customer":"c{number}"}}') for number, row in enumerate(rows)]
    assert not list(
        starts_beyond_the_rate([change for row in others for change in chain(row, claimed(row, 1))])
    )


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


def outcome(rows=(), calls=(), missed=()):
    return Outcome(
        directory=None,
        settings=Settings(),
        calls=calls,
        changes=(),
        rows=rows,
        unreadable=(),
        ledger={},
        started_at=START,
        ended_at=START + 20 * SECOND,
        read_at=99,
        missed=dict.fromkeys(EVERY, missed),
        counts={},
    )


def occurrences():
    for job, step in EVERY.items():
        for number in range(1, 20 * SECOND // step + 1):
            at = START + number * step
            action_id = ids.occurrence_id(job, 1, at)
            yield replace(ROW, tenant_id="system", id=action_id, due_at=at, status=Status.EXECUTED)


def stored(answer=None):
    response = {} if answer is None else {"response": {"end": 1, "answer": answer}}
    row = {"status": "pending", "fence": 0, "generation": 1, "due_at": "", "lease_until": "", "cancel": False}
    return {"op": "put", "ref": ["acme", "a"], "start": 0, "row": row, **response}


def test_each_nominal_time_needs_one_row_or_a_span():
    rows = list(occurrences())
    span = JobSpan(kind=SpanKind.MISSED, start=START, end=START + 20 * SECOND)
    assert not list(nominal_times(outcome(rows)))
    assert len(list(nominal_times(outcome(rows[1:])))) == 1
    assert len(list(nominal_times(outcome([*rows, rows[0]])))) == 1
    assert not list(nominal_times(outcome([], missed=[span])))


def test_an_occurrence_is_skipped_only_beside_another_run_or_late():
    rows = {row.job: row for row in occurrences()}
    for job, seconds, reason, is_broken in (
        ("chaos-alone", 1, SkipReason.OVERLAP, False),
        ("chaos-free", 1, SkipReason.OVERLAP, True),
        ("chaos-free", 1, SkipReason.MISSED, True),
        ("chaos-free", 900, SkipReason.MISSED, False),
    ):
        at = rows[job].nominal_at + seconds * SECOND
        skipped = replace(rows[job], status=Status.SKIPPED, skip_reason=reason, changed=Act(at, "ops"))
        others = [row for row in occurrences() if row.id != skipped.id]
        assert bool(list(nominal_times(outcome([*others, skipped])))) is is_broken


def test_an_action_that_was_stored_and_is_gone_or_not_final_is_lost():
    assert list(lost(outcome(calls=[stored("None")])))
    assert list(not_linearizable(outcome(calls=[stored("None")])))
    assert not list(lost(outcome(calls=[stored()])))
    assert not list(not_linearizable(outcome(calls=[stored()])))
    assert list(lost(outcome([ROW])))
    assert not list(lost(outcome([settled(FIRST)])))
