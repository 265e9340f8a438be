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


def test_a_response_without_a_sign_in_request_is_ignored(people, pool, reader_of):
    pool.meddles = True
    page = reader_of(people.url).go()
    expect(title(page)).to_have_text("duetime's console cannot start")
    assert "/oauth2/token" not in pool.requested


def test_signing_out_deletes_the_tokens_and_leaves_the_page(people, pool, reader_of):
    page = reader_of(people.url).go()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("signed out")).to_be_visible()
    assert pool.requested[-1] == "/logout"
