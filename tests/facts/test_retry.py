from datetime import timedelta

import pytest

from duetime import Retry, RetryPolicy, exponential
from duetime.errors import DeclarationError
from duetime.retry import NEVER


def test_three_attempts_are_one_run_and_two_more():
    assert RetryPolicy(attempts=3).attempts == 3
    assert NEVER.attempts == 1


def test_the_last_back_off_of_a_list_repeats():
    policy = RetryPolicy(attempts=9, backoff=[60, 300], jitter=0)
    waits = [policy.delay(attempt, 0.5).total_seconds() for attempt in (1, 2, 3, 8)]
    assert waits == [60, 300, 300, 300]


def test_jitter_only_ever_lengthens_a_back_off_and_by_no_more_than_its_share():
    policy = RetryPolicy(backoff=100, jitter=0.2)
    assert policy.delay(1, 0.0) == timedelta(seconds=100)
    assert policy.delay(1, 1.0) == timedelta(seconds=120)


def test_exponential_grows_to_its_limit_and_stays_there():
    grown = exponential(10, factor=3, limit=timedelta(minutes=5))
    assert [item.total_seconds() for item in grown] == [10, 30, 90, 270, 300]


@pytest.mark.parametrize(
    "policy",
    [RetryPolicy(), NEVER, RetryPolicy(5, 0.5, 0, timedelta(days=2)), RetryPolicy(backoff=exponential(1))],
)
def test_a_policy_is_read_again_from_its_text(policy):
    assert RetryPolicy.parse(policy.text()) == policy


@pytest.mark.parametrize("attempts", [0, -1, 101, 2.5, True, "3", None])
def test_a_number_of_attempts_that_makes_no_sense_is_refused(attempts):
    with pytest.raises(DeclarationError, match="attempts is"):
        RetryPolicy(attempts)


@pytest.mark.parametrize(
    "backoff", [[], [60] * 21, -1, [60, -5], float("nan"), float("inf"), "60", [None], timedelta(days=91)]
)
def test_back_offs_that_do_not_fit_are_refused(backoff):
    with pytest.raises(DeclarationError, match="backoff"):
        RetryPolicy(backoff=backoff)


@pytest.mark.parametrize("jitter", [-0.1, 1.1, float("nan")])
def test_jitter_is_a_share(jitter):
    with pytest.raises(DeclarationError, match="jitter"):
        RetryPolicy(jitter=jitter)


@pytest.mark.parametrize("arguments", [(0,), (10, 1.0), (10, 0.5), (100, 2, 10)])
def test_an_exponential_that_does_not_grow_is_refused(arguments):
    first, *rest = arguments
    names = dict(zip(("factor", "limit"), rest, strict=False))
    with pytest.raises(DeclarationError, match="exponential"):
        exponential(first, **names)


def test_a_handlers_retry_takes_seconds_or_a_span():
    assert Retry(after=5).after == timedelta(seconds=5)
    assert Retry(after=timedelta(minutes=5)).after == timedelta(minutes=5)
    assert Retry().after is None
