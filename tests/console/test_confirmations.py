"""With the setting `two_persons`, a bulk cancel waits for another person, who finds it in the console."""

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from duetime import Status
from duetime.local import LocalCloud, LocalOptions
from duetime.settings import Settings
from tests.console.browser import flaws, scrolls_sideways, signed_in
from tests.console.listed_actions import bulk
from tests.console.shop import Parcel, app

FAR = timedelta(days=9)


@pytest.fixture(scope="module")
def cloud():
    with LocalCloud(app, LocalOptions(settings=Settings(two_persons=True))) as started:
        yield started


def requested(reader_of, cloud, correlation_id):
    """Let ada request the cancel of two parcels; return them, and her page."""
    made = [
        cloud.scheduler().schedule(Parcel(order="1"), at=FAR, correlation_id=correlation_id) for _ in range(2)
    ]
    page = reader_of(cloud.url, **signed_in("ada")).go(f"#/actions?correlation_id={correlation_id}")
    dialog = bulk(page, "Cancel")
    dialog.get_by_role("button", name="Cancel 2 actions").click()
    expect(dialog).to_contain_text("Another person must confirm it")
    expect(dialog.get_by_role("button")).to_have_text(["Close"])
    expect(dialog).not_to_contain_text("Stopped before the end")
    dialog.get_by_role("link", name="Confirmations").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Confirmations")
    return made, page


def card(page, correlation_id):
    return page.locator("li.card").filter(has_text=correlation_id)


def statuses(cloud, made):
    return [cloud.scheduler().get(action.id).status for action in made]


def test_another_person_confirms_it(reader_of, cloud):
    made, own = requested(reader_of, cloud, "two:1")
    expect(card(own, "two:1")).to_contain_text("Another person must confirm your request.")
    expect(card(own, "two:1").get_by_role("button")).to_have_text(["Withdraw"])
    assert statuses(cloud, made) == [Status.PENDING] * 2
    page = reader_of(cloud.url, **signed_in("bob")).go("#/confirmations")
    waiting = card(page, "two:1")
    expect(waiting).to_contain_text("Cancel all actions that match these filters")
    expect(waiting).to_contain_text("2 actions")
    expect(waiting).to_contain_text("Requested by ada")
    assert flaws(page) == []
    page.set_viewport_size({"width": 320, "height": 700})
    assert not scrolls_sideways(page)
    waiting.get_by_role("button", name="Confirm…").click()
    page.get_by_role("dialog", name="Confirm this request?").get_by_role(
        "button", name="Make the change"
    ).click()
    expect(page.get_by_text("Done: 2 changes.")).to_be_visible()
    expect(waiting).to_have_count(0)
    assert statuses(cloud, made) == [Status.CANCELLED] * 2


def test_a_withdrawn_request_changes_nothing(reader_of, cloud):
    made, page = requested(reader_of, cloud, "two:2")
    card(page, "two:2").get_by_role("button", name="Withdraw").click()
    expect(page.get_by_text("Withdrawn: nothing was changed.")).to_be_visible()
    expect(page.get_by_text("Nothing waits for a second person")).to_be_visible()
    assert statuses(cloud, made) == [Status.PENDING] * 2
