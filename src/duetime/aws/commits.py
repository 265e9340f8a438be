"""A run's commit in DynamoDB: the handler's own writes and the settle of its action as one ``TransactWriteItems``.

The request is built once and carries a token, so that a repeat of a lost answer is the same transaction: DynamoDB makes it
once, for ten minutes. After that, and whenever it is refused, the row is asked: only the run of its fence can have settled it,
and the instant of its end tells which of that run's commits did.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from duetime.aws import conditions
from duetime.aws.faults import COMMIT, Cures, TransactionCancelled, TransactionFailed, translate_errors
from duetime.aws.items import from_item
from duetime.aws.keys import Item, row_key
from duetime.aws.transactions import Entry, pause, retry_on_conflict, update, write
from duetime.errors import BackendUnavailable, CommitRejected, RejectedEntry
from duetime.model.action import Action, Status
from duetime.model.lease import Settlement, SettleResult

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

CONDITION_FAILED = "ConditionalCheckFailed"
_RIGHTS = {
    "Put": "dynamodb:PutItem",
    "Update": "dynamodb:UpdateItem",
    "Delete": "dynamodb:DeleteItem",
    "ConditionCheck": "dynamodb:ConditionCheckItem",
}
"""What each kind of entry needs."""

_SENDS = 3
"""How often a request without an answer is sent, beside what the client repeats by itself."""


@dataclass(frozen=True, slots=True)
class CommitTransaction:
    """What a run asks for."""

    table: str
    claimed: Action
    settlement: Settlement
    entries: Sequence[Entry]
    number: int
    besides: Sequence[Entry] = ()
    """What goes with the settle beside the handler's entries. It has no condition, and the commit is made without it where
    others keep it busy.
    """

    @property
    def own(self) -> int:
        """The place of the settle: the last, so that the handler's entries are told by the places that it gave them."""
        return len(self.entries) + len(self.besides)

    def waits_for_what_is_besides(self, codes: Mapping[int, str]) -> bool:
        """Whether nothing else of it is in others' way."""
        return bool(codes) and all(len(self.entries) <= place < self.own for place in codes)

    def request(self) -> Mapping[str, Any]:
        """The transaction's arguments."""
        settle = update(
            self.table, row_key(self.claimed.ref), conditions.settle(self.claimed, self.settlement)
        )
        return {"TransactItems": [*self.entries, *self.besides, settle], "ClientRequestToken": self._token()}

    def _token(self) -> str:
        """Of this very commit and of no other: a job's occurrences have the same ids in each deployment."""
        run = self.claimed
        said = (self.table, run.tenant_id, run.id, run.fence, run.claim_nonce, self.number, self.own)
        return sha256("\n".join(map(str, said)).encode()).hexdigest()[:36]

    def result(self, row: Action | None) -> SettleResult | None:
        """What the row tells of this commit; None while its run may still end."""
        if self.settlement.has_ended(self.claimed, row):
            return SettleResult.SETTLED
        if row is None or (row.status, row.fence) != (Status.PROCESSING, self.claimed.fence):
            return SettleResult.LEASE_LOST
        return None


def commit(client: DynamoDBClient, asked: CommitTransaction) -> SettleResult:
    """See `duetime.ports.actions.ActionStore.commit`."""
    request = asked.request()
    try:
        _insistently(
            partial(
                retry_on_conflict,
                partial(_send, client, request, partial(_cures, client, asked)),
                TransactionCancelled,
            )
        )
    except TransactionFailed as failed:
        reasons = dict.fromkeys(failed.failed, CONDITION_FAILED)
        return _refused(client, asked, reasons, failed.failed)
    except TransactionCancelled as cancelled:
        if asked.waits_for_what_is_besides(cancelled.codes):
            return commit(client, replace(asked, besides=()))
        return _refused(client, asked, cancelled.codes, {})
    except BackendUnavailable:
        result = asked.result(_row(client, asked))
        if result is None:
            raise
        return result
    return SettleResult.SETTLED


def _send(client: DynamoDBClient, request: Mapping[str, Any], cures: Cures) -> None:
    entries = request["TransactItems"]
    if len(entries) == 1:
        write(client, entries)
        return
    with translate_errors(COMMIT, cures):
        client.transact_write_items(**request)


def _cures(client: DynamoDBClient, asked: CommitTransaction) -> Mapping[str, str]:
    """What the handler's entries need: DynamoDB does not say which table is missing, nor what else it would refuse."""
    region, needed = client.meta.region_name, dict[str, set[str]]()
    for entry in asked.entries:
        for kind, operation in entry.items():
            needed.setdefault(str(operation["TableName"]), set()).add(_RIGHTS[kind])
    theirs = [name for name in needed if name != asked.table] or [*needed]
    missing = theirs[0] if len(theirs) == 1 else f"(whichever is missing) {', '.join(theirs)}"
    rights = "; ".join(f"{', '.join(sorted(each))} on {name}" for name, each in needed.items())
    return {
        "ResourceNotFoundException": f"Make the table {missing} in {region}, or check the table that each entry names",
        "AccessDeniedException": f"Give the worker's role, in {region}: {rights}",
    }


def _insistently(send: Callable[[], None]) -> None:
    """Send the very same request again where there is no answer."""
    for tried in range(_SENDS):
        try:
            send()
        except TransactionCancelled:
            raise  # an answer
        except BackendUnavailable:
            if tried == _SENDS - 1:
                raise
            pause(tried)
        else:
            return


def _refused(
    client: DynamoDBClient,
    asked: CommitTransaction,
    codes: Mapping[int, str],
    items: Mapping[int, Item | None],
) -> SettleResult:
    """What came of a transaction that DynamoDB says it did not make: it may have made it before, and lost the answer.

    Raises:
        CommitRefused: it has not, and the run goes on.
    """
    own = items.get(asked.own)
    result = asked.result(from_item(own) if own else _row(client, asked))
    if result is not None:
        return result
    theirs = {place: code for place, code in codes.items() if place < len(asked.entries)}
    raise CommitRejected([RejectedEntry(place, code, items.get(place)) for place, code in theirs.items()])


def _row(client: DynamoDBClient, asked: CommitTransaction) -> Action | None:
    with translate_errors(COMMIT):
        found = client.get_item(TableName=asked.table, Key=row_key(asked.claimed.ref), ConsistentRead=True)
    return from_item(found["Item"]) if "Item" in found else None
