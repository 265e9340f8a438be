"""A run's commit in DynamoDB: the handler's writes and the settle of its action in one transaction.

The request is built once and has a token. For ten minutes, DynamoDB treats repeats with this token as one
transaction. After that, and after each rejection, the row decides: only the run of its fence can have settled
it. The end time in the row identifies the commit of this run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any

from duetime.aws.conditions import swap
from duetime.aws.dynamodb import Client
from duetime.aws.faults import COMMIT, Cures, TransactionFailed, translate_errors
from duetime.aws.items import from_item
from duetime.aws.keys import Item, row_key
from duetime.aws.transactions import Entry, retry_on_conflict, update, write
from duetime.errors import BackendUnavailable, CommitRejected, RejectedEntry
from duetime.model import transition
from duetime.model.action import Action, Status
from duetime.model.lease import Settlement, SettleResult
from duetime.model.swap import settleable
from duetime.ports.keyed_items import Cancelled, pause

CONDITION_FAILED = "ConditionalCheckFailed"
_RIGHTS = {
    "Put": "dynamodb:PutItem",
    "Update": "dynamodb:UpdateItem",
    "Delete": "dynamodb:DeleteItem",
    "ConditionCheck": "dynamodb:ConditionCheckItem",
}
"""The permission that each kind of entry needs."""

_SENDS = 3
"""How often a request without a response is sent, in addition to the client's own retries."""


@dataclass(frozen=True, slots=True)
class CommitTransaction:
    """A commit that a run requests."""

    table: str
    claimed: Action
    settlement: Settlement
    entries: Sequence[Entry]
    number: int

    @property
    def settle_index(self) -> int:
        """The position of the settle: the last, so that the handler's entries keep their own positions."""
        return len(self.entries)

    def request(self) -> Mapping[str, Any]:
        claimed, settlement = self.claimed, self.settlement
        change = swap(claimed, transition.settled(claimed, settlement), settleable(settlement))
        settle = update(self.table, row_key(claimed.ref), change)
        return {"TransactItems": [*self.entries, settle], "ClientRequestToken": self._token()}

    def _token(self) -> str:
        """Return a token of this commit only: occurrences of a job have the same ids in each deployment."""
        run = self.claimed
        parts = (
            self.table,
            run.tenant_id,
            run.id,
            run.fence,
            run.nonce,
            self.number,
            self.settle_index,
        )
        return sha256("\n".join(map(str, parts)).encode()).hexdigest()[:36]

    def result(self, row: Action | None) -> SettleResult | None:
        """Return the result of this commit according to the row, or None if the run has not ended."""
        if self.settlement.has_ended(self.claimed, row):
            return SettleResult.SETTLED
        if row is None or (row.status, row.fence) != (Status.PROCESSING, self.claimed.fence):
            return SettleResult.LEASE_LOST
        return None


def commit(client: Client, transaction: CommitTransaction) -> SettleResult:
    """See `duetime.ports.action_store.ActionStore.commit`."""
    request = transaction.request()
    try:
        _send_with_retry(
            partial(
                retry_on_conflict,
                partial(_send, client, request, partial(_cures, client, transaction)),
                Cancelled,
            )
        )
    except TransactionFailed as failed:
        reasons = dict.fromkeys(failed.failed, CONDITION_FAILED)
        return _result_of_rejection(client, transaction, reasons, failed.failed)
    except Cancelled as cancelled:
        return _result_of_rejection(client, transaction, cancelled.codes, {})
    except BackendUnavailable:
        result = transaction.result(_row(client, transaction))
        if result is None:
            raise
        return result
    return SettleResult.SETTLED


def _send(client: Client, request: Mapping[str, Any], cures: Cures) -> None:
    entries = request["TransactItems"]
    if len(entries) == 1:
        write(client, entries)
        return
    with translate_errors(COMMIT, cures):
        client.transact_write_items(**request)


def _cures(client: Client, transaction: CommitTransaction) -> Mapping[str, str]:
    """Return the remedies for the handler's entries.

    DynamoDB's errors do not name the missing table or permission.
    """
    region, needed = client.meta.region_name, dict[str, set[str]]()
    for entry in transaction.entries:
        for kind, operation in entry.items():
            needed.setdefault(str(operation["TableName"]), set()).add(_RIGHTS[kind])
    other_tables = [name for name in needed if name != transaction.table] or [*needed]
    missing = (
        other_tables[0] if len(other_tables) == 1 else f"(whichever is missing) {', '.join(other_tables)}"
    )
    rights = "; ".join(f"{', '.join(sorted(actions))} on {name}" for name, actions in needed.items())
    return {
        "ResourceNotFoundException": f"Make the table {missing} in {region}, or check the table"
        " that each entry names",
        "AccessDeniedException": f"Give the worker's role, in {region}: {rights}",
    }


def _send_with_retry(send: Callable[[], None]) -> None:
    """Send the same request again if there is no response."""
    for attempt in range(_SENDS):
        try:
            send()
        except Cancelled:
            raise  # DynamoDB has responded
        except BackendUnavailable:
            if attempt == _SENDS - 1:
                raise
            pause(attempt)
        else:
            return


def _result_of_rejection(
    client: Client,
    transaction: CommitTransaction,
    codes: Mapping[int, str],
    items: Mapping[int, Item | None],
) -> SettleResult:
    """Return the result of a rejected transaction: an earlier attempt without a response may have made it.

    Raises:
        CommitRejected: no attempt has made the transaction, and the run continues.
    """
    settle_item = items.get(transaction.settle_index)
    result = transaction.result(from_item(settle_item) if settle_item else _row(client, transaction))
    if result is not None:
        return result
    theirs = {place: code for place, code in codes.items() if place < len(transaction.entries)}
    raise CommitRejected([RejectedEntry(place, code, items.get(place)) for place, code in theirs.items()])


def _row(client: Client, transaction: CommitTransaction) -> Action | None:
    with translate_errors(COMMIT):
        found = client.get_item(
            TableName=transaction.table, Key=row_key(transaction.claimed.ref), ConsistentRead=True
        )
    return from_item(found["Item"]) if "Item" in found else None
