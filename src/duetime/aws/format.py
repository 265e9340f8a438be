"""The mark of the tables' format: by it a deploy knows whether these tables are ones that it can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from duetime.aws.faults import code_of, translated
from duetime.aws.queries import SERVICE

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_PLACE = {"pk": {"S": "system#format"}, "sk": {"S": "tables"}}


def read_format(client: DynamoDBClient, jobs_table: str) -> int | None:
    """The format that the tables are marked with; None where there is no table, or nothing was ever published."""
    with translated(SERVICE):
        try:
            item = client.get_item(TableName=jobs_table, Key=_PLACE, ConsistentRead=True).get("Item")
        except ClientError as error:
            if code_of(error) == "ResourceNotFoundException":
                return None
            raise
    return int(item["version"]["N"]) if item else None


def mark_format(client: DynamoDBClient, jobs_table: str, version: int) -> None:
    """Mark the tables as being of this format."""
    with translated(SERVICE):
        client.put_item(TableName=jobs_table, Item={**_PLACE, "version": {"N": str(version)}})
