"""What filters mean, and what is said of those that cannot be meant."""

from datetime import UTC, datetime, timedelta

import pytest

from duetime import Payload
from duetime.errors import InvalidIdentifier, InvalidSelection, InvalidTime
from duetime.memory.store import MemoryStore
from duetime.model.action import Status
from duetime.model.selection import Selection
from duetime.testing.contract.job_specimens import occurrence
from duetime.testing.contract.specimens import HOUR, NOON, TICK, claim, end, fresh, stored_row

STORE = MemoryStore()
NOW = NOON + 5 * HOUR


class SendReceipt(Payload, name="receipt"):
    pass


def one_shot(**given):
    """A pending row, due at noon and made an hour before."""
    return fresh(STORE, **given)


def says(**filters):
    return Selection.parse(filters, NOW)


def meets(row, **filters):
    return says(**filters).admits(row)


def test_no_filter_is_unrestricted_and_means_every_action():
    row = one_shot()
    assert says().is_unrestricted
    assert says().admits(row)


def test_a_filter_that_is_none_is_unrestricted():
    assert says(status=None, type=None, correlation_id=None, job=None, due_after=None).is_unrestricted


def test_every_status_there_is_is_unrestricted():
    assert says(status=list(Status)).is_unrestricted


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
def test_each_filter_says_something(filters):
    assert not says(**filters).is_unrestricted


@pytest.mark.parametrize("options", ["failed", Status.FAILED, ["failed"], {Status.FAILED, "executed"}])
def test_a_row_has_one_of_the_statuses(options):
    action = one_shot()
    STORE.put(action)
    STORE.settle(claim(STORE, action.ref), end(Status.FAILED))
    assert meets(stored_row(STORE, action.ref), status=options)
    assert not meets(one_shot(), status=options)


def test_a_row_has_the_type_told_by_name_or_by_class():
    assert meets(one_shot(), type="apply-plan-change")
    assert not meets(one_shot(), type=SendReceipt)
    assert says(type=SendReceipt).type == "receipt"


def test_a_row_has_the_correlation_id_exactly():
    row = one_shot(correlation_id="order:17")
    assert meets(row, correlation_id="order:17")
    assert not meets(row, correlation_id="order:1")
    assert not meets(one_shot(), correlation_id="order:17")


def test_a_row_is_a_run_of_the_job():
    run = occurrence(STORE)
    assert meets(run, job="billing-nightly")
    assert not meets(run, job="billing-night-ly")
    assert not meets(one_shot(), job="billing-nightly")


@pytest.mark.parametrize(("name", "at"), [("due", NOON), ("created", NOON - HOUR)])
def test_a_span_excludes_its_start_and_includes_its_end(name, at):
    row = one_shot()
    assert not meets(row, **{f"{name}_after": at})
    assert meets(row, **{f"{name}_after": at - TICK})
    assert meets(row, **{f"{name}_until": at})
    assert not meets(row, **{f"{name}_until": at - TICK})
    assert meets(row, **{f"{name}_after": at - TICK, f"{name}_until": at})


def test_a_bound_may_be_a_span_from_now():
    assert says(due_after=-2 * HOUR, due_until=timedelta(0)) == says(due_after=NOW - 2 * HOUR, due_until=NOW)


def test_a_bound_may_be_told_in_any_offset():
    paris = datetime.fromisoformat("2030-06-01T14:00:00+02:00")
    assert says(due_until=paris).due_until == datetime(2030, 6, 1, 12, tzinfo=UTC)


def test_all_that_is_said_must_hold():
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
        ({"statsu": "failed"}, "there is no filter 'statsu'; there are status, type, correlation_id"),
        ({"created_before": NOON}, "there is no filter 'created_before'"),
        ({"due_after": NOON, "due_until": NOON}, "due_after must lie before due_until"),
        ({"created_after": HOUR, "created_until": -HOUR}, "created_after must lie before created_until"),
    ],
)
def test_filters_that_cannot_be_meant_are_refused_with_the_reason(filters, shown):
    with pytest.raises(InvalidSelection) as refused:
        says(**filters)
    assert shown in str(refused.value)


@pytest.mark.parametrize("filters", [{"correlation_id": ""}, {"correlation_id": "a#b"}, {"job": "nightly"}])
def test_names_that_can_be_no_part_of_a_key_are_refused(filters):
    with pytest.raises(InvalidIdentifier):
        says(**filters)


@pytest.mark.parametrize("bound", [datetime(2030, 6, 1), timedelta(days=-40_000), "2030-06-01T12:00:00Z"])
def test_bounds_that_are_no_instant_are_refused(bound):
    with pytest.raises(InvalidTime):
        says(due_after=bound)
