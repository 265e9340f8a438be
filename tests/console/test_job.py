"""One job: its cadences and times, what became of each, its runs, what may be done to it, and who did it."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from duetime.clock import SystemClock
from duetime.errors import JobNotFound
from tests.console.browser import signed_in
from tests.console.tenants import EVENING, MONDAYS, SOON, fits_a_phone, flaws_in_either_scheme, register

DAILY, WEEKLY = "Daily_18_00_Europe_Paris", "Weekly_mon_08_00_Europe_Paris"
LOST, ONCE = "acme-lost-parcel", "acme-only-parcel"


@pytest.fixture(scope="module", autouse=True)
def jobs(cloud):
    """The jobs of acme; one of them fails whenever it is triggered, and was."""
    jobs = cloud.scheduler(tenant_id="acme").jobs
    register(
        cloud, LOST, EVENING, MONDAYS, fails=9, title="Lost parcels", category="parcels", description="Away."
    )
    jobs.trigger(LOST)
    soon = SystemClock().now() + timedelta(seconds=3)
    register(cloud, ONCE, f"once {soon:%Y-%m-%dT%H:%M:%S} tz=UTC")
    return jobs


@pytest.fixture
def job(cloud, jobs, request):
    """A job of acme's for one test alone, with two cadences."""
    name = "acme-" + re.sub("[^a-z]+", "-", request.node.name.removeprefix("test_").lower())[:40].strip("-")
    register(cloud, name, EVENING, MONDAYS, replace=True)
    return name


def part(page, title):
    return page.locator("section.part").filter(has=page.get_by_role("heading", name=title, exact=True))


def failed(reader):
    """The job that fails, once its failure is shown."""
    page = reader.go(f"#/jobs/{LOST}")
    expect(page.get_by_text("The last run has failed. Its error:")).to_be_visible(timeout=SOON)
    return page


def opened(page, button, **exactly):
    """The dialog that a button opens."""
    page.get_by_role("button", name=button, **exactly).click()
    return page.get_by_role("dialog")


def undo(page):
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_text("Undone.")).to_be_visible()


def test_it_tells_how_the_job_fares(reader):
    page = failed(reader)
    expect(page.get_by_role("heading", level=1)).to_have_text("Lost parcels")
    expect(page.get_by_text(f"ConnectionError: no driver for order {LOST}").first).to_be_visible()
    expect(page.get_by_text("Somebody is told after 3 in a row.")).to_be_visible()
    expect(page.get_by_text("0 executed, 1 failed")).to_be_visible()
    expect(page.locator(".glance-card").filter(has_text="Next run")).to_contain_text(re.compile(r"in \d+"))


def test_it_tells_when_it_runs_and_what_was_declared(reader):
    page = reader.go(f"#/jobs/{LOST}")
    expect(part(page, "When it runs")).to_contain_text("every week on Monday at 08:00, Europe/Paris time")
    about = part(page, "About this job")
    for fact in ("a registration, by local", "parcel", "parcels", "are not made up for", "to the second"):
        expect(about.get_by_role("definition").get_by_text(fact, exact=True)).to_be_visible()
    expect(about).to_contain_text('order: "acme-lost-parcel"')


def test_the_next_ten_times_are_told_with_how_far_they_are(reader):
    coming = part(reader.go(f"#/jobs/{LOST}"), "What comes next").get_by_role("listitem")
    expect(coming).to_have_count(10)
    expect(coming.first).to_contain_text("Europe/Paris")
    expect(coming.filter(has_text=WEEKLY).first).to_contain_text("08:00")


def test_what_became_of_each_time_is_counted_by_day_and_told_one_by_one(reader, jobs):
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


def test_a_job_that_runs_too_often_is_told_by_the_hours_of_a_day(reader):
    page = reader.go("#/jobs/shop-watch-ramp")
    account = part(page, "What became of each time")
    expect(account.get_by_text("This job runs too often")).to_be_visible()
    expect(account.get_by_role("region")).to_contain_text("executed", timeout=SOON)
    account.get_by_role("button", name="Previous day").click()
    account.get_by_role("button", name=re.compile("^05:00–06:00")).click()
    expect(page).to_have_url(re.compile("hour=05"))
    expect(account.get_by_role("button", name="Next day")).to_be_visible()


def test_runs_are_those_that_were_due_and_with_their_status_the_planned_ones(reader):
    page = failed(reader)
    runs = part(page, "Runs")
    expect(runs.get_by_role("row").filter(has_text="by local")).to_contain_text("by hand")
    expect(runs.get_by_text("pending", exact=True)).to_have_count(1)  # the choice of it alone
    runs.get_by_label("Status").select_option("pending")
    expect(runs.get_by_text("○ pending").first).to_be_visible()
    expect(page).to_have_url(re.compile("status=pending"))
    runs.get_by_role("button", name="Show all").click()
    expect(runs.get_by_text("✕ failed")).to_be_visible()


def test_runs_of_a_job_that_runs_often_begin_with_what_ran(reader):
    runs = part(reader.go("#/jobs/shop-watch-ramp"), "Runs")
    expect(runs.get_by_text("✓ executed").first).to_be_visible(timeout=SOON)


def test_runs_are_found_by_day(reader):
    runs = part(reader.go(f"#/jobs/{LOST}"), "Runs")
    runs.get_by_label("From").fill("2020-01-01")
    expect(runs.get_by_text("✕ failed")).to_be_visible(timeout=SOON)
    runs.get_by_label("Until").fill("2020-01-31")
    expect(runs.get_by_text("None of the runs that were looked at is like that")).to_be_visible()


def test_a_job_that_never_ran_says_so(reader, job):
    page = reader.go(f"#/jobs/{job}")
    expect(page.get_by_text("It has not run yet")).to_be_visible()
    expect(page.get_by_text("Nobody has changed it yet")).to_be_visible()


def test_it_is_run_with_its_own_payload_or_another_one(reader, cloud, jobs, job):
    page = reader.go(f"#/jobs/{job}")
    dialog = opened(page, "Run now")
    expect(dialog).to_contain_text("One run begins at once, paused or not, beside its times")
    assert flaws_in_either_scheme(reader) == []
    field = dialog.get_by_label("Payload, as JSON")
    for text, problem in {"{": "This is no JSON", "[1]": "A payload is an object, in braces"}.items():
        field.fill(text)
        dialog.get_by_role("button", name="Run it").click()
        expect(dialog.get_by_text(problem).first).to_be_visible()
    field.fill('{"order": "another"}')
    dialog.get_by_role("button", name="Run it").click()
    expect(page.get_by_text(f"A run of {job} is on its way.")).to_be_visible()
    run = next(each for each in jobs.history(job) if each.trigger == "manual")
    assert '"another"' in cloud.scheduler(tenant_id="acme").get(run.id).payload


def test_the_next_run_is_skipped_after_it_was_told_which(reader, jobs, job):
    page = reader.go(f"#/jobs/{job}")
    dialog = opened(page, "Skip next")
    expect(dialog).to_contain_text("Runs after it")
    expect(dialog).to_contain_text("This cannot be undone")
    assert flaws_in_either_scheme(reader) == []
    dialog.get_by_role("button", name="Skip it").click()
    expect(page.get_by_text(re.compile("^The run of .* is skipped"))).to_be_visible()
    assert any(each.skip_reason == "asked" for each in jobs.history(job))
    expect(part(page, "What comes next").get_by_text("will not run").first).to_be_visible()


def test_it_is_paused_and_resumed_and_either_can_be_undone(reader, jobs, job):
    page = reader.go(f"#/jobs/{job}")
    dialog = opened(page, "Pause", exact=True)
    expect(dialog).to_contain_text("What falls due meanwhile is skipped, and not made up for")
    assert flaws_in_either_scheme(reader) == []
    dialog.get_by_label("Reason").fill("no vans")
    dialog.get_by_label("Ends by itself at").fill("2099-01-31T12:00")
    dialog.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_text(re.compile("^Paused by|Paused by developer@localhost")).first).to_be_visible()
    expect(page.get_by_text("no vans").first).to_be_visible()
    (paused,) = jobs.get(job).pauses.values()
    assert paused.reason == "no vans"
    assert paused.until.isoformat() == "2099-01-31T11:00:00+00:00"
    expect(page.get_by_role("button", name="Skip next")).to_have_count(0)
    page.get_by_role("button", name="Resume", exact=True).click()
    expect(page.get_by_text(f"{job} runs again.")).to_be_visible()
    assert not jobs.get(job).pauses
    page.get_by_role("button", name="Undo", exact=True).last.click()
    expect(page.get_by_text("Undone.")).to_be_visible()
    (paused,) = jobs.get(job).pauses.values()
    assert paused.reason == "no vans"


def test_one_of_its_cadences_is_paused_and_the_other_goes_on(reader, jobs, job):
    page = reader.go(f"#/jobs/{job}")
    dialog = opened(page, f"Pause {WEEKLY}")
    expect(dialog).to_contain_text("The job's other cadences go on")
    dialog.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_role("button", name=f"Resume {WEEKLY}")).to_be_visible()
    assert list(jobs.get(job).pauses) == [WEEKLY]
    silent = part(page, "What comes next").get_by_role("listitem").filter(has_text="will not run")
    expect(silent.first).to_contain_text(WEEKLY)
    undo(page)
    assert not jobs.get(job).pauses


def test_retries_are_set_and_that_can_be_undone(reader, jobs, job):
    page = reader.go(f"#/jobs/{job}")
    dialog = opened(page, "Change the retries of the whole job")
    assert flaws_in_either_scheme(reader) == []
    dialog.get_by_label("Runs in all").fill("many")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_text("This is no number: many").first).to_be_visible()
    dialog.get_by_label("Runs in all").fill("5")
    dialog.get_by_label("Wait before each further run").fill("30, 300")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text(f"The retries of {job} are set.")).to_be_visible()
    tuning = jobs.get(job).tuning[""]
    assert (tuning.attempts, tuning.backoff) == (5, (30, 300))
    expect(part(page, "Retries").get_by_text("30s, 5 mins", exact=True)).to_be_visible()
    undo(page)
    expect(part(page, "Retries").get_by_text("set by operators")).to_have_count(0)


def test_retries_of_one_cadence_are_its_own(reader, jobs, job):
    page = reader.go(f"#/jobs/{job}")
    dialog = opened(page, f"Change the retries of {DAILY}")
    dialog.get_by_label("Jitter").fill("0.5")
    dialog.get_by_role("button", name="Save").click()
    expect(part(page, "Retries").get_by_text("0.5", exact=True)).to_be_visible()
    assert jobs.get(job).tuning[DAILY].jitter == 0.5


def test_retries_that_somebody_else_has_set_meanwhile_are_not_written_over(reader, jobs, job):
    reader.expected = ("412",)
    page = reader.go(f"#/jobs/{job}")
    dialog = opened(page, "Change the retries of the whole job")
    jobs.set(job, attempts=7)
    dialog.get_by_label("Runs in all").fill("2")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_text("Somebody has changed it since this was opened").first).to_be_visible()
    assert jobs.get(job).tuning[""].attempts == 7


def test_a_registration_is_taken_back_after_it_was_told_what_that_means(reader, jobs, job):
    reader.expected = ("404",)
    page = reader.go(f"#/jobs/{job}")
    dialog = opened(page, "Unregister")
    expect(dialog).to_contain_text("It runs no more, and what is planned is skipped")
    assert flaws_in_either_scheme(reader) == []
    dialog.get_by_role("button", name="Unregister").click()
    expect(page.get_by_text(f"{job} is unregistered. Its history is kept.")).to_be_visible()
    with pytest.raises(JobNotFound):
        jobs.get(job)
    expect(page.get_by_text("The job was taken back")).to_be_visible()
    expect(part(page, "Runs").get_by_label("Status")).to_be_visible()
    expect(page.get_by_role("button", name="Run now")).to_have_count(0)


def test_who_changed_it_is_told_with_what_came_of_it(reader, job):
    page = reader.go(f"#/jobs/{job}")
    dialog = opened(page, "Pause", exact=True)
    dialog.get_by_label("Reason").fill("no vans")
    dialog.get_by_role("button", name="Pause", exact=True).click()
    row = part(page, "Who changed it").get_by_role("row").filter(has_text="no vans")
    expect(row).to_contain_text("developer@localhost")
    expect(row).to_contain_text("done")


def test_a_member_may_change_it_and_does_not_see_who_did(reader_of, cloud):
    page = reader_of(cloud.url, **signed_in("mel", groups="members")).go(f"#/jobs/{LOST}")
    expect(page.get_by_role("button", name="Run now")).to_be_visible()
    expect(part(page, "Retries")).to_be_visible()
    expect(part(page, "Who changed it")).to_have_count(0)


def test_who_may_only_look_sees_the_same_without_buttons(reader_of, cloud):
    page = reader_of(cloud.url, **signed_in("eve", groups="viewers")).go(f"#/jobs/{LOST}")
    expect(part(page, "Retries")).to_be_visible()
    for name in ("Run now", "Skip next", "Pause", "Unregister", "Change"):
        expect(page.get_by_role("button", name=re.compile(f"^{name}"))).to_have_count(0)


@pytest.mark.parametrize("name", [LOST, "shop-count-stock", "acme-never-was"])
def test_another_tenants_job_codes_job_and_none_are_not_there_for_a_member(reader_of, cloud, name):
    reader = reader_of(cloud.url, **signed_in("gus", "globex", "members"))
    reader.expected = ("404",)
    page = reader.go(f"#/jobs/{name}")
    expect(page.get_by_text("It is not there")).to_be_visible()
    expect(page.get_by_role("button", name="Run now")).to_have_count(0)
    with pytest.raises(JobNotFound):
        cloud.scheduler(tenant_id="globex").jobs.get(LOST)


def test_whose_roles_do_not_allow_it_is_told_so(reader_of, cloud):
    reader = reader_of(cloud.url, **signed_in("mia", groups="guests"))
    reader.expected = ("403",)
    page = reader.go(f"#/jobs/{LOST}")
    expect(page.get_by_text("Your roles do not allow this")).to_be_visible()


def test_the_hour_that_the_clocks_leave_out_is_told_where_it_comes(reader):
    """In a calendar of March 2030 the clocks go forward on the 31st, and half past two does not exist."""
    account = part(reader.go("#/jobs/shop-count-stock?day=2030-03-31"), "What became of each time")
    expect(account.get_by_role("region")).to_contain_text(re.compile("03:30|does not exist that day|moved"))


def test_it_is_in_french(reader_of, cloud):
    page = reader_of(cloud.url, locale="fr-FR").go(f"#/jobs/{LOST}")
    for title in ("Quand elle s’exécute", "Ce qui vient", "Exécutions", "Nouvelles tentatives"):
        expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
    dialog = opened(page, "Mettre en pause", exact=True)
    expect(dialog.get_by_label("Motif")).to_be_visible()


def test_nothing_is_wrong_with_it_for_screen_readers_and_it_fits_a_phone(reader):
    page = failed(reader)
    page.wait_for_load_state("networkidle")
    assert flaws_in_either_scheme(reader) == []
    assert fits_a_phone(reader)
