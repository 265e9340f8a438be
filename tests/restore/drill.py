"""A deployment on moto in simulated time, whose handlers record each run."""

import logging
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import boto3

from duetime import App, Payload, RetryPolicy, Run, Scheduler, Status, every
from duetime.aws.backends import AwsBackends
from duetime.aws.deployed import DeployedTables
from duetime.aws.items import from_item
from duetime.aws.keys import is_row
from duetime.aws.tables import FORMAT, TTL_ATTRIBUTE
from duetime.clock import SystemClock
from duetime.instant import LATEST
from duetime.jobs.maintain import refs_until
from duetime.lambdas.logs import LogLines
from duetime.model.action import Attempt
from duetime.model.change import Change
from duetime.model.deployed_shards import DeployedShards
from duetime.model.job import JobRef
from duetime.ports.job_store import JobPorts
from duetime.ports.jobs import JobRunClaim, LockRequirement
from duetime.ports.wakeups import Delivery
from duetime.testing.turned_clock import TurnedClock
from duetime.wakeups.assembly import Steps
from duetime.wakeups.due_messages import message_of
from duetime.worker.heartbeat import Heartbeat
from duetime.worker.worker import Worker
from tests.quick_moto import items_of

MINUTE = timedelta(minutes=1)
WORK_LOG, ARM_LOG = "/aws/lambda/duetime-work-default", "/aws/lambda/duetime-arm"


class Count(Payload):
    name: str


class LogGroup(logging.Handler):
    """Writes records to CloudWatch Logs as the functions do, at the drill's time."""

    def __init__(self, clock):
        super().__init__(logging.INFO)
        self._clock, self._logs = clock, boto3.client("logs")
        self.setFormatter(LogLines())
        for group in (WORK_LOG, ARM_LOG):
            self._logs.create_log_group(logGroupName=group)
            self._logs.create_log_stream(logGroupName=group, logStreamName="1")

    def emit(self, record):
        if not hasattr(record, "action"):
            return
        group = ARM_LOG if "transition" in record.name else WORK_LOG
        at = int(self._clock.now().timestamp() * 1_000)
        events = [{"timestamp": at, "message": self.format(record)}]
        self._logs.put_log_events(logGroupName=group, logStreamName="1", logEvents=events)


class Drill:
    """The deployment. `settings` names its tables; `adopt` of a test may name others."""

    def __init__(self, settings):
        self.clock, self.settings = (
            TurnedClock(SystemClock().now().replace(second=0, microsecond=0) - 20 * MINUTE),
            settings,
        )
        self.effects = Counter()
        self._messages = {}  # of timers, which never change
        self.app = self._app()
        self.scheduler = None
        client = boto3.client("dynamodb")
        tables = DeployedTables(client, settings.made.jobs_table)
        tables.mark(FORMAT)
        tables.publish(self.app.manifest, DeployedShards(16), SystemClock().now())
        boto3.client("scheduler").create_schedule_group(Name=settings.made.job_group)
        for name in (settings.made.actions_table, settings.made.jobs_table):
            client.update_time_to_live(
                TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": TTL_ATTRIBUTE}
            )
            arn = client.describe_table(TableName=name)["Table"]["TableArn"]
            client.tag_resource(ResourceArn=arn, Tags=[{"Key": "team", "Value": "billing"}])
        self.use(settings)
        self.steps.reconcile(self.app.manifest.jobs, worker="default")

    def use(self, settings):
        """Deploy with other settings."""
        self.settings = settings
        self.backends = AwsBackends(settings, self.clock)
        backends = self.backends
        self.steps = Steps(backends)
        self.work = Worker(self.app.handler_set, backends, Heartbeat(backends), instance="drill")
        self.scheduler = Scheduler(
            backends.store,
            tenant_id="acme",
            actor="drill",
            clock=self.clock,
            settings=settings,
            jobs=JobPorts(backends.jobs, backends.routes, "second"),
        )

    def _app(self):
        app = App()

        @app.action(retry=RetryPolicy(attempts=2, backoff=60, jitter=0))
        def count(payload: Count, run: Run) -> None:
            if payload.name.startswith("stumbles") and run.attempt == 1:
                raise ConnectionError("no response")
            self.effects[payload.name] += 1

        @app.job(every(minutes=2), name="ledger-tick", catch_up=3)
        def tick(run: Run) -> None:
            self.effects[run.id] += 1

        return app

    def schedule(self, name, minutes, **options):
        """Schedule a count so many minutes after now, and arm it as the stream does."""
        action = self.scheduler.schedule(Count(name=name), at=timedelta(minutes=minutes), **options)
        self.arm(action)
        return action

    def arm(self, action):
        logging.getLogger("duetime.telemetry.transition_log").info(
            "scheduled",
            extra={
                "action": action.id,
                "tenant": action.tenant_id,
                "type": action.type,
                "due_at": action.due_at.isoformat(),
            },
        )
        self.steps.arm([Change(None, action)])

    def minutes(self, count):
        """Let so many minutes pass: timers fire, jobs are planned, what is due runs."""
        for _ in range(count):
            self.clock.wait_until(self.clock.now() + MINUTE)
            self._fire()
            if self.settings.enabled:
                self.run_due()
                for ref in refs_until(self.backends.jobs, LATEST):
                    self.steps.maintain(ref)

    def _fire(self):
        """Remove the timers whose time has come, as EventBridge does."""
        for name in list(self.backends.timers.known()):
            if name not in self._messages:
                self._messages[name] = self.backends.timers.message(name)
            message = self._messages[name]
            if message and message.due_at - self.settings.wake_early <= self.clock.now():
                self.backends.timers.remove(name)

    def run_due(self):
        """Deliver a message for each row that is due."""
        for row in self.rows():
            if row.due_at <= self.clock.now():
                self.deliver(message_of(row))

    def deliver(self, message):
        """Deliver a due message to the worker."""
        self.work(Delivery(message, message.due_at, "receipt"))

    def rows(self, table=""):
        """Return the unsettled rows of a table, soonest first."""
        rows = [
            from_item(item)
            for item in items_of(table or self.settings.made.actions_table)
            if is_row(item) and "due_shard" in item
        ]
        return sorted(rows, key=lambda row: row.due_at)

    def claim(self, row):
        """Claim a run of a job, as a worker that dies then."""
        job = self.backends.jobs.get(JobRef(row.tenant_id, row.job))
        now = self.clock.now()
        claimed = replace(
            row,
            status=Status.PROCESSING,
            fence=row.fence + 1,
            attempt=1,
            nonce="dead",
            lease_until=now + self.settings.lease,
            attempts=(Attempt(queued_at=now, started_at=now, instance="dead"),),
        )
        assert self.backends.jobs.claim(
            JobRunClaim(row=row, claimed=claimed, job=job, hold=LockRequirement.LOCK)
        )

    def schedule_of(self, name):
        """Return the expression and the state of a job's schedule."""
        found = boto3.client("scheduler").get_schedule(Name=name, GroupName=self.settings.made.job_group)
        return found["ScheduleExpression"], found["State"]

    def restore(self, kind, suffix="-2"):
        """Return a call that restores a table, with its rows of now, under another name."""
        source = getattr(self.settings.made, f"{kind}_table")
        client = boto3.client("dynamodb")
        backup = client.create_backup(TableName=source, BackupName="drill")["BackupDetails"]["BackupArn"]

        def restore(name=source + suffix):
            client.restore_table_from_backup(TargetTableName=name, BackupArn=backup)
            return name

        return restore


def off(settings):
    """Return the settings with the global switch off."""
    return replace(settings, enabled=False)


def description(name):
    """Return what DynamoDB says of a table."""
    return boto3.client("dynamodb").describe_table(TableName=name)["Table"]
