"""The console begins, lists and ends pauses of work, and shows them on the overview and on an action."""

import re

import pytest
from playwright.sync_api import expect

from duetime.local import LocalCloud, LocalOptions
from tests.console.browser import flaws
from tests.console.shop import app

REASON = "SES is down <b>see</b> INC-7"


@pytest.fixture
def cloud():
    """One of each test: a pause that has ended is listed for another quarter of an hour."""
    with LocalCloud(app, LocalOptions()) as started:
        yield started


@pytest.fixture
def ended(reader):
    """All pauses are ended at last."""
    yield reader
    pauses = reader.page.request.get(f"{reader.url}/api/v1/pauses").json()["items"]
    for pause in pauses:
        if pause["ended_at"] is None:
            reader.page.request.delete(f"{reader.url}/api/v1/pauses/{pause['id']}")


def test_work_is_paused_shown_and_resumed(ended):
    page = ended.go("#/pauses")
    expect(page.get_by_text("Nothing is paused")).to_be_visible()
    page.get_by_role("button", name="Pause work").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("What is paused").select_option("concurrency-key")
    dialog.get_by_label("Its name").fill("smtp")
    dialog.get_by_label("Reason").fill(REASON)
    dialog.get_by_role("button", name="Pause", exact=True).click()
    card = page.locator(".card").filter(has_text="smtp")
    expect(card).to_contain_text(f": {REASON}")
    assert flaws(page) == []
    page = ended.go()
    notice = page.locator(".notice").filter(has_text="Some work is paused")
    expect(notice).to_contain_text("smtp")
    notice.get_by_role("link", name="All pauses").click()
    page.get_by_role("button", name="End the pause of smtp").click()
    expect(page.get_by_text("The pause of smtp is over")).to_be_visible()
    expect(page.locator(".card").filter(has_text="smtp")).to_contain_text("What waited begins until")


def test_a_pending_action_shows_why_it_waits(ended):
    url = f"{ended.url}/api/v1"
    order = {"type": "parcel", "payload": {"order": "o-1"}, "in": 3600}
    scheduled = ended.page.request.post(f"{url}/actions", data=order).json()
    body = {"scope": "type", "name": scheduled["type"], "reason": REASON}
    assert ended.page.request.post(f"{url}/pauses", data=body).ok
    page = ended.go(f"#/actions/{scheduled['id']}")
    expect(page.get_by_text(re.compile(f"^The type {scheduled['type']}.* is paused until"))).to_be_visible()
