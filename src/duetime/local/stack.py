"""What a deploy makes, made in moto: tables, queues, the group of one-shots, the passes' schedules, the manifest.

Each step leaves alone what is there already, so deploying again with other settings keeps all data, as it does on AWS.
"""

from __future__ import annotations

import json
import math
from contextlib import suppress
from dataclasses import replace

import boto3

from duetime.app import App
from duetime.aws import notes, tables
from duetime.local.addresses import Names, queue_arn
from duetime.manifest import DEFAULT_WORKER
from duetime.settings import Settings

PASSES = {"sweep": "rate(1 minute)", "catch-up": "rate(6 hours)"}
"""The functions that the clock invokes, and how often."""


class Stack:
    """Deploys one app."""

    def __init__(self, app: App, names: Names, *, max_receives: int) -> None:
        self._app, self._names, self._max_receives = app, names, max_receives
        self._dynamodb = boto3.client("dynamodb")
        self._sqs = boto3.client("sqs")
        self._scheduler = boto3.client("scheduler")

    def deploy(self, settings: Settings) -> Settings:
        """Make what is missing; returns the settings with the names of everything made."""
        self._make_table(tables.ACTIONS, settings.actions_table)
        self._make_table(tables.JOBS, settings.jobs_table)
        url = self._make_due_queue(settings)
        deployed = replace(
            settings,
            queues={DEFAULT_WORKER: url, self._app.worker: url},
            dispatch_arn=self._names.function("dispatch"),
            timer_role_arn=self._names.timer_role,
            timer_dlq_arn=queue_arn(self._names.failure_queue),
        )
        self._make_group(deployed.schedule_group)
        self._make_group(self._names.pass_group)
        for name, expression in PASSES.items():
            self._make_pass(name, expression)
        notes.publish(self._dynamodb, deployed.jobs_table, self._app.manifest)
        return deployed

    def _queue_url(self, name: str) -> str:
        """A queue's URL; the queue is made if it is missing."""
        with suppress(self._sqs.exceptions.QueueDoesNotExist):
            return self._sqs.get_queue_url(QueueName=name)["QueueUrl"]
        return self._sqs.create_queue(QueueName=name)["QueueUrl"]

    def _make_table(self, shape: tables.TableShape, name: str) -> None:
        with suppress(self._dynamodb.exceptions.ResourceInUseException):
            self._dynamodb.create_table(**tables.create_table_request(shape, name))
            self._dynamodb.update_time_to_live(
                TableName=name,
                TimeToLiveSpecification={"Enabled": True, "AttributeName": tables.TTL_ATTRIBUTE},
            )

    def _make_due_queue(self, settings: Settings) -> str:
        self._queue_url(self._names.failure_queue)
        self._queue_url(self._names.dead_queue)
        url = self._queue_url(self._names.due_queue)
        redrive = {
            "deadLetterTargetArn": queue_arn(self._names.dead_queue),
            "maxReceiveCount": self._max_receives,
        }
        self._sqs.set_queue_attributes(
            QueueUrl=url,
            Attributes={
                "VisibilityTimeout": str(math.ceil(settings.queue_visibility.total_seconds())),
                "RedrivePolicy": json.dumps(redrive),
            },
        )
        return url

    def _make_group(self, name: str) -> None:
        try:
            self._scheduler.get_schedule_group(Name=name)
        except self._scheduler.exceptions.ResourceNotFoundException:
            self._scheduler.create_schedule_group(Name=name)

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
