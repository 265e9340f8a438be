"""An API that fails: what is shown is never better than what is known."""

import re
from datetime import datetime, timedelta

import pytest
from playwright.sync_api import expect

from tests.console.browser import signed_in
from tests.console.listed_actions import asks_for_type

BAD = {
    "500": {"status": 500, "json": {"title": "Ill", "status": 500, "detail": "something went wrong"}},
    "401": {
        "status": 401,
        "json": {"title": "Unauthorized", "status": 401, "detail": "the token has expired"},
    },
    "502": {"status": 502, "body": "<html>Bad gateway</html>", "content_type": "text/html"},
    "garbage": {"status": 200, "body": "<html>Sign in to the hotel</html>", "content_type": "text/html"},
    "another shape": {"status": 200, "json": {"message": "hello"}},
    "nothing": {"status": 200, "body": ""},
}
API = "**/api/v1/**"
ACTIONS, TOO_LARGE = "**/actions/query*", 413
MINUTES_OFF = 5


def status_line(page):
    return page.locator(".standing")


def mark(page):
    return page.get_by_title("Refresh")


@pytest.fixture
def page(reader):
    """The overview, green."""
    reader.expected = ("Failed to load resource",)
    page = reader.page
    page.clock.install()
    reader.go()
    expect(status_line(page)).to_contain_text("All on time")
    expect(mark(page)).to_have_text("live")
    return page


def stall(_route):
    """Leave a request without a response."""


def is_not_green(page):
    expect(page.get_by_text("All on time", exact=True)).to_have_count(0)
    expect(page.locator(".standing.is-well")).to_have_count(0)


@pytest.mark.parametrize("kind", BAD)
def test_the_overview_is_not_green_when_the_api_answers_with(page, kind):
    page.route(API, lambda route: route.fulfill(**BAD[kind]))
    mark(page).click()
    is_not_green(page)
    expect(mark(page)).to_have_text("no answer")
    page.unroute(API)
    page.clock.run_for(70_000)
    expect(status_line(page)).to_contain_text("All on time")


def test_the_overview_is_not_green_when_the_api_does_not_answer(page):
    page.route(API, lambda route: route.abort())
    mark(page).click()
    is_not_green(page)
    expect(status_line(page)).to_contain_text(re.compile("Last known .*All on time"))
    card = page.locator(".card").filter(has_text="Failed today")
    expect(card).to_contain_text("as of")


def test_the_overview_is_not_green_while_requests_take_30_seconds(page):
    page.route(API, stall)
    page.clock.run_for(31_000)
    is_not_green(page)
    expect(mark(page)).to_have_text(re.compile("old$"))
    page.clock.run_for(31_000)
    expect(status_line(page)).to_contain_text("There was no response within 30 s")
    expect(mark(page)).to_have_text("no answer")
    page.unroute_all(behavior="ignoreErrors")
    mark(page).click()
    expect(status_line(page)).to_contain_text("All on time")


def test_a_change_without_a_response_may_have_been_made(reader):
    page = reader.page
    page.clock.install()
    reader.go("#/actions")
    dialog = asks_for_type(page)
    page.route("**/api/v1/actions", stall)
    dialog.get_by_role("button", name="Schedule it").click()
    expect(dialog.get_by_role("button", name="Working…")).to_be_visible()
    page.clock.fast_forward(301_000)
    expect(dialog.get_by_role("alert")).to_contain_text("The change may have been made")
    page.unroute_all(behavior="ignoreErrors")


def test_a_tenants_overview_is_not_green_when_the_api_fails(reader_of, cloud):
    reader = reader_of(cloud.url, **signed_in("gus", "globex", "members"))
    reader.expected = ("Failed to load resource",)
    page = reader.go()
    expect(status_line(page)).to_contain_text("All on time")
    page.route(API, lambda route: route.fulfill(**BAD["500"]))
    mark(page).click()
    is_not_green(page)


@pytest.mark.parametrize(
    ("age", "text"), [(180, "The last complete sweep was 3 hrs ago"), (None, "No sweep")]
)
def test_an_old_sweep_is_not_green(reader, age, text):
    def answer(item):
        health = item["body"]
        swept = datetime.fromisoformat(health["requested_at"]) - timedelta(minutes=age) if age else None
        return item | {"body": health | {"swept_until": swept and swept.isoformat(), "ill": []}}

    reader.answer_read("/health/details", answer)
    page = reader.go()
    expect(status_line(page)).to_contain_text(text)
    is_not_green(page)


def test_live_is_not_shown_while_a_part_is_loading(reader):
    held, page = [], reader.page
    reader.answer_read("/actions/query", lambda _item: {"status": TOO_LARGE, "body": None})

    def hold(route):
        held.append(route)

    page.route(ACTIONS, hold)  # so they come alone, behind the others
    with page.expect_request(ACTIONS):
        reader.go()
    expect(status_line(page)).to_contain_text("All on time")
    expect(page.get_by_role("status", name="Loading").first).to_be_visible()
    expect(mark(page)).to_have_text("loading")
    for route in held:
        route.continue_()
    page.unroute_all(behavior="ignoreErrors")
    expect(mark(page)).to_have_text("live")


@pytest.mark.parametrize("minutes", [MINUTES_OFF, -MINUTES_OFF])
def test_a_clock_that_is_off_changes_no_judgement(reader, cloud, minutes):
    page = reader.page
    health = page.request.get(f"{cloud.url}/api/v1/health/details").json()
    page.clock.install(time=datetime.fromisoformat(health["requested_at"]) + timedelta(minutes=minutes))
    reader.go()
    expect(status_line(page)).to_contain_text("All on time")
    expect(status_line(page)).to_contain_text(re.compile(r"checked (now|[\d.]+ ?\w+ ago)"))
    expect(mark(page)).to_have_text("live")
