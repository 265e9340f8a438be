"""An app with jobs, which records their runs."""

import json
import threading

from duetime import App, Payload, Run, daily, every, on_event
from tests.local.conftest import eventually

TEN_SECONDS, MINUTE = "shop-look-often", "shop-look-around"
UPLOADED = {"Source": "kb", "DetailType": "Uploaded", "Detail": json.dumps({"document": 7})}


class Document(Payload):
    document: int


class Runs:
    """The runs, by job."""

    def __init__(self):
        self.calls: list[tuple[Run, object]] = []
        self._changed = threading.Condition()

    def write(self, run, payload=None):
        with self._changed:
            self.calls.append((run, payload))
            self._changed.notify_all()

    def of(self, job):
        return [run for run, _ in self.calls if run.job == job]

    def wait_for(self, job, count=1):
        return eventually(lambda: runs if len(runs := self.of(job)) >= count else None, f"a run of {job}")


def app_of(runs, *, cadence="every 10s", has_events=True):
    app = App()

    @app.job(cadence, name=TEN_SECONDS)
    def look_often(run: Run) -> None:
        runs.write(run)

    if has_events:

        @app.job(every(minutes=1), name=MINUTE)
        def look_around(run: Run) -> None:
            runs.write(run)

        @app.job(on_event("kb", "Uploaded"), name="search-add-document")
        def add_document(payload: Document, run: Run) -> None:
            runs.write(run, payload)

        @app.job(daily("03:15", tz="Europe/Paris"), name="shop-clean-up")
        def clean_up(run: Run) -> None:
            runs.write(run)

    return app
