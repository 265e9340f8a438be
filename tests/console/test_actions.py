"""The actions: listed as they stand, and found by what is known of them."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from tests.console.browser import flaws, scrolls_sideways, signed_in
from tests.console.listed_actions import (
    AT_LAST,
    asks_for_type,
    bulk,
    choose,
    row,
    shows_just,
    shows_of,
    table,
)
from tests.console.listed_actions import actions as actions  # noqa: PLC0414 - a fixture


def test_each_action_shows_its_status_and_latest_message(reader, actions):
    page = reader.go("#/actions")
    expect(row(page, actions["executed"])).to_contain_text("executed", timeout=AT_LAST)
    expect(row(page, actions["failed"])).to_contain_text("no driver for order", timeout=AT_LAST)
    expect(row(page, actions["failed"]).get_by_role("cell").nth(5)).to_have_text("2")
    expect(row(page, actions["processing"])).to_contain_text("running", timeout=AT_LAST)
    pending = row(page, actions["pending"])
    expect(pending).to_contain_text("pending")
    expect(pending).to_contain_text("parcel")
    expect(pending).to_contain_text("order:17")
    page.set_viewport_size({"width": 1920, "height": 1080})
    expect(pending.get_by_role("cell").nth(6)).to_contain_text("local")


def test_an_instant_in_another_year_shows_the_year(reader, actions):
    page = reader.go("#/actions")
    due = row(page, actions["pending"]).get_by_role("cell").nth(4)
    expect(due).to_contain_text(str(actions["pending"].due_at.year))
    expect(due).to_contain_text(re.compile(r"in 1,\d{3} days"))
    today = row(page, actions["failed"]).get_by_role("cell").nth(4)
    expect(today).not_to_contain_text(str(actions["failed"].due_at.year))


def test_a_long_message_truncates_no_other_column(reader, actions):
    page = reader.go("#/actions")
    expect(row(page, actions["failed"])).to_contain_text("no driver for order", timeout=AT_LAST)
    assert page.locator(".scrolls").evaluate("each => each.scrollWidth <= each.clientWidth")


def test_a_tenant_does_not_see_another_tenants_actions(reader_of, cloud, actions):
    page = reader_of(cloud.url, **signed_in("gil", tenant="globex")).go("#/actions")
    shows_just(page, actions["globex"])


def test_they_are_found_by_a_correlation_id_and_shown_again_without(reader, actions):
    page = reader.go("#/actions")
    page.get_by_label("Find by correlation id").fill("order:17")
    page.get_by_role("button", name="Show", exact=True).click()
    shows_just(page, actions["pending"])
    assert "correlation_id=order%3A17" in page.url
    page.get_by_role("link", name="Clear all filters").click()
    expect(row(page, actions["executed"])).to_be_visible()
    expect(page.get_by_label("Find by correlation id")).to_have_value("")
    page.go_back()
    shows_just(page, actions["pending"])
    expect(page.get_by_label("Find by correlation id")).to_have_value("order:17")


def test_a_correlation_id_in_the_list_links_to_all_its_actions(reader, actions):
    page = reader.go("#/actions")
    row(page, actions["pending"]).get_by_role("link", name="order:17").click()
    shows_just(page, actions["pending"])


def test_they_are_found_by_type(reader, actions):
    page = reader.go("#/actions")
    page.get_by_role("search").get_by_label("Type").fill("wait")
    page.keyboard.press("Enter")
    shows_just(page, actions["processing"])


def test_they_are_found_by_status_and_by_several(reader, actions):
    page = reader.go("#/actions")
    choose(page, "pending")
    shows_of(page, actions, "pending")
    choose(page, "running")
    shows_of(page, actions, "pending", "processing")
    page.reload()
    shows_of(page, actions, "pending", "processing")


def test_they_are_found_by_due_time_and_by_scheduling_time(reader, actions):
    page = reader.go("#/actions")
    page.get_by_text("Job, contents and times").click()
    between = f"{actions['pending'].created_at + timedelta(days=300):%Y-%m-%dT%H:%M}"
    page.get_by_label("Due after").fill(between)
    expect(row(page, actions["failed"])).to_have_count(0)
    expect(row(page, actions["pending"])).to_be_visible()
    page.get_by_label("Due after").fill("")
    page.get_by_label("Due until").fill(between)
    expect(row(page, actions["failed"])).to_be_visible()
    expect(row(page, actions["pending"])).to_have_count(0)
    page.get_by_role("link", name="Clear all filters").click()
    page.get_by_label("Scheduled after").fill("2099-01-01T00:00")
    expect(page.get_by_text("No action matches")).to_be_visible()
    page.get_by_label("Scheduled after").fill("")
    page.get_by_label("Scheduled until").fill("2020-01-01T00:00")
    expect(page.get_by_text("Take a filter away")).to_be_visible()


def test_runs_of_a_job_are_found_by_its_name(reader, cloud):
    page = reader.go("#/actions")
    page.get_by_text("Job, contents and times").click()
    page.get_by_label("Job", exact=True).fill("shop-watch-ramp")
    page.keyboard.press("Enter")
    runs = table(page).locator("tbody").get_by_role("row").filter(has_text="shop-watch-ramp")
    expect(runs.first).to_be_visible()
    assert any(cloud.scheduler().list(job="shop-watch-ramp"))


def test_a_filter_without_matches_shows_a_link_back(reader):
    page = reader.go("#/actions?correlation_id=none:such")
    expect(page.get_by_text("No action matches")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="Clear all filters").last.click()
    expect(table(page)).to_be_visible()


def test_a_tenant_without_actions_sees_how_to_schedule_one(reader_of, cloud):
    page = reader_of(cloud.url, **signed_in("ian", tenant="initech")).go("#/actions")
    expect(page.get_by_text("Nothing is scheduled yet")).to_be_visible()


def test_a_viewer_sees_all_and_no_button(reader_of, cloud, actions):
    page = reader_of(cloud.url, **signed_in("eve", groups="viewers")).go("#/actions")
    expect(row(page, actions["pending"])).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("all that match|Schedule an action"))).to_have_count(0)


def test_a_user_without_the_permission_sees_the_reason(reader_of, cloud):
    reader = reader_of(cloud.url, **signed_in("mallory", groups="guests"))
    reader.expected = ("403",)
    page = reader.page
    page.goto(f"{cloud.url}/#/actions")
    expect(page.get_by_text("Your roles do not allow this").first).to_be_visible()


def test_it_is_in_french(reader_of, cloud, actions):
    page = reader_of(cloud.url, locale="fr-FR").go("#/actions")
    expect(row(page, actions["pending"])).to_contain_text("en attente")
    expect(page.get_by_label("Rechercher par identifiant de corrélation")).to_be_visible()
    page.get_by_role("button", name="Annuler toutes celles-ci…").click()
    expect(page.get_by_role("dialog", name="Annuler toutes ces actions")).to_contain_text("définitive")
    page.get_by_role("button", name="Retour").click()
    page.get_by_role("button", name="Planifier une action").click()
    expect(page.get_by_role("dialog", name="Planifier une action")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible_by_screen_reader_and_keyboard(reader_of, cloud, actions, scheme):
    page = reader_of(cloud.url, color_scheme=scheme).go("#/actions")
    expect(row(page, actions["failed"])).to_be_visible()
    page.get_by_text("Job, contents and times").click()
    assert flaws(page) == []
    dialog = asks_for_type(page)
    assert flaws(page) == []
    dialog.get_by_role("button", name="Go back").click()
    dialog = bulk(page, "Cancel")
    expect(dialog.get_by_role("button", name=re.compile(r"Cancel \d+ action"))).to_be_visible()
    assert flaws(page) == []


def test_the_last_message_is_seen_on_a_laptop_without_scrolling(reader_of, cloud, actions):
    page = reader_of(cloud.url, viewport={"width": 1280, "height": 800}).go("#/actions")
    expect(row(page, actions["failed"])).to_be_visible()
    assert page.locator(".scrolls").evaluate("table => table.scrollWidth <= table.clientWidth")


def test_it_fits_a_phone(reader_of, cloud, actions):
    page = reader_of(cloud.url, viewport={"width": 360, "height": 740}).go("#/actions")
    expect(row(page, actions["failed"])).to_be_visible()
    assert not scrolls_sideways(page)
    asks_for_type(page).get_by_role("button", name="Go back").click()
    expect(bulk(page, "Cancel").get_by_role("button", name=re.compile(r"Cancel \d+ action"))).to_be_visible()
    assert not scrolls_sideways(page)
