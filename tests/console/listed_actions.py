"""Actions of tenants on the local cloud of a test, and the page that lists them."""

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from tests.console.shop import Parcel, Wait

AT_LAST = 60_000
"""Milliseconds, for what the cloud must run first."""
LONG_REASON = "no driver for order " + "of a customer who waits already for a very long while " * 4


@pytest.fixture(scope="module", autouse=True)
def actions(cloud):
    """Of acme one pending, one executed, one failed, one under way; of globex one pending."""
    acme, globex = cloud.scheduler(), cloud.scheduler(tenant_id="globex")
    far, now = timedelta(days=1_500), timedelta(0)
    return {
        "pending": acme.schedule(Parcel(order="17"), at=far, correlation_id="order:17"),
        "executed": acme.schedule(Parcel(order="18"), at=now, correlation_id="order:18"),
        "failed": acme.schedule(Parcel(order=LONG_REASON, fails=9), at=now, correlation_id="order:19"),
        "processing": acme.schedule(Wait(seconds=800), at=now, correlation_id="order:20"),
        "globex": globex.schedule(Parcel(order="1"), at=far, correlation_id="order:17"),
    }


def table(page):
    return page.get_by_role("table", name="Actions")


def row(page, action):
    return table(page).get_by_role("row").filter(has=page.get_by_title(action.id, exact=True))


def shows_just(page, *actions):
    expect(table(page).locator("tbody").get_by_role("row")).to_have_count(len(actions))
    for action in actions:
        expect(row(page, action)).to_be_visible()


def shows_of(page, actions, *names):
    """Of these actions just the named ones; other tests' may be among them."""
    for name, action in actions.items():
        if name in names:
            expect(row(page, action)).to_be_visible()
        else:
            expect(row(page, action)).to_have_count(0)


def choose(page, name):
    page.get_by_role("search").get_by_role("checkbox", name=name, exact=True).check()


def asks_for_type(page, payload_type="parcel"):
    dialog = page.get_by_role("dialog", name="Schedule an action")
    page.get_by_role("button", name="Schedule an action").click()
    dialog.get_by_label("Type", exact=True).fill(payload_type)
    return dialog


def bulk(page, name):
    page.get_by_role("button", name=f"{name} all that match…").click()
    titles = {"Cancel": "Cancel all of these", "Redrive": "Run all of these again"}
    return page.get_by_role("dialog", name=titles[name])


def statuses(cloud, correlation_id):
    return [action.status for action in cloud.scheduler().list(correlation_id=correlation_id)]
