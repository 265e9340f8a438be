"""A bulk action takes the filters as they are typed, says them, and changes what the list shows."""

import re
from datetime import datetime, timedelta

from playwright.sync_api import expect

from duetime import Status
from tests.console.listed_actions import AT_LAST, bulk, row, shows_just, statuses, table
from tests.console.listed_actions import actions as actions  # noqa: PLC0414 - a fixture
from tests.console.shop import Parcel

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
FAR = timedelta(days=9)


def schedule(cloud, correlation_id, n=1):
    scheduler = cloud.scheduler()
    return [scheduler.schedule(Parcel(order="1"), at=FAR, correlation_id=correlation_id) for _ in range(n)]


def test_a_filter_that_is_being_typed_on_a_phone_is_the_filter_of_the_bulk_action(reader_of, cloud):
    schedule(cloud, "typed:1", 2)
    page = reader_of(cloud.url, **PHONE).go("#/actions")
    expect(table(page)).to_be_visible()
    page.get_by_label("Find by correlation id").press_sequentially("typed:1")
    page.get_by_role("button", name="Cancel all that match…").tap()
    dialog = page.get_by_role("dialog", name="Cancel all of these")
    expect(dialog.locator(".filter-words")).to_contain_text("typed:1")
    expect(dialog.get_by_text("2 actions.")).to_be_visible()
    assert "correlation_id=typed%3A1" in page.url
    dialog.get_by_role("button", name="Cancel 2 actions").tap()
    expect(dialog).to_contain_text("2 actions are cancelled")
    assert statuses(cloud, "order:17") == [Status.PENDING]


def test_a_filter_without_matches_that_is_being_typed_offers_no_cancel(reader_of, cloud, actions):
    page = reader_of(cloud.url, **PHONE).go("#/actions")
    expect(table(page)).to_be_visible()
    page.get_by_label("Find by correlation id").press_sequentially("none:such")
    page.get_by_role("button", name="Cancel all that match…").tap()
    dialog = page.get_by_role("dialog", name="Cancel all of these")
    expect(dialog).to_contain_text("there is nothing to cancel")
    expect(dialog.get_by_role("button")).to_have_text(["Close"])
    dialog.get_by_role("button", name="Close").tap()
    expect(page.get_by_text("No action matches")).to_be_visible()


def test_the_dialog_restates_every_filter(reader, actions):
    page = reader.go(
        "#/actions?correlation_id=order:17&type=parcel&status=pending&due_after=2026-01-01T00:00:00Z"
    )
    dialog = bulk(page, "Cancel")
    words = dialog.locator(".filter-words")
    for text in ("order:17", "parcel", "pending", "1 Jan 2026, 01:00:00 (Europe/Paris)"):
        expect(words).to_contain_text(text)
    expect(dialog).to_contain_text("Runs of jobs are not included")
    expect(dialog).to_contain_text("What is scheduled after this count is not included.")


def test_the_list_and_the_redrive_cover_the_same_actions(reader, cloud, actions):
    cloud.scheduler().jobs.trigger("shop-order-more")
    page = reader.go("#/actions?status=failed")
    expect(table(page).get_by_text("shop-order-more").first).to_be_visible(timeout=AT_LAST)
    expect(page.get_by_text("Runs of jobs are included.")).to_be_visible()
    dialog = bulk(page, "Redrive")
    expect(dialog).to_contain_text("Runs of jobs are included.")
    expect(dialog.locator(".tallies")).to_contain_text("shop-order-more")
    dialog.get_by_role("button", name="Go back").click()
    page.get_by_role("link", name="Clear all filters").click()
    expect(page.get_by_text("Runs of jobs are not included")).to_be_visible()
    expect(row(page, actions["failed"])).to_contain_text("failed", timeout=AT_LAST)
    expect(table(page).get_by_text("shop-order-more")).to_have_count(0)
    dialog = bulk(page, "Redrive")
    expect(dialog).to_contain_text("Runs of jobs are not included")
    expect(dialog.locator(".tallies")).to_contain_text("parcel")
    expect(dialog.locator(".tallies")).not_to_contain_text("shop-order-more")


def test_the_apis_cut_off_holds_although_the_readers_clock_is_off(reader, cloud):
    schedule(cloud, "cut:1")
    page = reader.page
    health = page.request.get(f"{cloud.url}/api/v1/health/details").json()
    page.clock.install(time=datetime.fromisoformat(health["requested_at"]) + timedelta(minutes=5))
    reader.go("#/actions?correlation_id=cut:1")
    dialog = bulk(page, "Cancel")
    go = dialog.get_by_role("button", name="Cancel 1 action")
    expect(go).to_be_visible()
    (later,) = schedule(cloud, "cut:1")
    go.click()
    expect(dialog).to_contain_text("1 action is cancelled")
    assert cloud.scheduler().get(later.id).status is Status.PENDING


def test_an_unknown_filter_is_reported_and_never_widens_a_bulk_action(reader, actions):
    page = reader.go("#/actions?correlation=order:17&status=pending,broken&due_after=soon")
    alert = page.get_by_role("search").get_by_role("alert")
    expect(alert).to_contain_text("3 parts of this address are no filters")
    for text in ("correlation=order:17", "status=pending,broken", "due_after=soon"):
        expect(alert).to_contain_text(text)
    expect(page.get_by_role("button", name=re.compile("all that match"))).to_have_count(0)
    alert.get_by_role("link", name="Use the other filters alone").click()
    expect(alert).to_have_count(0)
    expect(page.get_by_role("button", name=re.compile("all that match"))).to_have_count(2)


def test_the_way_back_brings_the_filters_before(reader, actions):
    page = reader.go("#/actions")
    page.get_by_label("Find by correlation id").fill("order:17")
    page.keyboard.press("Enter")
    shows_just(page, actions["pending"])
    page.go_back()
    expect(page.get_by_label("Find by correlation id")).to_have_value("")
    expect(row(page, actions["executed"])).to_be_visible()
