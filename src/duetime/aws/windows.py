"""Counts of a tenant's notifications by kind and time window, in the jobs table.

All windows of a kind are in one partition, such as ``acme#notified#jobs.recurring_failing``:

========================================  ==================================================================
sort key                                  holds
========================================  ==================================================================
``place#`` and a hash                     a notification's position, and its window
the window's begin                        the count, and whether the window is closed
the window's begin, ``#name#``, a name    the count of this job or type
========================================  ==================================================================

::

    count   no place yet; the window is open, and counts as many as were seen -> place; window + 1; name + 1
    close   the window is there                                               -> closed

If the window counts more than the caller read, the caller tries again with the new count. DynamoDB's time to
live removes all items.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from hashlib import sha256

from duetime import instant
from duetime.aws.dynamodb import SERVICE, Client, DynamoTable
from duetime.aws.faults import ConditionFailed, TransactionCancelled, TransactionFailed
from duetime.aws.items import to_epoch
from duetime.aws.keys import Item, notified
from duetime.aws.row_checks import UNREADABLE
from duetime.aws.transactions import Entry, pause, put, retry_on_conflict, update, write
from duetime.errors import BackendUnavailable, UnreadableRow
from duetime.ids import SEPARATOR
from duetime.model.notification import Digest, DigestWindow, Notification
from duetime.ports.notifications import DigestPosition

IS_NEW = "attribute_not_exists(pk)"
IS_THERE = "attribute_exists(pk)"
COUNTS_AS_SEEN = "#total = :seen"
IS_OPEN = "attribute_not_exists(closed)"

_PLACE, _WINDOW = 0, 1
"""The positions of the entries in the transaction that counts."""
_RACES = 60
"""Another caller has won each lost race; a race takes some ten milliseconds."""
_LONGEST_PAUSE = 1
"""The exponent of the longest pause, at most 40 ms: a longer pause would lose to newer callers."""
_NAME_LIMIT = 200


class DynamoWindows:
    """One item for each window, for each name in it, and for each notification's position.

    See `duetime.ports.notifications.Windows`.
    """

    def __init__(self, client: Client, table: str) -> None:
        self._table = DynamoTable(client, table)

    def count(
        self, notification: Notification, window: DigestWindow, *, expires_at: datetime
    ) -> DigestPosition | None:
        item = self._window_item(window)
        for attempt in range(_RACES):
            if "closed" in item:
                counted = self._table.get(_place_key(notification, window))
                return _to_place(window, counted) if counted else None
            place = DigestPosition(_as_begun(window, item), _total(item) + 1)
            try:
                write(self._table.client, self._counting(notification, place, expires_at))
            except TransactionFailed as failed:
                if _PLACE in failed.failed:
                    return _to_place(window, failed.failed[_PLACE] or {})
                item = failed.failed.get(_WINDOW) or {}
                pause(min(attempt, _LONGEST_PAUSE))
            except TransactionCancelled:
                pause(min(attempt, _LONGEST_PAUSE))
                item = self._window_item(window)
            else:
                return place
        raise BackendUnavailable(
            SERVICE, f"the window of {window.kind} changed during each of {_RACES} attempts"
        )

    def _counting(
        self, notification: Notification, place: DigestPosition, expires_at: datetime
    ) -> list[Entry]:
        window, ttl = place.window, {"N": to_epoch(expires_at)}
        mark = {
            **_place_key(notification, window),
            "number": {"N": str(place.number)},
            "since": {"S": instant.text(window.since)},
            "until": {"S": instant.text(window.until)},
            "burst": {"N": str(window.burst)},
            "ttl": ttl,
        }
        one = {":one": {"N": "1"}, ":ttl": ttl}
        is_first = place.number == 1
        seen = {} if is_first else {":seen": {"N": str(place.number - 1)}}
        begun = {":until": {"S": instant.text(window.until)}, ":burst": {"N": str(window.burst)}}
        counts = {
            "ConditionExpression": IS_NEW if is_first else f"{COUNTS_AS_SEEN} AND {IS_OPEN}",
            "UpdateExpression": "SET #ttl = :ttl, #until = :until, burst = :burst ADD #total :one",
            "ExpressionAttributeNames": {"#ttl": "ttl", "#until": "until", "#total": "total"},
            "ExpressionAttributeValues": one | seen | begun,
        }
        names = {
            "UpdateExpression": "SET #ttl = :ttl ADD #total :one",
            "ExpressionAttributeNames": {"#ttl": "ttl", "#total": "total"},
            "ExpressionAttributeValues": one,
        }
        return [
            put(
                self._table.name,
                mark,
                ConditionExpression=IS_NEW,
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            ),
            update(self._table.name, _window_key(window), counts),
            update(self._table.name, _window_key(window, _name_mark(notification.about)), names),
        ]

    def _window_item(self, window: DigestWindow) -> Item:
        return self._table.get(_window_key(window)) or {}

    def close(self, window: DigestWindow) -> Digest | None:
        try:
            closed = retry_on_conflict(
                partial(
                    self._table.update,
                    _window_key(window),
                    ConditionExpression=IS_THERE,
                    UpdateExpression="SET closed = :yes",
                    ExpressionAttributeValues={":yes": {"BOOL": True}},
                    ReturnValues="ALL_NEW",
                )
            )
        except ConditionFailed:
            return None
        return Digest(
            tenant_id=window.tenant_id,
            kind=window.kind,
            since=window.since,
            until=_as_begun(window, closed).until,
            total=_total(closed),
            by_name=self._names(window),
        )

    def _names(self, window: DigestWindow) -> dict[str, int]:
        """Return the counts by name. They are final, because a closed window counts no more."""
        begin = f"{instant.text(window.since)}{_name_mark('')}"
        items = self._table.items(
            KeyConditionExpression="pk = :windows AND begins_with(sk, :begin)",
            ExpressionAttributeValues={":windows": _window_key(window)["pk"], ":begin": {"S": begin}},
            ConsistentRead=True,
        )
        return {item["sk"]["S"].removeprefix(begin): _total(item) for item in items}


def _window_key(window: DigestWindow, of: str = "") -> Item:
    place = notified(window.tenant_id, window.kind)
    return {"pk": {"S": place}, "sk": {"S": f"{instant.text(window.since)}{of}"}}


def _name_mark(name: str) -> str:
    return f"{SEPARATOR}name{SEPARATOR}{name[:_NAME_LIMIT]}"


def _place_key(notification: Notification, window: DigestWindow) -> Item:
    return {
        "pk": {"S": notified(window.tenant_id, window.kind)},
        "sk": {"S": f"place{SEPARATOR}{sha256(notification.id.encode()).hexdigest()}"},
    }


@contextmanager
def _reading(item: Item) -> Iterator[None]:
    """Raise `UnreadableRow` for an item that duetime did not write."""
    try:
        yield
    except UNREADABLE as error:
        raise UnreadableRow([item.get("pk"), item.get("sk")], error) from error


def _to_place(window: DigestWindow, item: Item) -> DigestPosition:
    with _reading(item):
        since, until = (instant.parse(item[name]["S"]) for name in ("since", "until"))
        begun = DigestWindow(window.tenant_id, window.kind, since, until, int(item["burst"]["N"]))
        return DigestPosition(begun, int(item["number"]["N"]))


def _as_begun(window: DigestWindow, item: Item) -> DigestWindow:
    """Return the window with the end and the burst of its item, which its first notification set."""
    if not item:
        return window
    with _reading(item):
        return replace(window, until=instant.parse(item["until"]["S"]), burst=int(item["burst"]["N"]))


def _total(item: Item) -> int:
    with _reading(item):
        return int(item["total"]["N"]) if "total" in item else 0
