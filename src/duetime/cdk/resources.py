"""The resources that the functions share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs

from duetime.cdk.deployment import Deployment
from duetime.cdk.queues import RetriedQueue
from duetime.cdk.rights import read_manifests, send
from duetime.cdk.tables import Tables
from duetime.cdk.wakes import Wakes
from duetime.settings import Settings
from duetime.wakeups.system_jobs import SYSTEM_WORKER


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedResources:
    """The tables, queues and wakes of a scheduler, with its settings; `due` has each worker's due queue."""

    settings: Settings
    deployment: Deployment
    tables: Tables
    due: Mapping[str, RetriedQueue]
    wakes: Wakes
    failures: sqs.Queue

    @property
    def queue_urls(self) -> Mapping[str, str]:
        """The URL of each worker's due queue."""
        return {name: due.queue.queue_url for name, due in self.due.items()}

    @property
    def worker_queue_urls(self) -> Mapping[str, str]:
        """The same of the workers that run users' handlers."""
        return {name: url for name, url in self.queue_urls.items() if name != SYSTEM_WORKER}

    @property
    def worker_queue_arns(self) -> list[str]:
        """The due queues of these workers."""
        return [self.due[name].queue.queue_arn for name in self.worker_queue_urls]

    def rights_to_send(self) -> list[iam.PolicyStatement]:
        """Allow to find a type's queue, to send messages there, and to hand over permanent failures."""
        queues = [due.queue.queue_arn for due in self.due.values()]
        return [read_manifests(self.tables.jobs.table_arn), send([*queues, self.failures.queue_arn])]
