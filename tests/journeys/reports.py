"""An app that makes reports for the tenants that register jobs, in simulated time."""

import pytest

from duetime import App, Payload, Run
from duetime.jobs.register import Registration
from duetime.settings import Settings
from duetime.testing import SimulatedCloud
from tests.journeys.recorded_job import MIDNIGHT

SOURCES = {"crm": "detail.tenant_id"}


class Report(Payload):
    size: int = 1


class ReportingApp:
    """An app that makes reports for the tenants that register jobs."""

    def __init__(self):
        self.app, self.made = App(), []

        @self.app.action
        def make(report: Report, run: Run) -> None:
            self.made.append((run.tenant_id, run.job, report.size, run.now()))

        @self.app.job(name="office-clean")
        def clean(run: Run) -> None:
            self.made.append((run.tenant_id, run.job, None, run.now()))

        self.cloud = SimulatedCloud(self.app, start=MIDNIGHT, settings=Settings(event_sources=SOURCES))
        self.jobs = self.cloud.jobs

    def register(self, *, name="acme-report", handler=None, cadences=("every 10m",), jobs=None, **options):
        handler = Report(size=3) if handler is None else handler
        registration = Registration(name=name, handler=handler, cadences=cadences, **options)
        return (jobs or self.jobs).register(registration)

    def begun(self):
        return [entry[-1] for entry in self.made]

    def rows(self, status):
        return [action for action in self.cloud.actions(status) if action.job == "acme-report"]


@pytest.fixture
def reporting():
    return ReportingApp()
