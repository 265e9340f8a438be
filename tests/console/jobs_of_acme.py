"""Jobs of acme on the local cloud of a test, and the page of one of them."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from duetime.clock import SystemClock
from tests.console.tenants import EVENING, MONDAYS, SOON, register

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
