"""Creates the tables of a deployment in moto or another emulator, for tests of code that schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duetime.aws.tables import JOBS, actions_shape, create_table_request
from duetime.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def create_tables(client: DynamoDBClient) -> None:
    """Create the tables of `duetime.Scheduler.from_env`, with the names of the environment.

    ``with mock_aws(): create_tables(boto3.client("dynamodb"))``. Nothing runs the actions there; they stay
    pending.

    Raises:
        SettingsError: the environment contradicts itself.
    """
    settings = Settings.from_env()
    actions = actions_shape(due_order=settings.due_order)
    for shape, name in ((actions, settings.made.actions_table), (JOBS, settings.made.jobs_table)):
        client.create_table(**create_table_request(shape, name))
