"""What a deploy makes, made in moto: tables, queues, groups, the bus, the passes' schedules, the workers and their jobs.

Each step leaves alone what is there already, so deploying again with other settings keeps all data, as it does on AWS.
"""

from __future__ import annotations

import json
import math
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from duetime.app import App
from duetime.aws import clients, tables
from duetime.clock import Clock
from duetime.ids import DEFAULT_WORKER
from duetime.jobs.reconcile import Reconciled
from duetime.lambdas.rollout import Rollout
from duetime.local.addresses import ResourceNames, dead_queue_of, queue_arn
from duetime.local.channels import Channels
from duetime.local.handlers import NOTIFY_TIMEOUT, SALVAGE_TIMEOUT
from duetime.settings import Settings
from duetime.wakeups import system_jobs
from duetime.wakeups.system_jobs import SYSTEM_WORKER

PASSES = {"sweep": "rate(1 minute)", "catch-up": "rate(6 hours)"}
"""The functions that the clock invokes, and how often."""
_BEYOND_TIMEOUT = timedelta(seconds=5)


class Stack:
    """Deploys one worker's app, and the system's own worker beside it."""

    def __init__(self, names: ResourceNames, clock: Clock, *, max_receives: int) -> None:
        self._names, self._clock, self._max_receives = names, clock, max_receives
        self._dynamodb = clients.dynamodb()
        self._sqs = clients.sqs()
        self._scheduler = clients.scheduler()
        self._events = clients.events()

    def deploy(self, app: App, settings: Settings) -> tuple[Settings, Reconciled]:
        """Make what is missing; returns the settings with the names of everything made, and what became of the app's jobs."""
        deployed = self._make(settings)
        rollout = Rollout(deployed, self._clock)
        rollout.publish(system_jobs.manifest())
        return deployed, rollout.publish(app.manifest)

    def _make(self, settings: Settings) -> Settings:
        self._make_table(tables.actions_shape(due_order=settings.due_order), settings.actions_table)
        self._make_table(tables.JOBS, settings.jobs_table)
        failures = self._make_salvaged(self._names.failure_queue)
        url = self._make_due_queue(self._names.worker, settings)
        system = self._make_due_queue(SYSTEM_WORKER, settings)
        for group in (settings.schedule_group, settings.job_group, self._names.pass_group):
            self._make_group(group)
        self._make_bus(settings.event_bus)
        for name, expression in PASSES.items():
            self._make_pass(name, expression)
        told = self._make_notifications(settings)
        return replace(
            told,
            queues={DEFAULT_WORKER: url, self._names.worker: url, SYSTEM_WORKER: system},
            failure_queue=failures,
            dispatch_arn=self._names.function("dispatch"),
            timer_role_arn=self._names.timer_role,
            timer_dlq_arn=queue_arn(self._names.failure_queue),
        )

    def _queue_url(self, name: str) -> str:
        """A queue's URL; the queue is made if it is missing."""
        with suppress(self._sqs.exceptions.QueueDoesNotExist):
            return self._sqs.get_queue_url(QueueName=name)["QueueUrl"]
        return self._sqs.create_queue(QueueName=name)["QueueUrl"]

    def _make_table(self, shape: tables.TableShape, name: str) -> None:
        try:
            self._dynamodb.create_table(**tables.create_table_request(shape, name))
        except self._dynamodb.exceptions.ResourceInUseException:
            self._add_indexes(shape, name)
            return
        self._dynamodb.update_time_to_live(
            TableName=name,
            TimeToLiveSpecification={"Enabled": True, "AttributeName": tables.TTL_ATTRIBUTE},
        )

    def _add_indexes(self, shape: tables.TableShape, name: str) -> None:
        """What became a setting later; one that is a setting no more is left, as nobody asks for it."""
        there = self._dynamodb.describe_table(TableName=name)["Table"].get("GlobalSecondaryIndexes", [])
        names = {each["IndexName"] for each in there}
        for index in shape.indexes:
            if index.name not in names:
                self._dynamodb.update_table(**tables.add_index_request(shape, index, name))

    def _make_notifications(self, settings: Settings) -> Settings:
        """The settings with what people are told by; as they are, where nothing is published."""
        if settings.events == "off":
            return settings
        url = self._make_retried(self._names.notifications, NOTIFY_TIMEOUT + _BEYOND_TIMEOUT)
        return Channels(self._names.notifications).make(replace(settings, notification_queue=url))

    def _make_due_queue(self, worker: str, settings: Settings) -> str:
        return self._make_retried(self._names.due_queue(worker), settings.queue_visibility)

    def _make_retried(self, name: str, visibility: timedelta) -> str:
        """A queue with its dead letters, which feed salvage."""
        dead = dead_queue_of(name)
        self._make_salvaged(dead)
        url = self._queue_url(name)
        redrive = {"deadLetterTargetArn": queue_arn(dead), "maxReceiveCount": self._max_receives}
        self._sqs.set_queue_attributes(
            QueueUrl=url,
            Attributes={
                "VisibilityTimeout": str(math.ceil(visibility.total_seconds())),
                "RedrivePolicy": json.dumps(redrive),
            },
        )
        return url

    def _make_salvaged(self, name: str) -> str:
        """A queue that feeds salvage: its messages stay hidden for as long as that may take."""
        url = self._queue_url(name)
        hidden = str(math.ceil(SALVAGE_TIMEOUT.total_seconds()))
        self._sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": hidden})
        return url

    def _make_group(self, name: str) -> None:
        try:
            self._scheduler.get_schedule_group(Name=name)
        except self._scheduler.exceptions.ResourceNotFoundException:
            self._scheduler.create_schedule_group(Name=name)

    def _make_bus(self, name: str) -> None:
        if name != "default":  # which every region has
            with suppress(self._events.exceptions.ResourceAlreadyExistsException):
                self._events.create_event_bus(Name=name)

    def _make_pass(self, name: str, expression: str) -> None:
        with suppress(self._scheduler.exceptions.ConflictException):
            self._scheduler.create_schedule(
                Name=name,
                GroupName=self._names.pass_group,
                ScheduleExpression=expression,
                FlexibleTimeWindow={"Mode": "OFF"},
                Target={
                    "Arn": self._names.function(name),
                    "RoleArn": self._names.timer_role,
                    "Input": "{}",
                },
            )
