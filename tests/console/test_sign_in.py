"""Signing in: the code flow with PKCE, tokens in memory, and what becomes of them."""

import pytest
from playwright.sync_api import expect

from tests.console.pool import People, Pool, served


@pytest.fixture
def pool():
    pool = Pool()
    with served(pool.serve) as pool.url:
        yield pool


@pytest.fixture
def people(pool, cloud):
    people = People(pool, cloud.url)
    with served(people.serve) as people.url:
        yield people


def title(page):
    return page.get_by_role("heading", level=1)


def test_a_visitor_signs_in_and_returns_to_the_same_page(people, pool, reader_of):
    page = reader_of(people.url).go("#/jobs")
    expect(title(page)).to_have_text("Jobs")
    expect(page.get_by_text("ann@localhost of globex")).to_be_visible()
    assert page.url == f"{people.url}/#/jobs"
    assert pool.requested == ["/oauth2/authorize", "/oauth2/token"]
    assert people.unsigned == []


def test_tokens_are_stored_only_in_memory(people, reader_of):
    page = reader_of(people.url).go()
    stored = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
    assert stored == '[{},{},""]'


def test_a_reload_signs_in_again_at_the_pool(people, pool, reader_of):
    page = reader_of(people.url).go()
    page.reload()
    expect(title(page)).to_be_visible()
    assert pool.requested.count("/oauth2/authorize") == 2


def test_a_token_is_renewed_before_it_ends(people, pool, reader_of):
    pool.lifetime = 30
    page = reader_of(people.url).go("#/jobs")
    expect(page.get_by_text("There is no job yet")).to_be_visible()
    assert pool.requested.count("/oauth2/token") > 1
    assert pool.requested.count("/oauth2/authorize") == 1
    assert people.unsigned == []


def test_a_user_with_a_revoked_token_signs_in_again(people, pool, reader_of):
    pool.lifetime = 30
    reader = reader_of(people.url)
    reader.expected = ("400",)
    page = reader.go()
    pool.refreshes.clear()
    with page.expect_navigation(url="**/"):
        pass
    expect(title(page)).to_be_visible()


def test_a_token_that_the_api_rejects_is_renewed(people, pool, reader_of):
    reader = reader_of(people.url)
    reader.expected = ("401",)
    page = reader.go("#/jobs")
    expect(page.get_by_text("There is no job yet")).to_be_visible()
    pool.tokens.clear()
    with page.expect_response(lambda response: response.ok and "jobs" in response.url):
        page.get_by_title("Refresh").click()
    expect(page.get_by_title("Refresh")).to_have_text("live")
    assert pool.requested.count("/oauth2/authorize") == 1


def test_an_ended_session_leads_through_the_sign_in_and_back_to_the_same_place(people, pool, reader_of):
    reader = reader_of(people.url)
    reader.expected = ("401", "400")
    page = reader.go("#/actions?correlation_id=order%3A17")
    expect(page.get_by_text("No action matches")).to_be_visible()
    pool.tokens.clear()
    pool.refreshes.clear()
    with page.expect_event("load"):
        page.get_by_title("Refresh").click()
    expect(page.get_by_label("Find by correlation id")).to_have_value("order:17")
    assert page.url == f"{people.url}/#/actions?correlation_id=order%3A17"
    assert pool.requested.count("/oauth2/authorize") == 2


def test_an_ended_session_does_not_take_a_form_away(people, pool, reader_of):
    reader = reader_of(people.url)
    reader.expected = ("401", "400")
    page = reader.go("#/actions")
    page.get_by_role("button", name="Schedule an action").click()
    dialog = page.get_by_role("dialog", name="Schedule an action")
    dialog.get_by_label("Type", exact=True).fill("parcel")
    pool.tokens.clear()
    pool.refreshes.clear()
    dialog.get_by_role("button", name="Schedule it").click()
    expect(dialog).to_contain_text("Your session has ended")
    expect(dialog.get_by_label("Type", exact=True)).to_have_value("parcel")


def test_tokens_that_the_api_never_accepts_lead_to_no_loop(people, pool, reader_of):
    reader = reader_of(people.url)
    reader.expected = ("401",)
    reader.page.route(
        "**/api/v1/**", lambda route: route.fulfill(status=401, json={"message": "Unauthorized"})
    )
    page = reader.go()
    expect(page.get_by_text("Your session has ended")).to_be_visible()
    assert pool.requested.count("/oauth2/authorize") == 1
    page.unroute("**/api/v1/**")
    page.get_by_role("button", name="Sign in again").click()
    expect(title(page)).to_have_text("Overview")


def test_a_denied_sign_in_shows_its_reason_and_can_be_repeated(people, pool, reader_of):
    pool.denies = "Your account is disabled until Monday."
    page = reader_of(people.url).go("#/jobs")
    expect(title(page)).to_have_text("The sign-in was denied")
    expect(page.get_by_text("Your account is disabled until Monday. (access_denied)")).to_be_visible()
    pool.denies = ""
    page.get_by_role("button", name="Sign in again").click()
    expect(title(page)).to_have_text("Jobs")
    assert page.url == f"{people.url}/#/jobs"


def test_a_failed_start_is_retried_without_another_sign_in(people, pool, reader_of):
    reader = reader_of(people.url)
    reader.expected = ("503",)
    page = reader.page
    page.route("**/api/v1/me", lambda route: route.fulfill(status=503, json={"title": "Ill", "status": 503}))
    reader.go("#/jobs")
    expect(title(page)).to_have_text("duetime's console cannot start")
    page.unroute("**/api/v1/me")
    page.get_by_role("button", name="Start again").click()
    expect(title(page)).to_have_text("Jobs")
    assert pool.requested.count("/oauth2/authorize") == 1


def test_a_failed_start_is_retried_by_itself(people, reader_of):
    reader = reader_of(people.url)
    reader.expected = ("500",)
    page = reader.page
    page.clock.install()
    page.route("**/config.json", lambda route: route.fulfill(status=500))
    reader.go()
    expect(title(page)).to_have_text("duetime's console cannot start")
    page.unroute("**/config.json")
    page.clock.run_for(6_000)
    expect(title(page)).to_have_text("Overview")


def test_a_response_without_a_sign_in_request_is_ignored(people, pool, reader_of):
    pool.meddles = True
    page = reader_of(people.url).go()
    expect(title(page)).to_have_text("duetime's console cannot start")
    assert "/oauth2/token" not in pool.requested


def test_signing_out_deletes_the_tokens_and_leaves_the_page(people, pool, reader_of):
    page = reader_of(people.url).go()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("signed out")).to_be_visible()
    assert "/logout" in pool.requested[-2:]
