"""The console with 5,000 jobs and 10,000 actions: the CPU of its page, by the browser's own metrics.

The page runs in the machine's chromium; the local cloud behind it, in this process, does not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from bench.busy_app import Hold, app
from bench.result import Result, at_most
from duetime import Order, daily
from duetime.jobs.register import Registration
from duetime.local import LocalCloud, LocalOptions
from tools.commands import check_programs, chromium

JOBS, ACTIONS, IDLE = 5_000, 10_000, 60
_SCREENS = {
    "overview": ("#/", ".standing.is-well"),
    "jobs": ("#/jobs", "tbody a"),
    "actions": ("#/actions", "tbody a"),
}
_LATER = timedelta(days=20)


def measure() -> list[Result]:
    """Measure each screen: CPU up to its first data, requests to open it, and CPU while it is idle."""
    with LocalCloud(app, LocalOptions()) as cloud, _chromium() as browser:
        _fill(cloud)
        return [result for name in _SCREENS for result in _screen(browser, cloud.url, name)]


@contextmanager
def _chromium() -> Iterator[Browser]:
    check_programs(["chromium"])
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=chromium(), args=arguments)
        try:
            yield browser
        finally:
            browser.close()


def _fill(cloud: LocalCloud) -> None:
    scheduler = cloud.scheduler()
    for number in range(JOBS):
        scheduler.jobs.register(
            Registration(
                name=f"bench-job{number:04d}",
                handler=Hold(seconds=0),
                cadences=(daily(f"{number % 24:02d}:{number % 60:02d}"),),
                title=f"Job {number}",
                category=f"c{number % 9}",
            )
        )
    scheduler.schedule_many(Order(Hold(seconds=0), at=_LATER) for _ in range(ACTIONS))


def _screen(browser: Browser, url: str, name: str) -> Iterator[Result]:
    place, first = _SCREENS[name]
    page = browser.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url) if "/api/" in request.url else None)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(f"{url}/{place}")
    page.locator(first).first.wait_for(timeout=120_000)
    until_first = _cpu(session)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(25_000)
    opened, before = len(requests), _cpu(session)
    page.wait_for_timeout(1_000 * IDLE)
    idle = _cpu(session) - before
    for what, measured, unit, budget in (
        ("CPU up to the first data", until_first, "s", 1),
        ("CPU a second while idle", 1e3 * idle / IDLE, "ms", 10),
        ("requests of an idle minute", float(len(requests) - opened), "requests", 10),
    ):
        yield Result(
            bench="console", name=f"{name}: {what}", measured=measured, unit=unit, budget=at_most(budget)
        )
    page.close()


def _cpu(session: Any) -> float:
    """Return the seconds of CPU that the page's main thread has taken in tasks."""
    metrics = {
        metric["name"]: metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]
    }
    return float(metrics["TaskDuration"])
