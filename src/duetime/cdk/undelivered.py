"""The undelivered handler: it redrives or keeps the inputs in the failure queue."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from aws_cdk import aws_iam as iam
from constructs import Construct

from duetime.cdk.bundle import Bundle
from duetime.cdk.functions import DuetimeFunction, FunctionSpec
from duetime.cdk.job_rights import let_plan, let_start_by_events
from duetime.cdk.lifecycle import let_publish
from duetime.cdk.queues import UNDELIVERED_TIMEOUT, RetriedQueue
from duetime.cdk.resources import SharedResources
from duetime.cdk.rights import keep_undelivered, leave_to_wheel, may, may_by_key, send, take_from
from duetime.cdk.rules import accept_wildcard
from duetime.cdk.worker import feed


class UndeliveredFunction(Construct):
    """Handles undelivered inputs. It repeats the work of arm and dispatch, so it has their rights as well."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        resources: SharedResources,
        *,
        notifications: RetriedQueue | None,
    ) -> None:
        super().__init__(scope, construct_id)
        self._resources, self._wakes, self._notifications = resources, resources.wakes, notifications
        failures = resources.failures
        settings = replace(self._wakes.settings, app="").with_made(
            queues=resources.queue_urls,
            failure_queue=failures.queue_url,
            notification_queue="" if notifications is None else notifications.queue.queue_url,
        )
        spec = FunctionSpec(
            name=f"{settings.prefix}undelivered",
            about="redrives or keeps the inputs that queues, the stream and EventBridge gave up on",
            entry="undelivered",
            timeout=UNDELIVERED_TIMEOUT,
            environment=settings.to_env(),
            rights=[*resources.rights_to_send(), *self._rights()],
        )
        code = Bundle.for_deployment(resources.deployment).code()
        function = DuetimeFunction(self, "undelivered", spec, code, resources.deployment)
        self._wakes.accept_timers(function)
        accept_wildcard(function.role, self._wakes.rules_arn, "Rules are named by the jobs that they start.")
        feed(self, "Failures", function, failures)

    def _rights(self) -> Iterator[iam.PolicyStatement]:
        tables = self._resources.tables
        actions, jobs = tables.actions.table_arn, tables.jobs.table_arn
        yield take_from(self._resources.failures.queue_arn)
        yield keep_undelivered(jobs)
        if self._notifications is not None:
            yield send(self._notifications.queue.queue_arn)
        yield may("dynamodb:GetItem", on=actions)
        yield from self._rights_of_arm(actions)
        yield from let_plan(actions, jobs)
        yield from let_start_by_events(actions)
        yield may("events:ListTargetsByRule", on=self._wakes.rules_arn)
        yield let_publish(self, self._wakes.settings)

    def _rights_of_arm(self, actions: str) -> Iterator[iam.PolicyStatement]:
        tables = self._resources.tables
        streams = [tables.action_stream.arn, tables.job_stream.arn]
        yield may("dynamodb:GetShardIterator", "dynamodb:GetRecords", on=streams)
        yield may_by_key("dynamodb:DeleteItem", on=actions, keys=["*#payload#*", "*#key#*"])
        yield from self._wakes.let_set_timers()
        yield from self._wakes.let_clear_timers()
        if self._wakes.are_timers_set:
            yield leave_to_wheel(tables.jobs.table_arn)
