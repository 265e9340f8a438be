"""Filters of actions, and the errors for invalid filters."""

from datetime import UTC, datetime, timedelta

import pytest

from duetime import Payload
from duetime.errors import InvalidArgument
from duetime.memory.store import MemoryStore
from duetime.model.action import Status
from duetime.model.selection import Selection
from duetime_contract.job_specimens import occurrence
from duetime_contract.specimens import HOUR, NOON, TICK, claim, end, fresh, stored_row

STORE = MemoryStore()
NOW = NOON + 5 * HOUR


class SendReceipt(Payload, name="receipt"):
    pass


def one_shot(**given):
    """A pending row, due at noon and made an hour before."""
    return fresh(STORE, **given)


def selection_of(**filters):
    return Selection.parse(filters, NOW)


def meets(row, **filters):
    return selection_of(**filters).admits(row)


def test_selection_without_filter_includes_every_action():
    row = one_shot()
    assert selection_of().is_unrestricted
    assert selection_of().admits(row)


def test_filter_none_is_ignored():
    assert selection_of(status=None, type=None, correlation_id=None, job=None, due_after=None).is_unrestricted


def test_all_statuses_are_unrestricted():
    assert selection_of(status=list(Status)).is_unrestricted


@pytest.mark.parametrize(
    "filters",
    [
        {"status": "pending"},
        {"type": "receipt"},
        {"correlation_id": "order:17"},
        {"job": "billing-nightly"},
        {"due_after": NOON},
        {"due_until": NOON},
        {"created_after": NOON},
        {"created_until": NOON},
    ],
)
def test_every_filter_restricts(filters):
    assert not selection_of(**filters).is_unrestricted


@pytest.mark.parametrize("options", ["failed", Status.FAILED, ["failed"], {Status.FAILED, "executed"}])
def test_status_filter_matches_any_status(options):
    action = one_shot()
    STORE.put(action)
    STORE.settle(claim(STORE, action.ref), end(Status.FAILED))
    assert meets(stored_row(STORE, action.ref), status=options)
    assert not meets(one_shot(), status=options)


def test_type_filter_accepts_name_or_class():
    assert meets(one_shot(), type="apply-plan-change")
    assert not meets(one_shot(), type=SendReceipt)
    assert selection_of(type=SendReceipt).type == "receipt"


def test_correlation_id_filter_matches_exactly():
    row = one_shot(correlation_id="order:17")
    assert meets(row, correlation_id="order:17")
    assert not meets(row, correlation_id="order:1")
    assert not meets(one_shot(), correlation_id="order:17")


def test_job_filter_matches_runs_of_job():
    run = occurrence(STORE)
    assert meets(run, job="billing-nightly")
    assert not meets(run, job="billing-night-ly")
    assert not meets(one_shot(), job="billing-nightly")


@pytest.mark.parametrize(("name", "at"), [("due", NOON), ("created", NOON - HOUR)])
def test_range_excludes_start_and_includes_end(name, at):
    row = one_shot()
    assert not meets(row, **{f"{name}_after": at})
    assert meets(row, **{f"{name}_after": at - TICK})
    assert meets(row, **{f"{name}_until": at})
    assert not meets(row, **{f"{name}_until": at - TICK})
    assert meets(row, **{f"{name}_after": at - TICK, f"{name}_until": at})


def test_bound_may_be_timedelta_from_now():
    assert selection_of(due_after=-2 * HOUR, due_until=timedelta(0)) == selection_of(
        due_after=NOW - 2 * HOUR, due_until=NOW
    )


def test_bound_may_have_any_offset():
    paris = datetime.fromisoformat("2030-06-01T14:00:00+02:00")
    assert selection_of(due_until=paris).due_until == datetime(2030, 6, 1, 12, tzinfo=UTC)


def test_all_filters_must_match():
    row = one_shot(correlation_id="order:17")
    assert meets(row, correlation_id="order:17", status="pending", due_until=NOON)
    assert not meets(row, correlation_id="order:17", status="failed", due_until=NOON)


@pytest.mark.parametrize(
    ("filters", "shown"),
    [
        ({"status": "done"}, "status 'done' is unknown; there are pending, processing"),
        ({"status": ["failed", "done"]}, "status"),
        ({"status": []}, "status is empty; leave it out for all of them"),
        ({"status": 5}, "status '5' is unknown"),
        ({"status": [["failed"]]}, "is unknown; there are"),
        ({"type": 5}, "type '5' is not a payload type; use a payload's class"),
        ({"type": ""}, "type '' is not a payload type"),
        ({"type": int}, "use a payload's class, or its type's name"),
        ({"statsu": "failed"}, "there is no filter 'statsu'; there are status, type, ids"),
        ({"created_before": NOON}, "there is no filter 'created_before'"),
        ({"due_after": NOON, "due_until": NOON}, "due_after must lie before due_until"),
        ({"created_after": HOUR, "created_until": -HOUR}, "created_after must lie before created_until"),
    ],
)
def test_contradictory_filters_are_rejected_with_reason(filters, shown):
    with pytest.raises(InvalidArgument) as rejected:
        selection_of(**filters)
    assert shown in str(rejected.value)


@pytest.mark.parametrize("filters", [{"correlation_id": ""}, {"correlation_id": "a#b"}, {"job": "nightly"}])
def test_names_that_cannot_be_part_of_key_are_rejected(filters):
    with pytest.raises(InvalidArgument, match=r"correlation_id|job"):
        selection_of(**filters)


@pytest.mark.parametrize("bound", [datetime(2030, 6, 1), timedelta(days=-40_000), "2030-06-01T12:00:00Z"])
def test_invalid_bounds_are_rejected(bound):
    with pytest.raises(InvalidArgument, match="due_after"):
        selection_of(due_after=bound)


class TestIds:
    def test_admit_the_actions_with_these_ids_alone(self):
        row, other = one_shot(), one_shot()
        assert meets(row, ids=[row.id])
        assert not meets(other, ids=[row.id])
        assert meets(row, ids=[other.id, row.id], status="pending")
        assert not meets(row, ids=[row.id], status="failed")

    def test_are_a_filter_that_may_include_runs(self):
        row = one_shot()
        assert not selection_of(ids=[row.id]).is_unrestricted
        assert selection_of(ids=[row.id]).has_runs
        assert not selection_of(ids=[row.id], runs=False).has_runs

    def test_are_a_hundred_at_most(self):
        rows = [one_shot().id for _ in range(101)]
        assert len(selection_of(ids=rows[:100]).action_ids) == 100
        for ids, reported in (
            (rows, "ids is a list of 101; use a list of 1 to 100 ids"),
            ([], "ids is a list of 0; use"),
            (rows[0], "ids is the text "),
            (["order:17"], "ids has 'order:17', which is no action's id"),
        ):
            with pytest.raises(InvalidArgument, match=reported):
                selection_of(ids=ids)
