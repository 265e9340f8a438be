"""The stack: a scheduler and its workers."""

from __future__ import annotations

from typing import Any

from aws_cdk import Stack
from constructs import Construct

from duetime.cdk import Deployment, Duetime, Handlers
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
