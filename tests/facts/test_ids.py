import uuid
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime import ids
from duetime.errors import InvalidArgument

NOW = datetime(2026, 3, 1, 12, 0, 0, 123_000, tzinfo=UTC)


def test_id_is_uuid7_of_its_creation():
    made = ids.new_action_id(NOW)
    assert uuid.UUID(made).version == 7
    assert uuid.UUID(made).variant == uuid.RFC_4122
    assert ids.created_at(made) == NOW
    assert ids.is_action_id(made)


def test_ids_sort_by_creation():
    made = [ids.new_action_id(NOW + timedelta(milliseconds=index)) for index in range(50)]
    assert made == sorted(made)


def test_ids_are_unique_and_spread_over_all_shards():
    made = {ids.new_action_id(NOW) for _ in range(2_000)}
    assert len(made) == 2_000
    assert {ids.shard_of(item) for item in made} == set(ids.SHARDS)
    assert {ids.due_shard_of(item, 16) for item in made} == {str(index) for index in range(16)}


@pytest.mark.parametrize(
    "text", ["", "x", None, 7, "019b76da-a800-435e-a389-6f2fb6b5d775", "../../etc/passwd"]
)
def test_text_that_is_no_action_id_is_recognised(text):
    assert not ids.is_action_id(text)


@pytest.mark.parametrize(
    "name", ["acme", "a", "team-1.eu_west", "e7b9c2d0-1111-4222-8333-444455556666", "x" * 64]
)
def test_tenant_may_be_any_short_printable_name(name):
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
def test_tenant_that_cannot_be_part_of_key_is_rejected(name, problem):
    with pytest.raises(InvalidArgument, match=problem):
        ids.tenant(name)


@pytest.mark.parametrize("name", ["subscription:42", "order 17", "größe/1", "x" * 256])
def test_correlation_id_is_stored_unchanged(name):
    assert ids.key("correlation_id", name) == name


@pytest.mark.parametrize("name", ["", "x" * 257, "a#b", "\x00", "tab\tbed", 42])
def test_correlation_id_that_cannot_be_part_of_key_is_rejected(name):
    with pytest.raises(InvalidArgument, match="correlation_id"):
        ids.key("correlation_id", name)


@pytest.mark.parametrize("key", ["order-17", "order 17", "größe/1", "x" * 128])
def test_idempotency_key_is_stored_unchanged(key):
    assert ids.key("idempotency_key", key) == key


@pytest.mark.parametrize("key", ["", "x" * 129, "a#b", "\x00", "line\nbreak", " x", 42])
def test_idempotency_key_that_cannot_be_part_of_key_is_rejected(key):
    with pytest.raises(InvalidArgument, match="idempotency_key"):
        ids.key("idempotency_key", key)


@given(st.text(max_size=300))
def test_text_is_accepted_unchanged_or_rejected_with_reason(text):
    try:
        assert ids.key("correlation_id", text) == text
    except InvalidArgument as error:
        assert error.problem  # noqa: PT017 - either outcome is right


JOB = "billing-nightly"
AT = datetime(2026, 6, 1, 1, 15, tzinfo=UTC)


def run_ids():
    return [
        ids.occurrence_id(JOB, 3, AT),
        ids.manual_run_id(JOB, 3, AT),
        ids.event_run_id(JOB, AT, "6f2fb6b5-d775"),
    ]


def test_occurrence_id_is_deterministic():
    assert ids.occurrence_id(JOB, 3, AT) == "billing-nightly.000003.20260601T011500Z"
    paris = timezone(timedelta(hours=2))
    assert ids.occurrence_id(JOB, 3, AT.astimezone(paris)) == ids.occurrence_id(JOB, 3, AT)


def test_occurrences_sort_by_version_and_nominal_time():
    made = [
        ids.occurrence_id(JOB, version, AT + timedelta(days=day))
        for version in (1, 2, 10)
        for day in range(3)
    ]
    assert made == sorted(made)
    assert ids.occurrence_id(JOB, 1, AT) < ids.manual_run_id(JOB, 1, AT) < made[1]


def test_two_deliveries_of_an_event_start_one_run_and_two_triggers_two():
    assert ids.event_run_id(JOB, AT, "one") == ids.event_run_id(JOB, AT, "one")
    assert ids.event_run_id(JOB, AT, "one") != ids.event_run_id(JOB, AT, "other")
    assert ids.manual_run_id(JOB, 1, AT) != ids.manual_run_id(JOB, 1, AT)


@pytest.mark.parametrize("made", run_ids(), ids=["occurrence", "manual", "event"])
def test_run_id_contains_job_and_nominal_time(made):
    assert ids.is_action_id(made)
    assert not ids.is_one_shot(made)
    assert ids.job_of(made) == JOB
    assert ids.nominal_at(made) == ids.created_at(made) == AT
    assert ids.version_of(made) == (None if ids.is_event_run(made) else 3)


def test_run_id_shows_kind_of_run():
    occurrence, manual, event = run_ids()
    one_shot = ids.new_action_id(NOW)
    assert [ids.is_manual_run(item) for item in (one_shot, occurrence, manual, event)] == [0, 0, 1, 0]
    assert [ids.is_event_run(item) for item in (one_shot, occurrence, manual, event)] == [0, 0, 0, 1]
    assert ids.is_one_shot(one_shot)
    assert ids.job_of(one_shot) is ids.version_of(one_shot) is None


@pytest.mark.parametrize(
    "text",
    [
        "billing.000003.20260601T011500Z",
        "billing-nightly.3.20260601T011500Z",
        "billing-nightly.000003.2026-06-01T01:15:00Z",
        "billing-nightly.000003.20260601T011500Z.m12",
        "billing-nightly.000003.20260601T011500Z.x12345678",
        "billing-nightly.e20260601T011500Z",
        "billing-nightly.000003.20260601T011500Z\n",
        f"billing-{'x' * 60}.000003.20260601T011500Z",
    ],
)
def test_text_that_is_no_run_id_is_recognised(text):
    assert not ids.is_action_id(text)


def test_job_runs_are_in_one_partition_and_event_runs_in_several():
    occurrence, manual, _ = run_ids()
    assert ids.place_of(occurrence) == ids.place_of(manual) == JOB
    events = {ids.place_of(ids.event_run_id(JOB, AT, str(index))) for index in range(500)}
    assert events == {f"{JOB}#{shard}" for shard in ids.SHARDS}
    one_shot = ids.new_action_id(NOW)
    assert ids.place_of(one_shot) == one_shot[-1]


def test_runs_are_spread_over_the_shards_of_the_due_index():
    made = [ids.occurrence_id(JOB, 1, AT + timedelta(minutes=index)) for index in range(500)]
    assert {ids.shard_of(item) for item in made} == set(ids.SHARDS)
    assert {ids.due_shard_of(item, 16) for item in made} == {str(index) for index in range(16)}


@pytest.mark.parametrize("name", ["billing-nightly", "a-b", "kb-2-reindex", "a-" + "x" * 62])
def test_job_name_has_two_or_more_segments(name):
    assert ids.job_name(name) == name


@pytest.mark.parametrize(
    "name", ["billing", "Billing-x", "1a-b", "a--b", "a-b-", "a_b-c", "a-b\n", "a-" + "x" * 63]
)
def test_job_name_of_another_form_is_rejected(name):
    with pytest.raises(InvalidArgument, match="job"):
        ids.job_name(name)
