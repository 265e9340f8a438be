"""What may be done to a job on its page, and that it can be undone."""

import re

import pytest
from playwright.sync_api import expect

from duetime.errors import NotFound
from tests.console.browser import signed_in
from tests.console.jobs_of_acme import DAILY, LOST, WEEKLY, opened, part, undo
from tests.console.jobs_of_acme import job as job  # noqa: PLC0414 - fixtures
from tests.console.jobs_of_acme import jobs as jobs  # noqa: PLC0414
from tests.console.tenants import flaws_in_either_scheme


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
    run = next(candidate for candidate in jobs.history(job) if candidate.trigger == "manual")
    assert '"another"' in cloud.scheduler(tenant_id="acme").get(run.id).payload


def test_the_next_run_is_skipped_after_a_confirmation_that_names_it(reader, jobs, job):
    page = reader.go(f"#/jobs/{job}")
    dialog = opened(page, "Skip next")
    expect(dialog).to_contain_text("Runs after it")
    expect(dialog).to_contain_text("This cannot be undone")
    assert flaws_in_either_scheme(reader) == []
    dialog.get_by_role("button", name="Skip it").click()
    expect(page.get_by_text(re.compile("^The run of .* is skipped"))).to_be_visible()
    assert any(candidate.skip_reason == "requested" for candidate in jobs.history(job))
    expect(part(page, "What comes next").get_by_text("will not run").first).to_be_visible()


def test_it_is_paused_and_resumed_and_either_can_be_undone(reader, jobs, job):
    page = reader.go(f"#/jobs/{job}")
    dialog = opened(page, "Pause", exact=True)
    expect(dialog).to_contain_text("What falls due meanwhile is skipped, and does not run later")
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


def test_one_cadence_is_paused_and_the_other_continues(reader, jobs, job):
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


def test_retries_of_a_cadence_apply_only_to_it(reader, jobs, job):
    page = reader.go(f"#/jobs/{job}")
    dialog = opened(page, f"Change the retries of {DAILY}")
    dialog.get_by_label("Jitter").fill("0.5")
    dialog.get_by_role("button", name="Save").click()
    expect(part(page, "Retries").get_by_text("0.5", exact=True)).to_be_visible()
    assert jobs.get(job).tuning[DAILY].jitter == 0.5


def test_a_concurrent_change_of_retries_is_not_overwritten(reader, jobs, job):
    reader.expected = ("412",)
    page = reader.go(f"#/jobs/{job}")
    dialog = opened(page, "Change the retries of the whole job")
    jobs.set(job, attempts=7)
    dialog.get_by_label("Runs in all").fill("2")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_text("It has changed since you opened this").first).to_be_visible()
    assert jobs.get(job).tuning[""].attempts == 7


def test_a_registration_is_removed_after_a_confirmation_that_explains_it(reader, jobs, job):
    reader.expected = ("404",)
    page = reader.go(f"#/jobs/{job}")
    dialog = opened(page, "Unregister")
    expect(dialog).to_contain_text("It runs no more, and what is planned is skipped")
    assert flaws_in_either_scheme(reader) == []
    dialog.get_by_role("button", name="Unregister").click()
    expect(page.get_by_text(f"{job} is unregistered. Its history is kept.")).to_be_visible()
    with pytest.raises(NotFound, match="no job"):
        jobs.get(job)
    expect(page.get_by_text("The job was removed", exact=True)).to_be_visible()
    expect(part(page, "Runs").get_by_label("Status")).to_be_visible()
    expect(page.get_by_role("button", name="Run now")).to_have_count(0)


def test_changes_are_listed_with_their_actor_and_result(reader, job):
    page = reader.go(f"#/jobs/{job}")
    dialog = opened(page, "Pause", exact=True)
    dialog.get_by_label("Reason").fill("no vans")
    dialog.get_by_role("button", name="Pause", exact=True).click()
    row = part(page, "Who changed it").get_by_role("row").filter(has_text="no vans")
    expect(row).to_contain_text("developer@localhost")
    expect(row).to_contain_text("done")


def test_a_member_changes_it_and_does_not_see_the_actors(reader_of, cloud):
    page = reader_of(cloud.url, **signed_in("mel", groups="members")).go(f"#/jobs/{LOST}")
    expect(page.get_by_role("button", name="Run now")).to_be_visible()
    expect(part(page, "Retries")).to_be_visible()
    expect(part(page, "Who changed it")).to_have_count(0)
