"""The actions: found by what is known of them, scheduled by hand, and changed many at a time."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from duetime import Status
from tests.console.browser import flaws, scrolls_sideways, signed_in
from tests.console.shop import Parcel, Wait

AT_LAST = 60_000
"""Milliseconds, for what the cloud must run first."""
LONG_REASON = "no driver for order " + "of a customer who waits already for a very long while " * 4


@pytest.fixture(scope="module", autouse=True)
def actions(cloud):
    """Of acme one pending, one executed, one failed, one under way; of globex one pending."""
    acme, globex = cloud.scheduler(), cloud.scheduler(tenant_id="globex")
    far, now = timedelta(days=1_500), timedelta(0)
    return {
        "pending": acme.schedule(Parcel(order="17"), at=far, correlation_id="order:17"),
        "executed": acme.schedule(Parcel(order="18"), at=now, correlation_id="order:18"),
        "failed": acme.schedule(Parcel(order=LONG_REASON, fails=9), at=now, correlation_id="order:19"),
        "processing": acme.schedule(Wait(seconds=800), at=now, correlation_id="order:20"),
        "globex": globex.schedule(Parcel(order="1"), at=far, correlation_id="order:17"),
    }


def table(page):
    return page.get_by_role("table", name="Actions")


def row(page, action):
    return table(page).get_by_role("row").filter(has=page.get_by_title(action.id, exact=True))


def shows_just(page, *actions):
    expect(table(page).locator("tbody").get_by_role("row")).to_have_count(len(actions))
    for each in actions:
        expect(row(page, each)).to_be_visible()


def shows_of(page, actions, *names):
    """Of these actions just the named ones; other tests' may be among them."""
    for name, action in actions.items():
        if name in names:
            expect(row(page, action)).to_be_visible()
        else:
            expect(row(page, action)).to_have_count(0)


def choose(page, name):
    page.get_by_role("search").get_by_role("checkbox", name=name, exact=True).check()


def asks_for_type(page, payload_type="parcel"):
    dialog = page.get_by_role("dialog", name="Schedule an action")
    page.get_by_role("button", name="Schedule an action").click()
    dialog.get_by_label("Type", exact=True).fill(payload_type)
    return dialog


def bulk(page, name):
    page.get_by_role("button", name=f"{name} all that match…").click()
    titles = {"Cancel": "Cancel all of these", "Redrive": "Run all of these again"}
    return page.get_by_role("dialog", name=titles[name])


def statuses(cloud, correlation_id):
    return [each.status for each in cloud.scheduler().list(correlation_id=correlation_id)]


def test_each_is_shown_with_how_it_stands_and_what_was_said_of_it_last(reader, actions):
    page = reader.go("#/actions")
    expect(row(page, actions["executed"])).to_contain_text("executed", timeout=AT_LAST)
    expect(row(page, actions["failed"])).to_contain_text("no driver for order", timeout=AT_LAST)
    expect(row(page, actions["failed"]).get_by_role("cell").nth(4)).to_have_text("2")
    expect(row(page, actions["processing"])).to_contain_text("running", timeout=AT_LAST)
    pending = row(page, actions["pending"])
    expect(pending).to_contain_text("pending")
    expect(pending).to_contain_text("parcel")
    expect(pending).to_contain_text("order:17")
    expect(pending.get_by_role("cell").nth(5)).to_contain_text("local")


def test_an_instant_of_another_year_is_shown_with_it(reader, actions):
    page = reader.go("#/actions")
    due = row(page, actions["pending"]).get_by_role("cell").nth(3)
    expect(due).to_contain_text(str(actions["pending"].due_at.year))
    expect(due).to_contain_text(re.compile(r"in 1,\d{3} days"))
    today = row(page, actions["failed"]).get_by_role("cell").nth(3)
    expect(today).not_to_contain_text(str(actions["failed"].due_at.year))


def test_nothing_of_the_table_is_cut_off_beside_a_long_message(reader, actions):
    page = reader.go("#/actions")
    expect(row(page, actions["failed"])).to_contain_text("no driver for order", timeout=AT_LAST)
    assert page.locator(".scrolls").evaluate("each => each.scrollWidth <= each.clientWidth")


def test_one_tenant_does_not_see_anothers(reader_of, cloud, actions):
    page = reader_of(cloud.url, **signed_in("gil", tenant="globex")).go("#/actions")
    shows_just(page, actions["globex"])


def test_they_are_found_by_a_correlation_id_and_shown_again_without(reader, actions):
    page = reader.go("#/actions")
    page.get_by_label("Find by correlation id").fill("order:17")
    page.get_by_role("button", name="Show", exact=True).click()
    shows_just(page, actions["pending"])
    assert "correlation_id=order%3A17" in page.url
    page.get_by_role("link", name="Clear all filters").click()
    expect(row(page, actions["executed"])).to_be_visible()
    expect(page.get_by_label("Find by correlation id")).to_have_value("")
    page.go_back()
    shows_just(page, actions["pending"])
    expect(page.get_by_label("Find by correlation id")).to_have_value("order:17")


def test_a_correlation_id_in_the_list_leads_to_all_of_it(reader, actions):
    page = reader.go("#/actions")
    row(page, actions["pending"]).get_by_role("link", name="order:17").click()
    shows_just(page, actions["pending"])


def test_they_are_found_by_type(reader, actions):
    page = reader.go("#/actions")
    page.get_by_role("search").get_by_label("Type").fill("wait")
    page.keyboard.press("Enter")
    shows_just(page, actions["processing"])


def test_they_are_found_by_status_and_by_several(reader, actions):
    page = reader.go("#/actions")
    choose(page, "pending")
    shows_of(page, actions, "pending")
    choose(page, "running")
    shows_of(page, actions, "pending", "processing")
    page.reload()
    shows_of(page, actions, "pending", "processing")


def test_they_are_found_by_when_they_are_due_and_when_they_were_scheduled(reader, actions):
    page = reader.go("#/actions")
    page.get_by_text("Job and times").click()
    between = f"{actions['pending'].created_at + timedelta(days=300):%Y-%m-%dT%H:%M}"
    page.get_by_label("Due after").fill(between)
    expect(row(page, actions["failed"])).to_have_count(0)
    expect(row(page, actions["pending"])).to_be_visible()
    page.get_by_label("Due after").fill("")
    page.get_by_label("Due until").fill(between)
    expect(row(page, actions["failed"])).to_be_visible()
    expect(row(page, actions["pending"])).to_have_count(0)
    page.get_by_role("link", name="Clear all filters").click()
    page.get_by_label("Scheduled after").fill("2099-01-01T00:00")
    expect(page.get_by_text("No action matches")).to_be_visible()
    page.get_by_label("Scheduled after").fill("")
    page.get_by_label("Scheduled until").fill("2020-01-01T00:00")
    expect(page.get_by_text("Take a filter away")).to_be_visible()


def test_runs_of_a_job_are_found_by_its_name(reader, cloud):
    page = reader.go("#/actions")
    page.get_by_text("Job and times").click()
    page.get_by_label("Job", exact=True).fill("shop-watch-ramp")
    page.keyboard.press("Enter")
    runs = table(page).locator("tbody").get_by_role("row").filter(has_text="shop-watch-ramp")
    expect(runs.first).to_be_visible()
    assert any(cloud.scheduler().list(job="shop-watch-ramp"))


def test_where_nothing_matches_one_is_told_and_led_back(reader):
    page = reader.go("#/actions?correlation_id=none:such")
    expect(page.get_by_text("No action matches")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="Clear all filters").last.click()
    expect(table(page)).to_be_visible()


def test_where_nothing_was_ever_scheduled_one_is_told(reader_of, cloud):
    page = reader_of(cloud.url, **signed_in("ian", tenant="initech")).go("#/actions")
    expect(page.get_by_text("Nothing is scheduled yet")).to_be_visible()


def test_one_is_scheduled_in_a_while_and_taken_back(reader, cloud):
    page = reader.go("#/actions")
    dialog = asks_for_type(page)
    dialog.get_by_label("Payload").fill('{"order": "31", "street": "Long Lane"}')
    dialog.get_by_label("In", exact=True).fill("2")
    dialog.get_by_label("Unit").select_option("days")
    dialog.get_by_label("Correlation id (may be left out)").fill("order:31")
    dialog.get_by_label("Idempotency key (may be left out)").fill("key:31")
    dialog.get_by_role("button", name="Schedule it").click()
    expect(page.get_by_text("Scheduled: parcel, due")).to_be_visible()
    expect(dialog).to_have_count(0)
    (made,) = cloud.scheduler().list(correlation_id="order:31")
    made = cloud.scheduler().get(made.id)
    assert (json.loads(made.payload)["street"], made.idempotency_key) == ("Long Lane", "key:31")
    assert made.created_by == "developer@localhost"
    assert abs(made.due_at - made.created_at - timedelta(days=2)) < timedelta(
        milliseconds=1
    )  # an id's own precision
    expect(row(page, made)).to_contain_text("pending")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone.")).to_be_visible()
    assert statuses(cloud, "order:31") == [Status.CANCELLED]


def test_one_is_scheduled_at_a_time_of_the_readers_zone(reader, cloud):
    page = reader.go("#/actions")
    dialog = asks_for_type(page)
    dialog.get_by_label("Payload").fill('{"order": "32"}')
    dialog.get_by_role("radio", name="at a time").check()
    dialog.get_by_label("Date and time").fill("2098-07-01T12:00:00")
    dialog.get_by_label("Correlation id (may be left out)").fill("order:32")
    dialog.get_by_role("button", name="Schedule it").click()
    expect(page.get_by_text("Scheduled: parcel, due")).to_be_visible()
    (made,) = cloud.scheduler().list(correlation_id="order:32")
    assert made.due_at == datetime(2098, 7, 1, 10, tzinfo=UTC)


def test_a_key_that_was_seen_makes_no_second_action(reader, cloud):
    page = reader.go("#/actions")
    for said in ("Scheduled: parcel", "That key was seen before: nothing new was scheduled"):
        dialog = asks_for_type(page)
        dialog.get_by_label("Payload").fill('{"order": "33"}')
        dialog.get_by_label("In", exact=True).fill("60")
        dialog.get_by_label("Correlation id (may be left out)").fill("order:33")
        dialog.get_by_label("Idempotency key (may be left out)").fill("key:33")
        dialog.get_by_role("button", name="Schedule it").click()
        expect(page.get_by_text(said)).to_be_visible()
    assert statuses(cloud, "order:33") == [Status.PENDING]


@pytest.mark.parametrize(
    ("said", "field", "why"),
    [
        (("parcel", "{"), "Payload", "This is not JSON"),
        (("parcel", "[1]"), "Payload", "A payload is an object, in braces"),
        (("parcel", "{}"), "Payload", "order"),
        (("pigeon", "{}"), "Type", "pigeon"),
    ],
)
def test_what_is_wrong_is_told_at_its_field_and_nothing_is_scheduled(reader, cloud, said, field, why):
    payload_type, payload = said
    reader.expected = ("422", "400")
    page = reader.go("#/actions")
    dialog = asks_for_type(page, payload_type)
    dialog.get_by_label("Payload").fill(payload)
    dialog.get_by_label("Correlation id (may be left out)").fill("order:wrong")
    dialog.get_by_role("button", name="Schedule it").click()
    expect(dialog.get_by_role("alert")).to_contain_text(why)
    expect(dialog.get_by_label(field, exact=True)).to_have_attribute("aria-invalid", "true")
    assert statuses(cloud, "order:wrong") == []
    dialog.get_by_role("button", name="Leave it").click()
    expect(dialog).to_have_count(0)


def test_all_that_match_are_counted_first_and_cancelled_then(reader, cloud, actions):
    scheduler = cloud.scheduler()
    for _ in range(3):
        scheduler.schedule(Parcel(order="41"), at=timedelta(days=9), correlation_id="order:41")
    page = reader.go("#/actions?correlation_id=order:41")
    dialog = bulk(page, "Cancel")
    expect(dialog.get_by_text("3 actions.")).to_be_visible()
    expect(dialog).to_contain_text("What is pending will not run")
    expect(dialog).to_contain_text("A cancel cannot be undone.")
    expect(dialog.locator(".examples").get_by_role("listitem")).to_have_count(3)
    assert statuses(cloud, "order:41") == [Status.PENDING] * 3
    dialog.get_by_role("button", name="Cancel 3 actions").click()
    expect(dialog).to_contain_text("3 actions are cancelled or were asked to stop.")
    assert statuses(cloud, "order:41") == [Status.CANCELLED] * 3
    assert scheduler.get(actions["pending"].id).status is Status.PENDING
    dialog.get_by_role("button", name="Close").click()
    expect(table(page).get_by_text("cancelled")).to_have_count(3)


def test_who_leaves_the_dialog_changes_nothing(reader, cloud):
    page = reader.go("#/actions?correlation_id=order:17")
    dialog = bulk(page, "Cancel")
    expect(dialog.get_by_role("button", name="Cancel 1 action")).to_be_visible()
    dialog.get_by_role("button", name="Leave it").click()
    expect(dialog).to_have_count(0)
    assert statuses(cloud, "order:17") == [Status.PENDING]


def test_where_nothing_is_to_be_changed_there_is_nothing_to_click(reader):
    page = reader.go("#/actions?correlation_id=order:18")
    dialog = bulk(page, "Redrive")
    expect(dialog).to_contain_text("Nothing matches that has failed")
    expect(dialog.get_by_role("button")).to_have_text(["Close"])


def test_all_that_failed_and_match_are_run_again(reader, cloud):
    page = reader.go("#/actions?correlation_id=order:51")
    made = cloud.scheduler().schedule(Parcel(order="51", fails=2), at=timedelta(0), correlation_id="order:51")
    page.get_by_title("Refresh").click()
    expect(row(page, made)).to_contain_text("failed", timeout=AT_LAST)
    dialog = bulk(page, "Redrive")
    expect(dialog).to_contain_text("Each runs again now, with all its attempts.")
    dialog.get_by_role("button", name="Run 1 again").click()
    expect(dialog).to_contain_text("1 action runs again.")
    dialog.get_by_role("button", name="Close").click()
    expect(row(page, made)).to_contain_text("executed", timeout=AT_LAST)


def test_what_a_filter_rules_out_has_no_button(reader):
    page = reader.go("#/actions?status=executed")
    expect(table(page)).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("all that match"))).to_have_count(0)
    page.goto(f"{reader.url}/#/actions?status=failed")
    expect(page.get_by_role("button", name=re.compile("all that match"))).to_have_text(
        ["Redrive all that match…"]
    )


def test_who_may_only_look_sees_all_and_no_button(reader_of, cloud, actions):
    page = reader_of(cloud.url, **signed_in("eve", groups="viewers")).go("#/actions")
    expect(row(page, actions["pending"])).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("all that match|Schedule"))).to_have_count(0)


def test_who_may_not_even_look_is_told(reader_of, cloud):
    reader = reader_of(cloud.url, **signed_in("mallory", groups="nobody"))
    reader.expected = ("403",)
    page = reader.page
    page.goto(f"{cloud.url}/#/actions")
    expect(page.get_by_text("Your roles do not allow this").first).to_be_visible()


def test_a_member_schedules_and_cancels(reader_of, cloud):
    page = reader_of(cloud.url, **signed_in("max", groups="members")).go("#/actions")
    dialog = asks_for_type(page)
    dialog.get_by_label("Payload").fill('{"order": "61"}')
    dialog.get_by_label("Correlation id (may be left out)").fill("order:61")
    dialog.get_by_role("button", name="Schedule it").click()
    expect(page.get_by_text("Scheduled: parcel, due")).to_be_visible()
    (made,) = cloud.scheduler().list(correlation_id="order:61")
    assert made.created_by == "max@localhost"


def test_it_is_in_french(reader_of, cloud, actions):
    page = reader_of(cloud.url, locale="fr-FR").go("#/actions")
    expect(row(page, actions["pending"])).to_contain_text("en attente")
    expect(page.get_by_label("Rechercher par identifiant de corrélation")).to_be_visible()
    page.get_by_role("button", name="Annuler toutes celles-ci…").click()
    expect(page.get_by_role("dialog", name="Annuler toutes ces actions")).to_contain_text("définitive")
    page.get_by_role("button", name="Laisser tel quel").click()
    page.get_by_role("button", name="Planifier une action").click()
    expect(page.get_by_role("dialog", name="Planifier une action")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_screen_reader_and_a_keyboard_find_nothing_wrong(reader_of, cloud, actions, scheme):
    page = reader_of(cloud.url, color_scheme=scheme).go("#/actions")
    expect(row(page, actions["failed"])).to_be_visible()
    page.get_by_text("Job and times").click()
    assert flaws(page) == []
    dialog = asks_for_type(page)
    assert flaws(page) == []
    dialog.get_by_role("button", name="Leave it").click()
    dialog = bulk(page, "Cancel")
    expect(dialog.get_by_role("button", name=re.compile(r"Cancel \d+ action"))).to_be_visible()
    assert flaws(page) == []


def test_it_fits_a_phone(reader_of, cloud, actions):
    page = reader_of(cloud.url, viewport={"width": 360, "height": 740}).go("#/actions")
    expect(row(page, actions["failed"])).to_be_visible()
    assert not scrolls_sideways(page)
    asks_for_type(page).get_by_role("button", name="Leave it").click()
    expect(bulk(page, "Cancel").get_by_role("button", name=re.compile(r"Cancel \d+ action"))).to_be_visible()
    assert not scrolls_sideways(page)
