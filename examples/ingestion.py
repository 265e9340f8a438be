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
"""The waits before a source that is unavailable is read again: 10, 20, 40 and 80 seconds."""


@dataclass(frozen=True, slots=True)
class Page:
    """The rows of a source after a bookmark, and the next bookmark."""

    rows: Sequence[str]
    bookmark: int


class Sources(Protocol):
    """The companies that provide data."""

    def fetch(self, source: str, bookmark: int) -> Page:
        """Return the rows since the bookmark; raise ConnectionError while the source is unavailable."""
        ...


class Warehouse(Protocol):
    """The store of the data."""

    def bookmark(self, source: str) -> int:
        """Return the stored bookmark of a source; 0 for a new one."""
        ...

    def store(self, source: str, page: Page, *, after: int) -> None:
        """Store the rows and the new bookmark in one write, if the bookmark is still `after`."""
        ...


class Refresh(Payload):
    """The source, from the job or from the source's own event."""

    source: str


class SteadySources:
    """A source with one new row at each call."""

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
    """The sources of the shop's data."""
    return SteadySources()


@app.resource
def warehouse() -> Warehouse:
    """The store of the shop's data."""
    return WarehouseInMemory()


PRICES, RATES = Refresh(source="prices"), Refresh(source="rates")


@dataclass(frozen=True, slots=True)
class Refreshing:
    """The work of both jobs: fetch new rows and store them."""

    sources: Sources
    warehouse: Warehouse

    def refresh(self, source: str, run: Run) -> None:
        """Import one source; a repeat stores no row twice."""
        bookmark = self.warehouse.bookmark(source)
        page = self.sources.fetch(source, bookmark)
        run.raise_if_cancelled()
        self.warehouse.store(source, page, after=bookmark)
        run.log.info("%d rows of %s", len(page.rows), source)


@app.resource
def refreshing(sources: Sources, warehouse: Warehouse) -> Refreshing:
    """Return an import from the source to the warehouse."""
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
    """Import prices before the shop opens in Paris, on the source's event, and when triggered."""
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
    """Import rates after the markets close in New York, on the source's event, and when triggered."""
    refreshing.refresh(payload.source, run)
