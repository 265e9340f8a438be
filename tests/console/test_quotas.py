"""A tenant's quotas, and what it uses of them."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from duetime import App, Payload, Run
from duetime.local import LocalCloud, LocalOptions
from duetime.settings import Settings
from tests.console.browser import flaws, scrolls_sideways

app = App()


class Remark(Payload):
    text: str


@app.action
def remark(payload: Remark, run: Run) -> None:
    """Remark."""


@pytest.fixture(scope="module")
def cloud():
    settings = replace(Settings(), quotas={"acme": "pending=5", "globex": "jobs=7"})
    with LocalCloud(app, LocalOptions(settings=settings)) as started:
        scheduler = started.scheduler()
        for _ in range(4):
            scheduler.schedule(Remark(text="a"), at=timedelta(days=1))
        yield started


def row_of(page, text):
    return page.get_by_role("row").filter(has_text=text)


def test_a_tenant_sees_what_it_uses(reader):
    page = reader.go("#/")
    page.get_by_role("link", name="Quotas").click()
    expect(page.get_by_role("heading", name="Quotas of acme")).to_be_visible()
    row = row_of(page, "One-shot actions that have not ended")
    expect(row.get_by_role("cell").nth(2)).to_have_text("5")
    expect(row_of(page, "Requests a second")).to_contain_text("not counted")
    expect(page.get_by_role("meter", name=re.compile("^Registered jobs: 0"))).to_be_visible()
    assert flaws(page) == []


def test_a_manager_chooses_another_tenant(reader):
    page = reader.go("#/quotas")
    page.get_by_label("Tenant").fill("globex")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"#/quotas\?tenant=globex$"))
    expect(page.get_by_role("heading", name="Quotas of globex")).to_be_visible()
    expect(row_of(page, "Registered jobs").get_by_role("cell").nth(2)).to_have_text("7")


def test_on_a_phone_it_does_not_scroll_sideways(reader):
    reader.page.set_viewport_size({"width": 320, "height": 700})
    page = reader.go("#/quotas")
    expect(row_of(page, "Registered jobs")).to_be_visible()
    assert not scrolls_sideways(page)
