"""Many jobs: a part of their rows is in the page; scrolling, keys and the search reach all."""

import re

import pytest
from playwright.sync_api import expect

from tests.console.browser import flaws, scrolls_sideways
from tests.console.tenants import register

COUNT, PAGE = 260, 100


@pytest.fixture(scope="module", autouse=True)
def jobs(cloud):
    for number in range(COUNT):
        register(cloud, f"acme-job{number:03d}", title=f"Number {number}", category=f"c{number % 3}")


def rows(page):
    return page.locator("main tbody tr[data-index]")


def row(page, number):
    return page.get_by_role("row").filter(has=page.get_by_role("link", name=f"Number {number}", exact=True))


def to_the_end(page):
    """Scroll until the last job is shown."""
    end = row(page, COUNT - 1)
    while end.count() == 0:
        page.mouse.wheel(0, 4_000)
        page.wait_for_timeout(50)
    return end


def test_only_the_rows_near_the_window_are_in_the_page(reader):
    page = reader.go("#/jobs")
    expect(row(page, 0)).to_be_visible()
    assert rows(page).count() < 40
    page.mouse.move(600, 600)
    expect(to_the_end(page)).to_be_visible()
    assert rows(page).count() < 60
    expect(row(page, 0)).to_have_count(0)
    total = int(page.get_by_role("table").get_attribute("aria-rowcount"))
    assert int(row(page, COUNT - 1).get_attribute("aria-rowindex")) == total > COUNT


def test_a_page_is_loaded_once_as_it_is_reached(reader):
    loaded = []
    reader.page.on("request", lambda request: loaded.extend(re.findall(r"limit(?:=|%3D)100", request.url)))
    page = reader.go("#/jobs")
    expect(row(page, 0)).to_be_visible()
    assert len(loaded) == 1
    page.mouse.move(600, 600)
    to_the_end(page)
    assert len(loaded) == 1 + COUNT // PAGE


def test_a_search_finds_a_job_of_a_later_page(reader):
    page = reader.go("#/jobs")
    page.get_by_role("searchbox", name="Search").fill(f"number {COUNT - 1}")
    expect(row(page, COUNT - 1)).to_be_visible()
    expect(row(page, 0)).to_have_count(0)
    expect(page).to_have_url(re.compile(r"q=number"))
    page.get_by_role("searchbox", name="Search").fill("nothing like it")
    expect(page.get_by_text("No job meets the search and the filter")).to_be_visible()


def test_the_counts_are_of_all_jobs(reader):
    page = reader.go("#/jobs")
    shown = page.get_by_role("combobox", name="Show")
    expect(shown.locator("option").first).to_have_text(re.compile(r"All \(26\d\)"))


def test_keys_reach_rows_beyond_the_window(reader):
    page = reader.go("#/jobs")
    row(page, 5).get_by_role("link", name="Number 5", exact=True).focus()
    for _ in range(60):
        page.keyboard.press("Tab")
    focused = page.evaluate("document.activeElement.closest('tr')?.getAttribute('aria-rowindex')")
    assert int(focused) > 20


def test_the_focused_row_stays_in_the_page(reader):
    page = reader.go("#/jobs")
    row(page, 5).get_by_role("link", name="Number 5", exact=True).focus()
    page.mouse.move(600, 600)
    to_the_end(page)
    assert page.evaluate("document.activeElement.textContent") == "Number 5"


def test_the_runs_of_the_shown_rows_are_loaded(reader):
    page = reader.go("#/jobs")
    page.mouse.move(600, 600)
    end = to_the_end(page)
    expect(end.get_by_role("img")).to_have_attribute("aria-label", re.compile("no run yet"))


def test_the_way_back_leads_to_the_same_rows(reader):
    page = reader.go("#/jobs")
    page.mouse.move(600, 600)
    to_the_end(page).get_by_role("link", name=f"Number {COUNT - 1}", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Number {COUNT - 1}")
    page.go_back()
    expect(row(page, COUNT - 1)).to_be_visible()


def test_a_long_list_is_accessible_on_a_small_screen(reader_of, cloud):
    page = reader_of(cloud.url, viewport={"width": 320, "height": 640}).go("#/jobs")
    expect(row(page, 0)).to_be_visible()
    assert flaws(page) == []
    page.mouse.move(160, 400)
    page.mouse.wheel(0, 9_000)
    expect(row(page, 0)).to_have_count(0)
    assert not scrolls_sideways(page)
    assert flaws(page) == []
