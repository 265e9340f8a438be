"""Batches: how far each is, its members, and what may be done to all of them."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from duetime import Order
from tests.console.browser import flaws, scrolls_sideways, signed_in
from tests.console.shop import Parcel

AT_LAST = 120_000
"""Milliseconds, for what the cloud must run and count first."""
NOW, FAR = timedelta(0), timedelta(days=20)


@pytest.fixture(scope="module", autouse=True)
def batches(cloud):
    """A complete batch with failures, one that waits, and an open one; no test changes them."""
    scheduler = cloud.scheduler()
    make_done(scheduler, "done-2027", on_complete=Parcel(order="report"))
    make_waiting(scheduler, "waits-2027")
    scheduler.batch("open-2027").schedule_many([Order(Parcel(order="first"), at=FAR)])


def make_done(scheduler, name, on_complete=None):
    with scheduler.batch(name, on_complete=on_complete) as done:
        done.schedule_many(Order(Parcel(order=str(n), fails=9 if n < 2 else 0), at=NOW) for n in range(8))


def make_waiting(scheduler, name):
    with scheduler.batch(name) as waits:
        waits.schedule_many(Order(Parcel(order=str(n)), at=FAR) for n in range(60))


def row(page, name):
    return page.get_by_role("row").filter(has=page.get_by_role("link", name=name, exact=True))


def bar(page, name):
    return page.get_by_role("progressbar", name=name, exact=True)


def chosen_status(page):
    return page.get_by_role("combobox", name="Status", exact=True)


def test_the_list_shows_how_far_each_batch_is(reader):
    page = reader.go("#/batches")
    expect(row(page, "done-2027")).to_contain_text("complete", timeout=AT_LAST)
    expect(bar(page, "done-2027")).to_have_attribute("aria-valuenow", "8")
    expect(row(page, "done-2027")).to_contain_text("100 % of 8")
    expect(row(page, "waits-2027")).to_contain_text("running")
    expect(row(page, "waits-2027")).to_contain_text("60 left", timeout=AT_LAST)
    expect(row(page, "open-2027")).to_contain_text("open")
    assert flaws(page) == []
    row(page, "done-2027").get_by_role("link", name="2 failed").click()
    expect(page).to_have_url(re.compile(r"#/batches/done-2027\?status=failed$"))


def test_a_batch_that_is_not_counted_yet_shows_no_share(reader):
    def uncounted(page):
        items = [item | {"counted_at": None, "left": item["size"]} for item in page["body"]["items"]]
        return page | {"body": page["body"] | {"items": items}}

    reader.answer_read("/batches?", uncounted)
    page = reader.go("#/batches")
    expect(row(page, "waits-2027")).to_contain_text("60, not counted yet")
    expect(row(page, "waits-2027")).not_to_contain_text("left")


def test_members_are_listed_by_status_and_in_pages(reader):
    page = reader.go("#/batches/waits-2027")
    expect(page.locator("tbody tr")).to_have_count(50)
    page.get_by_role("button", name="Show more").click()
    expect(page.locator("tbody tr")).to_have_count(60)
    page = reader.go("#/batches/done-2027")
    expect(page.locator("tbody tr")).to_have_count(8, timeout=AT_LAST)
    chosen_status(page).select_option("failed")
    expect(page.locator("tbody tr")).to_have_count(2)
    expect(page.locator("tbody tr").first).to_contain_text("no driver for order")
    chosen_status(page).select_option("skipped")
    expect(page.get_by_text("No member has this status")).to_be_visible()
    assert flaws(page) == []


def test_a_member_leads_to_its_batch(reader):
    page = reader.go("#/batches/waits-2027")
    page.locator("tbody tr").first.locator("a.short-id").click()
    page.locator(".head-facts").get_by_role("link", name="waits-2027").click()
    expect(page).to_have_url(re.compile(r"#/batches/waits-2027$"))


def test_an_open_batch_is_closed_after_a_confirmation(reader, cloud):
    cloud.scheduler().batch("closing-2027").schedule_many([Order(Parcel(order="first"), at=FAR)])
    page = reader.go("#/batches/closing-2027")
    page.get_by_role("button", name="Close…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("It has 1 member, and no more can be added")
    assert cloud.scheduler().batches.get("closing-2027").closed_at is None
    dialog.get_by_role("button", name="Close it").click()
    expect(page.locator(".head-facts")).to_contain_text("running")
    expect(page.get_by_role("button", name="Close…")).to_have_count(0)
    assert cloud.scheduler().batches.get("closing-2027").closed_by == "developer@localhost"


def test_pending_members_are_counted_and_then_cancelled(reader, cloud):
    make_waiting(cloud.scheduler(), "cancelling-2027")
    page = reader.go("#/batches/cancelling-2027")
    page.get_by_role("button", name="Cancel members…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("60 actions.")).to_be_visible()
    expect(dialog).to_contain_text("Members of the batch cancelling-2027.")
    expect(dialog).not_to_contain_text("runs of jobs")
    assert len(list(cloud.scheduler().batches.members("cancelling-2027", status="pending", limit=100))) == 60
    assert flaws(page) == []
    dialog.get_by_role("button", name="Cancel 60 actions").click()
    expect(dialog.get_by_text("60 actions are cancelled or were requested to stop.")).to_be_visible()
    dialog.get_by_role("button", name="Close", exact=True).click()
    expect(bar(page, "cancelling-2027")).to_have_attribute("aria-valuenow", "60", timeout=AT_LAST)
    assert cloud.scheduler().batches.get("cancelling-2027").counts.cancelled == 60


def test_failed_members_are_redriven(reader, cloud):
    make_done(cloud.scheduler(), "redriven-2027")
    page = reader.go("#/batches/redriven-2027?status=failed")
    expect(page.locator("tbody tr")).to_have_count(2, timeout=AT_LAST)
    page.get_by_role("button", name="Redrive failed…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("2 actions.")).to_be_visible()
    dialog.get_by_role("button", name="Run 2 again").click()
    expect(dialog.get_by_text("2 actions run again.")).to_be_visible()
    members = cloud.scheduler().batches.members("redriven-2027")
    assert sum(action.redriven_after > 0 for action in members) == 2


def test_a_viewer_sees_no_button_and_another_tenant_no_batch(reader_of, cloud):
    page = reader_of(cloud.url, **signed_in("vic", groups="viewers")).go("#/batches/done-2027")
    expect(page.get_by_role("progressbar").first).to_be_visible()
    expect(page.locator(".asides button")).to_have_count(0)
    other = reader_of(cloud.url, **signed_in("gil", tenant="globex"))
    page = other.go("#/batches")
    expect(page.get_by_text("There is no batch")).to_be_visible()
    other.expected = ("404",)
    page = other.go("#/batches/done-2027")
    expect(page.get_by_text("It is not there")).to_be_visible()


@pytest.mark.parametrize("width", [390, 820, 1280])
def test_both_pages_fit_their_windows(reader_of, cloud, width):
    reader = reader_of(cloud.url, viewport={"width": width, "height": 900})
    for place in ("#/batches", "#/batches/done-2027"):
        page = reader.go(place)
        expect(page.get_by_role("progressbar").first).to_be_visible()
        assert not scrolls_sideways(page)
