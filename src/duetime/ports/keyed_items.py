"""Items that are stored under a key, and the interface to them: one for each back end.

A `Kind` states how the items of a kind are stored; `KINDS` has all of them. The rules of a kind are written
once, over `Items`, in the module of its port. Each write is one step: its guard and its change.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from duetime import instant
from duetime.clock import PAUSES, Clock
from duetime.errors import BackendUnavailable, DuetimeError, InvalidArgument, UnreadableRow

if TYPE_CHECKING:
    from duetime.model.action import Action, ActionRef
    from duetime.ports.actions import DamagedRow
    from duetime.ports.row_queries import IndexEntry, Span
    from duetime.ports.row_writes import RowWrite

T = TypeVar("T")

Fields = Mapping[str, Any]
"""The values of an item's fields, of which ``pk`` and ``sk`` are its key. A field without one is absent."""

UNREADABLE = (
    *(LookupError, ValueError, TypeError, AttributeError, OverflowError, RecursionError, OSError),
    DuetimeError,
)
"""The errors that an item raises that duetime did not write."""


class Form(NamedTuple):
    """How DynamoDB stores a field: its type, and the conversions into it and back."""

    type: str
    store: Callable[[Any], Any]
    load: Callable[[Any], Any]


TEXT = Form("S", str, str)
NUMBER = Form("N", str, int)
FLAG = Form("BOOL", bool, bool)
NAMES = Form("SS", sorted, frozenset)
JSON = Form("S", json.dumps, json.loads)
INSTANT = Form("S", instant.text, instant.parse)
SECONDS = Form("N", lambda span: str(span.total_seconds()), lambda text: timedelta(seconds=float(text)))
EPOCH = Form("N", lambda at: str(int(at.timestamp())), lambda text: datetime.fromtimestamp(int(text), UTC))
"""Whole seconds since 1970, for DynamoDB's time to live."""


def _as_written(text: str) -> datetime:
    at = instant.parse(text)
    if instant.text(at) != text or not instant.EARLIEST <= at <= instant.LATEST:
        raise InvalidArgument("is no instant that duetime writes", value=text)
    return at


EXACT_INSTANT = Form("S", instant.text, _as_written)
"""An instant of an item that callers may forge, in the text that duetime writes, as DynamoDB compares it."""

_KEYS = {"pk": TEXT, "sk": TEXT, "ttl": EPOCH}


COUNT_LIMIT = 10**9
"""More than any count that duetime writes."""


class Key(NamedTuple):
    """The key of an item: its partition, and its place in it."""

    partition: str
    sort: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kind:
    """A kind of items, as it is stored.

    Attributes:
        name: its name in words: ``rate limit``.
        partition: its partition; ``{…}`` stand for a tenant and other names.
        sort: what its sort key is made of.
        fields: the forms of the fields that each of its items has, besides those of the key and of ``ttl``.
        optional: those of the fields that some have.
        index: those of the fields that only an index needs.
        counters: the pattern of the names of further fields, each a number.
        parts: of fields with entries, the form of an entry.
        guard: the fields that must be as they were read, for a write that replaces an item.
        expires: when its items expire, in words; empty: never.
        writers: who writes it, in words.
    """

    name: str
    partition: str
    sort: str
    fields: Mapping[str, Form] = field(default_factory=dict)
    optional: Mapping[str, Form] = field(default_factory=dict)
    index: Mapping[str, Form] = field(default_factory=dict)
    counters: re.Pattern[str] | None = None
    parts: Mapping[str, Form] = field(default_factory=dict)
    guard: Sequence[str] = ()
    expires: str = ""
    writers: str

    def key(self, sort: str, **names: str) -> Key:
        """Return the key of an item in the partition of these names."""
        return Key(self.partition.format(**names), sort)

    def form(self, name: str) -> Form | None:
        """Return the form of a field; None if the kind has no such field."""
        if self.counters is not None and self.counters.fullmatch(name):
            return NUMBER
        forms = (self.fields, self.optional, self.index, _KEYS)
        found = next((found[name] for found in forms if name in found), None)
        return self.parts[entry[0]] if not found and (entry := entry_of(name)) else found

    @property
    def names(self) -> Iterable[str]:
        """The names of the fields, optional ones too."""
        return (*self.fields, *self.optional)

    def of(self, value: object) -> Fields:
        """Return the fields of an object that has an attribute for each."""
        return {name: getattr(value, name) for name in self.names}

    def as_read(self, read: object) -> Guard:
        """Return the guard that an item is still as it was read."""
        return ({name: getattr(read, name) for name in self.guard},)

    def values(self, item: Fields) -> dict[str, Any]:
        """Return the values of an item's fields; None for an optional one that it lacks.

        Raises:
            LookupError: one is missing.
        """
        return {name: item[name] if name in self.fields else item.get(name) for name in self.names}


class Presence(Enum):
    """What a guard requires of a field, besides a value that it equals."""

    UNSET = "has no value"
    SET = "has a value"


class AtMost(NamedTuple):
    """A field has a value no higher than this one."""

    value: Any


class Below(NamedTuple):
    """A field has a value lower than this one."""

    value: Any


class Size(NamedTuple):
    """A field has a value whose number of entries passes a test."""

    test: Any


class Not(NamedTuple):
    """A field has another value than this one, or none."""

    value: Any


class AnyOf(NamedTuple):
    """A field passes one of these tests."""

    tests: Sequence[Any]


Guard = Sequence[Fields]
"""Alternatives, one of which must hold: by the names of fields, a value or a test of the classes above."""

IS_NEW: Guard = ({"pk": Presence.UNSET},)
EXISTS: Guard = ({"pk": Presence.SET},)


def holds(guard: Guard, item: Fields) -> bool:
    """Return whether an item satisfies a guard; no guard is always satisfied."""
    return not guard or any(
        all(_passes(test, value_at(item, name)) for name, test in alternative.items())
        for alternative in guard
    )


_ENTRY = re.compile(r"(\w+)(?:\.(.+)|\[(\d+)\])", re.DOTALL)


def entry_of(name: str) -> tuple[str, str | int] | None:
    """Return the field and the entry of ``holders.KEY`` or ``waiting[3]``; None for a field's name."""
    if ("." not in name and "[" not in name) or not (found := _ENTRY.fullmatch(name)):
        return None
    return (found[1], found[2]) if found[3] is None else (found[1], int(found[3]))


def value_at(item: Fields, name: str) -> Any:
    """Return the value of a field, or of an entry of one; None if there is none."""
    value = item.get(name)
    if value is not None or not (entry := entry_of(name)):
        return value
    field, place = entry
    values = item.get(field) or ()
    if isinstance(place, str):
        return values.get(place) if values else None
    return values[place] if place < len(values) else None


def _passes(test: Any, value: Any) -> bool:
    if isinstance(test, AtMost | Below):
        is_below = value is not None and value < test.value
        return bool(is_below or (isinstance(test, AtMost) and value == test.value))
    if isinstance(test, Size):
        return value is not None and _passes(test.test, len(value))
    if isinstance(test, AnyOf):
        return any(_passes(one, value) for one in test.tests)
    if isinstance(test, Not):
        return not _passes(test.value, value)
    if isinstance(test, Presence):
        return (value is None) == (test is Presence.UNSET)
    return bool(value == test)


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """A write of one item, if its guard holds: a put, a change or a removal. Without any, a check.

    Attributes:
        put: all fields of the item, which replace those that are stored.
        sets: fields that become these values, or have no value any more if it is None; also entries of
            fields, named ``holders.KEY`` and ``waiting[3]``.
        first: fields that become these values unless they have one.
        adds: numbers that are added to fields, or to 0.
        appends: entries that are added to the end of fields.
        is_removal: whether the item is removed.
    """

    kind: Kind
    key: Key
    guard: Guard = ()
    put: Fields | None = None
    sets: Fields = field(default_factory=dict)
    first: Fields = field(default_factory=dict)
    adds: Mapping[str, int] = field(default_factory=dict)
    appends: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    is_removal: bool = False

    def holds(self, item: Fields | None) -> bool:
        """Return whether the stored item satisfies the guard."""
        return holds(self.guard, item or {})

    def after(self, item: Fields | None) -> Fields | None:
        """Return the item after the write; None if there is none."""
        item = item or {}
        if self.is_removal:
            return None
        fields = _with_entries(item, self.sets) if self.put is None else {**self.put}
        fields |= {name: (*item.get(name, ()), *more) for name, more in self.appends.items()}
        fields |= {name: value for name, value in self.first.items() if item.get(name) is None}
        fields |= {name: item.get(name, 0) + number for name, number in self.adds.items()}
        return {
            "pk": self.key.partition,
            "sk": self.key.sort,
            **{name: value for name, value in fields.items() if value is not None},
        }


AnyWrite: TypeAlias = "Write | RowWrite"


def _with_entries(item: Fields, sets: Fields) -> dict[str, Any]:
    """Return an item's fields with these values, also of entries of its fields."""
    fields = dict[str, Any](item)
    for name, value in reversed(
        [*sets.items()]
    ):  # of a list, the last one first: the others keep their places
        entry = entry_of(name)
        if entry is None:
            fields[name] = value
        elif isinstance(entry[1], int):
            line, place = [*fields[entry[0]]], entry[1]
            line[place : place + 1] = [] if value is None else [value]
            fields[entry[0]] = tuple(line)
        else:
            values = {**(fields.get(entry[0]) or {}), entry[1]: value}  # one that was there keeps its place
            fields[entry[0]] = {key: one for key, one in values.items() if one is not None}
    return fields


def read_strictly(read: Callable[[Fields], T], item: Fields) -> T:
    """Return what `read` makes of an item.

    Raises:
        UnreadableRow: it is damaged. It is not noted.
    """
    try:
        return read(item)
    except UNREADABLE as error:
        raise UnreadableRow([item["pk"], item["sk"]], error) from error


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of some writes.

    Attributes:
        is_written: whether all were made; otherwise none was.
        items: by the position of a write, the item that its guard rejected, empty if there is none; of a
            single change, the item after it. Rows are as the back end stores them.
        was_repeated: the request was sent more than once, so an earlier copy may have changed the item.
        to_row: reads a row that the back end stores.
    """

    is_written: bool
    items: Mapping[int, Any]
    was_repeated: bool = False
    to_row: Callable[[Any], Action] = lambda row: row

    def read(self, read: Callable[[Fields], T], position: int = 0) -> T | None:
        """Return what `read` makes of the item of a write; None if there is none.

        Raises:
            UnreadableRow: it is damaged.
        """
        item = self.items.get(position)
        return read_strictly(read, item) if item else None

    def row(self, position: int = 0) -> Action | None:
        """Return the row of a write: as its guard rejected it, or after it; None if there is none.

        Raises:
            UnreadableRow: it is damaged.
        """
        stored = self.items.get(position)
        return self.to_row(stored) if stored else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """The items of a partition, by sort key.

    Attributes:
        begin: their sort keys begin with this text.
        span: their sort keys are from the first through the second.
        before: their sort keys are below this one.
        after: their sort keys are above this one.
        where: what else they must satisfy; those that do not are read too.
        index: the field by whose index they are found, in place of ``pk``. An index may lag.
        is_newest_first: whether the highest sort key comes first.
        may_lag: whether a write that ended before may be missing.
        limit: the number of items that one page reads at most.
    """

    kind: Kind
    partition: str
    begin: str = ""
    span: tuple[str, str] | None = None
    before: str = ""
    after: str = ""
    where: Guard = ()
    index: str = "pk"
    is_newest_first: bool = False
    may_lag: bool = False
    limit: int | None = None


class Page(NamedTuple, Generic[T]):
    """Items in their order, and the sort key after which the next page begins; None on the last."""

    found: Sequence[T]
    cursor: str | None


def unread(item: Fields) -> Fields:
    """Return the item itself, for a reader of its fields."""
    return item


def nothing(_item: Fields) -> None:
    """Return None: nothing stands for a damaged item."""


class Cancelled(BackendUnavailable):
    """Writes were cancelled for a temporary reason. Nothing changed, and a repeat is allowed.

    `codes` has the reasons of a transaction's entries by their position; it is empty for a single write.
    """

    def __init__(self, service: str, reason: str, codes: Mapping[int, str] | None = None) -> None:
        self.codes = codes or {}
        super().__init__(service, reason)


class Conflict(Cancelled):
    """Another write of an item was under way. An immediate repeat is allowed."""


class Items(Protocol):
    """The items of a table.

    A damaged item is noted. In its place stands what `instead` returns for it.
    """

    def get(
        self,
        kind: Kind,
        key: Key,
        read: Callable[[Fields], T],
        instead: Callable[[Fields], T | None] | None = None,
    ) -> T | None:
        """Return what `read` makes of an item by a consistent read, or None if there is none.

        Raises:
            UnreadableRow: it is damaged, and there is no `instead`.
            BackendUnavailable: it cannot be read.
        """

    def row(self, ref: ActionRef, *, may_lag: bool = False) -> Action | None:
        """Return an action's row, without an offloaded payload.

        Args:
            ref: the action.
            may_lag: whether a write that ended before may be missing, at half the price.

        Raises:
            UnreadableRow: it is damaged.
            BackendUnavailable: it cannot be read.
        """

    def rows(self, refs: Sequence[ActionRef]) -> Iterator[Action | DamagedRow]:
        """Yield the rows of different actions in no order, by consistent reads; missing ones are left out.

        A row of DynamoDB has no offloaded payload.

        Raises:
            BackendUnavailable: they cannot be read.
        """

    def select(self, span: Span) -> Iterable[IndexEntry]:
        """Return a part of an index of rows, in its order. One of DynamoDB's, of references, may lag.

        Raises:
            BackendUnavailable: it cannot be read.
        """

    def find(
        self, query: Query, read: Callable[[Fields], T], instead: Callable[[Fields], T | None] = nothing
    ) -> Iterator[T]:
        """Yield all items of a query. A page is read only when it is needed.

        Raises:
            BackendUnavailable: they cannot be read.
        """

    def page(self, query: Query, read: Callable[[Fields], T]) -> Page[T]:
        """Return one page of a query. A short page need not be the last."""

    def write(self, *writes: AnyWrite, tries: int = 6, counts_once: bool = False) -> Outcome:
        """Make all writes, if all their guards hold, or none.

        Args:
            writes: of different items, and of rows.
            tries: how often a write is attempted that meets another one.
            counts_once: whether a request that is sent twice must count once; it then costs twice as much.

        Raises:
            Cancelled: no try was made; `Conflict` if the last one met another write.
            BackendUnavailable: the writes may be made.
        """

    def entry(self, write: AnyWrite) -> Mapping[str, Any]:
        """Return a write as an entry of `duetime.ports.action_store.ActionStore.commit`."""


class Keyed:
    """The rules of a kind of items, over any back end."""

    def __init__(self, items: Items) -> None:
        self._items = items


_FIRST_WAIT = timedelta(milliseconds=20)
"""Doubled with each attempt: a transaction takes some ten milliseconds."""


def pause(attempt: int, *, clock: Clock | None = None) -> None:
    """Wait a random time, at most 20 ms, doubled with each failed attempt."""
    share = random.random()  # noqa: S311 - separates rivals, guards nothing
    clock = clock or PAUSES.get()
    clock.wait_until(clock.now() + _FIRST_WAIT * 2**attempt * share)
