"""The item of the active region in DynamoDB: the partition ``system#region`` of a table for it alone.

The table is a global table with strong consistency between regions, so a region that is cut off can neither
read nor write it. The setting may also be the ARN of a table in a third region.
"""

from __future__ import annotations

from typing import Any

from duetime import instant
from duetime.aws.dynamodb import Client, DynamoTable
from duetime.aws.faults import ConditionFailed
from duetime.aws.keys import Item
from duetime.aws.row_checks import UNREADABLE
from duetime.aws.tables import TableShape
from duetime.errors import UnreadableRow
from duetime.model.active_region import ActiveRegion

REGIONS = TableShape("regions", (), has_stream=False)
KEY: Item = {"pk": {"S": "system#region"}, "sk": {"S": "active"}}

IS_ABSENT = "attribute_not_exists(pk)"
IS_AS_READ = "epoch = :epoch AND active = :active"

_TEXTS = ("active", "target", "source", "by")


class DynamoActiveRegions:
    """One item.

    See `duetime.ports.regions.ActiveRegions`.
    """

    def __init__(self, client: Client, table: str, own: str) -> None:
        self.own, self._table = own, DynamoTable(client, table)

    def read(self) -> ActiveRegion | None:
        item = self._table.get(KEY)
        return _from_item(item) if item else None

    def change(self, old: ActiveRegion | None, new: ActiveRegion) -> bool:
        try:
            self._table.put(_to_item(new), **_condition(old))
        except ConditionFailed:
            return self.read() == new
        return True


def name_of(table: str) -> str:
    """Return the name in a table's ARN, or the name."""
    return table.rpartition("/")[2]


def region_of(table: str) -> str | None:
    """Return the region in a table's ARN; None for a name."""
    return table.split(":")[3] if table.startswith("arn:") else None


def _condition(old: ActiveRegion | None) -> dict[str, Any]:
    if old is None:
        return {"ConditionExpression": IS_ABSENT}
    values = {":epoch": {"N": str(old.epoch)}, ":active": {"S": old.region}}
    return {"ConditionExpression": IS_AS_READ, "ExpressionAttributeValues": values}


def _to_item(region: ActiveRegion) -> Item:
    texts = dict(zip(_TEXTS, (region.region, region.target, region.source, region.by), strict=True))
    return {
        **KEY,
        **{name: {"S": text} for name, text in texts.items()},
        "epoch": {"N": str(region.epoch)},
        "moved_at": {"S": instant.text(region.moved_at)},
    }


def _from_item(item: Item) -> ActiveRegion:
    try:
        active, target, source, by = (item[name]["S"] for name in _TEXTS)
        return ActiveRegion(
            epoch=int(item["epoch"]["N"]),
            region=active,
            target=target,
            source=source,
            moved_at=instant.parse(item["moved_at"]["S"]),
            by=by,
        )
    except UNREADABLE as error:
        raise UnreadableRow(KEY, error) from error
