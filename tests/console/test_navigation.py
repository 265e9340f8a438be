"""The way back, growing lists, and addresses that mean nothing."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from tests.console.listed_actions import table
from tests.console.shop import Parcel

N = 120


@pytest.fixture(scope="module", autouse=True)
def many(cloud):
    """More actions than two pages have."""
    scheduler = cloud.scheduler()
    return [
        scheduler.schedule(Parcel(order=str(n)), at=timedelta(days=9, seconds=n), correlation_id="many:1")
        for n in range(N)
    ]


def rows(page):
    return table(page).locator("tbody").get_by_role("row")


def grown(reader):
    """The list with two pages."""
    page = reader.go("#/actions?correlation_id=many:1")
    expect(rows(page)).to_have_count(50)
    page.get_by_role("button", name="Show more").click()
    expect(rows(page)).to_have_count(100)
    return page


def test_pages_append_and_stay_at_the_next_poll(reader):
    page = grown(reader)
    first = rows(page).first.text_content()
    page.get_by_title("Refresh").click()
    expect(page.get_by_title("Refresh")).to_have_text("live")
    expect(rows(page)).to_have_count(100)
    assert rows(page).first.text_content() == first
    page.get_by_role("button", name="Show more").click()
    expect(rows(page)).to_have_count(N)
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)


def test_the_way_back_keeps_the_scroll_position_and_shows_no_skeleton(reader):
    page = grown(reader)
    rows(page).nth(80).scroll_into_view_if_needed()
    page.wait_for_function("scrollY > 1000")
    before = page.evaluate("scrollY")
    rows(page).nth(80).get_by_role("link").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("parcel")
    assert page.evaluate("scrollY") == 0
    page.evaluate(
        """() => {
          window.skeletons = 0;
          new MutationObserver(() => { skeletons += document.querySelectorAll('main .loading').length; })
            .observe(document.body, {childList: true, subtree: true});
        }"""
    )
    page.go_back()
    expect(rows(page)).to_have_count(100)
    page.wait_for_function("before => Math.abs(scrollY - before) <= 2", arg=before)
    assert page.evaluate("skeletons") == 0


def test_a_new_way_begins_at_the_top(reader):
    page = grown(reader)
    rows(page).nth(80).scroll_into_view_if_needed()
    page.get_by_role("navigation", name="Console").get_by_role("link", name="Jobs").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Jobs")
    assert page.evaluate("scrollY") == 0


@pytest.mark.parametrize(
    "place",
    [
        "#/jobs?only=broken",
        "#/notifications?kind=none.such",
        "#/dead-letters?job_name=x",
        "#/jobs/shop-watch-ramp?status=broken",
        "#/undelivered?kind=timer",
        "#/cadences?cadence=@hourly&zone=UTC",
        "#/preferences?scope=everyone",
    ],
)
def test_an_unknown_filter_is_reported(reader, place):
    page = reader.go(place)
    expect(page.get_by_role("alert").filter(has_text=re.split("[?&]", place)[-1])).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("Mark all|Redrive"))).to_have_count(0)


@pytest.mark.parametrize("place", ["#/actions/none-such", "#/jobs/none-such", "#/undelivered/none-such"])
def test_an_unknown_id_is_reported_under_one_title(reader, place):
    reader.expected = ("404",)
    page = reader.go(place)
    expect(page.get_by_text(re.compile("It is not there|There is no")).first).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
