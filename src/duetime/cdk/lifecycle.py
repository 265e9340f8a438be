"""Lifecycle events: the function that reads both tables' streams, and the bus that it publishes on."""

from __future__ import annotations

from datetime import timedelta

from aws_cdk import Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from constructs import Construct

from duetime.cdk.bundle import Bundle
from duetime.cdk.changes import StreamSource
from duetime.cdk.functions import DuetimeFunction, FunctionSpec
from duetime.cdk.job_rights import JOBS
from duetime.cdk.resources import SharedResources
from duetime.cdk.rights import RUN_COUNTS, may, may_by_key, read_manifests, read_stream, send
from duetime.cdk.rules import accept_wildcard
from duetime.lambdas.publish import action_filters, job_filters
from duetime.settings import Settings

_LONGEST = timedelta(hours=6)
"""Records that the bus rejects for that long go to `undelivered`. It can read the stream for a day."""

_BATCHING_WINDOW = timedelta(seconds=1)
"""Changes within this time are published with one call."""


class Lifecycle(Construct):
    """Publishes the changes in the tables. No other part waits for it."""

    def __init__(self, scope: Construct, construct_id: str, resources: SharedResources) -> None:
        super().__init__(scope, construct_id)
        settings, deployment, tables = resources.settings, resources.deployment, resources.tables
        jobs, failures = tables.jobs.table_arn, resources.failures.queue_arn
        self.bus: events.IEventBus = (
            events.EventBus(self, "Bus", event_bus_name=settings.event_bus)
            if settings.has_own_bus
            else events.EventBus.from_event_bus_name(self, "Bus", settings.event_bus)
        )
        spec = FunctionSpec(
            name=f"{settings.prefix}publish",
            about="publishes lifecycle events on the event bus",
            entry="publish",
            timeout=timedelta(seconds=60),
            environment=settings.with_made(
                failure_queue=resources.failures.queue_url, run_counts=bool(deployment.api)
            ).to_env(),
            rights=[
                *read_stream(tables.action_stream),
                *read_stream(tables.job_stream),
                read_manifests(jobs),
                may_by_key("dynamodb:Query", on=jobs, keys=JOBS),
                may_by_key("dynamodb:UpdateItem", on=jobs, keys=[RUN_COUNTS]),
                let_publish(self, settings),
                send(failures),
            ],
        )
        publish = DuetimeFunction(self, "publish", spec, Bundle.for_deployment(deployment).code(), deployment)
        for name, stream, filters in (
            ("Actions", tables.action_stream, action_filters(settings)),
            ("Jobs", tables.job_stream, job_filters(settings)),
        ):
            accept_wildcard(publish.role, stream.pattern, "A stream is named by the time of its creation.")
            StreamSource(
                self,
                name,
                publish,
                stream=stream.arn,
                filters=filters,
                failures=failures,
                longest=_LONGEST,
                gather=_BATCHING_WINDOW,
            )


def let_publish(scope: Construct, settings: Settings) -> iam.PolicyStatement:
    """Allow to put events on the bus."""
    bus = Stack.of(scope).format_arn(service="events", resource="event-bus", resource_name=settings.event_bus)
    return may("events:PutEvents", on=bus)
