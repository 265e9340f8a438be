"""The two tables: on demand, encrypted, with point-in-time recovery, and retained without the stack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct

from duetime.aws.tables import (
    CORRELATION,
    FAILED,
    JOBS,
    TENANT_DUE,
    TTL_ATTRIBUTE,
    TableShape,
    actions_shape,
)
from duetime.cdk.deployment import Deployment
from duetime.settings import Settings


class TableStream(NamedTuple):
    """The ARN of a table's stream, and the pattern of all its streams: their names are creation times."""

    arn: str
    pattern: str


class Tables(Construct):
    """The tables of `duetime.aws.tables`, named by the settings; restored ones are referred to by name."""

    def __init__(
        self, scope: Construct, construct_id: str, settings: Settings, deployment: Deployment
    ) -> None:
        super().__init__(scope, construct_id)
        self._settings, self._keep = settings, deployment.keep_data
        self._is_replica = deployment.replica
        shape, restored = actions_shape(due_order=settings.due_order), deployment.restored_table
        self.actions = self._either("Actions", shape, settings.made.actions_table, restored("actions"))
        self.jobs = self._either("Jobs", JOBS, settings.made.jobs_table, restored("jobs"))
        actions, jobs = (
            restored("actions") or settings.made.actions_table,
            restored("jobs") or settings.made.jobs_table,
        )
        self.action_stream = self._stream(self.actions, actions, deployment.actions_stream)
        self.job_stream = self._stream(self.jobs, jobs, deployment.jobs_stream)

    @property
    def tenant_indexes(self) -> Sequence[str]:
        """The ARNs of the actions table's indexes whose keys begin with a tenant."""
        by_due = [TENANT_DUE] if self._settings.due_order else []
        return [self.index_arn(index.name) for index in (CORRELATION, FAILED, *by_due)]

    def index_arn(self, index: str) -> str:
        """Return the ARN of an index of the actions table."""
        return f"{self.actions.table_arn}/index/{index}"

    def _stream(self, table: dynamodb.ITable, name: str, restored: str) -> TableStream:
        return TableStream(restored or table.table_stream_arn or "", table_arn(self, f"{name}/stream/*"))

    def _either(self, construct_id: str, shape: TableShape, name: str, restored: str) -> dynamodb.ITable:
        """Return the table; the stack owns no replica, and no restored one with another name."""
        if restored in {"", name} and not self._is_replica:
            return self._table(construct_id, shape, name, keep=self._keep)
        return dynamodb.Table.from_table_name(self, construct_id, restored or name)

    def _table(self, construct_id: str, shape: TableShape, name: str, *, keep: bool) -> dynamodb.Table:
        table = dynamodb.Table(
            self,
            construct_id,
            table_name=name,
            partition_key=_key("pk"),
            sort_key=_key("sk"),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            encryption=dynamodb.TableEncryption.AWS_MANAGED,
            time_to_live_attribute=TTL_ATTRIBUTE,
            stream=dynamodb.StreamViewType.NEW_AND_OLD_IMAGES if shape.has_stream else None,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            deletion_protection=keep,
            removal_policy=RemovalPolicy.RETAIN if keep else RemovalPolicy.DESTROY,
        )
        for index in shape.indexes:
            table.add_global_secondary_index(
                index_name=index.name,
                partition_key=_key(index.partition),
                sort_key=_key(index.sort),
                projection_type=dynamodb.ProjectionType.KEYS_ONLY,
            )
        return table


def table_arn(scope: Construct, name: str) -> str:
    """Return a table's ARN from its name alone, for parts that are created before the table."""
    return Stack.of(scope).format_arn(service="dynamodb", resource="table", resource_name=name)


def _key(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)
