"""The search box and command palette, by keyboard and pointer."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from duetime import Status
from tests.console.browser import flaws, scrolls_sideways
from tests.console.shop import Parcel

FAR = timedelta(days=9)


@pytest.fixture
def scheduled(cloud):
    return cloud.scheduler().schedule(Parcel(order="palette-7"), at=FAR, correlation_id="palette:1")


def opened(page, keys="Control+k"):
    expect(page.get_by_role("button", name="Search")).to_be_visible()
    page.keyboard.press(keys)
    box = page.get_by_role("dialog", name="Search, or choose a command")
    expect(box.get_by_role("combobox")).to_be_focused()
    return box


def test_it_goes_to_a_screen_by_keyboard_alone(reader):
    page = reader.go()
    box = opened(page)
    box.get_by_role("combobox").fill("dead")
    expect(box.get_by_role("option", name="Dead letters")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Dead letters")
    expect(box).to_have_count(0)


def test_what_the_api_finds_moves_no_choice(reader, cloud):
    cloud.scheduler().schedule(Parcel(order="1"), at=FAR, correlation_id="limits:1")
    page = reader.go()
    box = opened(page)
    box.get_by_role("combobox").fill("limits")
    expect(box.get_by_role("group", name="Correlation ids")).to_be_visible()
    expect(box.get_by_role("option", name="Rate limits")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Rate limits")


def test_escape_closes_it_and_arrows_go_round(reader):
    page = reader.go()
    box = opened(page, "Meta+k")
    options = box.get_by_role("option")
    page.keyboard.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)


def test_it_finds_an_action_by_id_correlation_id_and_payload(reader, scheduled):
    page = reader.go()
    box = opened(page)
    field = box.get_by_role("combobox")
    field.fill(scheduled.id)
    expect(box.get_by_role("group", name="Actions").get_by_role("option")).to_contain_text(scheduled.id)
    field.fill("palette:")
    found = box.get_by_role("group", name="Correlation ids").get_by_role("option")
    expect(found).to_contain_text(re.compile(r"palette:1\s*\d+ of the newest \d+ actions"))
    field.fill("payload.order=palette-7")
    found = box.get_by_role("group", name="Actions with this payload field").get_by_role("option")
    expect(found.first).to_contain_text(re.compile("[0-9a-f-]{36}"))
    expect(found.last).to_contain_text(re.compile(r"Compared \d+ actions; search all of them"))
    found.last.click()
    expect(page).to_have_url(re.compile(r"#/actions\?payload=order%3Dpalette-7$"))
    expect(page.get_by_text(re.compile(r"All \d+ actions compared\."))).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="palette:1").first).to_be_visible()


def test_it_finds_a_job(reader):
    page = reader.go()
    box = opened(page)
    box.get_by_role("combobox").fill("watch-ramp")
    box.get_by_role("group", name="Jobs").get_by_role("option", name="shop-watch-ramp").click()
    expect(page).to_have_url(re.compile("#/jobs/shop-watch-ramp$"))
    expect(page.get_by_role("heading", level=1, name="Watch the ramp")).to_be_visible()


def test_a_command_shows_times_in_utc(reader_of, cloud):
    page = reader_of(cloud.url, timezone_id="Europe/Paris").go()
    box = opened(page)
    box.get_by_role("combobox").fill("utc")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Times in")).to_have_value("UTC")


def test_a_bulk_cancel_takes_the_payload_filter(reader, cloud, scheduled):
    other = cloud.scheduler().schedule(Parcel(order="palette-8"), at=FAR)
    page = reader.go("#/actions?payload=order%3Dpalette-7")
    expect(page.get_by_text(re.compile(r"All \d+ actions compared\."))).to_be_visible()
    page.get_by_role("button", name="Cancel all that match…").click()
    dialog = page.get_by_role("dialog", name="Cancel all of these")
    expect(dialog.locator(".filter-words")).to_contain_text("order=palette-7")
    dialog.get_by_role("button", name=re.compile(r"Cancel \d+ action")).click()
    expect(dialog).to_contain_text("cancelled")
    assert cloud.scheduler().get(scheduled.id).status is Status.CANCELLED
    assert cloud.scheduler().get(other.id).status is Status.PENDING


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(reader_of, cloud, scheduled, scheme):
    viewport = {"width": 320, "height": 640}
    page = reader_of(cloud.url, color_scheme=scheme, viewport=viewport).go()
    page.get_by_role("button", name="Search").click()
    box = page.get_by_role("dialog", name="Search, or choose a command")
    box.get_by_role("combobox").fill("palette:")
    expect(box.get_by_role("group", name="Correlation ids")).to_be_visible()
    assert flaws(page) == []
    assert not scrolls_sideways(page)


def test_it_chooses_the_theme(reader):
    page = reader.go()
    box = opened(page)
    box.get_by_role("combobox").fill("theme")
    expect(box.get_by_role("option")).to_have_text(["Theme: light", "Theme: dark"])
    box.get_by_role("option", name="Theme: dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
