"""A tenant with ten thousand actions: what one looks at and changes stays a page at a time."""

import re
import time
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from duetime import Order, Status
from duetime.local import LocalCloud, LocalOptions
from tests.console.browser import signed_in
from tests.console.shop import Parcel, app

AT_LAST = 600_000
"""Milliseconds: machines are busy."""
ALL, OF_ONE, PAGE = 10_000, 300, 50
FACTOR = 20


@pytest.fixture(scope="module")
def cloud():
    with LocalCloud(app, LocalOptions()) as started:
        acme, globex = started.scheduler(), started.scheduler(tenant_id="globex")
        globex.schedule(Parcel(order="1"), at=timedelta(days=40))
        acme.schedule_many(
            Order(Parcel(order=str(n)), timedelta(days=40, seconds=n), correlation_id=belonging(n))
            for n in range(ALL)
        )
        yield started


def belonging(n):
    """The first hundreds belong to one campaign; the others three by three to an order."""
    return "campaign:1" if n < OF_ONE else f"order:{n // 3}"


def rows(page):
    return page.get_by_role("table", name="Actions").locator("tbody").get_by_role("row")


def ids(page):
    return rows(page).locator("a.short-id").evaluate_all("each => each.map((link) => link.title)")


def counted(page):
    page.get_by_role("button", name="Cancel all that match…").click()
    return page.get_by_role("dialog", name="Cancel all of these")


def test_pages_are_appended(reader):
    page = reader.go("#/actions")
    expect(rows(page)).to_have_count(PAGE, timeout=AT_LAST)
    first = ids(page)
    for n in (2, 3):
        page.get_by_role("button", name="Show more").click()
        expect(rows(page)).to_have_count(n * PAGE, timeout=AT_LAST)
        assert ids(page)[:PAGE] == first
        assert len(set(ids(page))) == n * PAGE


def test_a_correlation_id_finds_a_few_among_many(reader, cloud):
    page = reader.go("#/actions")
    page.get_by_label("Find by correlation id").fill("order:2000")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(rows(page)).to_have_count(3, timeout=AT_LAST)
    assert set(ids(page)) == {action.id for action in cloud.scheduler().list(correlation_id="order:2000")}


def test_hundreds_of_one_kind_are_cancelled_and_no_other(reader, cloud):
    acme = cloud.scheduler()
    page = reader.go("#/actions?correlation_id=campaign:1")
    expect(rows(page)).to_have_count(PAGE, timeout=AT_LAST)
    dialog = counted(page)
    dialog.get_by_role("button", name=f"Cancel {OF_ONE} actions").click(timeout=AT_LAST)
    expect(dialog.get_by_role("progressbar")).to_be_visible()
    dialog.get_by_role("button", name="Stop").click()
    expect(dialog).to_contain_text("Stopped before the end", timeout=AT_LAST)
    assert acme.list(correlation_id="campaign:1", status=Status.CANCELLED).actions
    dialog.get_by_role("button", name="Go on").click()
    expect(dialog).to_contain_text(f"{OF_ONE} actions are cancelled", timeout=AT_LAST)
    assert not acme.list(correlation_id="campaign:1", status=Status.PENDING, limit=200).actions
    assert not acme.list(status=Status.CANCELLED, correlation_id="order:2000").actions
    dialog.get_by_role("button", name="Close").click()
    expect(rows(page).first).to_contain_text("cancelled", timeout=AT_LAST)


def test_a_count_of_all_stops_at_its_limit_and_states_it(reader, cloud):
    page = reader.go("#/actions?type=parcel")
    expect(rows(page)).to_have_count(PAGE, timeout=AT_LAST)
    dialog = counted(page)
    expect(dialog.get_by_text(re.compile(r"[\d,]+ actions at least\."))).to_be_visible(timeout=AT_LAST)
    expect(dialog.get_by_role("button", name=re.compile(r"Cancel all, [\d,]+ at least"))).to_be_visible()
    dialog.get_by_role("button", name="Go back").click()
    assert len(cloud.scheduler().list(status=Status.PENDING, limit=200)) == 200


def test_the_overview_comes_up(reader):
    page = reader.go("#/")
    page.get_by_role("heading", level=2).first.wait_for()
    expect(page.get_by_role("status", name="Loading")).to_have_count(0, timeout=AT_LAST)
    expect(page.get_by_text("The API does not answer")).to_have_count(0)


def test_a_page_of_many_takes_little_longer_than_a_page_of_few(reader_of, cloud):
    def took(tenant, shown):
        reader = reader_of(cloud.url, **signed_in(tenant=tenant))
        began = time.perf_counter()
        expect(rows(reader.go("#/actions"))).to_have_count(shown, timeout=AT_LAST)
        return time.perf_counter() - began

    took("globex", 1)
    few = min(took("globex", 1) for _ in range(2))
    assert min(took("acme", PAGE) for _ in range(2)) < FACTOR * few + 1
