"""Operators see the last recount, and what it found."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from duetime import App, Run, daily
from duetime.clock import SystemClock
from duetime.local import LocalCloud, LocalOptions
from duetime.model.recount import BOOKMARK, REPORT, Finding, RecountProblem, RecountReport
from tests.console.browser import flaws, scrolls_sideways
from tests.console.tenants import ports_of

app = App()
ONE_SHOT = "0199c1d2-0000-7000-8000-000000000003"
NIGHT = datetime(2026, 3, 1, 1, tzinfo=UTC)
CLEAN = RecountReport(
    began_at=NIGHT,
    ended_at=NIGHT,
    since=NIGHT - timedelta(days=2),
    until=NIGHT - timedelta(hours=1),
    jobs=3,
    left_out=1,
    times={"executed": 40, "missed": 2},
)


@app.job(daily("03:00"), name="books-close")
def close(run: Run) -> None:
    """Close the books."""


@pytest.fixture(scope="module")
def cloud():
    """A cloud whose first catch-up has recounted, so that no recount replaces what a test stores."""
    with LocalCloud(app, LocalOptions()) as started:
        jobs, clock = started.scheduler().jobs, SystemClock()
        while not jobs.history("duetime-recount").actions:
            clock.wait_until(clock.now() + timedelta(seconds=0.1))
        yield started


@pytest.fixture
def store(cloud):
    bookmarks = ports_of(cloud).bookmarks

    def store(report=None):
        bookmarks.write(BOOKMARK, {} if report is None else {REPORT: report.to_json()})

    return store


def test_before_the_first_recount_the_page_leads_to_its_job(reader, store):
    store()
    page = reader.go("#/recount")
    expect(page.get_by_text("No recount has ended yet")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="duetime-recount").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Recount")


def test_a_clean_recount_has_its_counts(reader, store):
    store(CLEAN)
    page = reader.go("#/recount")
    expect(page.get_by_text("40 executed, 2 missed")).to_be_visible()
    expect(page.get_by_text("3 (1 of paused tenants left out)")).to_be_visible()
    expect(page.get_by_text("Nothing was found")).to_be_visible()
    assert flaws(page) == []


def test_findings_are_listed_and_lead_to_their_job_or_action(reader, store):
    found = [
        Finding(problem=RecountProblem.NO_ROW, tenant_id="system", job="books-close", version=2, at=NIGHT),
        Finding(
            problem=RecountProblem.NO_END,
            tenant_id="acme",
            at=NIGHT,
            action_id=ONE_SHOT,
        ),
    ]
    store(replace(CLEAN.plus(found, {}), found=7))
    page = reader.go("#/recount")
    expect(page.get_by_role("heading", name="7 findings")).to_be_visible()
    expect(page.get_by_text("The first 2 are listed.")).to_be_visible()
    rows = page.get_by_role("row")
    expect(rows.nth(1)).to_contain_text("of system")
    expect(rows.nth(1)).to_contain_text("It has neither a row nor a reason")
    expect(rows.nth(2).get_by_role("link")).to_have_attribute("href", f"#/actions/{ONE_SHOT}")
    assert flaws(page) == []
    assert not scrolls_sideways(page)
    rows.nth(1).get_by_role("link", name="books-close").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("books-close")
