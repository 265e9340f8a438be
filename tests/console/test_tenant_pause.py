"""The overview of a paused tenant shows the pause to its users alone."""

import re

import pytest
from playwright.sync_api import expect

from tests.console.browser import flaws, signed_in

REASON = "its scripts loop <b>see</b> INC-7"
NOTICE = "The tenant acme is paused: no run of it begins"


def pause(reader, **terms):
    body = {"scope": "tenant", "name": "acme", "reason": REASON, **terms}
    response = reader.page.request.post(f"{reader.url}/api/v1/pauses", data=body)
    assert response.ok, response.text()


def resume(reader):
    pauses = f"{reader.url}/api/v1/pauses"
    for one in reader.page.request.get(pauses).json()["items"]:
        if one["scope"] == "tenant" and one["ended_at"] is None:
            assert reader.page.request.delete(f"{pauses}/{one['id']}").ok


@pytest.fixture
def operator(reader_of, cloud):
    """An admin of another tenant, who ends all pauses of acme at last."""
    reader = reader_of(cloud.url, **signed_in("ops", "globex"))
    yield reader
    resume(reader)


def notice(page):
    """The notice, once the overview has the response that decides on it."""
    expect(page.locator(".standing")).to_contain_text("All on time")
    expect(page.get_by_role("region", name="At a glance")).to_be_visible()
    return page.locator(".notice").filter(has_text="is paused")


def test_every_user_of_a_paused_tenant_sees_who_paused_it_why_and_until_when(reader_of, cloud, operator):
    pause(operator, until="2099-12-31T12:00:00Z")
    reader = reader_of(cloud.url, **signed_in("eve", groups="viewers"))
    found = notice(reader.go())
    expect(found).to_have_attribute("role", "status")
    expect(found).to_contain_text(NOTICE)
    expect(found).to_contain_text(f"By ops@localhost: {REASON}")
    since, until = found.locator("time").all()
    expect(until).to_have_attribute("datetime", re.compile("^2099-12-31T12:00"))
    assert since.get_attribute("datetime") < until.get_attribute("datetime")
    assert flaws(reader.page) == []
    french = reader_of(cloud.url, locale="fr-FR").go()
    expect(french.get_by_text("Le locataire acme est en pause")).to_be_visible()


def test_the_notice_ends_with_the_pause(reader, operator):
    pause(operator)
    found = notice(reader.go())
    expect(found).to_contain_text(NOTICE)
    expect(found.locator("time")).to_have_count(1)
    resume(operator)
    reader.page.reload()
    expect(notice(reader.page)).to_have_count(0)


def test_another_tenant_sees_no_notice(reader_of, cloud, operator):
    pause(operator)
    page = reader_of(cloud.url, **signed_in("gus", "globex", "members")).go()
    expect(notice(page)).to_have_count(0)
