"""The list of jobs.

When they run, how they fared, what is found in it, and the two things that are done to them most.
"""

import re

import pytest
from playwright.sync_api import expect

from tests.console.browser import ZONE, signed_in
from tests.console.tenants import EVENING, MONDAYS, SOON, fits_a_phone, flaws_in_either_scheme, register

PARCELS, WEEKLY = "acme-evening-parcel", "Weekly_mon_08_00_Europe_Paris"


@pytest.fixture(scope="module", autouse=True)
def jobs(cloud):
    """Jobs of acme's beside those of the shop; one of them has failed, and one has not run yet."""
    register(cloud, PARCELS, EVENING, MONDAYS, title="Evening parcels", category="parcels")
    register(cloud, "acme-lost-parcel", fails=9, title="Lost parcels", category="parcels")
    jobs = cloud.scheduler(tenant_id="acme").jobs
    jobs.trigger("acme-lost-parcel")
    return jobs


@pytest.fixture
def job(cloud, jobs, request):
    """A job of acme's for one test alone, by the name that people call it."""
    name = re.sub("[^a-z]+", "-", request.node.name.removeprefix("test_").lower())[:40].strip("-")
    register(cloud, f"acme-{name}", EVENING, title=f"Of {name}")
    yield jobs.get(f"acme-{name}")
    jobs.unregister(f"acme-{name}")


def row(page, title):
    return page.get_by_role("row").filter(has=page.get_by_role("link", name=title, exact=True))


def switch(page, job):
    return page.get_by_role("switch", name=f"{job.definition.title} is active", exact=True)


def pause(page, job, why="", until=""):
    """Pause it by its switch; the dialog is closed once it is."""
    switch(page, job).click()
    dialog = page.get_by_role("dialog", name=f"Pause {job.definition.title}?")
    dialog.get_by_label("Why").fill(why)
    dialog.get_by_label("Until").fill(until)
    dialog.get_by_role("button", name="Pause it").click()
    expect(dialog).to_have_count(0)


def test_a_job_shows_its_times_and_results(reader):
    page = reader.go("#/jobs")
    evening = row(page, "Evening parcels")
    expect(evening).to_contain_text("every day at 18:00")
    expect(evening).to_contain_text("every week on Monday at 08:00")
    expect(evening).to_contain_text(re.compile(r"in \d+ (day|hr|min|sec)"))
    expect(evening).to_contain_text("no run yet")
    ramp = row(page, "Watch the ramp")
    expect(ramp.get_by_text("✓ executed")).to_be_visible(timeout=SOON)
    expect(ramp.get_by_role("img")).to_have_attribute(
        "aria-label", re.compile("^Last runs of Watch the ramp")
    )
    lost = row(page, "Lost parcels")
    expect(lost.get_by_text("✕ failed")).to_be_visible(timeout=SOON)
    expect(lost).to_contain_text("only when it is triggered")


def test_a_job_with_more_runs_than_there_are_bars_shows_the_counts_of_the_hour(reader):
    """The API counts them; the twenty bars of single runs would show less than a minute."""

    def counted(item):
        ramp = {"kind": "job", "name": "shop-watch-ramp", "tenant_id": "system", "executed": 897, "failed": 3}
        minutes = {"by_minute": [15] * 60, "failed_by_minute": [0] * 59 + [3]}
        ended = {"cancelled": 0, "skipped": 0, "retried": 0}
        names = [ramp | minutes | ended]
        return item | {"body": item["body"] | {"names": names, "is_counted": True}}

    page = reader.page
    reader.answer_read("/summary", counted)
    reader.go("#/jobs")
    ramp = row(page, "Watch the ramp")
    expect(ramp).to_contain_text("900 runs within the hour")
    expect(ramp.get_by_role("img")).to_have_attribute(
        "aria-label", "Last runs of Watch the ramp, the last hour: 900 runs ended, 3 failed"
    )
    expect(ramp.locator(".spark .is-executed rect")).to_have_count(20)
    expect(ramp.locator(".spark .cross")).to_have_count(1)
    expect(row(page, "Evening parcels").get_by_role("img")).to_have_attribute(
        "aria-label", re.compile("no run yet")
    )


def test_jobs_are_grouped_by_category_and_system_jobs_come_last(reader):
    page = reader.go("#/jobs")
    groups = page.get_by_role("rowheader")
    expect(groups.first).to_have_text(re.compile("^parcels"))
    expect(groups.last).to_have_text("duetime's own 3 jobs")


def test_a_tenants_own_job_is_marked_and_a_job_from_code_is_not(reader):
    page = reader.go("#/jobs")
    expect(row(page, "Evening parcels").get_by_text("registered")).to_be_visible()
    expect(row(page, "Nightly count").locator(".chip")).to_have_count(0)


def test_its_name_links_to_the_job_and_its_outcome_to_the_run(reader, jobs):
    page = reader.go("#/jobs")
    row(page, "Lost parcels").get_by_role("link", name="failed").click(timeout=SOON)
    (run,) = jobs.history("acme-lost-parcel")
    expect(page).to_have_url(f"{reader.url}/#/actions/{run.id}")
    page.go_back()
    row(page, "Evening parcels").get_by_role("link", name="Evening parcels").click()
    expect(page).to_have_url(f"{reader.url}/#/jobs/{PARCELS}")


@pytest.mark.parametrize("text", ["evening", PARCELS, "PARCELS"])
def test_the_search_finds_by_title_name_and_category(reader, text):
    page = reader.go("#/jobs")
    page.get_by_role("searchbox", name="Search").fill(text)
    expect(row(page, "Evening parcels")).to_be_visible()
    expect(row(page, "Nightly count")).to_have_count(0)
    page.reload()
    expect(page.get_by_role("searchbox", name="Search")).to_have_value(text)


def test_a_search_without_results_links_back_to_all(reader):
    page = reader.go("#/jobs?q=nowhere")
    expect(page.get_by_text("No job meets the search and the filter")).to_be_visible()
    page.get_by_role("link", name="Show all jobs").click()
    expect(row(page, "Nightly count")).to_be_visible()


def test_a_filter_shows_only_failing_jobs(reader):
    page = reader.go("#/jobs")
    expect(row(page, "Lost parcels").get_by_text("✕ failed")).to_be_visible(timeout=SOON)
    page.get_by_role("combobox", name="Show").select_option("failing")
    expect(row(page, "Lost parcels")).to_be_visible()
    expect(row(page, "Evening parcels")).to_have_count(0)
    expect(page).to_have_url(f"{reader.url}/#/jobs?only=failing")


def test_a_filter_shows_only_jobs_with_a_paused_cadence(reader, jobs):
    jobs.pause(PARCELS, cadence=WEEKLY)
    page = reader.go("#/jobs?only=paused")
    expect(row(page, "Evening parcels").get_by_text("paused")).to_be_visible()
    expect(row(page, "Watch the ramp")).to_have_count(0)
    jobs.resume(PARCELS, cadence=WEEKLY)


def test_a_pause_is_explained_confirmed_and_can_be_undone(reader, jobs, job):
    page = reader.go("#/jobs")
    switch(page, job).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("what falls due meanwhile is recorded as skipped")
    assert flaws_in_either_scheme(reader) == []
    dialog.get_by_role("button", name="Go back").click()
    assert not jobs.get(job.name).pauses
    pause(page, job, "the van is broken")
    expect(page.get_by_text(f"{job.definition.title} is paused.")).to_be_visible()
    (paused,) = jobs.get(job.name).pauses.values()
    assert (paused.reason, paused.by, paused.until) == ("the van is broken", "developer@localhost", None)
    expect(row(page, job.definition.title)).to_contain_text(
        "Paused by developer@localhost · the van is broken"
    )
    expect(switch(page, job)).to_have_attribute("aria-checked", "false")
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_text("Undone.")).to_be_visible()
    assert not jobs.get(job.name).pauses


def test_a_pause_ends_at_the_given_time_in_the_readers_zone(reader, jobs, job):
    page = reader.go("#/jobs")
    switch(page, job).click()
    expect(page.get_by_role("dialog")).to_contain_text(f"Times in {ZONE}")
    page.get_by_role("button", name="Go back").click()
    pause(page, job, until="2099-01-31T12:00")
    expect(page.get_by_text(f"{job.definition.title} is paused until 31 Jan")).to_be_visible()
    (paused,) = jobs.get(job.name).pauses.values()
    assert paused.until.isoformat() == "2099-01-31T11:00:00+00:00"


def test_a_pause_that_would_have_ended_already_is_rejected_and_the_dialog_stays(reader, jobs, job):
    reader.expected = ("422",)
    page = reader.go("#/jobs")
    switch(page, job).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Until").fill("2020-01-01T12:00")
    dialog.get_by_role("button", name="Pause it").click()
    expect(page.get_by_text("a pause ends in the future").first).to_be_visible()
    expect(dialog).to_be_visible()
    assert not jobs.get(job.name).pauses


def test_resuming_is_one_click_and_its_undo_pauses_for_the_same_reason(reader, jobs, job):
    jobs.pause(job.name, reason="stocktaking")
    page = reader.go("#/jobs")
    switch(page, job).click()
    expect(page.get_by_text(f"{job.definition.title} is active again.")).to_be_visible()
    expect(switch(page, job)).to_have_attribute("aria-checked", "true")
    assert not jobs.get(job.name).pauses
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(switch(page, job)).to_have_attribute("aria-checked", "false")
    (paused,) = jobs.get(job.name).pauses.values()
    assert paused.reason == "stocktaking"


def test_a_pause_of_a_system_job_shows_its_effects(reader):
    page = reader.go("#/jobs")
    page.get_by_role("switch", name="Sweep is active").click()
    expect(page.get_by_role("dialog")).to_contain_text("what a lost wake or a dead worker left behind")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_job_is_triggered_at_once_and_the_page_links_to_the_run(reader, jobs, job):
    page = reader.go("#/jobs")
    page.get_by_role("button", name=f"Run now: {job.definition.title}").click()
    expect(page.get_by_text(f"{job.definition.title} runs now.")).to_be_visible()
    run = next(candidate for candidate in jobs.history(job.name) if candidate.trigger == "manual")
    assert run.created_by == "developer@localhost"
    page.get_by_role("link", name="See the run").click()
    expect(page).to_have_url(f"{reader.url}/#/actions/{run.id}")


def test_a_run_of_a_paused_job_needs_a_confirmation_and_leaves_it_paused(reader, jobs, job):
    jobs.pause(job.name)
    page = reader.go("#/jobs")
    page.get_by_role("button", name=f"Run now: {job.definition.title}").click()
    dialog = page.get_by_role("dialog", name=f"Run {job.definition.title} now?")
    expect(dialog).to_contain_text("It is paused. This one run goes ahead all the same, and the pause stays.")
    dialog.get_by_role("button", name="Run it now").click()
    expect(page.get_by_text(f"{job.definition.title} runs now.")).to_be_visible()
    assert any(candidate.trigger == "manual" for candidate in jobs.history(job.name))
    assert jobs.get(job.name).pauses


def test_a_member_sees_the_tenants_own_jobs_and_may_change_them(reader_of, cloud):
    page = reader_of(cloud.url, **signed_in("mel", groups="members")).go("#/jobs")
    expect(row(page, "Evening parcels").get_by_role("switch")).to_be_visible()
    expect(row(page, "Nightly count")).to_have_count(0)


def test_a_viewer_sees_the_same_without_buttons(reader_of, cloud):
    page = reader_of(cloud.url, **signed_in("eve", groups="viewers")).go("#/jobs")
    expect(row(page, "Evening parcels").get_by_text("active", exact=True)).to_be_visible()
    expect(page.get_by_role("switch")).to_have_count(0)
    expect(page.get_by_role("button", name=re.compile("^Run now"))).to_have_count(0)


def test_another_tenant_sees_no_jobs_and_how_to_register_one(reader_of, cloud):
    page = reader_of(cloud.url, **signed_in("gus", "globex", "members")).go("#/jobs")
    expect(page.get_by_text("There is no job yet")).to_be_visible()
    expect(page.get_by_text("Jobs are declared in code, or registered")).to_be_visible()
    expect(page.get_by_text("Evening parcels")).to_have_count(0)


def test_a_user_without_the_permission_sees_the_reason(reader_of, cloud):
    page = reader_of(cloud.url, **signed_in("mia", groups="guests")).go("#/jobs")
    expect(page.get_by_text("Your roles do not allow this")).to_be_visible()
    expect(page.get_by_text("mia@localhost of acme, with guests")).to_be_visible()


def test_it_is_in_french(reader_of, cloud):
    page = reader_of(cloud.url, locale="fr-FR").go("#/jobs")
    expect(page.get_by_role("columnheader", name="Prochaine exécution")).to_be_visible()
    page.get_by_role("switch", name="Evening parcels est active").click()
    dialog = page.get_by_role("dialog", name="Mettre Evening parcels en pause")
    expect(dialog.get_by_role("button", name="Mettre en pause")).to_be_visible()
    expect(dialog.get_by_label("Motif")).to_be_visible()


def test_the_page_is_accessible_and_fits_a_phone(reader):
    page = reader.go("#/jobs")
    expect(row(page, "Lost parcels").get_by_text("✕ failed")).to_be_visible(timeout=SOON)
    assert flaws_in_either_scheme(reader) == []
    assert fits_a_phone(reader)
