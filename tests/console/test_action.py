"""One action.

What happened to it, what it carries and who sees that, and what may be done to it as it stands.
"""

import json
import logging
import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from duetime import Status
from tests.console.browser import flaws, scrolls_sideways, signed_in
from tests.console.shop import TOKENS, Ferry, Parcel, Wait

AT_LAST = 60_000
"""Milliseconds, for what the cloud must run first."""
FAR, NOW = timedelta(days=40), timedelta(0)


@pytest.fixture(scope="module")
def acme(cloud):
    log = logging.getLogger("duetime")
    before = log.level
    log.setLevel(logging.INFO)  # as `duetime local` does
    yield cloud.scheduler()
    log.setLevel(before)


@pytest.fixture(scope="module")
def failed(acme):
    """An action that fails at its attempts, and the next two."""
    return acme.schedule(Parcel(order="9", fails=3), at=NOW, correlation_id="order:9")


@pytest.fixture(scope="module")
def stored_action(acme):
    """A pending action that stays as it is."""
    return acme.schedule(
        Parcel(order="7", street="Long Lane 1", lines=("tea", "milk")), at=FAR, correlation_id="order:9"
    )


@pytest.fixture
def pending(acme):
    return acme.schedule(Parcel(order="8"), at=FAR)


def go(reader, action):
    page = reader.go(f"#/actions/{action.id}")
    expect(status(page)).to_be_visible()
    return page


def status(page):
    return page.locator(".head-facts .badge")


def history(page):
    return part(page, "What happened")


def part(page, title):
    return page.locator("section").filter(has=page.get_by_role("heading", name=title, exact=True))


def button(page, name):
    return page.get_by_role("button", name=name, exact=True)


def test_the_history_is_listed_from_the_first_to_the_last_event(reader, failed):
    page = go(reader, failed)
    expect(status(page)).to_contain_text("failed", timeout=AT_LAST)
    stops = history(page).locator("li.stop")
    expect(stops.first).to_contain_text("Scheduled by local")
    expect(history(page)).to_contain_text("Attempt 1")
    expect(history(page)).to_contain_text("Attempt 2")
    expect(history(page).get_by_text("no driver for order 9")).to_have_count(2)
    expect(stops.last).to_contain_text("Failed for good")


def test_a_failed_attempt_shows_its_traceback_and_its_log_when_they_are_opened(reader, failed):
    page = go(reader, failed)
    expect(status(page)).to_contain_text("failed", timeout=AT_LAST)
    attempt = history(page).locator("li.stop", has_text="Attempt 1")
    attempt.get_by_text("Traceback", exact=True).click()
    expect(attempt.locator("pre")).to_contain_text("ConnectionError: no driver for order 9")
    expect(attempt.locator("pre")).to_contain_text("in send_parcel")
    attempt.get_by_text("Log of this attempt", exact=True).click()
    expect(attempt.locator(".log-lines")).to_contain_text("handler raised")
    expect(attempt.locator(".log-lines")).to_contain_text("retried")
    expect(attempt.locator(".log-lines")).not_to_contain_text("failed: ConnectionError")
    assert not flaws(page)
    page.set_viewport_size({"width": 320, "height": 800})
    assert not scrolls_sideways(page)


def test_the_attempts_are_bars_with_their_wait_queue_and_run(reader, failed):
    page = go(reader, failed)
    expect(status(page)).to_contain_text("failed", timeout=AT_LAST)
    bars = history(page).locator(".attempt-bars svg")
    expect(bars).to_have_count(2)
    expect(bars.nth(1)).to_have_attribute(
        "aria-label", re.compile(r"^Attempt 2: waited .+ in the queue, ran ")
    )


def test_the_page_is_copied_as_commands(reader, failed):
    page = go(reader, failed)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button(page, "Copy as CLI").click()
    assert copied(page) == f"duetime actions show {failed.id}"
    button(page, "Copy as curl").click()
    assert re.fullmatch(
        rf'curl -H "Authorization: \$TOKEN" http://127.0.0.1:\d+/api/v1/actions/{failed.id}', copied(page)
    )


def copied(page):
    return page.evaluate("navigator.clipboard.readText()")


def test_a_pending_action_shows_why_it_has_not_run_and_an_ended_one_does_not(reader, stored_action, failed):
    page = go(reader, stored_action)
    why = part(page, "Why has it not run?")
    expect(why).to_contain_text("It is due at 20")
    page = go(reader, failed)
    expect(status(page)).to_contain_text("failed", timeout=AT_LAST)
    expect(part(page, "Why has it not run?")).to_have_count(0)


def test_actions_with_the_same_correlation_id_are_listed(reader, stored_action, failed):
    page = go(reader, stored_action)
    page.get_by_role("link", name=f"…{failed.id[-8:]}").click()
    expect(page).to_have_url(re.compile(failed.id))
    expect(history(page)).to_contain_text("Scheduled by local")


def test_an_admin_sees_and_copies_the_payload(reader_of, cloud, stored_action):
    page = go(reader_of(cloud.url, permissions=["clipboard-read", "clipboard-write"]), stored_action)
    expect(part(page, "Payload")).to_contain_text("Long Lane 1")
    button(page, "Copy as JSON").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert copied == {"order": "7", "fails": 0, "street": "Long Lane 1", "lines": ["tea", "milk"]}


def test_a_member_sees_the_payload_without_sensitive_values(reader_of, cloud, stored_action):
    page = go(reader_of(cloud.url, **signed_in("max", groups="members")), stored_action)
    payload = part(page, "Payload")
    expect(payload).to_contain_text("tea")
    expect(payload.get_by_text("[redacted]")).to_be_visible()
    expect(payload).to_contain_text(re.compile("Your roles do not let you see:.*street"))
    assert "Long Lane" not in page.content()


def test_another_tenant_does_not_see_it(reader_of, cloud, stored_action):
    reader = reader_of(cloud.url, **signed_in("gil", tenant="globex"))
    reader.expected = ("404",)
    page = reader.go(f"#/actions/{stored_action.id}")
    expect(page.get_by_text("It is not there")).to_be_visible()


def test_a_viewer_has_no_button_that_changes(reader_of, cloud, stored_action):
    page = go(reader_of(cloud.url, **signed_in("eve", groups="viewers")), stored_action)
    expect(page.get_by_role("button", name=re.compile("Reschedule|Cancel|Redrive|Request it"))).to_have_count(
        0
    )
    expect(part(page, "Payload").get_by_text("[redacted]")).to_be_visible()


def test_it_is_rescheduled_and_the_undo_restores_its_time(reader, acme, pending):
    page = go(reader, pending)
    button(page, "Reschedule…").click()
    dialog = page.get_by_role("dialog", name="Give it another due time")
    dialog.get_by_label("Date and time").fill("2098-01-01T12:00:00")
    button(dialog, "Reschedule it").click()
    expect(page.get_by_text("parcel is now due")).to_be_visible()
    assert acme.get(pending.id).due_at == datetime(2098, 1, 1, 11, tzinfo=UTC)
    expect(history(page)).to_contain_text("Rescheduled")
    expect(history(page)).to_contain_text("by developer@localhost")
    button(page, "Undo").click()
    expect(page.get_by_text("Undone.")).to_be_visible()
    assert acme.get(pending.id).due_at == pending.due_at


def test_it_is_rescheduled_by_a_delay_and_runs(reader, acme, pending):
    page = go(reader, pending)
    button(page, "Reschedule…").click()
    dialog = page.get_by_role("dialog", name="Give it another due time")
    dialog.get_by_role("radio", name="in a while").check()
    dialog.get_by_label("In", exact=True).fill("1")
    dialog.get_by_label("Unit").select_option("seconds")
    button(dialog, "Reschedule it").click()
    expect(status(page)).to_contain_text("executed", timeout=AT_LAST)
    assert acme.get(pending.id).status is Status.EXECUTED


def test_a_decision_on_an_outdated_state_is_rejected_with_a_message(reader, acme, pending):
    reader.expected = ("412",)
    page = go(reader, pending)
    button(page, "Reschedule…").click()
    dialog = page.get_by_role("dialog", name="Give it another due time")
    dialog.get_by_label("Date and time").fill("2098-01-01T12:00:00")
    meanwhile = acme.reschedule(pending.id, timedelta(days=50))
    button(dialog, "Reschedule it").click()
    expect(dialog.get_by_role("alert")).to_contain_text("It has changed since you opened this")
    assert acme.get(pending.id).due_at == meanwhile.due_at
    button(dialog, "Go back").click()
    expect(dialog).to_have_count(0)


def test_it_is_cancelled_after_a_confirmation(reader, acme, pending):
    page = go(reader, pending)
    dialog = page.get_by_role("dialog", name="Cancel this action?")
    button(page, "Cancel it…").click()
    expect(dialog).to_contain_text("that cannot be undone")
    button(dialog, "Go back").click()
    assert acme.get(pending.id).status is Status.PENDING
    button(page, "Cancel it…").click()
    button(dialog, "Cancel it").click()
    expect(page.get_by_text("Cancelled: parcel will not run.")).to_be_visible()
    assert acme.get(pending.id).status is Status.CANCELLED
    expect(history(page)).to_contain_text("Cancelled")
    expect(button(page, "Cancel it…")).to_have_count(0)
    expect(button(page, "Undo")).to_have_count(0)


def test_a_cancel_requests_the_stop_of_a_running_action(reader, acme):
    running = acme.schedule(Wait(seconds=800), at=NOW)
    page = go(reader, running)
    expect(status(page)).to_contain_text("running", timeout=AT_LAST)
    button(page, "Request it to stop…").click()
    dialog = page.get_by_role("dialog", name="Request this action to stop?")
    expect(dialog).to_contain_text("This cannot be undone.")
    button(dialog, "Request it to stop").click()
    expect(page.get_by_text("wait was requested to stop")).to_be_visible()
    expect(status(page)).to_contain_text("cancelled", timeout=AT_LAST)
    assert acme.get(running.id).status is Status.CANCELLED


def test_a_handed_over_action_shows_its_progress_and_then_its_result(reader, acme):
    ferry = acme.schedule(Ferry(), at=NOW)
    page = go(reader, ferry)
    expect(page.get_by_text("1 of 2 decks", exact=True)).to_be_visible(timeout=AT_LAST)
    expect(page.get_by_role("progressbar", name="Progress")).to_be_visible()
    expect(history(page)).to_contain_text("Waits for the end of its hand-over")
    expect(page.get_by_text("Handed over, times out")).to_be_visible(timeout=AT_LAST)
    acme.complete(TOKENS[ferry.id], result={"decks": 2})
    expect(status(page)).to_contain_text("executed", timeout=AT_LAST)
    expect(page.get_by_text('"decks"')).to_be_visible()


def handed_over_ferry(reader, acme):
    ferry = acme.schedule(Ferry(), at=NOW)
    page = go(reader, ferry)
    expect(button(page, "Complete…")).to_be_visible(timeout=AT_LAST)
    return page, ferry


def test_a_manager_completes_a_handed_over_action_with_a_result(reader, acme):
    page, ferry = handed_over_ferry(reader, acme)
    button(page, "Complete…").click()
    dialog = page.get_by_role("dialog", name="Complete this action?")
    dialog.get_by_label("Result, as JSON (optional)").fill("{decks")
    button(dialog, "Complete it").click()
    expect(dialog).to_contain_text("This is no JSON")
    dialog.get_by_label("Result, as JSON (optional)").fill('{"decks": 12345678901234567890}')
    button(dialog, "Complete it").click()
    expect(status(page)).to_contain_text("executed")
    expect(page.get_by_text("12345678901234567890").first).to_be_visible()
    expect(history(page)).to_contain_text("Hand-over completed")
    assert acme.get(ferry.id).result == '{"decks":12345678901234567890}'


def test_a_manager_fails_a_handed_over_action(reader, acme):
    page, ferry = handed_over_ferry(reader, acme)
    button(page, "Fail…").click()
    dialog = page.get_by_role("dialog", name="Fail this attempt?")
    button(dialog, "Fail it").click()
    expect(dialog).to_contain_text("Write why it failed.")
    dialog.get_by_label("Reason").fill("the harbour is closed")
    dialog.get_by_label("Try again").uncheck()
    button(dialog, "Fail it").click()
    expect(status(page)).to_contain_text("failed")
    assert acme.get(ferry.id).failure_reason == "the harbour is closed"


def test_a_later_hand_over_is_not_ended_by_a_form_of_an_earlier_one(reader, acme):
    page, ferry = handed_over_ferry(reader, acme)
    button(page, "Complete…").click()
    acme.fail(TOKENS[ferry.id], "again", retry=timedelta(0))
    expect(history(page)).to_contain_text("again", timeout=AT_LAST)
    expect(page.get_by_text("Handed over, times out")).to_be_visible(timeout=AT_LAST)
    dialog = page.get_by_role("dialog", name="Complete this action?")
    reader.expected = ("412", "409")
    button(dialog, "Complete it").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    assert acme.get(ferry.id).status is not Status.EXECUTED


def test_a_viewer_cannot_end_a_hand_over(reader_of, cloud, acme):
    ferry = acme.schedule(Ferry(), at=NOW)
    page = go(reader_of(cloud.url, **signed_in("vic", groups="viewers")), ferry)
    expect(page.get_by_text("Handed over, times out")).to_be_visible(timeout=AT_LAST)
    expect(button(page, "Complete…")).to_have_count(0)


def test_a_redrive_gives_a_failed_action_all_its_attempts(reader, acme):
    again = acme.schedule(Parcel(order="12", fails=2), at=NOW)
    page = go(reader, again)
    button(page, "Redrive…").click(timeout=AT_LAST)
    dialog = page.get_by_role("dialog", name="Run it again")
    expect(dialog.get_by_role("radio", name="now")).to_be_checked()
    expect(dialog).to_contain_text("The attempts before stay in its history.")
    button(dialog, "Run it again").click()
    expect(page.get_by_text("parcel runs again now, with all its attempts.")).to_be_visible()
    expect(status(page)).to_contain_text("executed", timeout=AT_LAST)
    expect(history(page)).to_contain_text("Redriven")
    expect(history(page)).to_contain_text("Attempt 3")
    assert acme.get(again.id).status is Status.EXECUTED


def test_it_is_in_french(reader_of, cloud, stored_action):
    page = go(reader_of(cloud.url, locale="fr-FR"), stored_action)
    expect(status(page)).to_contain_text("en attente")
    expect(part(page, "Charge utile")).to_contain_text("Long Lane 1")
    button(page, "Annuler…").click()
    expect(page.get_by_role("dialog", name=re.compile("Annuler cette action"))).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible_by_screen_reader_and_keyboard(
    reader_of, cloud, stored_action, failed, scheme
):
    page = go(reader_of(cloud.url, color_scheme=scheme), failed)
    expect(history(page)).to_contain_text("Failed for good", timeout=AT_LAST)
    assert flaws(page) == []
    button(page, "Redrive…").click()
    assert flaws(page) == []
    page.goto(f"{cloud.url}/#/actions/{stored_action.id}")
    page.reload()
    for name in ("Reschedule…", "Cancel it…"):
        button(page, name).click()
        expect(page.get_by_role("dialog")).to_be_visible()
        assert flaws(page) == []
        button(page.get_by_role("dialog"), "Go back").click()


def test_it_fits_a_phone(reader_of, cloud, stored_action, failed):
    reader = reader_of(cloud.url, viewport={"width": 360, "height": 740})
    page = go(reader, failed)
    expect(history(page)).to_contain_text("Failed for good", timeout=AT_LAST)
    assert not scrolls_sideways(page)
    page = go(reader, stored_action)
    button(page, "Reschedule…").click()
    assert not scrolls_sideways(page)
