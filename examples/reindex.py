"""A worked example: when a document changes it is indexed again, once for all the changes of a moment.

An author saves ten times in a minute, and an index that follows each of them works ten times for
one result. Here each event schedules the re-index for the end of the moment that it falls into, under an
idempotency key of document and moment: the first event makes the action, the others find it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NewType, Protocol

from duetime import App, Payload, Retry, RetryPolicy, Run, Scheduler, Status, exponential, on_event

app = App()

MOMENT = timedelta(seconds=10)

IndexScheduler = NewType("IndexScheduler", Scheduler)


class Documents(Protocol):
    """The documents as they are now."""

    def text_of(self, document: str) -> str | None:
        """A document's text; None for one that was removed."""
        ...


class Index(Protocol):
    """The search index."""

    def put(self, document: str, text: str) -> None:
        """Replace the document's text in the index."""
        ...

    def remove(self, document: str) -> None:
        """Remove the document from the index."""
        ...


class DocumentChanged(Payload):
    """The event's detail: the document and its kind."""

    document: str
    kind: str


class Reindex(Payload):
    """Update one document in the index."""

    document: str


class AnyDocument:
    """A store that has every document; a deployment reads its own bucket instead."""

    def text_of(self, document: str) -> str | None:
        """See `Documents`."""
        return f"the text of {document}"


class IndexInMemory:
    """A dict; a deployment has a search service."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def put(self, document: str, text: str) -> None:
        """See `Index`."""
        self.texts[document] = text

    def remove(self, document: str) -> None:
        """See `Index`."""
        self.texts.pop(document, None)


@app.resource
def documents() -> Documents:
    """The shop's documents."""
    return AnyDocument()


@app.resource
def index() -> Index:
    """The shop's search."""
    return IndexInMemory()


@app.resource
def scheduler() -> IndexScheduler:
    """Schedules for the shop."""
    return IndexScheduler(Scheduler.from_env(tenant_id="acme", actor="reindex"))


def end_of_moment(now: datetime) -> datetime:
    """Return the end of the moment of `now`, which is the same for each instant of it."""
    begun = datetime(1970, 1, 1, tzinfo=UTC)
    return begun + ((now - begun) // MOMENT + 1) * MOMENT


@app.job(
    on_event("shop.documents", "DocumentChanged", match={"kind": ["guide", "manual"]}),
    name="search-document-changed",
    title="Documents that changed",
)
def document_changed(payload: DocumentChanged, run: Run, scheduler: IndexScheduler) -> None:
    """Schedule the re-index for the end of this moment, unless one is pending.

    A pending one also indexes this change.
    """
    ends_at = end_of_moment(run.now())
    waiting = scheduler.schedule(
        Reindex(document=payload.document),
        at=ends_at,
        correlation_id=f"document:{payload.document}",
        idempotency_key=f"reindex:{payload.document}:{ends_at:%Y%m%dT%H%M%S}",
        concurrency_key=f"document:{payload.document}",
    )
    if waiting.status is not Status.PENDING:
        raise Retry(after=MOMENT, reason="the re-index of this moment may have read the document already")


@app.action(retry=RetryPolicy(attempts=5, backoff=exponential(2, limit=60)))
def reindex(payload: Reindex, documents: Documents, index: Index) -> None:
    """Index the document in its present state, independent of the events.

    So a late run is correct, and a second one is harmless.
    """
    text = documents.text_of(payload.document)
    if text is None:
        index.remove(payload.document)
    else:
        index.put(payload.document, text)
