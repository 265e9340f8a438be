"""A redrive in stages: one, then ten, then all; the same error ends it, and each stage is reported."""

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from duetime import Status
from tests.console.browser import flaws, scrolls_sideways, signed_in
from tests.console.shop import Parcel

AT_LAST = 60_000
"""Milliseconds, for what the cloud must run first."""


class Tenant:
    """Failed parcels of one tenant, and its dead letters in a browser."""

    def __init__(self, cloud, reader_of, name, fails):
        self.scheduler = cloud.scheduler(tenant_id=name)
        self.made = [
            self.scheduler.schedule(Parcel(order=str(number), fails=times), at=timedelta(0))
            for number, times in enumerate(fails)
        ]
        self.page = reader_of(cloud.url, **signed_in("stan", tenant=name)).go("#/dead-letters")
        many = f"Redrive these {len(fails)}…"
        expect(self.page.get_by_role("button", name=many)).to_be_visible(timeout=AT_LAST)
        self.page.get_by_role("button", name=many).click()
        self.dialog = self.page.get_by_role("dialog", name="Run all of these again")

    def start(self):
        self.dialog.get_by_role("button", name="Run in stages").click()
        return self.dialog.locator(".stages > li")

    def statuses(self):
        return [self.scheduler.get(action.id).status for action in self.made]


@pytest.fixture
def tenant(cloud, reader_of):
    return lambda name, fails: Tenant(cloud, reader_of, name, fails)


def test_all_stages_are_run_and_reported(tenant):
    shop = tenant("staged-well", [2] * 13)
    expect(shop.dialog).to_contain_text("In stages: one, then ten, then all.")
    stages = shop.start()
    expect(shop.dialog).to_contain_text("All stages are done.", timeout=AT_LAST)
    expect(stages).to_have_text(
        [
            "Stage 1 1 runs again: 1 executed",
            "Stage 2 10 run again: 10 executed",
            "Stage 3 2 run again: 2 executed",
        ]
    )
    assert shop.statuses() == [Status.EXECUTED] * 13
    shop.dialog.get_by_role("button", name="Close").click()
    expect(shop.page.get_by_text("Nothing has failed for good")).to_be_visible()


def test_the_same_error_ends_it_after_one(tenant):
    shop = tenant("staged-badly", [9] * 4)
    stages = shop.start()
    expect(shop.dialog).to_contain_text("The same error came back, so no further action", timeout=AT_LAST)
    expect(stages).to_have_count(1)
    expect(stages).to_contain_text("Stage 1 1 runs again: 1 failed with the same error")
    expect(stages).to_contain_text("ConnectionError: no driver for order")
    runs = [len(shop.scheduler.get(action.id).attempts) for action in shop.made]
    assert sorted(runs)[:3] == [2, 2, 2]
    assert sorted(runs)[3] > 2
    assert flaws(shop.page) == []
    shop.page.set_viewport_size({"width": 320, "height": 700})
    assert not scrolls_sideways(shop.page)


def test_one_action_needs_no_stages(reader_of, cloud):
    scheduler = cloud.scheduler(tenant_id="staged-one")
    scheduler.schedule(Parcel(order="1", fails=9), at=timedelta(0))
    page = reader_of(cloud.url, **signed_in("stan", tenant="staged-one")).go("#/dead-letters")
    page.get_by_role("button", name="Redrive it…").click(timeout=AT_LAST)
    dialog = page.get_by_role("dialog", name="Run all of these again")
    expect(dialog.get_by_role("button", name="Run 1 again")).to_be_visible()
    expect(dialog.get_by_role("button", name="Run in stages")).to_have_count(0)


def test_all_that_match_filters_run_in_stages_until_they_are_stopped(reader_of, cloud):
    scheduler = cloud.scheduler(tenant_id="staged-filters")
    made = [scheduler.schedule(Parcel(order="1", fails=2), at=timedelta(0)) for _ in range(3)]
    page = reader_of(cloud.url, **signed_in("stan", tenant="staged-filters")).go("#/dead-letters")
    expect(page.get_by_role("button", name="Redrive these 3…")).to_be_visible(timeout=AT_LAST)
    page.goto(page.url.replace("#/dead-letters", "#/actions?status=failed"))
    page.get_by_role("button", name="Redrive all that match…").click()
    dialog = page.get_by_role("dialog", name="Run all of these again")
    with page.expect_response(lambda response: response.url.endswith("/actions/redrive")):
        dialog.get_by_role("button", name="Run in stages").click()
    dialog.get_by_role("button", name="Stop").click()
    expect(dialog).to_contain_text("Stopped. Actions that run already go on")
    assert Status.FAILED in {scheduler.get(action.id).status for action in made}
    dialog.get_by_role("button", name="Go on").click()
    expect(dialog).to_contain_text("All stages are done.", timeout=AT_LAST)
    assert {scheduler.get(action.id).status for action in made} == {Status.EXECUTED}
