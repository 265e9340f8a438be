"""Opening a screen takes four requests to the API at most, and looking at it ten a minute."""

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from duetime import Order
from duetime.local import LocalCloud, LocalOptions
from duetime.model.action import Status
from tests.console.browser import PATIENCE
from tests.console.shop import Parcel, app

NOW = timedelta(0)
MOST_AT_FIRST, MOST_A_MINUTE = 4, 10
RAMP, FAILED = "shop-watch-ramp", "failed action"
PLACES = [
    "#/",
    "#/jobs",
    f"#/jobs/{RAMP}",
    "#/jobs/shop-count-stock",
    "#/jobs/shop-unknown",
    "#/job-editor",
    "#/actions",
    "#/actions?error=driver",
    f"#/actions/{FAILED}",
    "#/batches",
    "#/batches/parcels-2027",
    "#/dead-letters",
    "#/pauses",
    "#/recount",
    "#/limits",
    "#/undelivered",
    "#/notifications",
    "#/preferences",
    "#/cadences",
    "#/cadences?cadence=30 2 * * *",
]


@pytest.fixture(scope="module")
def cloud():
    with LocalCloud(app, LocalOptions()) as started:
        scheduler = started.scheduler()
        scheduler.schedule(Parcel(order="a-1", fails=9), at=NOW, correlation_id="order:1")
        with scheduler.batch("parcels-2027") as batch:
            batch.schedule_many(Order(Parcel(order=f"b-{number}"), at=NOW) for number in range(3))
        yield started


@pytest.fixture(scope="module")
def failed(cloud):
    """The id of an action that has failed."""
    while True:
        if found := cloud.scheduler().list(status=Status.FAILED).actions:
            return found[0].id


class Counted:
    """The requests to the API that a page sends."""

    def __init__(self, page):
        self.page, self.sent, self._open = page, [], set()
        page.on("request", self._begun)
        for end in ("requestfinished", "requestfailed"):
            page.on(end, self._ended)

    def _begun(self, request):
        if "/api/v1/" in request.url:
            self.sent.append(f"{request.method} {request.url}")
            self._open.add(request)

    def _ended(self, request):
        self._open.discard(request)

    def settle(self):
        """Wait until no request is open, and none follows."""
        while True:
            count = len(self.sent)
            self.page.wait_for_timeout(250)
            if len(self.sent) == count and not self._open:
                return


def opened(reader, place, failed):
    reader.expected = ("404",)
    counted = Counted(reader.page)
    page = reader.go(place.replace(FAILED, failed))
    expect(page.get_by_title("Refresh")).to_have_text("live", timeout=PATIENCE)
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    counted.settle()
    return counted


@pytest.mark.parametrize("place", PLACES)
def test_a_screen_opens_with_four_requests(reader, failed, place):
    counted = opened(reader, place, failed)
    assert 2 <= len(counted.sent) <= MOST_AT_FIRST, counted.sent


@pytest.mark.parametrize("place", PLACES)
def test_an_idle_minute_takes_ten_requests(reader, failed, place):
    reader.page.clock.install()
    counted = opened(reader, place, failed)
    run_for(counted, seconds=30)
    counted.sent.clear()
    run_for(counted, seconds=60)
    assert 1 <= len(counted.sent) <= MOST_A_MINUTE, counted.sent


def run_for(counted, seconds):
    """Let the page's clock run, with time for each response."""
    for _ in range(seconds):
        counted.page.clock.run_for(1_000)
        while counted._open:
            counted.page.wait_for_timeout(20)


def test_a_page_that_is_used_again_loads_at_once(reader, failed):
    reader.page.clock.install()
    counted = opened(reader, "#/actions", failed)
    run_for(counted, seconds=31)
    counted.sent.clear()
    counted.page.clock.run_for(9_000)
    counted.page.mouse.move(300, 300)
    counted.page.clock.run_for(50)
    counted.settle()
    assert counted.sent


def test_a_hidden_page_sends_nothing_until_it_is_seen(reader, failed):
    reader.page.clock.install()
    counted = opened(reader, "#/", failed)
    page = counted.page
    page.evaluate("""() => {
        Object.defineProperty(document, "visibilityState", {get: () => window.seen ? "visible" : "hidden"});
        Object.defineProperty(document, "hidden", {get: () => !window.seen});
        document.dispatchEvent(new Event("visibilitychange"));
    }""")
    counted.sent.clear()
    run_for(counted, seconds=120)
    assert counted.sent == []
    page.evaluate("""() => { window.seen = true; window.dispatchEvent(new Event("visibilitychange"));
        document.dispatchEvent(new Event("visibilitychange")); }""")
    page.clock.run_for(50)
    counted.settle()
    assert 1 <= len(counted.sent) <= MOST_AT_FIRST, counted.sent


def test_reads_that_fail_alone_fail_together_too(reader, failed):
    """One forbidden or missing read affects the part that shows it, and no other."""
    ill = {"title": "Ill", "status": 503, "detail": "no answer"}
    reader.answer_read("/pauses", lambda _: {"status": 503, "body": ill})
    page = reader.go("#/")
    expect(page.get_by_title("Refresh")).to_have_text("no answer")
    expect(page.locator(".standing")).to_contain_text("All on time")
