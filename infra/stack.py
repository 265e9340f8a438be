"""The stack: a scheduler, its workers, its API, and its outputs."""

from __future__ import annotations

from typing import Any

from aws_cdk import CfnOutput, Stack
from constructs import Construct

from duetime.cdk import Deployment, Duetime, Handlers
from duetime.cdk.api import Api
from duetime.settings import Settings


class DuetimeStack(Stack):
    """duetime with the handlers of the settings."""

    def __init__(
        self, scope: Construct, construct_id: str, *, settings: Settings, deployment: Deployment, **stack: Any
    ) -> None:
        super().__init__(scope, construct_id, **stack)
        self.scheduler = Duetime(
            self,
            "Scheduler",
            settings=settings,
            deployment=deployment,
            handlers=[
                Handlers.from_settings(settings, deployment),
                # Each line adds a worker, with its own role, queue and concurrency. App(worker="reports") has
                # `Handlers(app="reports.handlers:app", worker="reports", concurrency=2),`.
            ],
        )
        self._add_outputs()

    def _add_outputs(self) -> None:
        scheduler = self.scheduler
        CfnOutput(self, "ActionsTable", value=scheduler.tables.actions.table_name)
        CfnOutput(self, "JobsTable", value=scheduler.tables.jobs.table_name)
        CfnOutput(self, "Failures", value=scheduler.failures.queue_url)
        for name, due in scheduler.due.items():
            CfnOutput(self, f"DeadLetters{name.title().replace('-', '')}", value=due.dead.queue_url)
        if scheduler.alarms.topic is not None:
            CfnOutput(self, "Alarms", value=scheduler.alarms.topic.topic_arn)
        if scheduler.notifications is not None and scheduler.notifications.topic is not None:
            CfnOutput(self, "Notifications", value=scheduler.notifications.topic.topic_arn)
        if scheduler.api is not None:
            self._add_api_outputs(scheduler.api)

    def _add_api_outputs(self, api: Api) -> None:
        CfnOutput(self, "Api", value=api.people.url, description="for people: with an ID token")
        CfnOutput(self, "SignedApi", value=api.services.url, description="for services: with a signature")
        CfnOutput(self, "UserPool", value=api.users.pool.user_pool_id)
        CfnOutput(self, "UserPoolClient", value=api.client.user_pool_client_id)
        if api.console is not None:
            CfnOutput(self, "Console", value=f"{api.people.address}/", description="in a browser")
        if api.users.sign_in_url:
            CfnOutput(self, "SignIn", value=api.users.sign_in_url)
