"""Rows of the list of actions are sorted and chosen; filters are saved as views, and shared by a link."""

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from duetime import Status
from tests.console.browser import flaws, scrolls_sideways, signed_in
from tests.console.listed_actions import row, table
from tests.console.shop import Parcel

FAR = timedelta(days=9)
ROWS = "#/actions?correlation_id=rows:1"


@pytest.fixture(scope="module")
def made(cloud):
    """Three actions in the order of the list, which is that of their ids: those of one millisecond vary."""
    scheduler = cloud.scheduler()
    ids = sorted(
        scheduler.schedule(Parcel(order=str(n)), at=FAR, correlation_id="rows:1").id for n in range(3)
    )
    return [
        scheduler.reschedule(action_id, timedelta(days=days))
        for action_id, days in zip(ids, (7, 9, 8), strict=True)
    ]


def order(page, made):
    """The numbers of the actions in the order of the rows."""
    rows = table(page).locator("tbody tr")
    expect(rows).to_have_count(len(made))
    texts = rows.evaluate_all("rows => rows.map(row => row.innerHTML)")
    return [next(n for n, action in enumerate(made) if action.id in text) for text in texts]


def test_rows_are_sorted_by_a_column(reader, made):
    page = reader.go(ROWS)
    assert order(page, made) == [0, 1, 2]
    head = table(page).get_by_role("columnheader", name="Nominal time")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert order(page, made) == [0, 2, 1]
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    assert order(page, made) == [1, 2, 0]
    head.get_by_role("button").click()
    assert order(page, made) == [0, 1, 2]


def test_the_chosen_rows_alone_are_cancelled(reader, cloud):
    scheduler = cloud.scheduler()
    rows = [scheduler.schedule(Parcel(order="1"), at=FAR, correlation_id="rows:2") for _ in range(3)]
    page = reader.go("#/actions?correlation_id=rows:2")
    for chosen in rows[:2]:
        row(page, chosen).get_by_role("checkbox").check()
    group = page.get_by_role("group", name="2 chosen actions")
    expect(group.get_by_role("button")).to_have_text(["Cancel these 2…"])
    assert flaws(page) == []
    group.get_by_role("button").click()
    dialog = page.get_by_role("dialog", name="Cancel all of these")
    expect(dialog).to_contain_text("2 chosen actions")
    dialog.get_by_role("button", name="Cancel 2 actions").click()
    expect(dialog).to_contain_text("2 actions are cancelled")
    after = [scheduler.get(action.id).status for action in rows]
    assert after == [Status.CANCELLED, Status.CANCELLED, Status.PENDING]
    dialog.get_by_role("button", name="Close").click()
    table(page).get_by_role("checkbox", name="Choose all rows").check()
    expect(page.get_by_role("group", name="3 chosen actions").get_by_role("button")).to_have_text(
        ["Cancel it…"]
    )


def test_filters_are_saved_as_a_view(reader, made):
    page = reader.go(ROWS)
    page.get_by_role("button", name="Save view…").click()
    dialog = page.get_by_role("dialog", name="Save these filters")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog.get_by_role("alert")).to_have_text("Give it a name.")
    dialog.get_by_label("Name").fill("Rows of one")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("The view Rows of one is saved.")).to_be_visible()
    page.get_by_role("link", name="Clear all filters").click()
    page.reload()
    page.get_by_role("link", name="Rows of one").click()
    assert order(page, made) == [0, 1, 2]
    page.get_by_role("button", name="Remove the view Rows of one").click()
    expect(page.get_by_role("link", name="Rows of one")).to_have_count(0)


def test_another_person_who_uses_the_browser_sees_no_view_of_the_first(reader_of, cloud, made):
    page = reader_of(cloud.url, **signed_in("ada")).go(ROWS)
    page.get_by_role("button", name="Save view…").click()
    dialog = page.get_by_role("dialog", name="Save these filters")
    dialog.get_by_label("Name").fill("Ada's")
    dialog.get_by_role("button", name="Save", exact=True).click()
    view = page.get_by_role("link", name="Ada's")
    expect(view).to_be_visible()
    for user, count in (("bob", 0), ("ada", 1)):
        page.set_extra_http_headers(signed_in(user)["extra_http_headers"])
        page.reload()
        expect(page.get_by_text(f"{user}@localhost of acme")).to_be_visible()
        assert order(page, made) == [0, 1, 2]
        expect(view).to_have_count(count)


def test_the_link_has_the_whole_filter(reader, made):
    page = reader.go(f"{ROWS}&status=pending&type=parcel")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(reader.url)
    page.goto("about:blank")
    page.goto(link)
    assert order(page, made) == [0, 1, 2]
    expect(page.get_by_role("search").get_by_label("Type")).to_have_value("parcel")
    page.set_viewport_size({"width": 320, "height": 700})
    expect(table(page)).to_be_visible()
    assert not scrolls_sideways(page)
