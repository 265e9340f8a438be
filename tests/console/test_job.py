"""One job: its cadences and times, what became of each, its runs, and who sees it."""

import re

import pytest
from playwright.sync_api import expect

from duetime.errors import NotFound
from tests.console.browser import signed_in
from tests.console.jobs_of_acme import LOST, ONCE, WEEKLY, failed, opened, part
from tests.console.jobs_of_acme import job as job  # noqa: PLC0414 - fixtures
from tests.console.jobs_of_acme import jobs as jobs  # noqa: PLC0414
from tests.console.tenants import SOON, fits_a_phone, flaws_in_either_scheme


def test_it_shows_the_jobs_results(reader):
    page = failed(reader)
    expect(page.get_by_role("heading", level=1)).to_have_text("Lost parcels")
    expect(page.get_by_text(f"ConnectionError: no driver for order {LOST}").first).to_be_visible()
    expect(page.get_by_text("A notification goes out after 3 in a row.")).to_be_visible()
    expect(page.get_by_text("0 executed, 1 failed")).to_be_visible()
    expect(page.locator(".glance-card").filter(has_text="Next run")).to_contain_text(re.compile(r"in \d+"))


def test_it_shows_the_times_and_the_declaration(reader):
    page = reader.go(f"#/jobs/{LOST}")
    expect(part(page, "When it runs")).to_contain_text("every week on Monday at 08:00, Europe/Paris time")
    about = part(page, "About this job")
    for fact in ("a registration, by local", "parcel", "parcels", "do not run later", "to the second"):
        expect(about.get_by_role("definition").get_by_text(fact, exact=True)).to_be_visible()
    expect(about).to_contain_text('order: "acme-lost-parcel"')


def test_the_next_ten_times_are_listed_with_their_distance(reader):
    coming = part(reader.go(f"#/jobs/{LOST}"), "What comes next").get_by_role("listitem")
    expect(coming).to_have_count(10)
    expect(coming.first).to_contain_text("Europe/Paris")
    expect(coming.filter(has_text=WEEKLY).first).to_contain_text("08:00")


def test_results_are_counted_by_day_and_listed_singly(reader, jobs):
    page = reader.go(f"#/jobs/{ONCE}")
    expect(part(page, "Runs").get_by_text("✓ executed")).to_be_visible(timeout=SOON)
    page.get_by_title("Refresh").click()
    account = part(page, "What became of each time")
    today = account.locator(".cell[aria-current='date']")
    expect(today).to_contain_text("1 executed", timeout=SOON)
    expect(today).to_have_attribute("aria-pressed", "true")
    (run,) = jobs.history(ONCE)
    row = account.get_by_role("row").filter(has_text="executed")
    row.get_by_role("link", name=re.compile("^Open the run of")).click()
    expect(page).to_have_url(f"{reader.url}/#/actions/{run.id}")


def test_months_are_paged_through_and_the_way_back_is_one_click(reader):
    page = reader.go(f"#/jobs/{LOST}?day=2030-05-15")
    account = part(page, "What became of each time")
    expect(account.get_by_role("group", name="May 2030")).to_be_visible()
    account.get_by_role("button", name="Next month").click()
    june = account.get_by_role("group", name="June 2030")
    expect(june.get_by_role("button", name=re.compile("Monday,? 3 June 2030: 2 to come"))).to_be_visible()
    account.get_by_role("button", name="Previous month").click()
    expect(account.get_by_role("group", name="May 2030")).to_be_visible()
    account.get_by_role("button", name="Today").click()
    expect(account.locator(".cell[aria-current='date']")).to_have_attribute("aria-pressed", "true")


def test_a_day_is_chosen_by_click_or_by_keys_and_is_in_the_address(reader):
    page = reader.go(f"#/jobs/{LOST}?day=2030-06-03")
    account = part(page, "What became of each time")
    account.get_by_role("button", name=re.compile("Tuesday,? 4 June 2030")).click()
    expect(page).to_have_url(re.compile("day=2030-06-04"))
    expect(account.get_by_role("region", name=re.compile("4 June 2030"))).to_contain_text("18:00")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    expect(account.get_by_role("button", name=re.compile("10 June 2030"))).to_be_focused()
    page.keyboard.press("Enter")
    expect(account.get_by_role("region", name=re.compile("10 June 2030"))).to_contain_text("08:00")
    expect(page).to_have_url(re.compile("day=2030-06-10"))


def test_a_frequent_job_is_shown_by_the_hours_of_a_day(reader):
    page = reader.go("#/jobs/shop-watch-ramp")
    account = part(page, "What became of each time")
    expect(account.get_by_text("This job runs too often")).to_be_visible()
    expect(account.get_by_role("region")).to_contain_text("executed", timeout=SOON)
    account.get_by_role("button", name="Previous day").click()
    account.get_by_role("button", name=re.compile("^05:00–06:00")).click()
    expect(page).to_have_url(re.compile("hour=05"))
    expect(account.get_by_role("button", name="Next day")).to_be_visible()


def test_planned_runs_are_shown_only_with_their_status_filter(reader):
    page = failed(reader)
    runs = part(page, "Runs")
    expect(runs.get_by_role("row").filter(has_text="by local")).to_contain_text("by hand")
    expect(runs.get_by_text("pending", exact=True)).to_have_count(1)  # the choice of it alone
    runs.get_by_label("Status").select_option("pending")
    expect(runs.get_by_text("○ pending").first).to_be_visible()
    expect(page).to_have_url(re.compile("status=pending"))
    runs.get_by_role("button", name="Show all").click()
    expect(runs.get_by_text("✕ failed")).to_be_visible()


def test_the_runs_of_a_frequent_job_begin_with_the_latest(reader):
    runs = part(reader.go("#/jobs/shop-watch-ramp"), "Runs")
    expect(runs.get_by_text("✓ executed").first).to_be_visible(timeout=SOON)


def test_runs_are_found_by_day(reader):
    runs = part(reader.go(f"#/jobs/{LOST}"), "Runs")
    runs.get_by_label("From").fill("2020-01-01")
    expect(runs.get_by_text("✕ failed")).to_be_visible(timeout=SOON)
    runs.get_by_label("Until").fill("2020-01-31")
    expect(runs.get_by_text("None of the runs that were looked at is like that")).to_be_visible()


def test_a_job_without_runs_is_reported(reader, job):
    page = reader.go(f"#/jobs/{job}")
    expect(page.get_by_text("It has not run yet")).to_be_visible()
    expect(page.get_by_text("No changes yet")).to_be_visible()


def test_a_viewer_sees_the_same_without_buttons(reader_of, cloud):
    page = reader_of(cloud.url, **signed_in("eve", groups="viewers")).go(f"#/jobs/{LOST}")
    expect(part(page, "Retries")).to_be_visible()
    for name in ("Run now", "Skip next", "Pause", "Unregister", "Change"):
        expect(page.get_by_role("button", name=re.compile(f"^{name}"))).to_have_count(0)


@pytest.mark.parametrize("name", [LOST, "shop-count-stock", "acme-never-was"])
def test_a_member_sees_no_job_of_another_tenant_or_from_code(reader_of, cloud, name):
    reader = reader_of(cloud.url, **signed_in("gus", "globex", "members"))
    reader.expected = ("404",)
    page = reader.go(f"#/jobs/{name}")
    expect(page.get_by_text("It is not there")).to_be_visible()
    expect(page.get_by_role("button", name="Run now")).to_have_count(0)
    with pytest.raises(NotFound, match="no job"):
        cloud.scheduler(tenant_id="globex").jobs.get(LOST)


def test_a_user_without_the_permission_sees_the_reason(reader_of, cloud):
    reader = reader_of(cloud.url, **signed_in("mia", groups="guests"))
    reader.expected = ("403",)
    page = reader.go(f"#/jobs/{LOST}")
    expect(page.get_by_text("Your roles do not allow this")).to_be_visible()


def test_the_hour_that_a_clock_change_skips_is_marked(reader):
    """In a calendar of March 2030 the clocks go forward on the 31st, and half past two does not exist."""
    account = part(reader.go("#/jobs/shop-count-stock?day=2030-03-31"), "What became of each time")
    expect(account.get_by_role("region")).to_contain_text(re.compile("03:30|does not exist that day|moved"))


def test_it_is_in_french(reader_of, cloud):
    page = reader_of(cloud.url, locale="fr-FR").go(f"#/jobs/{LOST}")
    for title in ("Quand elle s’exécute", "Ce qui vient", "Exécutions", "Nouvelles tentatives"):
        expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
    dialog = opened(page, "Mettre en pause", exact=True)
    expect(dialog.get_by_label("Motif")).to_be_visible()


def test_the_page_is_accessible_and_fits_a_phone(reader):
    page = failed(reader)
    page.wait_for_load_state("networkidle")
    assert flaws_in_either_scheme(reader) == []
    assert fits_a_phone(reader)
