"""What becomes of an action after each outcome of its run, at the bounds of its policy and its expiry."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from duetime import Continue, Fatal, Retry, RetryPolicy
from duetime.model.action import CONTINUES, Action, Attempt, Ending, Status
from duetime.model.checkpoint import MOST_CONTINUATIONS
from duetime.model.outcome import (
    CANCELLED,
    PROBE_FAILED,
    SUCCEEDED,
    TIMED_OUT,
    final_instead,
    of_continue,
    of_error,
    put_off,
    returned_at,
    settlement,
)

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
TICK, MINUTE, HOUR = timedelta(microseconds=1), timedelta(minutes=1), timedelta(hours=1)
RUN = Attempt(queued_at=NOON, started_at=NOON, instance="w")
PROBE = replace(RUN, finished_at=NOON, ending=Ending.RETRY, message=f"{PROBE_FAILED}: x")
ROW = Action(
    tenant_id="acme",
    id="01983b5e-7c00-7a3c-9f21-5d0c8e4b7a16",
    type="errand",
    due_at=NOON,
    due_shard="0",
    created_by="ada",
    payload=None,
    status=Status.PROCESSING,
    attempt=1,
    attempts=(RUN,),
)
POLICY = RetryPolicy(attempts=2, backoff=60, jitter=0)
GIVES_UP = RetryPolicy(attempts=2, backoff=60, jitter=0, give_up_after=60)


@pytest.mark.parametrize(
    ("outcome", "given", "again_at"),
    [
        (lambda: SUCCEEDED, {}, None),
        (lambda: CANCELLED, {}, None),
        (lambda: TIMED_OUT, {}, NOON + MINUTE),
        (lambda: TIMED_OUT, {"attempt": 2}, None),
        (lambda: TIMED_OUT, {"attempt": 2, "redriven_after": 1}, NOON + MINUTE),
        (lambda: TIMED_OUT, {"attempt": 2, "continued": 1}, NOON + MINUTE),
        (lambda: TIMED_OUT, {"attempt": 2, "attempts": (PROBE, RUN)}, NOON + MINUTE),
        (lambda: TIMED_OUT, {"attempt": 2, "attempts": (replace(PROBE, ending=Ending.FAILED), RUN)}, None),
        (lambda: TIMED_OUT, {"attempt": 2, "attempts": (replace(PROBE, message=None), RUN)}, None),
        (
            lambda: TIMED_OUT,
            {"attempt": 3, "attempts": (PROBE, replace(PROBE, message="x"), RUN), "redriven_after": 1},
            None,
        ),
        (lambda: TIMED_OUT, {"policy": GIVES_UP}, NOON + MINUTE),
        (lambda: TIMED_OUT, {"policy": GIVES_UP, "due_at": NOON - TICK}, None),
        (lambda: TIMED_OUT, {"expires_at": NOON + MINUTE}, None),
        (lambda: TIMED_OUT, {"expires_at": NOON + MINUTE + TICK}, NOON + MINUTE),
        (partial(put_off, HOUR, "x"), {"attempt": 2, "expires_at": NOON}, NOON + HOUR),
        (partial(of_continue, ROW, has_advanced=True), {"attempt": 2}, NOON),
        (partial(of_continue, ROW, has_advanced=True), {"expires_at": NOON}, None),
        (partial(of_error, Fatal("x")), {}, None),
        (partial(of_error, ValueError("x")), {}, NOON + MINUTE),
        (partial(of_error, Retry(1)), {}, NOON + timedelta(seconds=1)),
        (partial(of_error, Retry()), {}, NOON + MINUTE),
        (partial(of_error, ExceptionGroup("", [Retry(1), Retry()])), {}, NOON + MINUTE),
        (
            partial(of_error, ExceptionGroup("", [Retry(1), Retry(2)])),
            {},
            NOON + 2 * MINUTE / 60,
        ),
        (partial(of_error, ExceptionGroup("", [Retry(1), ValueError("y")])), {}, NOON + MINUTE),
    ],
)
def test_a_run_is_repeated_within_its_policy_and_before_its_expiry(outcome, given, again_at):
    outcome, given = outcome(), dict(given)
    policy, expires_at = given.pop("policy", POLICY), given.pop("expires_at", None)
    terms = {"now": NOON, "retention": HOUR, "jitter_draw": 0.0, "expires_at": expires_at}
    found = settlement(outcome, replace(ROW, **given), policy, **terms)
    assert (found.due_at, found.kept_until) == (again_at, None if again_at else NOON + HOUR)
    assert (found.status is Status.PENDING) is bool(again_at)
    assert found.continues is (outcome.continues and bool(again_at))
    stopped = final_instead(found, retention=HOUR)
    assert (stopped.status.is_final, stopped.due_at, stopped.kept_until) == (True, None, NOON + HOUR)
    assert (stopped.status is Status.CANCELLED) is (outcome is CANCELLED or found.continues)


def test_a_handler_may_return_until_its_deadline():
    assert returned_at(NOON, NOON) == SUCCEEDED
    assert returned_at(NOON + MINUTE, NOON).message == "it ran past its time-out by 60.0 s"


@pytest.mark.parametrize(
    ("continued", "has_advanced", "message"),
    [
        (MOST_CONTINUATIONS - 1, True, CONTINUES),
        (MOST_CONTINUATIONS, True, "it has continued 1000 times"),
        (0, False, "Continue without progress"),
    ],
)
def test_a_run_continues_with_another_checkpoint_and_not_for_ever(continued, has_advanced, message):
    outcome = of_continue(replace(ROW, continued=continued), has_advanced=has_advanced)
    assert outcome.message.startswith(message)
    assert outcome.continues is (message == CONTINUES)


def test_a_wait_comes_after_each_error_of_its_group():
    group = ExceptionGroup("", [Continue(), Retry(1), ValueError("first")])
    assert of_error(group).message.startswith("ValueError: first")
