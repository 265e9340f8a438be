"""Tenants and roles, over all screens.

What is acme's, globex neither sees nor changes; and each role does what it may.
"""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from duetime.jobs.register import Registration
from duetime.local import LocalCloud, LocalOptions
from tests.console.browser import PATIENCE, signed_in
from tests.console.shop import Parcel, Wait, app
from tests.local.conftest import eventually, settled

MARK = "pallet"
"""In all that is acme's, and in nothing else."""

JOB = f"acme-count-{MARK}s"
SCREENS = [
    "#/",
    "#/jobs",
    "#/actions",
    "#/actions?status=failed",
    f"#/actions?correlation_id={MARK}:1",
    "#/dead-letters",
    "#/pauses",
    "#/notifications",
    "#/preferences",
]
MISSING = "It is not there"
OFFERED = {
    "viewers": (False, False),
    "members": (True, False),
    "operators": (True, True),
    "admins": (True, True),
}
"""By role: to change what is the tenant's, and what is the deployment's."""


@pytest.fixture(scope="module")
def cloud():
    with LocalCloud(app, LocalOptions(mail_to=f"ops@{MARK}.example")) as started:
        yield started


@pytest.fixture(scope="module")
def acmes(cloud):
    """What acme has: a job with a failed run, a failed action, pending ones, and notifications of them."""
    scheduler = cloud.scheduler()
    job = Registration(
        name=JOB, handler=Parcel(order=MARK, fails=9), cadences=["daily 06:00"], title=f"Count {MARK}s"
    )
    scheduler.jobs.register(job)
    run = scheduler.jobs.trigger(JOB)
    payload = Parcel(order=MARK, fails=9)
    failed = scheduler.schedule(payload, at=timedelta(0), correlation_id=f"{MARK}:1")
    pending = [scheduler.schedule(Wait(seconds=1), at=timedelta(hours=2 + index)) for index in range(3)]
    settled(cloud, failed)
    settled(cloud, run)
    return {"failed": failed, "run": run, "pending": pending}


@pytest.fixture(scope="module")
def notified(cloud, acmes):
    """Acme's notifications, once they are there."""
    sent = eventually(lambda: len(cloud.outbox.mails.list()) >= 3 and cloud.outbox.mails.list(), "the mails")
    assert any(MARK in sent_item.text for sent_item in sent)


def of_globex(reader_of, cloud, groups="admins"):
    return reader_of(cloud.url, **signed_in("gil", tenant="globex", groups=groups))


@pytest.mark.parametrize("groups", ["members", "admins"])
def test_no_screen_of_another_tenant_shows_any_of_its_data(reader_of, cloud, acmes, notified, groups):
    reader = of_globex(reader_of, cloud, groups)
    for place in SCREENS:
        page = reader.go(place)
        page.wait_for_load_state("networkidle")
        text = page.get_by_role("main").inner_text()
        assert MARK not in text
        assert "acme" not in text
        assert page.locator(f"a[href*={JOB}], a[href*='{acmes['failed'].id}']").count() == 0


def test_the_tenants_own_users_see_all_of_its_data(reader, acmes, notified):
    for place, word in {
        "#/jobs": f"Count {MARK}s",
        "#/actions": f"{MARK}:1",
        "#/dead-letters": f"no driver for order {MARK}",
        "#/notifications": f"no driver for order {MARK}",
        "#/preferences": "by local",
        f"#/actions/{acmes['failed'].id}": f"no driver for order {MARK}",
        f"#/jobs/{JOB}": f"Count {MARK}s",
    }.items():
        page = reader.go(place)
        expect(page.get_by_role("main").get_by_text(word).first).to_be_visible(timeout=PATIENCE)


def test_the_address_of_another_tenants_action_or_job_shows_nothing(reader_of, cloud, acmes):
    reader = of_globex(reader_of, cloud)
    reader.expected = ("404",)
    for place in (
        f"#/actions/{acmes['failed'].id}",
        f"#/actions/{acmes['run'].id}",
        f"#/actions/{acmes['pending'][0].id}",
        f"#/jobs/{JOB}",
    ):
        page = reader.go(place)
        expect(page.get_by_text(MISSING)).to_be_visible(timeout=PATIENCE)
        expect(page.get_by_role("button", name=re.compile("Cancel|Redrive|Reschedule|Run"))).to_have_count(0)


def test_a_bulk_change_counts_and_changes_only_the_tenants_own_items(reader_of, cloud, acmes):
    scheduler = cloud.scheduler(tenant_id="globex")
    own = [scheduler.schedule(Wait(seconds=1), at=timedelta(hours=2)) for _ in range(2)]
    page = of_globex(reader_of, cloud, "members").go("#/actions")
    page.get_by_role("button", name="Cancel all that match…").click()
    dialog = page.get_by_role("dialog", name="Cancel all of these")
    dialog.get_by_role("button", name="Cancel 2 actions").click(timeout=PATIENCE)
    expect(dialog).to_contain_text("2 actions are cancelled", timeout=PATIENCE)
    assert {scheduler.get(sent_item.id).status for sent_item in own} == {"cancelled"}
    assert {cloud.scheduler().get(acme.id).status for acme in acmes["pending"]} == {"pending"}
    dialog.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Redrive all that match…").click()
    expect(page.get_by_role("dialog")).to_contain_text("there is nothing to run again", timeout=PATIENCE)
    assert cloud.scheduler().get(acmes["failed"].id).status == "failed"


def test_read_marks_and_preferences_belong_to_one_tenant(reader_of, cloud, notified):
    reader = of_globex(reader_of, cloud)
    page = reader.go("#/notifications")
    page.get_by_role("button", name="Mark all as read").click()
    page.get_by_role("dialog").get_by_role("button", name="Mark all as read").click()
    expect(page.get_by_text("Nothing was unread.")).to_be_visible(timeout=PATIENCE)
    page = reader.go("#/preferences")
    page.get_by_label("Language of mails").select_option("fr")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible(timeout=PATIENCE)
    page = reader_of(cloud.url).go("#/notifications")
    expect(page.get_by_role("region", name="Unread")).to_be_visible(timeout=PATIENCE)
    page = reader_of(cloud.url).go("#/preferences")
    expect(page.get_by_label("Language of mails")).to_have_value("en", timeout=PATIENCE)


@pytest.mark.parametrize("role", OFFERED)
def test_each_role_sees_the_buttons_of_its_permissions(reader_of, cloud, acmes, role):
    changes, operates = OFFERED[role]
    reader = reader_of(cloud.url, **signed_in("ann", groups=role))
    page = reader.go(f"#/actions/{acmes['failed'].id}")
    expect(page.get_by_text(f"no driver for order {MARK}").first).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_role("button", name="Redrive")).to_have_count(int(changes))
    expect(page.get_by_text("You may look, and change nothing")).to_have_count(int(not changes))
    expect(page.get_by_role("link", name="Undelivered")).to_have_count(int(operates))
    page = reader.go("#/jobs")
    expect(page.get_by_text(f"Count {MARK}s")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_role("button", name=re.compile(f"Run now.*Count {MARK}s"))).to_have_count(int(changes))
    expect(page.get_by_text("Watch the ramp")).to_have_count(int(operates))


def test_a_tenants_grant_applies_only_to_its_own_users(reader_of, cloud, acmes):
    admin = reader_of(cloud.url).page.request
    url = f"{cloud.url}/api/v1/grants/viewers"
    assert admin.put(url, data={"permissions": ["actions:manage"]}).ok
    ours = reader_of(cloud.url, **signed_in("eve", groups="viewers"))
    theirs = reader_of(cloud.url, **signed_in("eve", tenant="globex", groups="viewers"))

    def may_manage(reader):
        return "actions:manage" in reader.page.request.get(f"{cloud.url}/api/v1/me").json()["permissions"]

    eventually(lambda: may_manage(ours), "the grant")
    page = ours.go(f"#/actions/{acmes['failed'].id}")
    expect(page.get_by_role("button", name="Redrive")).to_be_visible(timeout=PATIENCE)
    page = theirs.go("#/actions")
    expect(page.get_by_text("You may look, and change nothing")).to_be_visible()
    expect(page.get_by_role("button", name="Schedule an action")).to_have_count(0)
    assert admin.delete(url).ok
    eventually(lambda: not may_manage(ours), "the end of the grant")
    ours.page.reload()
    expect(ours.page.get_by_text("You may look, and change nothing")).to_be_visible(timeout=PATIENCE)
