"""Changes of rows, read from the images of a stream record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duetime.aws.items import from_item
from duetime.aws.keys import is_row
from duetime.model.change import Change


def change_of(images: Mapping[str, Any]) -> Change | None:
    """Return the change of a row from a record's images, or None for an item that is no row.

    Raises:
        UnreadableRow: the row has an invalid attribute.
    """
    old, new = images.get("OldImage"), images.get("NewImage")
    if not is_row(new or old or {}):
        return None
    return Change(from_item(old) if old else None, from_item(new) if new else None)
