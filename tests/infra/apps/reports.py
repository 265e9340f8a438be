"""An app of another worker."""

from duetime import App, Payload

app = App(worker="reports")


class WriteReport(Payload):
    """A report is due."""


@app.action
def write_report(payload: WriteReport) -> None:
    """Write it."""
