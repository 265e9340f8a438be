"""Deploys to moto: tables, queues, groups, the bus, the passes' schedules, the workers and their jobs.

Existing resources stay, so a deploy with other settings keeps all data, as on AWS.
"""

from __future__ import annotations

import json
import math
from contextlib import suppress
from datetime import timedelta

from duetime.app import App
from duetime.aws import clients, tables
from duetime.clock import Clock
from duetime.ids import DEFAULT_WORKER
from duetime.jobs.reconcile import Reconciled
from duetime.lambdas.deploy import Rollout
from duetime.model.priority import high_queue_of
from duetime.settings import Settings
from duetime.wakeups import system_jobs
from duetime.wakeups.system_jobs import SYSTEM_WORKER
from tests.emulated.addresses import ResourceNames, queue_arn
from tests.emulated.functions import NOTIFY_TIMEOUT, UNDELIVERED_TIMEOUT
from tests.emulated.notifications import LocalNotifications

_BEYOND_TIMEOUT = timedelta(seconds=5)


class Stack:
    """Deploys one worker's app and the system's own worker."""

    def __init__(self, names: ResourceNames, clock: Clock, *, max_receives: int) -> None:
        self._names, self._clock, self._max_receives = names, clock, max_receives
        self._dynamodb = clients.dynamodb()
        self._sqs = clients.sqs()
        self._scheduler = clients.scheduler()
        self._events = clients.events()

    def deploy(self, app: App, settings: Settings) -> tuple[Settings, Reconciled]:
        """Create what is missing.

        Returns:
            The settings with the names of all resources, and the changes of the app's jobs.
        """
        manifest = app.manifest.deployed(high_priority=settings.high_priority)
        deployed = self._make(settings, has_high_queue=manifest.has_high_queue)
        rollout = Rollout(deployed, self._clock)
        rollout.publish(system_jobs.manifest(settings))
        return deployed, rollout.publish(manifest)

    def _make(self, settings: Settings, *, has_high_queue: bool) -> Settings:
        self._make_table(tables.actions_shape(due_order=settings.due_order), settings.made.actions_table)
        self._make_table(tables.JOBS, settings.made.jobs_table)
        failures = self._make_failure_queue()
        url, system = (
            self._make_queue(self._names.due_queue(worker), settings.made.queue_visibility)
            for worker in (self._names.worker, SYSTEM_WORKER)
        )
        high = high_queue_of(self._names.worker)
        high_url = {}
        if has_high_queue or high in settings.made.queues:
            high_url[high] = self._make_queue(self._names.due_queue(high), settings.made.queue_visibility)
        for group in (settings.made.schedule_group, settings.made.job_group, self._names.pass_group):
            self._make_group(group)
        self._make_bus(settings.event_bus)
        for name, rate in (("sweep", settings.sweep_rate), ("catch-up", settings.catch_up_rate)):
            self._make_pass(name, system_jobs.rate_expression(rate))
        return self._make_notifications(settings).with_made(
            queues={DEFAULT_WORKER: url, self._names.worker: url, SYSTEM_WORKER: system, **high_url},
            failure_queue=failures,
            dispatch_arn=self._names.function("dispatch"),
            timer_role_arn=self._names.timer_role,
            timer_dlq_arn=queue_arn(self._names.failure_queue),
        )

    def _queue_url(self, name: str) -> str:
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
        """Add the indexes that a changed setting needs; surplus ones stay unused."""
        existing = self._dynamodb.describe_table(TableName=name)["Table"].get("GlobalSecondaryIndexes", [])
        names = {index["IndexName"] for index in existing}
        for index in shape.indexes:
            if index.name not in names:
                self._dynamodb.update_table(**tables.add_index_request(shape, index, name))

    def _make_notifications(self, settings: Settings) -> Settings:
        """Return the settings with the notification resources; unchanged if no events are published."""
        if settings.events == "off":
            return settings
        url = self._make_queue(self._names.notifications, NOTIFY_TIMEOUT + _BEYOND_TIMEOUT)
        return LocalNotifications(self._names.notifications).make(settings.with_made(notification_queue=url))

    def _make_queue(self, name: str, visibility: timedelta) -> str:
        url, failures = self._queue_url(name), queue_arn(self._names.failure_queue)
        redrive = {"deadLetterTargetArn": failures, "maxReceiveCount": self._max_receives}
        self._sqs.set_queue_attributes(
            QueueUrl=url,
            Attributes={
                "VisibilityTimeout": str(math.ceil(visibility.total_seconds())),
                "RedrivePolicy": json.dumps(redrive),
            },
        )
        return url

    def _make_failure_queue(self) -> str:
        """Create the queue that feeds the function `undelivered`; its visibility is its timeout."""
        url = self._queue_url(self._names.failure_queue)
        hidden = str(math.ceil(UNDELIVERED_TIMEOUT.total_seconds()))
        self._sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": hidden})
        return url

    def _make_group(self, name: str) -> None:
        try:
            self._scheduler.get_schedule_group(Name=name)
        except self._scheduler.exceptions.ResourceNotFoundException:
            self._scheduler.create_schedule_group(Name=name)

    def _make_bus(self, name: str) -> None:
        if name != "default":  # every region has that one
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
