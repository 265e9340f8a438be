"""Keyed items in DynamoDB: guards and changes as expressions.

Each value has the form that its kind states, and each name is a placeholder, for some names are reserved.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from duetime.aws import unreadable_items
from duetime.aws.dynamodb import SERVICE, Client, DynamoTable, readable
from duetime.aws.faults import ConditionFailed, TransactionFailed, translate_errors
from duetime.aws.items import from_item
from duetime.aws.keys import Item, row_key
from duetime.aws.row_entries import RowEntries
from duetime.aws.tables import JOBS
from duetime.aws.transactions import Entry, retry_on_conflict
from duetime.errors import UnreadableRow
from duetime.model.action import Action, ActionRef
from duetime.ports.actions import DamagedRow
from duetime.ports.keyed_items import (
    UNREADABLE,
    AnyOf,
    AnyWrite,
    AtMost,
    Below,
    Cancelled,
    Fields,
    Guard,
    Key,
    Kind,
    Not,
    Outcome,
    Page,
    Presence,
    Query,
    Size,
    Write,
    entry_of,
    nothing,
)
from duetime.ports.row_queries import IndexEntry, Span

T = TypeVar("T")

_INDEXES = {index.partition: index.name for index in JOBS.indexes}
_CALLS = {"Put": "put_item", "Update": "update_item", "Delete": "delete_item"}


class ItemFields(Mapping[str, Any]):
    """The fields of an item. Each is converted when it is read, and raises an error then if it is damaged."""

    def __init__(self, kind: Kind, item: Item) -> None:
        self._kind, self.item = kind, item

    def __getitem__(self, name: str) -> Any:
        form, value = self._kind.form(name), self.item[name]
        if form is None or form.type not in value:
            raise ValueError(f"{name} is {value}")
        return form.load(value[form.type])

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.item if self._kind.form(name))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return name in self.item


class DynamoItems:
    """The items of one table; `rows` makes the entries of the rows that their writes change too.

    See `duetime.ports.keyed_items.Items`.
    """

    def __init__(self, client: Client, table: str, rows: RowEntries | None = None) -> None:
        self.client, self.name, self._table = client, table, DynamoTable(client, table)
        self._rows = rows or RowEntries(client, table)

    def get(
        self,
        kind: Kind,
        key: Key,
        read: Callable[[Fields], T],
        instead: Callable[[Fields], T | None] | None = None,
    ) -> T | None:
        item = self._table.get(item_key(key))
        return None if item is None else read_one(kind, item, read, instead)

    def row(self, ref: ActionRef, *, may_lag: bool = False) -> Action | None:
        item = self._rows.table.get(row_key(ref), may_lag=may_lag)
        return from_item(item) if item else None

    def rows(self, refs: Sequence[ActionRef]) -> Iterator[Action | DamagedRow]:
        return self._rows.indexes.rows(refs)

    def select(self, span: Span) -> Iterator[IndexEntry]:
        return self._rows.indexes.select(span)

    def find(
        self, query: Query, read: Callable[[Fields], T], instead: Callable[[Fields], T | None] = nothing
    ) -> Iterator[T]:
        return read_all(query.kind, self._table.items(**_request(query)), read, instead)

    def page(self, query: Query, read: Callable[[Fields], T]) -> Page[T]:
        page = self._table.query(**_request(query))
        items: Iterable[Item] = page["Items"]
        if query.index != "pk":  # an index has keys alone, and anyone may name a tenant
            own = query.kind.partition.format_map(defaultdict(str, tenant=query.partition))
            keys = [{"pk": item["pk"], "sk": item["sk"]} for item in items if item["pk"]["S"].startswith(own)]
            found = self._table.get_many(keys) if keys else ()
            items = sorted(found, key=lambda item: str(item["sk"]["S"]), reverse=query.is_newest_first)
        more = page.get("LastEvaluatedKey")
        return Page([*read_all(query.kind, items, read)], more["sk"]["S"] if more else None)

    def write(self, *writes: AnyWrite, tries: int = 6, counts_once: bool = False) -> Outcome:
        entries = [self.entry(write) for write in writes]
        if not all(isinstance(write, Write) for write in writes):
            self._rows.prepare(writes)
            entries += self._rows.of_payloads(writes)
        is_one = len(entries) == 1 and "ConditionCheck" not in entries[0]
        if is_one and self._rows.put_directly(writes[0]):
            return Outcome(is_written=True, items={})
        send = self._send if is_one and not counts_once else self._transact
        try:
            written = retry_on_conflict(partial(send, entries), Cancelled, tries=tries)
        except ConditionFailed as failed:
            rejected, was_repeated = {0: failed.item}, failed.was_repeated
        except TransactionFailed as failed:
            rejected, was_repeated = dict(failed.failed), failed.was_repeated
        else:
            return Outcome(True, {0: _as_stored(writes[0], written)}, to_row=from_item)
        items = {at: _as_stored(writes[at], item or {}) for at, item in rejected.items()}
        return Outcome(False, items, was_repeated, from_item)

    def _send(self, entries: list[Entry]) -> Item:
        ((kind, request),) = entries[0].items()
        if kind == "Update":
            request = {**request, "ReturnValues": "ALL_NEW"}
        with translate_errors(SERVICE):
            written: Item = getattr(self.client, _CALLS[kind])(**request).get("Attributes", {})
        return written

    def _transact(self, entries: list[Any]) -> Item:
        with translate_errors(SERVICE):
            self.client.transact_write_items(TransactItems=entries)
        return {}

    def entry(self, write: AnyWrite) -> Entry:
        """Return a write as an entry of a transaction."""
        if not isinstance(write, Write):
            return self._rows.entry(write)
        texts, condition = _Texts(write.kind), dict[str, Any]()
        if write.guard:
            condition = {
                "ConditionExpression": texts.guard(write.guard),
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
        request = {"TableName": self.name, **condition}
        if write.put is not None:
            return {"Put": {**request, "Item": stored(write.kind, write.after({}) or {}), **texts.given()}}
        if write.is_removal:
            return {"Delete": {**request, "Key": item_key(write.key), **texts.given()}}
        request["Key"], change = item_key(write.key), texts.change(write)
        request |= texts.given()
        if not change:
            return {"ConditionCheck": request}
        return {"Update": {**request, "UpdateExpression": change}}


def _as_stored(write: AnyWrite, item: Item) -> Any:
    return ItemFields(write.kind, item) if isinstance(write, Write) else item


def stored(kind: Kind, fields: Fields) -> Item:
    """Return fields as DynamoDB has them."""
    return {name: _stored(kind, name, value) for name, value in fields.items()}


def _stored(kind: Kind, field: str, value: Any) -> Item:
    form = kind.form(field)
    if form is None:
        raise LookupError(f"{kind.name} has no field {field!r}")
    return {form.type: form.store(value)}


def item_key(key: Key) -> Item:
    """Return a key as DynamoDB has it."""
    return {"pk": {"S": key.partition}, "sk": {"S": key.sort}}


def read_one(
    kind: Kind,
    item: Item,
    read: Callable[[Fields], T],
    instead: Callable[[Fields], T | None] | None = None,
) -> T | None:
    """Return what `read` makes of an item. Note a damaged one, for which `instead` may return something.

    Raises:
        UnreadableRow: it is damaged, and there is no `instead`.
    """
    fields = ItemFields(kind, item)
    try:
        return read(fields)
    except UNREADABLE as error:
        unreadable_items.note(kind.name, item, error)
        if instead is None:
            raise UnreadableRow([item["pk"], item["sk"]], error) from error
        return instead(fields)


def read_all(
    kind: Kind,
    items: Iterable[Item],
    read: Callable[[Fields], T],
    instead: Callable[[Fields], T | None] = nothing,
) -> Iterator[T]:
    """Yield what `read` makes of items. Note the damaged ones, for which `instead` may return something."""

    def of(convert: Callable[[Fields], Any]) -> Callable[[Item], Any]:
        return lambda item: convert(ItemFields(kind, item))

    return readable(items, of(read), kind.name, of(instead))


def _request(query: Query) -> dict[str, Any]:
    """Return the arguments of ``Query``."""
    texts = _Texts(query.kind)
    terms = [f"{query.index} = {texts.value('pk', query.partition)}"]
    if query.begin:
        terms.append(f"begins_with(sk, {texts.value('sk', query.begin)})")
    if query.span is not None:
        first, last = (texts.value("sk", text) for text in query.span)
        terms.append(f"sk BETWEEN {first} AND {last}")
    terms += [f"sk < {texts.value('sk', query.before)}"] if query.before else []
    terms += [f"sk > {texts.value('sk', query.after)}"] if query.after else []
    request: dict[str, Any] = {"KeyConditionExpression": " AND ".join(terms)}
    if query.where:
        request["FilterExpression"] = texts.guard(query.where)
    if query.index != "pk":
        request["IndexName"] = _INDEXES[query.index]
    elif not query.may_lag:
        request["ConsistentRead"] = True
    request |= {"Limit": query.limit} if query.limit is not None else {}
    return request | texts.given() | ({"ScanIndexForward": False} if query.is_newest_first else {})


class _Texts:
    """The expressions of one request, with their names and values."""

    def __init__(self, kind: Kind) -> None:
        self._kind, self._names, self._values = kind, dict[str, str](), dict[str, Any]()

    def given(self) -> dict[str, Any]:
        """Return the names and values that the expressions use."""
        given = {"ExpressionAttributeNames": self._names, "ExpressionAttributeValues": self._values}
        return {argument: used for argument, used in given.items() if used}

    def name(self, field: str) -> str:
        if field == "pk":
            return field
        if (entry := entry_of(field)) is None:
            self._names[f"#{field}"] = field
            return f"#{field}"
        name, place = self.name(entry[0]), entry[1]
        if isinstance(place, int):
            return f"{name}[{place}]"
        self._names[f"{name}_entry"] = place
        return f"{name}.{name}_entry"

    def value(self, field: str, value: Any) -> str:
        entry = entry_of(field)
        placeholder = f":{entry[0] if entry else field}{len(self._values)}"
        self._values[placeholder] = _stored(self._kind, field, value)
        return placeholder

    def guard(self, guard: Guard) -> str:
        texts = [" AND ".join(self._test(*test) for test in one.items()) for one in guard]
        return texts[0] if len(texts) == 1 else " OR ".join(f"({text})" for text in texts)

    def _test(self, field: str, test: Any) -> str:
        name = self.name(field)
        if isinstance(test, AtMost | Below):
            return f"{name} {'<' if isinstance(test, Below) else '<='} {self.value(field, test.value)}"
        if isinstance(test, Size):
            return f"attribute_exists({name}) AND {self._size(name, test)}"
        if isinstance(test, Presence):
            return f"attribute_{'not_exists' if test is Presence.UNSET else 'exists'}({name})"
        if isinstance(test, AnyOf):
            texts = (
                self._size(name, one) if isinstance(one, Size) else self._test(field, one)
                for one in test.tests
            )
            return f"({' OR '.join(texts)})"
        if isinstance(test, Not):
            return f"NOT {self._test(field, test.value)}"
        return f"{name} = {self.value(field, test)}"

    def _size(self, name: str, test: Size) -> str:
        """Return a test of the number of entries: fewer than a number, not fewer, or as many.

        A field that is absent has no size.
        """
        sign, number = "=", test.test
        if isinstance(number, Below):
            sign, number = "<", number.value
        elif isinstance(number, Not):
            sign, number = ">=", number.value.value
        self._values[f":size{number}"] = {"N": str(number)}
        return f"size({name}) {sign} :size{number}"

    def change(self, write: Write) -> str:
        given = {field: value for field, value in write.sets.items() if value is not None}
        sets = [f"{self.name(field)} = {self.value(field, value)}" for field, value in given.items()]
        sets += [
            f"{self.name(field)} = if_not_exists({self.name(field)}, {self.value(field, value)})"
            for field, value in write.first.items()
        ]
        for field, more in write.appends.items():
            name, none = self.name(field), self.value(field, ())
            sets.append(f"{name} = list_append(if_not_exists({name}, {none}), {self.value(field, more)})")
        adds = [f"{self.name(field)} {self.value(field, number)}" for field, number in write.adds.items()]
        removes = [self.name(field) for field in write.sets if field not in given]
        parts = {"SET": sets, "ADD": adds, "REMOVE": removes}
        return " ".join(f"{verb} {', '.join(terms)}" for verb, terms in parts.items() if terms)
