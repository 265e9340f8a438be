"""The dead letters: what failed for good, by what went wrong, and run again one by one or together."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from duetime import Status
from tests.console.browser import flaws, scrolls_sideways, signed_in
from tests.console.shop import Parcel

AT_LAST = 60_000
"""Milliseconds, for what the cloud must run first."""


def fail(scheduler, order, times=9):
    return scheduler.schedule(
        Parcel(order=order, fails=times), at=timedelta(0), correlation_id=f"order:{order}"
    )


@pytest.fixture(scope="module", autouse=True)
def letters(cloud):
    """Of acme three that fail alike; of globex one."""
    made = [fail(cloud.scheduler(), order) for order in ("1", "2", "3")]
    fail(cloud.scheduler(tenant_id="globex"), "4")
    return made


def go(reader, letters, query=""):
    page = reader.go(f"#/dead-letters{query}")
    expect(group(page).locator(".group-count")).to_have_text(str(len(letters)), timeout=AT_LAST)
    return page


def group(page):
    """The group of parcels without a driver."""
    return page.locator("li.group").filter(has_text="no driver for order …")


def opened(page):
    group(page).locator("summary").click()
    return group(page).get_by_role("table")


def letter(page, action):
    return group(page).get_by_role("row").filter(has=page.get_by_title(action.id, exact=True))


def test_actions_with_the_same_error_are_one_group(reader, letters):
    page = go(reader, letters)
    expect(group(page)).to_have_count(1)
    expect(group(page).locator(".group-count")).to_have_text("3")
    expect(group(page)).to_contain_text("parcel")
    opened(page)
    for failed_action in letters:
        expect(letter(page, failed_action)).to_contain_text(failed_action.correlation_id)
        expect(letter(page, failed_action)).to_contain_text("ConnectionError: no driver for order")
        expect(letter(page, failed_action).get_by_role("cell").nth(3)).to_have_text("2")


def test_a_group_shows_when_it_was_first_and_last_seen_and_its_trend(reader, letters):
    page = go(reader, letters)
    expect(group(page)).to_contain_text(re.compile("first seen .+, last seen "))
    trend = group(page).locator("svg.trend")
    expect(trend).to_have_attribute("aria-label", re.compile(r"^At most [1-3] in an hour, since "))


def test_the_page_explains_dead_letters_and_names_the_section_of_the_runbook(reader, letters):
    page = go(reader, letters)
    intro = page.get_by_text("Actions that failed for good")
    expect(intro).to_contain_text("duetime deployment runbook dead-letters")


def test_with_an_address_the_runbook_is_a_link(reader, letters):
    there = "https://wiki.example.com/duetime"
    reader.page.route(
        "**/config.json", lambda route: route.fulfill(json={**route.fetch().json(), "runbook": there})
    )
    page = go(reader, letters)
    link = page.get_by_role("link", name="Runbook")
    expect(link).to_have_attribute("href", f"{there}#dead-letters")


def test_an_entry_links_to_its_action(reader, letters):
    page = go(reader, letters)
    opened(page)
    letter(page, letters[0]).get_by_title(letters[0].id).click()
    expect(page).to_have_url(re.compile(f"#/actions/{letters[0].id}"))


def test_a_tenant_does_not_see_another_tenants_actions(reader_of, cloud):
    page = reader_of(cloud.url, **signed_in("gil", tenant="globex")).go("#/dead-letters")
    expect(group(page).locator(".group-count")).to_have_text("1", timeout=AT_LAST)


def test_they_are_found_by_a_correlation_id(reader, letters):
    page = go(reader, letters)
    page.get_by_label("Find by correlation id").fill("order:2")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.get_by_text("1 dead letter.")).to_be_visible()
    expect(page.get_by_role("button", name="Redrive it…")).to_be_visible()
    page.get_by_role("link", name="Clear all filters").click()
    expect(group(page).locator(".group-count")).to_have_text("3")


def test_they_are_found_by_type_and_by_due_time(reader, letters):
    page = go(reader, letters)
    page.get_by_role("search").get_by_label("Type").fill("wait")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No dead letter matches")).to_be_visible()
    page.get_by_role("search").get_by_label("Type").fill("parcel")
    page.keyboard.press("Enter")
    expect(group(page).locator(".group-count")).to_have_text("3")
    page.get_by_text("Job, contents and times").click()
    page.get_by_label("Last due until").fill("2020-01-01T00:00")
    expect(page.get_by_text("No dead letter matches")).to_be_visible()
    page.get_by_label("Last due until").fill("")
    page.get_by_label("Last due after").fill("2020-01-01T00:00")
    expect(group(page).locator(".group-count")).to_have_text("3")


def test_a_list_without_failures_shows_that_all_is_well(reader_of, cloud):
    page = reader_of(cloud.url, **signed_in("max", "initech", "members")).go("#/dead-letters")
    expect(page.get_by_text("Nothing has failed for good")).to_be_visible()
    expect(page.get_by_text("Nothing waits for you.")).to_be_visible()


def test_an_action_is_redriven_from_the_list(reader, cloud, letters):
    again = fail(cloud.scheduler(), "5", times=2)
    page = go(reader, [*letters, again])
    opened(page)
    page.get_by_role("button", name=f"Redrive …{again.id[-8:]}").click()
    expect(page.get_by_text("parcel runs again now, with all its attempts.")).to_be_visible()
    expect(group(page).locator(".group-count")).to_have_text("3")
    page.goto(f"{reader.url}/#/actions/{again.id}")
    expect(page.locator(".head-facts .badge")).to_contain_text("executed", timeout=AT_LAST)
    assert cloud.scheduler().get(again.id).status is Status.EXECUTED


def test_an_action_is_dismissed_with_a_reason(reader, cloud, letters):
    failed = fail(cloud.scheduler(), "8")
    page = go(reader, [*letters, failed])
    opened(page)
    page.get_by_role("button", name=f"Dismiss …{failed.id[-8:]}").click()
    dialog = page.get_by_role("dialog", name="Dismiss this dead letter?")
    dialog.get_by_role("button", name="Dismiss it").click()
    expect(dialog.get_by_role("alert")).to_have_text("Write why it needs no redrive.")
    dialog.get_by_label("Reason").fill("delivered by hand")
    dialog.get_by_role("button", name="Dismiss it").click()
    expect(page.get_by_text("parcel is dismissed: it is no longer a dead letter.")).to_be_visible()
    expect(group(page).locator(".group-count")).to_have_text("3")
    assert cloud.scheduler().get(failed.id).dismissed_reason == "delivered by hand"
    reader.go(f"#/actions/{failed.id}")
    expect(page.locator(".head-facts")).to_contain_text("delivered by hand")
    expect(page.get_by_role("button", name="Redrive…")).to_be_visible()
    expect(page.get_by_role("button", name="Dismiss…")).to_have_count(0)


def test_an_action_is_dismissed_on_its_own_page(reader, cloud):
    failed = fail(cloud.scheduler(tenant_id="hooli"), "9")
    page = reader.page
    page.set_extra_http_headers(signed_in("hal", tenant="hooli")["extra_http_headers"])
    reader.go(f"#/actions/{failed.id}")
    page.get_by_role("button", name="Dismiss…").click(timeout=AT_LAST)
    page.get_by_label("Reason").fill("a test order")
    page.get_by_role("button", name="Dismiss it").click()
    expect(page.locator(".head-facts")).to_contain_text("a test order")
    expect(page.get_by_text("Dismissed", exact=True)).to_be_visible()


def test_only_the_chosen_group_is_redriven(reader, cloud):
    hooli = cloud.scheduler(tenant_id="hooli")
    alike = [fail(hooli, order, times=2) for order in ("6", "7")]
    page = reader.page
    page.set_extra_http_headers(signed_in("hal", tenant="hooli")["extra_http_headers"])
    reader.go("#/dead-letters")
    expect(group(page).locator(".group-count")).to_have_text("2", timeout=AT_LAST)
    page.get_by_role("button", name="Redrive these 2…").click()
    dialog = page.get_by_role("dialog", name="Run all of these again")
    expect(dialog).to_contain_text("2 actions.")
    dialog.get_by_role("button", name="Go back").click()
    assert {hooli.get(failed_action.id).status for failed_action in alike} == {Status.FAILED}
    page.get_by_role("button", name="Redrive these 2…").click()
    dialog.get_by_role("button", name="Run 2 again").click()
    expect(dialog).to_contain_text("2 actions run again.")
    assert {hooli.get(failed_action.id).status for failed_action in alike}.isdisjoint({Status.FAILED})
    dialog.get_by_role("button", name="Close").click()
    expect(page.get_by_text("Nothing has failed for good")).to_be_visible()
    assert len(cloud.scheduler().list(status=Status.FAILED, type=Parcel)) == 3


def test_a_viewer_sees_them_and_no_button(reader_of, cloud, letters):
    page = go(reader_of(cloud.url, **signed_in("eve", groups="viewers")), letters)
    opened(page)
    expect(letter(page, letters[0])).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("Redrive"))).to_have_count(0)


def test_it_is_in_french(reader_of, cloud, letters):
    page = go(reader_of(cloud.url, locale="fr-FR"), letters)
    expect(page.get_by_role("heading", level=1)).to_have_text("Échecs définitifs")
    page.get_by_role("button", name="Relancer ces 3 actions…").click()
    expect(page.get_by_role("dialog", name="Relancer toutes ces actions")).to_contain_text("3 actions")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible_by_screen_reader_and_keyboard(reader_of, cloud, letters, scheme):
    page = go(reader_of(cloud.url, color_scheme=scheme), letters)
    opened(page)
    assert flaws(page) == []
    page.get_by_role("button", name="Redrive these 3…").click()
    expect(page.get_by_role("button", name="Run 3 again")).to_be_visible()
    assert flaws(page) == []


def test_it_fits_a_phone(reader_of, cloud, letters):
    page = go(reader_of(cloud.url, viewport={"width": 360, "height": 740}), letters)
    opened(page)
    expect(letter(page, letters[0])).to_be_visible()
    assert not scrolls_sideways(page)


def test_the_filters_are_copied_as_commands(reader):
    page = reader.go("#/dead-letters?type=parcel&correlation_id=it's+7")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy as CLI").click()
    expected = r"duetime dead-letters list --type parcel --correlation-id 'it'\''s 7'"
    assert sorted(page.evaluate("navigator.clipboard.readText()").split()) == sorted(expected.split())
    page.get_by_role("button", name="Copy as curl").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith('curl -H "Authorization: $TOKEN" \'http://127.0.0.1:')
    assert "/api/v1/dead-letters?" in copied
    assert "type=parcel" in copied
