"""The machine's own chromium, and pages in it that notice what no reader would.

Errors of scripts, and refusals of the policy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

from tools import commands

ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
TRANSITIONS = "document.getAnimations().filter(one => one instanceof CSSTransition)"
AXE = Path(__file__).parents[2] / "node_modules/axe-core/axe.min.js"
ZONE = "Europe/Paris"
READS = re.compile(r"/api/v1/reads\?")
PATIENCE = 30_000
"""Milliseconds, for what comes at once: generous, since a busy machine is no fault."""
expect.set_options(timeout=PATIENCE)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a screen."""
    with sync_playwright() as playwright:
        commands.check_programs(["chromium"])
        browser = playwright.chromium.launch(executable_path=commands.chromium(), args=ARGS)
        try:
            yield browser
        finally:
            browser.close()


class Reader:
    """A user of the console; `complaints` has the browser's errors."""

    def __init__(self, browser: Browser, url: str, **context: Any) -> None:
        settings = {"locale": "en-GB", "timezone_id": ZONE, "viewport": {"width": 1280, "height": 900}}
        self.url, self.complaints = url, []
        self.expected: tuple[str, ...] = ()
        self._answers: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {}
        self._context = browser.new_context(**settings | context)
        self._context.set_default_timeout(PATIENCE)
        self.page: Page = self._context.new_page()
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._heard)

    def _heard(self, message: Any) -> None:
        if message.type in {"error", "warning"} and not any(
            violation in message.text for violation in self.expected
        ):
            self.complaints.append(message.text)

    def go(self, place: str = "#/") -> Page:
        """Open a place of the console, and wait until it has a title."""
        self.page.goto(f"{self.url}/{place}")
        self.page.get_by_role("heading", level=1).wait_for()
        return self.page

    def answer_read(self, path: str, answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """Change the response to each read whose address begins with a path: alone or together with others.

        `answer` gets and returns the `status` and the `body`.
        """

        def alone(route: Route) -> None:
            response = route.fetch()
            changed = answer({"status": response.status, "body": response.json()})
            route.fulfill(response=response, status=changed["status"], json=changed["body"])

        self._answers[path] = answer
        self.page.route(re.compile(re.escape(f"/api/v1{path}")), alone)
        self.page.route(READS, self._together)

    def _together(self, route: Route) -> None:
        response = route.fetch()
        body = response.json()
        for path, answer in self._answers.items():
            body["items"] = [
                item | answer(item) if item["read"].startswith(path) else item for item in body["items"]
            ]
        route.fulfill(response=response, json=body)

    def answer_reads_as_before(self) -> None:
        """Change no response any more."""
        self._answers.clear()
        self.page.unroute_all(behavior="wait")

    def close(self) -> None:
        """Leave."""
        self.page.unroute_all(behavior="ignoreErrors")
        self._context.close()


def signed_in(
    user: str = "developer", tenant: str = "acme", groups: str = "admins"
) -> dict[str, Mapping[str, str]]:
    """Who one is on the local cloud."""
    return {
        "extra_http_headers": {
            "X-Duetime-User": user,
            "X-Duetime-Tenant": tenant,
            "X-Duetime-Groups": groups,
        }
    }


def flaws(page: Page) -> list[str]:
    """What axe finds wrong for people who do not see or do not point, each with where; colours included."""
    page.wait_for_function("!document.querySelector('[aria-busy=true]')")  # it dims what is outdated
    page.evaluate(f"Promise.all({TRANSITIONS}.map(transition => transition.finished.catch(() => null)))")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{violation['impact']}: {violation['id']} at {node['target']}: {node.get('failureSummary', '')}"
        for violation in found["violations"]
        for node in violation["nodes"]
    ]


def scrolls_sideways(page: Page) -> bool:
    """Whether the page is wider than its window, once it has been drawn at its present size."""
    page.evaluate(
        "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
    )
    return page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
