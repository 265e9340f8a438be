"""The frame.

The navigation, the language, the time zone, the rights, and the refresh of the page.
"""

import re
import time
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.console.browser import flaws, scrolls_sideways, signed_in
from tests.console.shop import Parcel

PLACES = [
    "#/",
    "#/jobs",
    "#/jobs/shop-watch-ramp",
    "#/job-editor",
    "#/actions",
    "#/batches",
    "#/dead-letters",
    "#/pauses",
    "#/limits",
    "#/undelivered",
    "#/notifications",
    "#/preferences",
    "#/cadences",
]


def schedule_one(cloud):
    return cloud.scheduler().schedule(Parcel(order="1"), at=timedelta(hours=1))


def nav(page):
    return page.get_by_role("navigation", name="Console")


def test_each_page_has_a_link_and_an_address(reader):
    page = reader.go()
    for name, path in {
        "Jobs": "jobs",
        "Actions": "actions",
        "Batches": "batches",
        "Dead letters": "dead-letters",
        "Undelivered": "undelivered",
        "Notifications": "notifications",
        "Try a cadence": "cadences",
        "Overview": "",
    }.items():
        nav(page).get_by_role("link", name=name).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        expect(page).to_have_title(f"{name} · duetime")
        assert re.search(rf"#/{path}(\?.*)?$", page.url)
        expect(nav(page).get_by_role("link", name=name)).to_have_attribute("aria-current", "page")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Try a cadence")


def test_an_unknown_address_is_reported(reader):
    reader.page.goto(f"{reader.url}/#/nowhere/at/all")
    expect(reader.page.get_by_text("There is no such page")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("place", PLACES)
def test_the_page_is_accessible_by_screen_reader_and_keyboard(reader_of, cloud, place, scheme):
    page = reader_of(cloud.url, color_scheme=scheme).go(place)
    page.wait_for_load_state("networkidle")
    assert flaws(page) == []


@pytest.mark.parametrize("width", [360, 768, 1920])
@pytest.mark.parametrize("place", PLACES)
def test_it_fits_phones_and_wide_screens(reader_of, cloud, place, width):
    page = reader_of(cloud.url, viewport={"width": width, "height": 800}).go(place)
    page.wait_for_load_state("networkidle")
    assert not scrolls_sideways(page)


def test_it_is_in_french_for_a_french_browser_and_stays_so(reader_of, cloud):
    page = reader_of(cloud.url, locale="fr-FR").go("#/jobs")
    expect(page.get_by_role("heading", level=1)).to_have_text("Tâches")
    assert page.evaluate("document.documentElement.lang") == "fr"
    page.get_by_label("Langue").select_option("en")
    expect(page.get_by_role("heading", level=1)).to_have_text("Jobs")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Jobs")


def test_times_are_the_readers_with_utc_on_hover_or_all_in_utc(reader):
    page = reader.go("#/jobs/shop-count-stock")
    first = page.locator("time").first
    expect(first).to_have_attribute("title", re.compile(r"Europe/Paris\)\n\d{4}-\d\d-\d\dT.*Z$"))
    page.get_by_label("Times in").select_option("UTC")
    expect(first).to_have_attribute("title", re.compile(r"\(UTC\)"))


def test_times_are_in_any_zone_that_is_chosen(reader):
    page = reader.go("#/jobs/shop-count-stock")
    first = page.locator("time").first
    page.get_by_label("Times in").select_option("Asia/Tokyo")
    expect(first).to_have_attribute("title", re.compile(r"\(Asia/Tokyo\)"))
    page.reload()
    expect(page.get_by_label("Times in")).to_have_value("Asia/Tokyo")
    expect(first).to_have_attribute("title", re.compile(r"\(Asia/Tokyo\)"))


@pytest.mark.parametrize(
    ("zone", "field", "instant"),
    [
        ("Asia/Tokyo", "2027-06-01T09:00", "2027-06-01T00:00:00.000Z"),
        ("America/New_York", "2027-03-14T02:30", "2027-03-14T07:30:00.000Z"),  # skipped
        ("America/New_York", "2027-11-07T01:30", "2027-11-07T05:30:00.000Z"),  # the first of two
        ("America/New_York", "2027-11-07T02:00", "2027-11-07T07:00:00.000Z"),
        ("Europe/Paris", "2027-03-28T02:30", "2027-03-28T01:30:00.000Z"),  # skipped
    ],
)
def test_what_is_typed_is_meant_in_the_chosen_zone(reader, zone, field, instant):
    page = reader.go("#/actions")
    page.get_by_label("Times in").select_option(zone)
    page.get_by_text("Job, contents and times").click()
    page.get_by_label("Due after").fill(field)
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page).to_have_url(re.compile(re.escape(urlencode({"due_after": instant}))))


def test_a_theme_is_chosen_and_kept(reader_of, cloud):
    page = reader_of(cloud.url, color_scheme="dark").go()
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.get_by_label("Theme").select_option("Light")
    page.reload()
    expect(page.get_by_label("Theme")).to_have_value("light")
    assert page.evaluate(ground) == "rgb(246, 247, 248)" != dark
    page.get_by_label("Theme").select_option("As the system")
    assert page.evaluate(ground) == dark


def test_a_question_mark_lists_the_shortcuts_except_in_a_field(reader):
    page = reader.go("#/actions")
    page.get_by_label("Find by correlation id").press("?")
    shortcuts = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(page.get_by_label("Find by correlation id")).to_have_value("?")
    expect(shortcuts).to_have_count(0)
    page.get_by_role("heading", level=1).press("?")
    expect(shortcuts.get_by_role("row", name="Ctrl K Search")).to_be_visible()
    assert flaws(page) == []
    page.keyboard.press("Escape")
    expect(shortcuts).to_have_count(0)
    page.get_by_role("button", name="Keyboard shortcuts").click()
    expect(shortcuts).to_be_visible()


def test_one_key_moves_the_focus_to_the_content(reader):
    page = reader.go()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_a_viewer_sees_read_only_and_no_button_that_changes(reader_of, cloud):
    page = reader_of(cloud.url, **signed_in("eve", groups="viewers")).go("#/jobs")
    expect(page.get_by_text("eve@localhost of acme")).to_be_visible()
    expect(page.get_by_text("You may look, and change nothing")).to_be_visible()
    expect(nav(page).get_by_role("link", name="Undelivered")).to_have_count(0)
    expect(page.get_by_role("button", name=re.compile("Run now"))).to_have_count(0)


def test_a_forbidden_page_shows_the_reason(reader_of, cloud):
    reader = reader_of(cloud.url, **signed_in("eve", groups="viewers"))
    reader.expected = ("403",)
    page = reader.go("#/undelivered")
    expect(page.get_by_text("Your roles do not allow this")).to_be_visible()
    expect(page.get_by_text("eve@localhost of acme, with viewers")).to_be_visible()


def test_shown_data_stays_while_the_api_is_unavailable_and_is_reloaded(reader):
    reader.expected = ("Failed to load resource", "net::ERR")
    page = reader.go("#/jobs")
    expect(page.get_by_text("Watch the ramp")).to_be_visible()
    page.route("**/api/v1/**", lambda route: route.abort())
    page.get_by_title("Refresh").click()
    expect(page.get_by_text("The API does not answer")).to_be_visible()
    expect(page.get_by_text("Watch the ramp")).to_be_visible()
    expect(page.get_by_title("Refresh")).to_have_text(re.compile("no answer"))
    page.unroute("**/api/v1/**")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("The API does not answer")).to_have_count(0)


def test_an_api_that_is_unavailable_at_the_start_is_reported(reader):
    page = reader.page
    ill = {"title": "Ill", "status": 503, "detail": "DynamoDB does not answer"}
    reader.answer_read("/jobs", lambda _: {"status": 503, "body": ill})
    reader.go("#/jobs")
    expect(page.get_by_role("alert")).to_contain_text("DynamoDB does not answer")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()


def test_a_page_that_cannot_start_shows_the_reason(reader):
    reader.expected = ("500",)
    reader.page.route("**/config.json", lambda route: route.fulfill(status=500))
    page = reader.go()
    expect(page.get_by_role("heading", level=1)).to_have_text("duetime's console cannot start")


def test_the_page_is_shown_within_a_second(reader, cloud):
    """Compared with a bare answer of the same machine in the same run, since machines differ.

    A page is a dozen of those.
    """
    reader.go()
    shown = reader.page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
    began = time.perf_counter()
    for _ in range(12):
        reader.page.request.get(f"{cloud.url}/api/v1/me")
    assert shown < 1_000 * (time.perf_counter() - began) + 1_000


def test_its_content_security_policy_allows_no_other_origin(reader, cloud):
    reader.expected = ("Content Security Policy", "trusted types", "TrustedHTML", "requires 'Trusted")
    page = reader.go()
    blocked = page.evaluate(
        """async () => {
          const refused = [];
          addEventListener('securitypolicyviolation', (event) => refused.push(event.effectiveDirective));
          try { document.body.innerHTML = '<p>x</p>'; } catch { refused.push('trusted-types'); }
          const script = document.createElement('script');
          try {
            script.src = 'https://elsewhere.example/x.js';
            document.body.append(script);
          } catch { refused.push('script'); }
          try { await fetch('https://elsewhere.example/'); } catch {}
          await new Promise((done) => setTimeout(done, 200));
          return refused;
        }"""
    )
    assert any("trusted-types" in violation for violation in blocked)
    assert any("connect-src" in violation for violation in blocked)
    del cloud


CELLS = """() => [...document.querySelectorAll("main td")]
    .filter((cell) => cell.checkVisibility() && cell.innerText.trim().length > 12 && cell.clientWidth < 70)
    .map((cell) => `${cell.innerText.slice(0, 30)}: ${cell.clientWidth}`)"""
LEFT_OF_HEAD = """() => {
    const heads = [...document.querySelectorAll(".occurrences thead th")];
    return [...document.querySelectorAll(".occurrences tbody tr")].filter((row) =>
        [...row.cells].some((cell, n) => Math.abs(cell.offsetLeft - heads[n].offsetLeft) > 2)).length
}"""
DST = "#/cadences?cadence=30 2 * * *&tz=Europe/Paris&from=2027-03-25"


@pytest.mark.parametrize("place", [*PLACES, DST])
def test_a_page_fits_a_tablet(reader, cloud, place):
    schedule_one(cloud)
    page = reader.page
    page.set_viewport_size({"width": 820, "height": 1100})
    reader.go(place)
    page.wait_for_load_state("networkidle")
    assert not scrolls_sideways(page)
    assert page.evaluate(CELLS) == []


def test_the_cells_of_a_changed_time_are_below_their_heads(reader):
    page = reader.go(DST)
    expect(page.locator(".occurrences .badge")).to_have_count(1)
    assert page.evaluate(LEFT_OF_HEAD) == 0


def test_the_status_of_an_action_is_beside_its_label_on_a_phone(reader, cloud):
    schedule_one(cloud)
    page = reader.page
    page.set_viewport_size({"width": 390, "height": 844})
    reader.go("#/actions")
    cell = page.locator(".action-table td[data-label=Status]").first
    expect(cell).to_be_visible()
    assert cell.evaluate("cell => cell.clientWidth >= cell.parentElement.clientWidth - 2")


def test_the_navigation_shows_the_present_page_on_a_phone(reader):
    page = reader.page
    page.set_viewport_size({"width": 390, "height": 844})
    reader.go("#/cadences")
    expect(nav(page).get_by_role("link", name="Try a cadence")).to_be_in_viewport(ratio=0.9)


def test_no_control_at_the_end_of_the_side_is_wider_than_it(reader):
    page = reader.go("#/")
    side = page.locator(".side-end").bounding_box()
    boxes = [select.bounding_box() for select in page.locator(".side-end select").all()]
    assert len(boxes) == 3
    assert [box["x"] + box["width"] <= side["x"] + side["width"] for box in boxes] == [True] * 3
