"""A worked example.

Data of other companies is fetched at its hour, when they say that there is more, and when an operator asks.

Three ways in are three ways to run at once, and two fetches of one source write over each other. Here a
source is one job with all its ways in, of which one runs and one waits; what comes while one waits is in
what that one will fetch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Protocol

from duetime import App, Payload, RetryPolicy, Run, cron, exponential, on_event

app = App()

PATIENT = RetryPolicy(attempts=5, backoff=exponential(10, limit=600))
"""A source that is away is asked again after 10, 20, 40 and 80 seconds."""


@dataclass(frozen=True, slots=True)
class Page:
    """What a source had after a bookmark, and the bookmark after that."""

    rows: Sequence[str]
    bookmark: int


class Sources(Protocol):
    """The companies that have the data."""

    def fetch(self, source: str, bookmark: int) -> Page:
        """What is new since the bookmark; raises ConnectionError while the source is away."""
        ...


class Warehouse(Protocol):
    """Where the data goes."""

    def bookmark(self, source: str) -> int:
        """How far a source was stored; 0 for one that is new."""
        ...

    def store(self, source: str, page: Page, *, after: int) -> None:
        """Store the rows and the new bookmark in one write, if the bookmark still is `after`.

        Else nothing.
        """
        ...


class Refresh(Payload):
    """The source, from the job or from the source's own event."""

    source: str


class SteadySources:
    """One new row each time."""

    def fetch(self, source: str, bookmark: int) -> Page:
        """See `Sources`."""
        return Page([f"{source} {bookmark}"], bookmark + 1)


class WarehouseInMemory:
    """Rows and bookmarks by source; a deployment has a database, and a transaction."""

    def __init__(self) -> None:
        self.rows: dict[str, list[str]] = {}
        self._bookmarks: dict[str, int] = {}
        self._lock = Lock()

    def bookmark(self, source: str) -> int:
        """See `Warehouse`."""
        return self._bookmarks.get(source, 0)

    def store(self, source: str, page: Page, *, after: int) -> None:
        """See `Warehouse`."""
        with self._lock:
            if self.bookmark(source) == after:
                self.rows.setdefault(source, []).extend(page.rows)
                self._bookmarks[source] = page.bookmark


@app.resource
def sources() -> Sources:
    """Where the shop's data comes from."""
    return SteadySources()


@app.resource
def warehouse() -> Warehouse:
    """Where it goes."""
    return WarehouseInMemory()


PRICES, RATES = Refresh(source="prices"), Refresh(source="rates")


@dataclass(frozen=True, slots=True)
class Refreshing:
    """What both jobs do: fetch what is new, and store it."""

    sources: Sources
    warehouse: Warehouse

    def refresh(self, source: str, run: Run) -> None:
        """Do it for one source; done twice, it stores nothing twice."""
        bookmark = self.warehouse.bookmark(source)
        page = self.sources.fetch(source, bookmark)
        run.raise_if_cancelled()
        self.warehouse.store(source, page, after=bookmark)
        run.log.info("%d rows of %s", len(page.rows), source)


@app.resource
def refreshing(sources: Sources, warehouse: Warehouse) -> Refreshing:
    """Made of the two."""
    return Refreshing(sources, warehouse)


@app.job(
    cron("0 6 * * mon-fri", tz="Europe/Paris"),
    on_event("prices.example", "Published"),
    name="ingestion-refresh-prices",
    payload=PRICES,
    overlap="queue_one",
    retry=PATIENT,
)
def refresh_prices(payload: Refresh, run: Run, refreshing: Refreshing) -> None:
    """Prices, before the shop opens in Paris, when there are new ones, and when an operator triggers it."""
    refreshing.refresh(payload.source, run)


@app.job(
    cron("30 17 * * mon-fri", tz="America/New_York"),
    on_event("rates.example", "Published"),
    name="ingestion-refresh-rates",
    payload=RATES,
    overlap="queue_one",
    retry=PATIENT,
)
def refresh_rates(payload: Refresh, run: Run, refreshing: Refreshing) -> None:
    """Exchange rates, after the markets close in New York, and in the same two other ways."""
    refreshing.refresh(payload.source, run)
