"""A job's past days are chosen, previewed and run on its page; their progress is shown and changed."""

import re
from datetime import timedelta

from playwright.sync_api import expect

from duetime.clock import SystemClock
from tests.console.jobs_of_acme import job as job  # noqa: PLC0414 - fixtures
from tests.console.jobs_of_acme import jobs as jobs  # noqa: PLC0414
from tests.console.jobs_of_acme import opened, part
from tests.console.tenants import SOON, flaws_in_either_scheme


def day(ago):
    return f"{SystemClock().now() - timedelta(days=ago):%Y-%m-%d}"


def test_past_days_are_previewed_and_run(reader, jobs, job):
    page = reader.go(f"#/jobs/{job}")
    dialog = opened(page, "Backfill", exact=True)
    dialog.get_by_label("First day").fill(day(4))
    dialog.get_by_label("Last day").fill(day(2))
    expect(dialog.get_by_text(re.compile(r"^\d times run"))).to_be_visible(timeout=SOON)
    assert flaws_in_either_scheme(reader) == []
    dialog.get_by_role("button", name="Run them").click()
    expect(page.get_by_text(re.compile(r"^A backfill of \d times has begun"))).to_be_visible(timeout=SOON)
    (backfill,) = jobs.backfills(job)
    assert backfill.total in {3, 4}
    shown = part(page, "Backfills")
    expect(shown.get_by_text("completed")).to_be_visible(timeout=SOON)
    assert flaws_in_either_scheme(reader) == []
    dialog = opened(page, "Backfill", exact=True)
    dialog.get_by_label("First day").fill(day(4))
    dialog.get_by_label("Last day").fill(day(2))
    expect(dialog.get_by_text(f"{backfill.total} already ran, and are left out")).to_be_visible(timeout=SOON)


def test_a_range_without_times_is_refused_with_what_is_right(reader, jobs, job):
    reader.expected = ("422",)
    page = reader.go(f"#/jobs/{job}")
    dialog = opened(page, "Backfill", exact=True)
    dialog.get_by_label("First day").fill("1990-01-01")
    dialog.get_by_label("Last day").fill(day(1))
    expect(dialog.get_by_text("has more than 10,000 nominal times")).to_be_visible(timeout=SOON)
    dialog.get_by_role("button", name="Run them").click()
    expect(dialog.get_by_role("alert")).to_contain_text("10,000")
    assert jobs.backfills(job) == []


def test_days_are_chosen_on_the_calendar_with_the_keyboard(reader, jobs, job):
    page = reader.go(f"#/jobs/{job}")
    dialog = opened(page, "Backfill", exact=True)
    dialog.get_by_label("First day").fill(day(1))
    dialog.get_by_role("button", name="Previous month").click()
    cells = dialog.locator(".cells .cell")
    cells.nth(9).click()
    expect(dialog.get_by_text("Choose the last day.")).to_be_visible()
    cells.nth(9).press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(dialog.locator(".cell[aria-pressed='true']")).to_have_count(3)
    first = dialog.get_by_label("First day").input_value()
    last = dialog.get_by_label("Last day").input_value()
    assert (first[-2:], last[-2:]) == ("10", "12")
    expect(dialog.get_by_text(re.compile(r"^\d times run"))).to_be_visible(timeout=SOON)
    assert flaws_in_either_scheme(reader) == []
