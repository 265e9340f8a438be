"""Notifications: the list, the unread entries, and the rights to see them."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from duetime.clock import SystemClock
from duetime.jobs.register import Registration
from duetime.local import LocalCloud, LocalOptions
from duetime.local.notifications import everything_to
from duetime.model.notification import Digest, NotificationKind
from tests.console.browser import PATIENCE, flaws, scrolls_sideways, signed_in
from tests.console.shop import Parcel, app
from tests.console.tenants import ports_of
from tests.local.conftest import eventually

FAILED, DEAD = "An action failed", "A new dead letter"
SUBJECT, DEAD_SUBJECT = "acme: parcel failed", "acme: parcel is in the dead letters"
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def cloud():
    with LocalCloud(app, LocalOptions(mail_to="ops@acme.example")) as started:
        yield started


def inbox_of(cloud, tenant, *, unread=False):
    inbox, kinds = ports_of(cloud).inbox, frozenset(NotificationKind)
    return list(inbox.list(tenant, kinds=kinds, is_unread=unread, limit=100, cursor=None))


def fail(cloud, tenant, count=1):
    """Failed actions with notifications; by default each as a new dead letter."""
    payload = Parcel(order="17", fails=9)
    made = [cloud.scheduler(tenant_id=tenant).schedule(payload, at=timedelta(0)) for _ in range(count)]
    ids = {entry.id for entry in made}
    eventually(
        lambda: ids <= {entry.notification.facts.get("id") for entry in inbox_of(cloud, tenant)},
        "the notifications",
    )
    return made


def together(cloud, tenant, total, *, kind=NotificationKind.DEAD_LETTERED, since=NOON, by_name=None):
    """Put one notification that stands for many into a tenant's list."""
    until = since + timedelta(minutes=15)
    digest = Digest(tenant_id=tenant, kind=kind, since=since, until=until, total=total, by_name=by_name or {})
    ports_of(cloud).inbox.add(digest.notification(), expires_at=SystemClock().now() + timedelta(days=1))


@pytest.fixture(scope="module")
def failed(cloud):
    """A failed action of acme, with notifications of both kinds."""
    (action,) = fail(cloud, "acme")
    eventually(lambda: len(inbox_of(cloud, "acme")) >= 2, "both kinds")
    return action


@pytest.fixture
def alone(reader_of, cloud):
    """An admin of a tenant that only this test has, and that tenant."""
    tenant = f"t-{datetime.now(UTC):%H%M%S%f}"  # noqa: TID251 - a name, and no time
    return reader_of(cloud.url, **signed_in("ann", tenant=tenant)), tenant


def entry(page, subject):
    return page.get_by_role("listitem").filter(has=page.get_by_role("heading", name=subject))


def choose(page, **chosen):
    for name, option in chosen.items():
        page.get_by_role("combobox", name=name).select_option(option)


def test_a_failed_action_is_listed_with_its_facts_and_a_link(reader, cloud, failed):
    page = reader.go("#/notifications")
    one = entry(page, SUBJECT)
    expect(one).to_contain_text("no driver for order 17", timeout=PATIENCE)
    expect(one).to_contain_text("parcel")
    expect(entry(page, DEAD_SUBJECT)).to_contain_text("error:")
    one.get_by_text("In full").click()
    expect(one.locator("pre")).to_contain_text("The action parcel of the tenant acme failed for good")
    one.get_by_role("link", name=failed.id).click()
    expect(page).to_have_url(f"{cloud.url}/#/actions/{failed.id}")


def test_an_empty_list_shows_the_reason(alone):
    page = alone[0].go("#/notifications")
    expect(page.get_by_text("No notifications")).to_be_visible()
    expect(page.get_by_text("Nothing needs attention so far")).to_be_visible()
    choose(page, Show="unread only")
    expect(page.get_by_text("Nothing is unread")).to_be_visible()
    page.get_by_role("link", name="Show all").click()
    expect(page.get_by_text("No notifications")).to_be_visible()
    page.get_by_role("button", name="Mark all as read").click()
    page.get_by_role("dialog").get_by_role("button", name="Mark all as read").click()
    expect(page.get_by_text("Nothing was unread.")).to_be_visible()


def test_one_is_marked_as_read_for_all_and_the_next_is_in_focus(alone, cloud, reader_of):
    reader, tenant = alone
    fail(cloud, tenant, 2)
    page = reader.go("#/notifications")
    marks = page.get_by_role("button", name=f"Mark as read: {tenant}: parcel is in the dead letters")
    expect(marks).to_have_count(2, timeout=PATIENCE)
    expect(page.get_by_role("link", name="Notifications (2 unread)")).to_be_visible()
    marks.first.click()
    expect(page.get_by_text("Marked as read, for everybody who sees this list")).to_be_visible()
    expect(marks).to_have_count(1, timeout=PATIENCE)
    expect(marks).to_be_focused()
    read = page.get_by_role("region", name="Read", exact=True)
    expect(read.get_by_text("read by ann@localhost")).to_be_visible()
    assert len(inbox_of(cloud, tenant, unread=True)) == 1
    expect(page.get_by_role("link", name="Notifications (1 unread)")).to_be_visible(timeout=PATIENCE)
    other = reader_of(cloud.url, **signed_in("bob", tenant=tenant)).go("#/notifications")
    expect(other.get_by_text("read by ann@localhost")).to_be_visible(timeout=PATIENCE)


def test_all_are_marked_as_read_after_a_confirmation(alone, cloud):
    reader, tenant = alone
    fail(cloud, tenant, 2)
    page = reader.go("#/notifications?kind=scheduling.dead_lettered")
    everything = page.get_by_role("button", name="Mark all as read")
    everything.click()
    dialog = page.get_by_role("dialog", name="Mark all as read?")
    expect(dialog).to_contain_text(f"All unread “{DEAD}” for {tenant} will be read, on later pages too")
    expect(dialog).to_contain_text("It cannot be made unread again.")
    dialog.get_by_role("button", name="Go back").click()
    assert len(inbox_of(cloud, tenant, unread=True)) == 2
    choose(page, Kind="")
    everything.click()
    expect(dialog).to_contain_text(f"All that is unread for {tenant} will be read")
    assert flaws(page) == []
    dialog.get_by_role("button", name="Mark all as read").click()
    expect(page.get_by_text("2 notifications marked as read.")).to_be_visible(timeout=PATIENCE)
    assert inbox_of(cloud, tenant, unread=True) == []
    expect(page.get_by_role("region", name="Unread")).to_have_count(0, timeout=PATIENCE)


def test_the_list_is_filtered_by_kind_and_by_unread(reader, cloud, failed):
    page = reader.go("#/notifications")
    expect(entry(page, DEAD_SUBJECT)).to_be_visible(timeout=PATIENCE)
    choose(page, Kind=FAILED)
    expect(entry(page, DEAD_SUBJECT)).to_have_count(0)
    expect(entry(page, SUBJECT)).to_be_visible()
    expect(page).to_have_url(re.compile(r"kind=scheduling\.action_failed"))
    choose(page, Kind="A job succeeds again")
    expect(page.get_by_text("There is none of this sort on this page")).to_be_visible()
    page.get_by_role("link", name="Show all").click()
    expect(entry(page, DEAD_SUBJECT)).to_be_visible()


def test_a_job_that_fails_repeatedly_is_listed_with_a_link(alone, cloud):
    reader, tenant = alone
    ports_of(cloud).preferences.put(everything_to("ops@acme.example", tenant))
    jobs = cloud.scheduler(tenant_id=tenant).jobs
    once = Registration(name="keeps-failing", handler=Parcel(order="9", fails=9), failure_threshold=1)
    jobs.register(once)
    jobs.trigger("keeps-failing")
    eventually(
        lambda: any(entry.notification.kind == "jobs.recurring_failing" for entry in inbox_of(cloud, tenant)),
        "the notification",
    )
    page = reader.go("#/notifications?kind=jobs.recurring_failing")
    one = entry(page, f"{tenant}: keeps-failing keeps failing")
    expect(one).to_contain_text("no driver for order 9", timeout=PATIENCE)
    expect(one).to_contain_text("1; notified from 1 on")
    one.get_by_role("link", name="keeps-failing", exact=True).click()
    expect(page).to_have_url(f"{cloud.url}/#/jobs/keeps-failing")


def test_a_digest_is_one_entry(alone, cloud):
    reader, tenant = alone
    together(cloud, tenant, 13, by_name={"parcel": 11, "wait": 2})
    page = reader.go("#/notifications")
    one = entry(page, f"{tenant}: 13 new dead letters")
    expect(one).to_contain_text("digest", timeout=PATIENCE)
    expect(one).to_contain_text("11 × parcel")
    expect(one).to_contain_text("2 × wait")
    one.get_by_role("link", name="To the dead letters").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Dead letters")


def test_a_long_list_comes_in_pages(alone, cloud):
    reader, tenant = alone
    for index in range(60):
        together(cloud, tenant, index + 2, since=NOON + timedelta(minutes=15 * index))
    page = reader.go("#/notifications")
    entries = page.locator("li.notification")
    expect(entries.first).to_contain_text("61 new dead letters", timeout=PATIENCE)
    first = entries.count()
    page.get_by_role("button", name="Show more").click()
    expect(entries.last).to_contain_text("2 new dead letters")
    expect(entries).to_have_count(60)
    assert first < 60
    expect(entries.first).to_contain_text("61 new dead letters")
    expect(page.get_by_role("link", name="Notifications (at least 20 unread)")).to_be_visible()


def test_operators_see_the_deployments_notifications(reader, cloud):
    together(cloud, "system", 7, kind=NotificationKind.UNDELIVERED, by_name={"due-default": 7})
    page = reader.go("#/notifications")
    choose(page, **{"Notifications of": "the deployment (operators)"})
    one = entry(page, "Undelivered: 7 things")
    expect(one.get_by_role("link", name="To what is undelivered")).to_be_visible(timeout=PATIENCE)
    one.get_by_role("button", name="Mark as read: Undelivered: 7 things").click()
    eventually(lambda: inbox_of(cloud, "system", unread=True) == [], "that it is read")
    page.get_by_role("link", name="Recipients and channels").click()
    expect(page).to_have_url(re.compile(r"#/preferences\?scope=system$"))


def test_other_tenants_and_other_roles_see_less(reader_of, cloud, failed):
    other = reader_of(cloud.url, **signed_in("ann", tenant="globex")).go("#/notifications")
    expect(other.get_by_text("No notifications")).to_be_visible()
    viewer = reader_of(cloud.url, **signed_in("eve", groups="viewers")).go("#/notifications")
    expect(entry(viewer, SUBJECT)).to_be_visible(timeout=PATIENCE)
    expect(entry(viewer, DEAD_SUBJECT)).to_have_count(0)
    expect(viewer.get_by_role("combobox", name="Notifications of")).to_have_count(0)
    expect(viewer.get_by_role("option", name=DEAD)).to_have_count(0)


def test_a_user_without_the_permission_sees_the_reason(reader_of, cloud):
    reader = reader_of(cloud.url, **signed_in("eve", groups="guests"))
    reader.expected = ("403",)
    page = reader.go("#/notifications")
    expect(page.get_by_text("Your roles do not allow this")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_role("link", name="Notifications")).to_have_count(0)


def test_the_page_and_its_entries_are_in_french(reader_of, cloud, failed):
    page = reader_of(cloud.url, locale="fr-FR").go("#/notifications")
    expect(page.get_by_role("heading", level=2, name="Non lues")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_role("heading", name="acme : échec de parcel").first).to_be_visible()
    expect(page.get_by_role("combobox", name="Sujet")).to_be_visible()
    expect(page.get_by_role("button", name="Tout marquer comme lu")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_list_is_accessible(reader_of, cloud, failed, scheme):
    page = reader_of(cloud.url, color_scheme=scheme).go("#/notifications")
    expect(entry(page, SUBJECT)).to_be_visible(timeout=PATIENCE)
    page.get_by_text("In full").first.click()
    assert flaws(page) == []
    page.get_by_role("button", name="Mark all as read").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert flaws(page) == []


def test_it_fits_a_phone(reader_of, cloud, failed):
    page = reader_of(cloud.url, viewport={"width": 320, "height": 800}).go("#/notifications")
    expect(entry(page, SUBJECT)).to_be_visible(timeout=PATIENCE)
    assert not scrolls_sideways(page)
