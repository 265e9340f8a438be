"""A form schedules an action, and shows errors beside their fields."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from duetime import Status
from tests.console.browser import signed_in
from tests.console.listed_actions import actions as actions  # noqa: PLC0414 - a fixture
from tests.console.listed_actions import asks_for_type, row, statuses


def test_an_action_is_scheduled_after_a_delay_and_cancelled(reader, cloud):
    page = reader.go("#/actions")
    dialog = asks_for_type(page)
    dialog.get_by_label("Payload").fill('{"order": "31", "street": "Long Lane"}')
    dialog.get_by_label("In", exact=True).fill("2")
    dialog.get_by_label("Unit").select_option("days")
    dialog.get_by_label("Correlation id (may be left out)").fill("order:31")
    dialog.get_by_label("Idempotency key (may be left out)").fill("key:31")
    dialog.get_by_role("button", name="Schedule it").click()
    expect(page.get_by_text("Scheduled: parcel, due")).to_be_visible()
    expect(dialog).to_have_count(0)
    (made,) = cloud.scheduler().list(correlation_id="order:31")
    made = cloud.scheduler().get(made.id)
    assert (json.loads(made.payload)["street"], made.idempotency_key) == ("Long Lane", "key:31")
    assert made.created_by == "developer@localhost"
    assert timedelta(0) <= made.due_at - made.created_at - timedelta(days=2) < timedelta(seconds=1)
    expect(row(page, made)).to_contain_text("pending")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone.")).to_be_visible()
    assert statuses(cloud, "order:31") == [Status.CANCELLED]


def test_an_action_is_scheduled_at_a_time_in_the_readers_zone(reader, cloud):
    page = reader.go("#/actions")
    dialog = asks_for_type(page)
    dialog.get_by_label("Payload").fill('{"order": "32"}')
    dialog.get_by_role("radio", name="at a time").check()
    dialog.get_by_label("Date and time").fill("2098-07-01T12:00:00")
    dialog.get_by_label("Correlation id (may be left out)").fill("order:32")
    dialog.get_by_role("button", name="Schedule it").click()
    expect(page.get_by_text("Scheduled: parcel, due")).to_be_visible()
    (made,) = cloud.scheduler().list(correlation_id="order:32")
    assert made.due_at == datetime(2098, 7, 1, 10, tzinfo=UTC)


def test_a_repeated_key_makes_no_second_action(reader, cloud):
    page = reader.go("#/actions")
    for notice in ("Scheduled: parcel", "That key was seen before: nothing new was scheduled"):
        dialog = asks_for_type(page)
        dialog.get_by_label("Payload").fill('{"order": "33"}')
        dialog.get_by_label("In", exact=True).fill("60")
        dialog.get_by_label("Correlation id (may be left out)").fill("order:33")
        dialog.get_by_label("Idempotency key (may be left out)").fill("key:33")
        dialog.get_by_role("button", name="Schedule it").click()
        expect(page.get_by_text(notice)).to_be_visible()
    assert statuses(cloud, "order:33") == [Status.PENDING]


@pytest.mark.parametrize(
    ("entered", "field", "why"),
    [
        (("parcel", "{"), "Payload", "This is not JSON"),
        (("parcel", "[1]"), "Payload", "A payload is an object, in braces"),
        (("parcel", "{}"), "Payload", "order"),
        (("pigeon", "{}"), "Type", "pigeon"),
    ],
)
def test_an_invalid_value_is_reported_at_its_field_and_nothing_is_scheduled(
    reader, cloud, entered, field, why
):
    payload_type, payload = entered
    reader.expected = ("422", "400")
    page = reader.go("#/actions")
    dialog = asks_for_type(page, payload_type)
    dialog.get_by_label("Payload").fill(payload)
    dialog.get_by_label("Correlation id (may be left out)").fill("order:wrong")
    dialog.get_by_role("button", name="Schedule it").click()
    expect(dialog.get_by_role("alert")).to_contain_text(why)
    expect(dialog.get_by_label(field, exact=True)).to_have_attribute("aria-invalid", "true")
    assert statuses(cloud, "order:wrong") == []
    dialog.get_by_role("button", name="Go back").click()
    expect(dialog).to_have_count(0)


def test_a_member_schedules_and_cancels(reader_of, cloud):
    page = reader_of(cloud.url, **signed_in("max", groups="members")).go("#/actions")
    dialog = asks_for_type(page)
    dialog.get_by_label("Payload").fill('{"order": "61"}')
    dialog.get_by_label("Correlation id (may be left out)").fill("order:61")
    dialog.get_by_role("button", name="Schedule it").click()
    expect(page.get_by_text("Scheduled: parcel, due")).to_be_visible()
    (made,) = cloud.scheduler().list(correlation_id="order:61")
    assert made.created_by == "max@localhost"
