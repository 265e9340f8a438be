"""A worked example: a file of articles is imported, each line by itself, and a bar shows how far it is.

The lines are a batch. Its completion action sends the report, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from duetime import App, Fatal, Order, Payload, RetryPolicy, Run, Scheduler
from duetime.errors import StateConflict

app = App()


class Shop(Protocol):
    """Stores articles, and receives reports."""

    def store(self, article: str, price: int) -> None:
        """Store an article; a repeat changes nothing."""
        ...

    def report(self, name: str, key: str) -> None:
        """Send the report of an import once for each key."""
        ...


class ImportLine(Payload):
    """A line of the file."""

    line: str


class SendReport(Payload):
    """Report the end of an import."""

    name: str


class ShopInMemory:
    """Two dicts; a deployment has tables."""

    def __init__(self) -> None:
        self.articles: dict[str, int] = {}
        self.reports: dict[str, str] = {}

    def store(self, article: str, price: int) -> None:
        """See `Shop`."""
        self.articles[article] = price

    def report(self, name: str, key: str) -> None:
        """See `Shop`."""
        self.reports.setdefault(key, name)


@app.resource
def shop() -> Shop:
    """The shop."""
    return ShopInMemory()


@app.action(retry=RetryPolicy(attempts=3, backoff=[5, 60]))
def import_line(payload: ImportLine, shop: Shop) -> None:
    """Store the article of a line; a line that cannot be read is a dead letter at once."""
    article, _, price = payload.line.partition(";")
    if not price.isascii() or not price.isdecimal():
        raise Fatal(f"no price in {payload.line!r}; write article;price")
    shop.store(article, int(price))


@app.action
def send_report(payload: SendReport, run: Run, shop: Shop) -> None:
    """Send the report."""
    shop.report(payload.name, run.idempotency_key)


class Imports:
    """What the shop's back office calls."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler

    def begin(self, name: str, lines: Sequence[str]) -> None:
        """Import the lines of a file; repeat the call after an error: no line is added twice."""
        batch = self.scheduler.batch(name, on_complete=SendReport(name=name))
        try:
            batch.schedule_many([Order(ImportLine(line=line), at=timedelta(0)) for line in lines], start=0)
            batch.close()
        except StateConflict:
            pass  # an earlier call has added all lines and closed the batch

    def bar(self, name: str) -> str:
        """Return how far an import is."""
        batch = self.scheduler.batches.get(name)
        done = batch.size - batch.left
        bar = "#" * (20 * done // max(batch.size, 1))
        return f"[{bar:.<20}] {done} of {batch.size}, {batch.counts.failed} failed"
