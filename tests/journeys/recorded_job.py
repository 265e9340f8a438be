"""Shared by the journeys of jobs: an app that records its runs, and the occurrence counts of a window."""

from collections import Counter, deque
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from duetime import App, Run
from duetime.ids import SYSTEM_TENANT, JobName
from duetime.jobs.occurrence_status import OccurrenceStatus
from duetime.model.action import Status
from duetime.model.job import JobRef
from duetime.settings import Made, Settings
from duetime.testing import SimulatedCloud
from tests.hooked import hook_backend, switch

MIDNIGHT = datetime(2026, 3, 3, tzinfo=UTC)
SECOND, MINUTE, HOUR, DAY = (timedelta(**{name: 1}) for name in ("seconds", "minutes", "hours", "days"))

PATIENT = Settings(lease=11 * HOUR, made=Made(queue_visibility=12 * HOUR))
"""The heartbeat uses the real clock, so a run of hours in simulated time needs a lease of hours."""


class RecordedJob:
    """An app with one job, which writes down its runs; the first ones last as long as `lasts` says."""

    def __init__(
        self, *cadences, name="press-print", lasts=(), fails=0, start=MIDNIGHT, settings=None, **options
    ):
        self.name, self.lasts, self.fails = name, deque(lasts), fails
        self.begun, self.ended, self.runs = [], [], []
        self.cadences, self.options = cadences, options
        self.deployed = self.app(*cadences, **options)
        self.cloud = SimulatedCloud(self.deployed, start=start, settings=settings or PATIENT)

    def app(self, *cadences, **options):
        """The app with other cadences or options."""
        app = App()

        def press(run: Run) -> None:
            self.begun.append(run.nominal_at)
            self.runs.append((run.trigger.value, run.nominal_at, run.now()))
            if self.lasts:
                self.cloud.advance(self.lasts.popleft())
                self.stop_if_cancel_requested(run)
            if self.fails:
                self.fails -= 1
                raise ConnectionError("out of paper")
            self.ended.append(run.nominal_at)

        app.job(*cadences, name=self.name, **options)(press)
        return app

    def stop_if_cancel_requested(self, run):
        """Stop the run as the heartbeat does by the real clock."""
        if self.cloud.scheduler.get(run.id).cancel_request:
            run.stop.set()
            run.raise_if_cancelled()

    def deploy(self, *cadences, **options):
        """Deploy other cadences or options."""
        self.deployed = self.app(*cadences, **options)
        return self.cloud.deploy(self.deployed)

    def hook(self, backend):
        """Return a back end of the cloud with hooks."""
        hooked = hook_backend(self.cloud.memory, backend, self.deployed)
        self.cloud.scheduler = self.cloud.scheduler_for("acme")
        return hooked

    def switch(self, *, on):
        """Set the global switch."""
        switch(self.cloud.memory, self.deployed, on=on)

    def lose(self, ref):
        """Lose the messages of a run; the sweep sends them again."""
        queues = self.cloud.memory.queues
        for receipt, message in queues.messages.items():
            if message.ref == ref:
                queues.delete(receipt)

    def outage(self, span):
        """Nothing works for so long."""
        self.cloud.clock.wait_until(self.cloud.now + span)

    @property
    def job(self):
        return self.cloud.jobs.get(self.name)

    @property
    def rows(self):
        """Its runs, oldest first."""
        return [action for action in self.cloud.actions() if action.job == self.name]

    def at(self, status):
        """The nominal times of the runs with a status."""
        return [row.nominal_at for row in self.rows if row.status == status]

    def skipped(self):
        """The nominal times that were skipped, and why."""
        return [(row.nominal_at, row.skip_reason.value) for row in self.rows if row.status is Status.SKIPPED]


def accounts(cloud, name, start, end=None):
    """How many nominal times of a window have which account; each of them has one, and nothing else has."""
    end = end or cloud.now
    found = list(cloud.jobs.explain(name, start, end, limit=100_000))
    times = [nominal_time for nominal_time in nominal_times(cloud, name, end) if nominal_time > start]
    assert sum(entry.count for entry in found) == len(times)
    assert {entry.at for entry in found} | {entry.ends_at for entry in found} <= set(times)
    assert all(first.ends_at < then.at for first, then in pairwise(found))
    assert OccurrenceStatus.FORGOTTEN not in {entry.account for entry in found}
    return Counter({word: sum(e.count for e in found if _word(e) == word) for word in map(_word, found)})


def _word(entry):
    return entry.reason or entry.account.value


def nominal_times(cloud, name, end):
    """The nominal times of each version while it was in force, by its cadences alone."""
    store, ref = cloud.memory.job_store, JobRef(SYSTEM_TENANT, JobName(name))
    job = store.get(ref)
    for version in store.versions(ref):
        cadence_set = job.cadences_of(version.definition)
        yield from (due.at for due in cadence_set.between(version.since, min(end, version.until or end)))


def grid(start, step, count):
    """`count` instants after `start`, `step` apart."""
    return [start + n * step for n in range(1, count + 1)]


def at(*minutes):
    """The instants so many minutes after midnight."""
    return [MIDNIGHT + minute * MINUTE for minute in minutes]
