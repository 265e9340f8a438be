"""Items as moto stores them: found, converted and put without a request."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, cast

from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict
from moto.dynamodb.models.table import Table

from duetime.errors import OperationFailed
from duetime.sqlite.database import to_text
from tests.emulated.addresses import ACCOUNT, REGION


def tables() -> Mapping[str, Table]:
    """Return moto's tables by their names."""
    return dynamodb_backends[ACCOUNT][REGION].tables


def table_of(name: str) -> Table | None:
    """Return a table, if it exists."""
    return tables().get(name)


def key_names(table: Table) -> list[str]:
    """Return the names of the one or two attributes of a table's keys."""
    return [name for name in (table.hash_key_attr, table.range_key_attr) if name]


def as_stored(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a key of a request, in which bytes are Base64 texts, as moto stores it."""
    return {kind: b64decode(value) if kind == "B" else value for kind, value in part.items()}


def key_texts(key: Iterable[Mapping[str, Any]]) -> tuple[str, str]:
    """Return a text for each part of a key; the second one is empty for a key of one part."""
    first, *rest = map(_key_text, key)
    return first, "".join(rest)


def _key_text(part: Mapping[str, Any]) -> str:
    """Return a text that is the same for all forms of one number, as ``1`` and ``1.0``."""
    number = part.get("N")
    text: Any = part if number is None else {"N": format(Decimal(number).normalize(), "f")}
    return to_text(text)


def stored_item(table: Table, first: DynamoType, *rest: DynamoType) -> Item | None:
    """Return the item with a key, if it exists."""
    items: Any = table.items
    found: Any = items.get(first)
    if rest and found is not None:
        found = found.get(rest[0])
    return cast("Item | None", found)


def put(table: Table, plain: Mapping[str, Any]) -> None:
    """Store an item without a record in the table's stream.

    Raises:
        OperationFailed: the table has other keys than the item.
    """
    attributes = {name: DynamoType(value) for name, value in plain.items()}
    if any(name not in attributes for name in key_names(table)):
        raise OperationFailed(
            f"the saved items of {table.name} lack a key of the new table; choose another folder, or create"
            " the table as before and delete it"
        )
    first, *rest = (attributes[name] for name in key_names(table))
    made: Any = Item.__new__(Item)  # its constructor computes the item's size once for each attribute
    made.hash_key, made.range_key = first, rest[0] if rest else None
    made.attrs = LimitedSizeDict()
    dict.update(made.attrs, attributes)
    items: Any = table.items
    if rest:
        items[first][rest[0]] = made
    else:
        items[first] = made


def text_of(item: Item) -> str:
    """Return the JSON text of an item."""
    return to_text(_plain_all(item.attrs))


def _plain_all(attributes: Mapping[str, DynamoType]) -> dict[str, Any]:
    return {name: plain(value) for name, value in attributes.items()}


def plain(value: DynamoType) -> dict[str, Any]:
    """Convert a value to JSON, except bytes; moto stores binary values as bytes or as Base64 texts."""
    if value.type == "M":
        return {"M": _plain_all(value.value)}
    if value.type == "L":
        return {"L": [plain(part) for part in value.value]}
    if value.type in {"SS", "NS", "BS"}:
        return {value.type: list(value.value)}
    return {value.type: cast("Any", value.value)}
