"""Next week's load against what a worker handles at once, and the price of each job."""

import re

import pytest
from playwright.sync_api import expect

from duetime import App, Run, daily, every, manual
from duetime.local import LocalCloud, LocalOptions
from tests.console.browser import flaws, scrolls_sideways

app = App()


def declare(name, *cadences):
    @app.job(*cadences, name=name)
    def run(run: Run) -> None:
        """Run."""


for number in range(12):
    declare(f"books-close-{number:02d}", daily("03:00"))
declare("books-watch", every(minutes=10))
declare("books-print", manual())


@pytest.fixture(scope="module")
def cloud():
    with LocalCloud(app, LocalOptions(concurrency=10)) as started:
        yield started


def row_of(page, text):
    return page.get_by_role("row").filter(has_text=text)


def test_the_fullest_minutes_are_a_chart_and_a_table(reader):
    page = reader.go("#/load")
    expect(page.get_by_role("heading", level=1)).to_have_text("Next week's load")
    chart = page.get_by_role(
        "img", name=re.compile("hours with jobs; at most 13 in a minute; the limit is 10")
    )
    expect(chart).to_be_visible()
    assert chart.locator("rect.is-over").count() == 7
    row = row_of(page, "books-close-00")
    expect(row.get_by_role("cell").nth(1)).to_have_text("13")
    expect(row.get_by_role("cell").nth(2)).to_have_text("3")
    expect(row.get_by_role("cell").nth(3)).to_have_text("7")
    expect(row).to_contain_text("and 5 more")
    expect(page.get_by_text("duetime app check --storm")).to_be_visible()
    assert flaws(page) == []
    row.get_by_role("link", name="books-close-00").click()
    expect(page).to_have_url(re.compile("#/jobs/books-close-00$"))


def test_another_limit_is_part_of_the_address(reader):
    page = reader.go("#/load")
    page.get_by_label("Jobs that may begin in a minute").fill("20")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"#/load\?capacity=20$"))
    expect(page.get_by_role("img", name=re.compile("the limit is 20"))).to_be_visible()
    expect(page.locator("rect.is-over")).to_have_count(0)
    expect(page.get_by_text("duetime app check --storm")).to_have_count(0)


def test_on_a_phone_it_does_not_scroll_sideways(reader):
    reader.page.set_viewport_size({"width": 320, "height": 700})
    page = reader.go("#/load")
    expect(row_of(page, "books-close-00")).to_be_visible()
    assert not scrolls_sideways(page)


def test_each_job_has_its_price(reader):
    page = reader.go("#/jobs")
    expect(row_of(page, "books-watch")).to_contain_text(re.compile(r"\$0\.\d+ a month"))
    expect(row_of(page, "books-print")).not_to_contain_text("a month")
    page.get_by_role("link", name="Next week's load").click()
    expect(page).to_have_url(re.compile("#/load$"))
    reader.go("#/jobs/books-watch")
    expect(page.get_by_text(re.compile(r"\$0\.\d+ a month, by 144 runs a day"))).to_be_visible()
