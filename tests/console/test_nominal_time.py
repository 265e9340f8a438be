"""An action shows its nominal time, what moved it, and what its lateness counts from."""

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from tests.console.listed_actions import row
from tests.console.shop import Parcel

AT_LAST = 60_000


@pytest.fixture(scope="module")
def retried(cloud):
    """Its first attempt fails; the second follows a second later."""
    return cloud.scheduler().schedule(Parcel(order="1", fails=1), at=timedelta(0), correlation_id="nominal:1")


def head(page):
    return page.locator(".head-facts")


def test_a_retried_action_shows_its_nominal_time_and_counts_from_it(reader, cloud, retried):
    page = reader.go(f"#/actions/{retried.id}")
    expect(head(page).locator(".badge")).to_contain_text("executed", timeout=AT_LAST)
    stored = cloud.scheduler().get(retried.id)
    late = stored.due_at - stored.nominal_at
    assert late >= timedelta(milliseconds=900)
    nominal = head(page).locator("div").filter(has_text="Nominal time").first
    stamps = [time.get_attribute("datetime") for time in nominal.locator("time").all()]
    assert [stamp[:23] for stamp in stamps] == [
        moment.isoformat(timespec="milliseconds")[:23] for moment in (stored.nominal_at, stored.due_at)
    ]
    expect(nominal).to_contain_text("last due, for attempt 2:")
    expect(nominal.get_by_title("The first attempt, from the nominal time")).to_be_visible()
    attempts = page.locator("li.stop").filter(has_text="Attempt 2")
    expect(attempts).to_contain_text("due again")


def test_the_list_has_the_nominal_time_and_what_moved_it(reader, retried):
    page = reader.go("#/actions?correlation_id=nominal:1")
    cell = row(page, retried).locator("td[data-label='Nominal time']")
    expect(cell).to_contain_text("last due, for attempt 2:", timeout=AT_LAST)


def test_a_rescheduled_action_says_who_moved_it(reader, cloud):
    made = cloud.scheduler().schedule(Parcel(order="2"), at=timedelta(days=9))
    page = reader.go(f"#/actions/{made.id}")
    page.get_by_role("button", name="Reschedule…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="in a while").check()
    dialog.get_by_role("button", name="Reschedule it").click()
    expect(head(page)).to_contain_text("rescheduled by developer@localhost")
