"""The tables of a deployment, made over moto or another emulator, for tests of code that schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duetime.aws.tables import JOBS, actions_shape, create_table_request
from duetime.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def create_tables(client: DynamoDBClient) -> None:
    """Make the tables that `duetime.Scheduler.from_env` looks for, by the names that the environment says.

    ``with mock_aws(): create_tables(boto3.client("dynamodb"))``. What is scheduled there stays pending: nothing runs it.

    Raises:
        SettingsError: the environment contradicts itself.
    """
    settings = Settings.from_env()
    actions = actions_shape(due_order=settings.due_order)
    for shape, name in ((actions, settings.actions_table), (JOBS, settings.jobs_table)):
        client.create_table(**create_table_request(shape, name))
