"""Preferences: the kinds, channels, language and addresses of notifications."""

import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from tests.console.browser import PATIENCE, flaws, scrolls_sideways, signed_in

FAILED, DEAD, UNDELIVERED = "An action failed", "A new dead letter", "Something undelivered"
KIND = "scheduling.action_failed"
SAVED = "Saved. It applies to notifications from now on."


@pytest.fixture
def tenant():
    """One that only this test has."""
    return f"t-{datetime.now(UTC):%H%M%S%f}"  # noqa: TID251 - a name, and no time


@pytest.fixture
def ann(reader_of, cloud, tenant):
    """An admin of it."""
    return reader_of(cloud.url, **signed_in("ann", tenant=tenant))


def opened(reader, place="#/preferences"):
    page = reader.go(place)
    expect(page.get_by_role("region", name="What goes where")).to_be_visible(timeout=PATIENCE)
    return page


def chosen(reader, scope="tenant"):
    """What the API says of them now."""
    return reader.page.request.get(f"{reader.url}/api/v1/notifications/preferences?scope={scope}").json()


def tick(page, kind, channel="This list"):
    return page.get_by_role("checkbox", name=f"{kind}: {channel}")


def save(page):
    page.get_by_role("button", name="Save").click()


def row(page, kind):
    return page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=kind))


def test_ticked_boxes_are_saved_and_can_be_undone(ann):
    page = opened(ann)
    expect(page.get_by_text("No choices yet: all values are defaults.")).to_be_visible()
    expect(row(page, FAILED)).to_contain_text("by default: nowhere")
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    for channel in ("This list", "Mail", "Topic (SNS)"):
        tick(page, FAILED, channel).check()
    expect(page.get_by_text("There are changes that are not saved.")).to_be_visible()
    save(page)
    expect(page.get_by_text(SAVED)).to_be_visible()
    expect(page.get_by_text(re.compile("Last changed .* by ann@localhost"))).to_be_visible()
    assert sorted(chosen(ann)["channels"][KIND]) == ["email", "in_app", "sns"]
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone.")).to_be_visible()
    expect(tick(page, FAILED)).not_to_be_checked()
    assert chosen(ann)["channels"] == {}


def test_a_kind_is_switched_off_and_reset_to_its_default(ann):
    page = opened(ann)
    tick(page, DEAD).uncheck()
    expect(row(page, DEAD)).to_contain_text("chosen: nowhere")
    save(page)
    expect(page.get_by_text(SAVED)).to_be_visible()
    assert chosen(ann)["channels"] == {"scheduling.dead_lettered": []}
    page.get_by_role("button", name=f"Back to the default: {DEAD}").click()
    expect(tick(page, DEAD)).to_be_checked()
    save(page)
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    assert chosen(ann)["channels"] == {}


def test_language_and_addresses_are_saved(ann):
    page = opened(ann)
    page.get_by_label("Language of mails").select_option("fr")
    page.get_by_label("Addresses", exact=False).first.fill("ada@acme.example\nbob@acme.example")
    page.get_by_label("Addresses of admins").fill("root@acme.example")
    expect(tick(page, DEAD, "Mail")).to_be_checked()
    save(page)
    expect(page.get_by_text(SAVED)).to_be_visible()
    now = chosen(ann)
    assert (now["language"], now["addresses"]) == ("fr", ["ada@acme.example", "bob@acme.example"])
    assert now["admin_addresses"] == ["root@acme.example"]


def test_an_invalid_address_is_rejected_by_name(ann):
    ann.expected = ("422",)
    page = opened(ann)
    addresses = page.get_by_label("Addresses", exact=False).first
    addresses.fill("ada@acme.example no-address")
    save(page)
    expect(page.get_by_role("alert")).to_contain_text("no-address")
    expect(addresses).to_have_value("ada@acme.example no-address")
    assert chosen(ann)["addresses"] == []


def test_changes_are_discarded(ann):
    page = opened(ann)
    tick(page, FAILED, "Mail").check()
    page.get_by_role("button", name="Discard changes").click()
    expect(tick(page, FAILED, "Mail")).not_to_be_checked()
    expect(page.get_by_role("button", name="Discard changes")).to_have_count(0)


def by_another(reader, **changes):
    headers = {"X-Duetime-User": "bob"}
    url = f"{reader.url}/api/v1/notifications/preferences"
    assert reader.page.request.put(url, data=changes, headers=headers).ok


def test_a_concurrent_change_is_not_overwritten_and_names_its_actor(ann):
    ann.expected = ("412",)
    page = opened(ann)
    tick(page, FAILED, "Mail").check()
    by_another(ann, language="fr")
    save(page)
    expect(page.get_by_role("alert")).to_contain_text("bob@localhost changed this meanwhile")
    expect(page.get_by_role("alert")).to_contain_text("Nothing was saved")
    expect(tick(page, FAILED, "Mail")).not_to_be_checked()
    expect(page.get_by_label("Language of mails")).to_have_value("fr")
    assert chosen(ann)["channels"] == {}
    tick(page, FAILED, "Mail").check()
    save(page)
    expect(page.get_by_text(SAVED)).to_be_visible()
    assert chosen(ann)["channels"] == {KIND: ["email"]}


def test_a_form_shows_that_another_user_changed_the_values(ann):
    page = opened(ann)
    tick(page, FAILED, "Mail").check()
    by_another(ann, language="fr")
    page.get_by_title("Refresh").click()
    notice = page.get_by_role("alert").filter(has_text="bob@localhost has just changed this")
    expect(notice).to_be_visible(timeout=PATIENCE)
    expect(tick(page, FAILED, "Mail")).to_be_checked()
    notice.get_by_role("button", name="Show what holds now").click()
    expect(tick(page, FAILED, "Mail")).not_to_be_checked()
    expect(page.get_by_label("Language of mails")).to_have_value("fr")


def test_operators_choose_for_the_deployment(reader):
    page = opened(reader)
    expect(page.get_by_role("rowheader", name=UNDELIVERED)).to_have_count(0)
    page.get_by_role("combobox", name="Notifications of").select_option("the deployment (operators)")
    expect(page.get_by_text("of system")).to_be_visible()
    tick(page, UNDELIVERED, "Topic (SNS)").check()
    save(page)
    expect(page.get_by_text(SAVED)).to_be_visible()
    kind = "scheduling.undelivered"
    assert sorted(chosen(reader, "system")["channels"][kind]) == ["in_app", "sns"]
    assert chosen(reader)["channels"] == {}
    page.get_by_role("link", name="Notifications").last.click()
    expect(page.get_by_role("combobox", name="Notifications of")).to_have_value("system")


def test_a_member_chooses_all_but_the_values_for_admins(reader_of, cloud, tenant):
    reader = reader_of(cloud.url, **signed_in("mo", tenant=tenant, groups="members"))
    page = opened(reader)
    expect(tick(page, DEAD)).to_be_disabled()
    expect(page.get_by_label("Addresses of admins")).to_have_count(0)
    expect(page.get_by_role("combobox", name="Notifications of")).to_have_count(0)
    tick(page, FAILED).check()
    save(page)
    expect(page.get_by_text(SAVED)).to_be_visible()
    assert chosen(reader)["channels"] == {KIND: ["in_app"]}


def test_a_viewer_only_looks(reader_of, cloud, tenant):
    page = opened(reader_of(cloud.url, **signed_in("eve", tenant=tenant, groups="viewers")))
    expect(page.get_by_role("checkbox", disabled=False)).to_have_count(0)
    expect(page.get_by_role("button", name="Save")).to_have_count(0)
    expect(page.get_by_label("Language of mails")).to_be_disabled()
    expect(page.get_by_role("textbox", name="Addresses")).not_to_be_editable()


def test_a_user_without_the_permission_sees_the_reason(reader_of, cloud):
    reader = reader_of(cloud.url, **signed_in("eve", groups="guests"))
    reader.expected = ("403",)
    page = reader.go("#/preferences")
    expect(page.get_by_text("Your roles do not allow this")).to_be_visible(timeout=PATIENCE)


def test_it_is_in_french(reader_of, cloud):
    page = reader_of(cloud.url, locale="fr-FR").go("#/preferences")
    expect(page.get_by_role("heading", level=1)).to_have_text("Qui est prévenu de quoi")
    expect(page.get_by_role("heading", name="Ce qui est envoyé, et où")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_role("rowheader", name="Une action a échoué")).to_be_visible()
    expect(page.get_by_label("Langue des e-mails")).to_be_visible()
    expect(page.get_by_role("button", name="Enregistrer")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_changed_form_is_accessible(reader_of, cloud, tenant, scheme):
    reader = reader_of(cloud.url, color_scheme=scheme, **signed_in("ann", tenant=tenant))
    page = opened(reader)
    tick(page, FAILED).check()
    by_another(reader, language="fr")
    page.get_by_title("Refresh").click()
    expect(page.get_by_role("alert")).to_be_visible(timeout=PATIENCE)
    assert flaws(page) == []


def test_it_fits_a_phone(reader_of, cloud):
    page = opened(reader_of(cloud.url, viewport={"width": 360, "height": 800}))
    assert not scrolls_sideways(page)
