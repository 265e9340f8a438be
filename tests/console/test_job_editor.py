"""Jobs are registered, edited and rolled back in the console; a form shows what they would do."""

import re

import pytest
from playwright.sync_api import expect

from duetime.errors import NotFound
from tests.console.browser import flaws, scrolls_sideways
from tests.console.jobs_of_acme import job as job  # noqa: PLC0414 - fixtures
from tests.console.jobs_of_acme import jobs as jobs  # noqa: PLC0414
from tests.console.jobs_of_acme import part
from tests.console.tenants import SOON, flaws_in_either_scheme


def edited(reader, job):
    """The editor of a job, from the button on its page."""
    page = reader.go(f"#/jobs/{job}")
    page.get_by_role("link", name="Edit", exact=True).click()
    expect(page.get_by_role("heading", name=f"Edit {job}")).to_be_visible(timeout=SOON)
    expect(page.get_by_label("Cadences")).to_be_visible(timeout=SOON)  # the title is there before the job
    return page


def test_a_job_is_registered_after_a_preview_of_what_it_would_do(reader, jobs, job):
    page = reader.go("#/jobs")
    page.get_by_role("link", name="Register a job").click()
    page.get_by_label("Name", exact=True).fill("acme-typed-job")
    page.get_by_label("Payload type").fill(jobs.get(job).definition.type)
    page.get_by_label("Payload, as JSON").fill(jobs.get(job).definition.payload or "{}")
    page.get_by_label("Cadences").fill("daily 02:30 tz=Europe/Paris")
    shown = page.get_by_role("region", name="What this job would do")
    expect(shown).to_contain_text("every day at 02:30", timeout=SOON)
    expect(shown.get_by_text("Changes of the clocks")).to_be_visible()
    expect(shown.get_by_text(re.compile(r"Runs a day: 1; \$0.0\d+ a month"))).to_be_visible()
    assert flaws_in_either_scheme(reader) == []
    with pytest.raises(NotFound, match="no job"):
        jobs.get("acme-typed-job")
    page.get_by_role("button", name="Register", exact=True).click()
    expect(page.get_by_text("acme-typed-job is registered, as version 1.")).to_be_visible(timeout=SOON)
    assert jobs.get("acme-typed-job").definition.cadences == ("daily 02:30 tz=Europe/Paris",)


def test_a_cadence_that_cannot_be_read_is_shown_with_its_place(reader, job):
    page = edited(reader, job)
    reader.expected = ("400", "422")
    page.get_by_label("Cadences").fill("dayly 02:30 tz=Europe/Paris")
    expect(page.get_by_text("This cannot be read").first).to_be_visible(timeout=SOON)


def test_an_edit_shows_what_changes_and_can_be_rolled_back(reader, jobs, job):
    before = jobs.get(job).definition.cadences
    page = edited(reader, job)
    page.get_by_label("Cadences").fill("daily 05:00 tz=UTC")
    shown = page.get_by_role("region", name="What this job would do")
    expect(shown.get_by_text("A new version 2 begins")).to_be_visible(timeout=SOON)
    expect(shown.locator("ins")).to_have_text("daily 05:00 tz=UTC")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text(f"{job} is registered, as version 2.")).to_be_visible(timeout=SOON)
    versions = part(page, "Versions")
    expect(versions.get_by_text("in force")).to_be_visible(timeout=SOON)
    versions.get_by_role("button", name="Roll back to version 1").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("del")).to_have_text("daily 05:00 tz=UTC", timeout=SOON)
    assert flaws_in_either_scheme(reader) == []
    dialog.get_by_role("button", name="Roll back", exact=True).click()
    expect(page.get_by_text(f"{job} has the definition of version 1 again.")).to_be_visible(timeout=SOON)
    assert (jobs.get(job).version, jobs.get(job).definition.cadences) == (3, before)


def test_an_edit_of_a_job_that_changed_meanwhile_is_refused(reader, jobs, job):
    page = edited(reader, job)
    jobs.pause(job, reason="meanwhile")
    reader.expected = ("412",)
    page.get_by_label("Title").fill("Late")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert").first).to_be_visible(timeout=SOON)
    assert jobs.get(job).definition.title != "Late"


def test_a_number_that_is_none_is_marked_at_its_field(reader, job):
    page = edited(reader, job)
    page.get_by_label("Missed runs that run later").fill("many")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_label("Missed runs that run later")).to_have_attribute("aria-invalid", "true")
    assert flaws_in_either_scheme(reader) == []


def test_a_job_of_code_is_changed_by_a_deploy(reader):
    page = reader.go("#/jobs/shop-count-stock")
    expect(part(page, "Versions").get_by_text("a deploy changes it")).to_be_visible(timeout=SOON)
    expect(page.get_by_role("link", name="Edit", exact=True)).to_have_count(0)


@pytest.mark.parametrize("path", ["#/job-editor", "#/job-editor?job=JOB"])
def test_the_editor_fits_a_narrow_page(reader, job, path):
    page = reader.go(path.replace("JOB", job))
    page.set_viewport_size({"width": 320, "height": 800})
    expect(page.get_by_label("Cadences")).to_be_visible(timeout=SOON)
    page.get_by_text("Retries, deadlines and texts").click()
    assert not scrolls_sideways(page)
    assert flaws(page) == []
