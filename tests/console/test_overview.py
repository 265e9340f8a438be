"""The overview: whether all is on time, what to look at, what comes, and how the last hour went."""

import re
import threading
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from duetime import Registration
from tests.console.browser import signed_in
from tests.console.shop import Letter, Parcel, Wait
from tests.console.tenants import EVENING, SOON, fits_a_phone, flaws_in_either_scheme, register

NO_ACTIONS = {"items": [], "next_cursor": None, "includes_runs": False}


@pytest.fixture(scope="module", autouse=True)
def day(cloud):
    """One-shots and jobs of acme.

    Some ended well, one did not, one runs, one is paused, and some are to come.
    """
    acme = cloud.scheduler(tenant_id="acme")
    acme.schedule(Parcel(order="a-1"), at=timedelta(0))
    failing = acme.schedule(Parcel(order="a-2", fails=9), at=timedelta(0))
    acme.schedule(Parcel(order="a-3"), at=timedelta(hours=3))
    runs = acme.schedule(Wait(seconds=800), at=timedelta(0))
    register(cloud, "acme-evening-parcel", EVENING, title="Evening parcels")
    ordering = acme.jobs.trigger("shop-order-more")
    acme.jobs.pause("shop-count-stock", reason="stocktaking")
    pause = threading.Event()
    while not all(acme.get(row.id).status.is_final for row in (failing, ordering)):
        pause.wait(0.2)  # the page reads what ended only every half a minute
    yield acme
    acme.cancel(runs.id)


def shown(reader):
    """The overview, once the failures are in it."""
    page = reader.go()
    latest = part(page, "What happened last")
    expect(latest.get_by_text("no driver for order a-2")).to_be_visible(timeout=SOON)
    expect(latest.get_by_text("the supplier does not answer")).to_be_visible(timeout=SOON)
    return page


def part(page, title):
    return page.locator("section.part").filter(has=page.get_by_role("heading", name=title, exact=True))


def card(page, title):
    glance = page.get_by_role("region", name="At a glance")
    return glance.locator(".card").filter(has=page.get_by_role("heading", name=title, exact=True))


def test_it_shows_that_all_is_on_time_and_the_time_of_the_check(reader):
    status_part = reader.go().locator(".standing")
    expect(status_part).to_contain_text("All on time")
    expect(status_part).to_contain_text("All that is due was checked")


def test_its_numbers_are_those_of_the_cloud(reader):
    page = shown(reader)
    numbers = {"Failed today": "2", "Undelivered": "0", "Jobs failing": "1", "Jobs paused": "1"}
    for title, number in numbers.items():
        expect(card(page, title).locator(".figure")).to_have_text(number, timeout=SOON)
    expect(card(page, "Running now").get_by_role("link", name="1 one-shot")).to_be_visible()


@pytest.mark.parametrize(
    ("title", "place"),
    [
        ("Failed today", "#/dead-letters"),
        ("Undelivered", "#/undelivered"),
        ("Jobs failing", "#/jobs?only=failing"),
        ("Jobs paused", "#/jobs?only=paused"),
    ],
)
def test_each_number_links_to_its_list(reader, title, place):
    page = reader.go()
    card(page, title).click(position={"x": 5, "y": 5})
    expect(page).to_have_url(f"{reader.url}/{place}")


@pytest.fixture
def stumbling(day):
    """A one-shot and a job's run that wait for their next attempt, for ten minutes."""
    action = day.schedule(Letter(), at=timedelta(0))
    day.jobs.register(
        Registration(name="acme-late-letter", handler=Letter(), cadences=[EVENING], title="Late letters")
    )
    run = day.jobs.trigger("acme-late-letter")
    yield action
    for row in (action, run):
        day.cancel(row.id)
    day.jobs.unregister("acme-late-letter")


def test_what_waits_for_a_retry_is_counted_and_linked_and_its_job_is_failing(reader, stumbling):
    page = reader.go()
    waiting = card(page, "Waiting for a retry")
    expect(waiting.get_by_role("link", name="1 one-shot")).to_be_visible(timeout=SOON)
    expect(waiting.get_by_role("link", name="1 job")).to_be_visible(timeout=SOON)
    waiting.get_by_role("link", name="1 job").click()
    expect(page).to_have_url(f"{reader.url}/#/jobs?only=retrying")
    row = page.get_by_role("row").filter(has_text="Late letters")
    expect(row.get_by_text("retrying")).to_be_visible(timeout=SOON)
    reader.go(f"#/actions/{stumbling.id}")
    expect(page.locator(".head-facts .badge")).to_contain_text("retrying")


def test_running_work_is_linked_by_its_kind(reader):
    page = reader.go()
    running = card(page, "Running now")
    expect(running.get_by_role("link", name="one-shot")).to_have_attribute(
        "href", "#/actions?status=processing"
    )
    running.get_by_role("link", name=re.compile("jobs?$")).click()
    expect(page).to_have_url(f"{reader.url}/#/jobs?only=running")


def test_the_parts_of_a_number_are_below_it(reader):
    hint = card(reader.go(), "Failed today").get_by_text("dead letters since midnight")
    size, weight = hint.evaluate(
        "(e) => [parseFloat(getComputedStyle(e).fontSize), getComputedStyle(e).fontWeight]"
    )
    assert size < 14
    assert weight == "400"


def test_the_coming_day_has_a_line_of_time_for_each_job_and_one_for_one_shots(reader):
    coming = part(reader.go(), "The coming 24 hours")
    evening = coming.get_by_role("img", name=re.compile("^Evening parcels: 1 time, first"))
    expect(evening).to_be_visible(timeout=SOON)
    expect(coming.get_by_role("img", name=re.compile("^Watch the ramp: more than"))).to_be_visible()
    expect(coming.get_by_role("img", name=re.compile("^One-shot actions: 1 time"))).to_be_visible()
    expect(coming.get_by_role("link", name="Nightly count")).to_have_count(0)
    expect(coming.get_by_text("1 job has no run within them")).to_be_visible()


def test_the_coming_day_can_be_read_as_a_list(reader):
    coming = part(reader.go(), "The coming 24 hours")
    coming.get_by_text("As a list").click()
    expect(coming.locator("details").get_by_text("Evening parcels")).to_be_visible()


def test_duetimes_own_passes_are_left_out(reader):
    page = shown(reader)
    expect(page.get_by_role("main").get_by_role("link", name="Sweep")).to_have_count(0)


def test_the_last_hour_shows_all_counted_runs_and_their_lateness(reader, cloud):
    shown(reader)  # what runs by itself has begun to be counted
    fulfilled = {}

    def keep(item):
        fulfilled.update(item["body"])
        return item

    reader.answer_read("/summary", keep)
    reader.answer_read("/actions/query", lambda _: {"status": 200, "body": NO_ACTIONS})
    reader.page.reload()
    page = reader.page
    outcomes = part(page, "The last hour: how runs ended").get_by_role("img")
    expect(outcomes).to_be_visible(timeout=SOON)
    page.unroute_all(behavior="wait")
    total = fulfilled["total"]
    assert total["executed"] > 0 < total["failed"]
    label = f"{total['executed']} executed, {total['failed']} failed"
    expect(outcomes).to_have_attribute("aria-label", re.compile(label.replace(",", "\\,")))
    lateness = part(page, "The last hour: how late they began")
    began = sum(row["count"] for row in fulfilled["lateness"])
    expect(lateness.get_by_role("table", name=f"How late {began} runs began")).to_be_visible()
    expect(lateness.get_by_text(re.compile("^Half began (up to|over) .* late"))).to_be_visible()


def test_counts_of_more_runs_than_a_list_has_are_shown(reader):
    def with_many(item):
        minute = item["body"]["minutes"][-1] | {"executed": 1134, "failed": 7, "skipped": 2, "cancelled": 1}
        return {"status": 200, "body": item["body"] | {"minutes": [minute]}}

    shown(reader)
    reader.answer_read("/summary", with_many)
    reader.answer_read("/actions/query", lambda _: {"status": 200, "body": NO_ACTIONS})
    reader.page.reload()
    page = reader.page
    outcomes = part(page, "The last hour: how runs ended").get_by_role("img")
    expect(outcomes).to_have_attribute(
        "aria-label", re.compile("1,134 executed, 7 failed, 3 cancelled or skipped"), timeout=SOON
    )
    page.unroute_all(behavior="wait")


def test_the_latest_events_show_their_reason_and_a_link(reader, day):
    page = shown(reader)
    row = part(page, "What happened last").get_by_role("row").filter(has_text="a-2")
    expect(row.get_by_text("failed")).to_be_visible()
    failed = next(candidate for candidate in day.list(status="failed") if candidate.type == "parcel")
    row.get_by_role("link", name="parcel").click()
    expect(page).to_have_url(f"{reader.url}/#/actions/{failed.id}")


def test_another_tenant_sees_none_of_its_data(reader_of, cloud):
    page = reader_of(cloud.url, **signed_in("gus", "globex", "members")).go()
    expect(page.locator(".standing")).to_contain_text("All on time")
    expect(page.locator(".standing")).to_contain_text("Judged by the actions of your own")
    expect(card(page, "Failed today").locator(".figure")).to_have_text("0")
    expect(card(page, "Undelivered")).to_have_count(0)
    expect(page.get_by_text("Nothing is due within the coming 24 hours")).to_be_visible()
    expect(page.get_by_text("Nothing ran lately")).to_be_visible()


def test_a_viewer_sees_the_same_of_the_tenants_own(reader_of, cloud):
    page = reader_of(cloud.url, **signed_in("eve", groups="viewers")).go()
    expect(part(page, "The coming 24 hours").get_by_role("link", name="Evening parcels")).to_be_visible()
    expect(page.get_by_text("no driver for order a-2")).to_be_visible(timeout=SOON)
    expect(card(page, "Undelivered")).to_have_count(0)
    expect(card(page, "Jobs paused").locator(".figure")).to_have_text("0")


def test_a_user_without_roles_sees_the_reason(reader_of, cloud):
    page = reader_of(cloud.url, **signed_in("mia", groups="guests")).go()
    expect(page.locator(".standing")).to_contain_text("Your roles do not show whether all is on time")
    expect(page.get_by_role("region", name="At a glance")).to_have_count(0)


def test_a_global_switch_that_is_off_is_shown_first(reader, cloud):
    cloud.redeploy(enabled=False)
    try:
        expect(reader.go().locator(".standing")).to_contain_text("The global switch is off: nothing fires")
    finally:
        cloud.redeploy(enabled=True)


def test_an_overview_without_a_response_shows_it_and_retries(reader):
    ill = {"title": "Ill", "status": 503, "detail": "DynamoDB does not answer"}
    reader.answer_read("/jobs/coming", lambda _: {"status": 503, "body": ill})
    coming = part(reader.go(), "The coming 24 hours")
    expect(coming.get_by_text("DynamoDB does not answer")).to_be_visible()
    reader.answer_reads_as_before()
    coming.get_by_role("button", name="Try again").click()
    expect(coming.get_by_role("link", name="Evening parcels")).to_be_visible()


def test_it_is_in_french(reader_of, cloud):
    page = reader_of(cloud.url, locale="fr-FR").go()
    expect(page.get_by_role("heading", level=1)).to_have_text("Vue d’ensemble")
    expect(page.locator(".standing")).to_contain_text("Tout est à l’heure")
    for title in ("Échecs du jour", "Les prochaines 24 heures", "Ce qui vient de se passer"):
        expect(page.get_by_role("heading", name=title)).to_be_visible()


def test_the_page_is_accessible_and_fits_a_phone(reader):
    shown(reader)
    assert flaws_in_either_scheme(reader) == []
    assert fits_a_phone(reader)
