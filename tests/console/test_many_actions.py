"""All matching actions are changed at once, after the page has shown their number."""

import re
from datetime import timedelta

from playwright.sync_api import expect

from duetime import Status
from tests.console.listed_actions import AT_LAST, bulk, row, statuses, table
from tests.console.listed_actions import actions as actions  # noqa: PLC0414 - a fixture
from tests.console.shop import Parcel


def test_matching_actions_are_counted_and_then_cancelled(reader, cloud, actions):
    scheduler = cloud.scheduler()
    for _ in range(3):
        scheduler.schedule(Parcel(order="41"), at=timedelta(days=9), correlation_id="order:41")
    page = reader.go("#/actions?correlation_id=order:41")
    dialog = bulk(page, "Cancel")
    expect(dialog.get_by_text("3 actions.")).to_be_visible()
    expect(dialog).to_contain_text("What is pending will not run")
    expect(dialog).to_contain_text("A cancel cannot be undone.")
    expect(dialog.locator(".examples").get_by_role("listitem")).to_have_count(3)
    assert statuses(cloud, "order:41") == [Status.PENDING] * 3
    dialog.get_by_role("button", name="Cancel 3 actions").click()
    expect(dialog).to_contain_text("3 actions are cancelled or were requested to stop.")
    assert statuses(cloud, "order:41") == [Status.CANCELLED] * 3
    assert scheduler.get(actions["pending"].id).status is Status.PENDING
    dialog.get_by_role("button", name="Close").click()
    expect(table(page).get_by_text("cancelled")).to_have_count(3)


def test_a_closed_dialog_changes_nothing(reader, cloud):
    page = reader.go("#/actions?correlation_id=order:17")
    dialog = bulk(page, "Cancel")
    expect(dialog.get_by_role("button", name="Cancel 1 action")).to_be_visible()
    dialog.get_by_role("button", name="Go back").click()
    expect(dialog).to_have_count(0)
    assert statuses(cloud, "order:17") == [Status.PENDING]


def test_without_changes_there_is_no_button(reader):
    page = reader.go("#/actions?correlation_id=order:18")
    dialog = bulk(page, "Redrive")
    expect(dialog).to_contain_text("Nothing matches that has failed")
    expect(dialog.get_by_role("button")).to_have_text(["Close"])


def test_matching_failed_actions_are_redriven(reader, cloud):
    page = reader.go("#/actions?correlation_id=order:51")
    made = cloud.scheduler().schedule(Parcel(order="51", fails=2), at=timedelta(0), correlation_id="order:51")
    page.get_by_title("Refresh").click()
    expect(row(page, made)).to_contain_text("failed", timeout=AT_LAST)
    dialog = bulk(page, "Redrive")
    expect(dialog).to_contain_text("Each runs again now, with all its attempts.")
    dialog.get_by_role("button", name="Run 1 again").click()
    expect(dialog).to_contain_text("1 action runs again.")
    dialog.get_by_role("button", name="Close").click()
    expect(row(page, made)).to_contain_text("executed", timeout=AT_LAST)


def test_a_filter_hides_buttons_that_match_nothing(reader):
    page = reader.go("#/actions?status=executed")
    expect(table(page)).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("all that match"))).to_have_count(0)
    page.goto(f"{reader.url}/#/actions?status=failed")
    expect(page.get_by_role("button", name=re.compile("all that match"))).to_have_text(
        ["Redrive all that match…"]
    )
