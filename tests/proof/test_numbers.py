"""A run's number of worlds of each kind follows ``--seeds``, and each day has other worlds."""

from datetime import date, timedelta
from itertools import chain, pairwise

import pytest

from tests.proof.numbers import FIRST_DAY, FIRST_OF_MANY, KINDS, LEAST, first_seed_of

A_DAY = FIRST_DAY + timedelta(days=300)


def many(kind, seeds, day=A_DAY):
    return [*chain(*KINDS[kind].chunks_of_many(first_seed_of(seeds, day), seeds))]


@pytest.mark.parametrize("kind", KINDS)
def test_the_number_of_worlds_of_each_kind_follows_the_seeds_and_each_has_some(kind):
    assert abs(len(many(kind, 20_000)) - 20_000 * KINDS[kind].share) <= 1
    assert len(many(kind, 1)) >= LEAST
    assert len(many(kind, 700)) < len(many(kind, 7_000))


@pytest.mark.parametrize("kind", KINDS)
def test_each_day_has_other_worlds_than_those_before_and_than_those_of_make_test(kind):
    days = [many(kind, 700, A_DAY + timedelta(days=number)) for number in range(5)]
    for before, after in pairwise(days):
        assert before[-1] + 1 == after[0]
    assert not {*KINDS[kind].few} & {*chain(*days)}


def test_the_first_day_begins_at_the_first_seed():
    assert first_seed_of(700, FIRST_DAY) == FIRST_OF_MANY
    assert first_seed_of(700, date(2026, 1, 3)) == FIRST_OF_MANY + 1_400


@pytest.mark.parametrize("kind", KINDS)
def test_the_tests_have_each_seed_once(kind):
    few = [*chain(*KINDS[kind].chunks_of_few())]
    assert few == [*KINDS[kind].few]
    assert len(few) == len({*few})
