"""Text of any length and direction, phones, and paper."""

import json
import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from tests.console.browser import flaws, scrolls_sideways
from tests.console.listed_actions import row, table
from tests.console.shop import Parcel
from tests.console.tenants import EVENING, register

AT_LAST = 60_000
FAR, NOW = timedelta(days=40), timedelta(0)
TOKEN = "x" * 180
LONG = "y" * 100_000
HEBREW = "הזמנה 17 (דחוף)"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
PLACES = [
    "#/",
    "#/jobs",
    "#/jobs/acme-token",
    "#/actions",
    "#/dead-letters",
    "#/undelivered",
    "#/notifications",
    "#/preferences",
    "#/cadences",
    "#/nowhere",
]


@pytest.fixture(scope="module", autouse=True)
def made(cloud):
    """Actions and a job with texts that are hard to lay out."""
    scheduler = cloud.scheduler()
    register(cloud, "acme-token", EVENING, title=TOKEN[:100], fails=9)
    scheduler.jobs.trigger("acme-token")
    return {
        "token": scheduler.schedule(Parcel(order=TOKEN, fails=9), at=NOW, correlation_id=TOKEN),
        "long": scheduler.schedule(Parcel(order=LONG, lines=(HEBREW,)), at=FAR),
        "hebrew": scheduler.schedule(Parcel(order=HEBREW, fails=9), at=NOW, correlation_id=HEBREW),
        "many": scheduler.schedule(Parcel(order="1", lines=tuple("abc" * 200)), at=FAR),
    }


def test_a_100_kb_string_is_bounded_and_can_be_shown_and_copied(reader_of, cloud, made):
    page = reader_of(cloud.url, permissions=["clipboard-read", "clipboard-write"]).go(
        f"#/actions/{made['long'].id}"
    )
    leaf = page.locator(".tree-string").first
    expect(leaf).to_contain_text("…")
    assert len(leaf.inner_text()) < 3_000
    assert not scrolls_sideways(page)
    leaf.get_by_role("button", name="Copy all").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    assert json.loads(page.evaluate("navigator.clipboard.readText()")) == LONG
    leaf.get_by_role("button", name="Show all 100,002 characters").click()
    assert LONG in leaf.inner_text()
    assert not scrolls_sideways(page)


def test_a_long_array_is_bounded(reader, made):
    page = reader.go(f"#/actions/{made['many'].id}")
    expect(page.locator(".tree-string").nth(100)).to_be_visible()
    assert page.locator(".tree-string").count() < 300
    page.get_by_role("button", name="Show more (400)").click()
    expect(page.locator(".tree-string")).to_have_count(602)


@pytest.mark.parametrize("width", [390, 1280])
def test_a_long_token_widens_no_page(reader_of, cloud, made, width):
    reader = reader_of(cloud.url, viewport={"width": width, "height": 844})
    page = reader.go("#/actions")
    expect(row(page, made["token"])).to_contain_text("failed", timeout=AT_LAST)
    token = f"#/actions/{made['token'].id}"
    for place in ("#/", "#/jobs", "#/jobs/acme-token", "#/actions", "#/dead-letters", token):
        reader.go(place)
        page.wait_for_load_state("networkidle")
        assert not scrolls_sideways(page), place


def test_right_to_left_text_leaves_the_text_around_it_as_it_is(reader, made):
    page = reader.go("#/actions")
    cell = row(page, made["hebrew"])
    expect(cell).to_contain_text("failed", timeout=AT_LAST)
    name = cell.locator("bdi").filter(has_text=HEBREW).first
    assert name.evaluate("each => getComputedStyle(each).unicodeBidi") == "isolate"
    assert name.evaluate("each => getComputedStyle(each).direction") == "rtl"
    name.click()
    expect(page.get_by_label("Find by correlation id")).to_have_value(HEBREW)
    assert page.get_by_label("Find by correlation id").evaluate("e => getComputedStyle(e).direction") == "rtl"
    expect(table(page).locator("tbody").get_by_role("row")).to_have_count(1)
    page.goto(f"{reader.url}/#/actions/{made['hebrew'].id}")
    leaf = page.locator(".tree-string bdi").first
    expect(leaf).to_contain_text(HEBREW)
    assert leaf.evaluate("each => getComputedStyle(each).unicodeBidi") == "isolate"
    expect(page.get_by_text(re.compile("no driver for order")).first).to_be_visible()


@pytest.mark.parametrize("place", ["#/actions", "#/dead-letters"])
def test_a_phone_shows_the_list_first(reader_of, cloud, made, place):
    page = reader_of(cloud.url, **PHONE).go(place)
    first = page.locator("main tbody tr, main .group").first
    expect(first).to_be_visible(timeout=AT_LAST)
    assert first.bounding_box()["y"] < 500
    page.get_by_text("More filters").tap()
    page.get_by_role("search").get_by_label("Type").fill("parcel")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("type=parcel"))
    assert flaws(page) == []


def test_a_phone_has_the_settings_behind_one_entry(reader_of, cloud):
    page = reader_of(cloud.url, **PHONE).go()
    expect(page.get_by_title("Refresh")).to_be_visible()
    expect(page.get_by_label("Language")).to_be_hidden()
    page.get_by_text("Account, language, times and theme").tap()
    page.get_by_label("Language").select_option("fr")
    expect(page.get_by_role("heading", level=1)).to_have_text("Vue d’ensemble")


@pytest.mark.parametrize("place", PLACES)
def test_each_page_has_one_title_and_prints_its_content_alone(reader, place):
    page = reader.go(place)
    page.wait_for_load_state("networkidle")
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    page.set_viewport_size({"width": 794, "height": 1123})
    page.emulate_media(media="print", color_scheme="dark")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("navigation", name="Console")).to_be_hidden()
    assert page.locator("main button:visible:not(.cell)").count() == 0
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("document.querySelector('main').getBoundingClientRect().left") < 20
    assert not scrolls_sideways(page)


def test_an_instant_in_an_address_is_of_iso_8601(reader):
    page = reader.go("#/actions?due_after=yesterday 5")
    expect(page.get_by_role("search").get_by_role("alert")).to_contain_text("due_after=yesterday 5")
    reader.go("#/actions?due_until=2026-07-01")
    expect(page.get_by_label("Due until")).to_have_value("2026-07-01T00:00")
