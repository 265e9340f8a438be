"""A person approves or rejects in the console; others see no buttons for it."""

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from duetime import Status
from tests.console.browser import flaws, signed_in
from tests.console.shop import Refund

AT_LAST = 60_000
"""Milliseconds, for what the cloud must run first."""


@pytest.fixture
def waiting(cloud):
    return cloud.scheduler().schedule(Refund(order="o-1"), at=timedelta(0))


def button(place, name):
    return place.get_by_role("button", name=name, exact=True)


def go(reader, action):
    page = reader.go(f"#/actions/{action.id}")
    expect(page.get_by_text("Waits for an approval")).to_be_visible(timeout=AT_LAST)
    return page


def test_an_action_is_approved_on_its_page(reader, cloud, waiting):
    page = go(reader, waiting)
    expect(page.locator(".head-facts")).to_contain_text("Refund 900 € for o-1?")
    button(page, "Approve…").click()
    dialog = page.get_by_role("dialog", name="Approve this?")
    expect(dialog).to_contain_text("Refund 900 € for o-1?")
    assert flaws(page) == []
    dialog.get_by_label("Reason").fill("the parcel is back")
    button(dialog, "Approve it").click()
    expect(page.get_by_text("refund is approved.")).to_be_visible()
    history = page.locator(".history")
    expect(history).to_contain_text("Approved", timeout=AT_LAST)
    expect(history).to_contain_text("the parcel is back")
    expect(button(page, "Approve…")).to_have_count(0)
    assert cloud.scheduler().get(waiting.id).status is Status.EXECUTED


def test_a_rejection_needs_a_reason(reader, cloud, waiting):
    page = go(reader, waiting)
    button(page, "Reject…").click()
    dialog = page.get_by_role("dialog", name="Reject this?")
    button(dialog, "Reject it").click()
    expect(dialog).to_contain_text("Write why you reject it.")
    dialog.get_by_label("Reason").fill("no receipt")
    button(dialog, "Reject it").click()
    expect(page.get_by_text("refund is rejected.")).to_be_visible()
    row = cloud.scheduler().get(waiting.id)
    assert (row.status, "no receipt" in row.failure_reason) == (Status.FAILED, True)


def test_operators_without_the_permission_see_the_question_and_no_buttons(reader_of, cloud, waiting):
    page = go(reader_of(cloud.url, **signed_in(groups="operators")), waiting)
    expect(page.locator(".head-facts")).to_contain_text("Refund 900 € for o-1?")
    expect(button(page, "Request it to stop…")).to_be_visible()
    expect(button(page, "Approve…")).to_have_count(0)
