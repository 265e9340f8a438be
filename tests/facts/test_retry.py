from datetime import timedelta

import pytest

from duetime import Retry, RetryPolicy, exponential
from duetime.errors import DeclarationError
from duetime.retry import NEVER


def test_attempts_count_all_runs():
    assert RetryPolicy(attempts=3).attempts == 3
    assert NEVER.attempts == 1


def test_last_backoff_of_list_repeats():
    policy = RetryPolicy(attempts=9, backoff=[60, 300], jitter=0)
    waits = [policy.delay(attempt, 0.5).total_seconds() for attempt in (1, 2, 3, 8)]
    assert waits == [60, 300, 300, 300]


def test_jitter_lengthens_backoff_by_at_most_its_share():
    policy = RetryPolicy(backoff=100, jitter=0.2)
    assert policy.delay(1, 0.0) == timedelta(seconds=100)
    assert policy.delay(1, 1.0) == timedelta(seconds=120)


def test_exponential_grows_to_its_limit():
    grown = exponential(10, factor=3, limit=timedelta(minutes=5))
    assert [item.total_seconds() for item in grown] == [10, 30, 90, 270, 300]


@pytest.mark.parametrize(
    "policy",
    [RetryPolicy(), NEVER, RetryPolicy(5, 0.5, 0, timedelta(days=2)), RetryPolicy(backoff=exponential(1))],
)
def test_policy_round_trips_through_text(policy):
    assert RetryPolicy.parse(policy.text()) == policy


@pytest.mark.parametrize("attempts", [0, -1, 101, 2.5, True, "3", None])
def test_invalid_number_of_attempts_is_rejected(attempts):
    with pytest.raises(DeclarationError, match="attempts is"):
        RetryPolicy(attempts)


@pytest.mark.parametrize(
    "backoff", [[], [60] * 21, -1, [60, -5], float("nan"), float("inf"), "60", [None], timedelta(days=91)]
)
def test_invalid_backoff_is_rejected(backoff):
    with pytest.raises(DeclarationError, match="backoff"):
        RetryPolicy(backoff=backoff)


@pytest.mark.parametrize("jitter", [-0.1, 1.1, float("nan")])
def test_jitter_must_be_a_share(jitter):
    with pytest.raises(DeclarationError, match="jitter"):
        RetryPolicy(jitter=jitter)


@pytest.mark.parametrize("arguments", [(0,), (10, 1.0), (10, 0.5), (100, 2, 10)])
def test_exponential_that_does_not_grow_is_rejected(arguments):
    first, *rest = arguments
    names = dict(zip(("factor", "limit"), rest, strict=False))
    with pytest.raises(DeclarationError, match="exponential"):
        exponential(first, **names)


def test_retry_accepts_seconds_or_timedelta():
    assert Retry(after=5).after == timedelta(seconds=5)
    assert Retry(after=timedelta(minutes=5)).after == timedelta(minutes=5)
    assert Retry().after is None
