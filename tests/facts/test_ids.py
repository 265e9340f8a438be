import uuid
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime import ids
from duetime.errors import InvalidIdentifier

NOW = datetime(2026, 3, 1, 12, 0, 0, 123_000, tzinfo=UTC)


def test_an_id_is_a_uuid_of_version_7_that_carries_its_instant():
    made = ids.new_action_id(NOW)
    assert uuid.UUID(made).version == 7
    assert uuid.UUID(made).variant == uuid.RFC_4122
    assert ids.created_at(made) == NOW
    assert ids.is_action_id(made)


def test_ids_sort_as_they_were_made():
    made = [ids.new_action_id(NOW + timedelta(milliseconds=each)) for each in range(50)]
    assert made == sorted(made)


def test_ids_are_never_the_same_and_spread_over_all_shards():
    made = {ids.new_action_id(NOW) for _ in range(2_000)}
    assert len(made) == 2_000
    assert {ids.shard_of(each) for each in made} == set(ids.SHARDS)
    assert {ids.due_shard_of(each, 16) for each in made} == {str(each) for each in range(16)}


@pytest.mark.parametrize(
    "text", ["", "x", None, 7, "019b76da-a800-435e-a389-6f2fb6b5d775", "../../etc/passwd"]
)
def test_what_could_not_name_an_action_is_told_apart(text):
    assert not ids.is_action_id(text)


@pytest.mark.parametrize(
    "name", ["acme", "a", "team-1.eu_west", "e7b9c2d0-1111-4222-8333-444455556666", "x" * 64]
)
def test_a_tenant_may_be_any_short_printable_name(name):
    assert ids.tenant(name) == name


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "is empty"),
        ("x" * 65, "has 65 characters; at most 64"),
        ("acme#1", "separates the parts of a key"),
        ("acme inc", "other than space"),
        (" acme", "white space at an end"),
        ("ac\nme", "control character"),
        ("ac\u202eme", "control character"),
        ("zoë", "ASCII"),
        ("\ud800", "control character"),
        (None, "must be text"),
        ("system", "is reserved"),
    ],
)
def test_a_tenant_that_cannot_be_part_of_a_key_is_refused(name, problem):
    with pytest.raises(InvalidIdentifier, match=problem):
        ids.tenant(name)


@pytest.mark.parametrize("name", ["subscription:42", "order 17", "größe/1", "x" * 256])
def test_a_correlation_id_is_the_callers_own_word(name):
    assert ids.correlation_id(name) == name


@pytest.mark.parametrize("name", ["", "x" * 257, "a#b", "\x00", "tab\tbed", 42])
def test_a_correlation_id_that_cannot_be_part_of_a_key_is_refused(name):
    with pytest.raises(InvalidIdentifier, match="correlation_id"):
        ids.correlation_id(name)


@given(st.text(max_size=300))
def test_any_text_is_either_taken_as_it_is_or_refused_with_a_reason(text):
    try:
        assert ids.correlation_id(text) == text
    except InvalidIdentifier as error:
        assert error.problem  # noqa: PT017 - either outcome is right
