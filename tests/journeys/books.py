"""An app with one handler, and a table in memory that its commits write to."""

from datetime import timedelta

from duetime import App, Payload, RetryPolicy, Run
from duetime.errors import CommitRejected, RejectedEntry
from duetime.testing import SimulatedCloud
from tests.journeys.conftest import NOON

BOOKED = {"Put": {"TableName": "ledger", "Item": {"id": {"S": "o-1"}}}}
REFUSED = CommitRejected([RejectedEntry(0)])


class Book(Payload):
    pass


class BookingApp:
    """An app with one handler, and a table in memory that its commits write to."""

    def __init__(self, handle, *, takes=True, refuses=0, policy=None, **options):
        self.app, self.table, self.refuses, self.handled = App(), [], refuses, 0
        self.handle = handle

        def book(payload: Book, run: Run) -> None:
            self.handled += 1
            handle(run)

        self.app.action(retry=policy or RetryPolicy(attempts=3, backoff=60, jitter=0))(book)
        self.cloud = SimulatedCloud(self.app, start=NOON, on_commit=self._write if takes else None, **options)
        self.action = self.cloud.scheduler.schedule(Book(), at=timedelta(0))

    def _write(self, entries):
        if self.refuses:
            self.refuses -= 1
            raise REFUSED
        self.table.extend(entries)

    def after(self, **span):
        """The action, when so much time has passed."""
        self.cloud.advance(**span)
        return self.cloud.scheduler.get(self.action.id)
