"""The rows in DynamoDB: one conditional write for each transition. Reads of many rows are in `queries`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from duetime import transition
from duetime.action import Action, ActionRef, SkipReason, Status
from duetime.aws import commits, conditions
from duetime.aws.faults import ConditionFailed, translated
from duetime.aws.idempotency import Keys
from duetime.aws.items import from_item, to_epoch, to_item, to_payload_item
from duetime.aws.keys import Item, payload_key, ref_of, row_key
from duetime.aws.queries import SERVICE, Queries
from duetime.aws.transactions import put
from duetime.errors import BackendUnavailable
from duetime.idempotency import KeyTerms
from duetime.ids import due_shard_of
from duetime.lease import Claimed, ClaimTerms, Held, Moved, Refused, Renewed, Settlement, SettleResult

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_BATCH = 25
_PAYLOAD_OUTLIVES = timedelta(days=400)
"""Past the due time: a payload is removed with its row; this bounds what a caller that crashed between two puts leaves."""


class DynamoStore(Queries):
    """The actions table.

    `client` repeats calls by itself. `single_shot` must not: a batch that was applied and is repeated could write over
    a row that has run meanwhile. Without it, bulk goes one by one.
    """

    def __init__(
        self,
        client: DynamoDBClient,
        table: str,
        *,
        due_shards: int,
        single_shot: DynamoDBClient | None = None,
    ) -> None:
        super().__init__(client, table, due_shards=due_shards)
        self._single_shot = single_shot
        self._keys = Keys(client, table, self.get)

    def put(self, action: Action) -> None:
        if action.payload_apart:
            self._put_payload(action)
        self._put_row(action)

    def put_once(self, action: Action, terms: KeyTerms) -> Action:
        """A large payload is written only once it is known to be needed: a repeat would leave it behind."""
        if action.payload_apart:
            first = self._keys.first(action, terms)
            if first is not None:
                return first
            self._put_payload(action)
        return self._keys.put(action, terms)

    def _put_row(self, action: Action) -> bool:
        """Whether the row was absent; if not, it is this very one: an id names one action alone."""
        try:
            with translated(SERVICE):
                self._client.put_item(
                    TableName=self._table, Item=to_item(action), ConditionExpression=conditions.ROW_IS_ABSENT
                )
        except ConditionFailed:
            return False
        return True

    def _put_payload(self, action: Action) -> None:
        with translated(SERVICE):
            self._client.put_item(
                TableName=self._table, Item=to_payload_item(action, action.due_at + _PAYLOAD_OUTLIVES)
            )

    def put_many(self, actions: Sequence[Action]) -> None:
        """The first row is put alone: if it is there, this is a repeated call, and any of its rows may have run."""
        rows = list({action.ref: action for action in actions}.values())
        for row in rows:
            if row.payload_apart:
                self._put_payload(row)
        is_first_try = all(self._put_row(row) for row in rows[:1])
        single_shot = self._single_shot if is_first_try else None
        for at in range(1, len(rows), _BATCH):
            batch = {row.ref: row for row in rows[at : at + _BATCH]}
            for missed in batch if single_shot is None else self._put_batch(single_shot, batch):
                self._put_row(batch[missed])

    def _put_batch(
        self, single_shot: DynamoDBClient, batch: Mapping[ActionRef, Action]
    ) -> Sequence[ActionRef]:
        """Write at most 25 rows in one call, once; returns those that need a conditional put of their own."""
        requests: Any = [{"PutRequest": {"Item": to_item(action)}} for action in batch.values()]
        try:
            with translated(SERVICE):
                answer = single_shot.batch_write_item(RequestItems={self._table: requests})
        except BackendUnavailable:
            return tuple(batch)  # nobody knows what was written
        missed: Any = answer.get("UnprocessedItems", {}).get(self._table, [])
        return [ref_of(each["PutRequest"]["Item"]) for each in missed]

    def entries(self, action: Action, terms: KeyTerms | None = None) -> Sequence[Mapping[str, Any]]:
        row = put(self._table, to_item(action), ConditionExpression=conditions.ROW_IS_ABSENT)
        entries = [row] if terms is None else [self._keys.entry(action, terms), row]
        if not action.payload_apart:
            return tuple(entries)
        payload = to_payload_item(action, action.due_at + _PAYLOAD_OUTLIVES)
        return (put(self._table, payload), *entries)

    def get(self, ref: ActionRef) -> Action | None:
        with translated(SERVICE):
            item = self._client.get_item(TableName=self._table, Key=row_key(ref), ConsistentRead=True).get(
                "Item"
            )
        return None if item is None else self._with_payload(from_item(item))

    def claim(self, ref: ActionRef, terms: ClaimTerms) -> Claimed | Held | None:
        claimed = self._change(ref, conditions.claim(terms))
        if isinstance(claimed, Refused):
            return self._claim_refused(claimed.action, terms)
        return Claimed(self._with_payload(claimed.action))

    def _claim_refused(self, standing: Action | None, terms: ClaimTerms) -> Claimed | Held | None:
        if standing is None or standing.status is not Status.PROCESSING or standing.lease_until is None:
            return None
        if standing.claim_nonce == terms.nonce:
            return Claimed(self._with_payload(standing))
        if standing.lease_until + terms.skew >= terms.now:
            return Held(standing.lease_until)
        taken = self._change(standing.ref, conditions.take_over(terms, standing))
        if isinstance(taken, Moved):
            return Claimed(self._with_payload(taken.action))
        if taken.action is not None and taken.action.claim_nonce == terms.nonce:
            return Claimed(self._with_payload(taken.action))
        return Held(taken.action.lease_until) if taken.action and taken.action.lease_until else None

    def renew(self, claimed: Action, until: datetime) -> Renewed | None:
        renewed = self._change(claimed.ref, conditions.renew(claimed, until))
        if isinstance(renewed, Refused):
            return None
        return Renewed(cancel_requested=renewed.action.cancel_requested_at is not None)

    def peek(self, claimed: Action) -> Renewed | None:
        with translated(SERVICE):
            item = self._client.get_item(
                TableName=self._table,
                Key=row_key(claimed.ref),
                ProjectionExpression="fence, #status, cancel_requested_at",
                ExpressionAttributeNames={"#status": "status"},
            ).get("Item")
        mine = (Status.PROCESSING, str(claimed.fence))
        if item is None or (item["status"]["S"], item["fence"]["N"]) != mine:
            return None
        return Renewed(cancel_requested="cancel_requested_at" in item)

    def settle(self, claimed: Action, settlement: Settlement) -> SettleResult:
        try:
            self._update(claimed.ref, conditions.settle(claimed, settlement))
        except ConditionFailed as failed:
            return not_settled(failed.item, claimed)
        return SettleResult.SETTLED

    def commit(
        self, claimed: Action, settlement: Settlement, *, entries: Sequence[Mapping[str, Any]], number: int
    ) -> SettleResult:
        asked = commits.Commit(self._table, claimed, settlement, entries, number)
        return commits.commit(self._client, asked)

    def cancel(self, ref: ActionRef, *, by: str, at: datetime, expires_at: datetime) -> Moved | Refused:
        outcome = self._change(ref, conditions.cancel(by=by, at=at, expires_at=expires_at))
        return _unless_mine(outcome, Status.CANCELLED, by=by, at=at)

    def ask_to_cancel(self, ref: ActionRef, *, by: str, at: datetime) -> Moved | Refused:
        return self._change(ref, conditions.ask_to_cancel(by=by, at=at))

    def reschedule(self, ref: ActionRef, due_at: datetime, *, by: str, at: datetime) -> Moved | Refused:
        outcome = self._change(ref, conditions.reschedule(due_at, by=by, at=at))
        return self._keeping_payload(outcome)

    def skip(
        self, row: Action, reason: SkipReason, *, note: str, by: str, at: datetime, expires_at: datetime
    ) -> Moved | Refused:
        return self.end_pending(
            row, transition.skipped(row, reason, note=note, by=by, at=at, expires_at=expires_at)
        )

    def end_pending(self, row: Action, ended: Action) -> Moved | Refused:
        """Pending → what `ended` is, if the row is pending under the `gen` of `row`."""
        update = {**conditions.end_pending(row, ended), "ReturnValues": "ALL_NEW"}
        outcome = self._change(row.ref, update)
        if ended.changed_by is None or ended.changed_at is None:
            return outcome
        return _unless_mine(outcome, ended.status, by=ended.changed_by, at=ended.changed_at)

    def record(self, action: Action) -> None:
        self.put(action)

    def redrive(self, ref: ActionRef, due_at: datetime, *, by: str, at: datetime) -> Moved | Refused:
        due_shard = due_shard_of(ref.id, len(self.due_shards))
        outcome = self._change(ref, conditions.redrive(due_at, due_shard, by=by, at=at))
        failed = outcome.action
        if isinstance(outcome, Refused) and failed is not None and failed.status is Status.FAILED:
            change = conditions.redrive_with_key(due_at, due_shard, by=by, at=at)
            outcome = self._keys.take_again(failed, change, at)
        return self._keeping_payload(_unless_mine(outcome, Status.PENDING, by=by, at=at))

    def remove_payload(self, ref: ActionRef) -> None:
        with translated(SERVICE):
            self._client.delete_item(TableName=self._table, Key=payload_key(ref))

    def remove_key(self, ref: ActionRef, key: str) -> None:
        self._keys.remove(ref, key)

    def _change(self, ref: ActionRef, update: conditions.Update) -> Moved | Refused:
        try:
            return Moved(from_item(self._update(ref, update)["Attributes"]))
        except ConditionFailed as failed:
            return Refused(from_item(failed.item) if failed.item else None)

    def _update(self, ref: ActionRef, update: conditions.Update) -> Any:
        with translated(SERVICE):
            return self._client.update_item(
                TableName=self._table,
                Key=row_key(ref),
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
                **update,
            )

    def _with_payload(self, action: Action) -> Action:
        if not action.payload_apart:
            return action
        with translated(SERVICE):
            item = self._client.get_item(
                TableName=self._table, Key=payload_key(action.ref), ConsistentRead=True
            ).get("Item")
        return replace(action, payload=item["payload"]["S"] if item else None)

    def _keeping_payload(self, outcome: Moved | Refused) -> Moved | Refused:
        """A payload set apart must outlive the new due time; one that is gone is told of by the run."""
        if isinstance(outcome, Moved) and outcome.action.payload_apart:
            until = outcome.action.due_at + _PAYLOAD_OUTLIVES
            with suppress(ConditionFailed), translated(SERVICE):
                self._client.update_item(
                    TableName=self._table,
                    Key=payload_key(outcome.action.ref),
                    UpdateExpression="SET #ttl = :ttl",
                    ConditionExpression="attribute_exists(pk)",
                    ExpressionAttributeNames={"#ttl": "ttl"},
                    ExpressionAttributeValues={":ttl": {"N": to_epoch(until)}},
                )
        return outcome


def not_settled(standing: Item | None, claimed: Action) -> SettleResult:
    """Why a settle changed nothing: the row that stood in its way tells."""
    if standing is None:
        return SettleResult.LEASE_LOST
    row = from_item(standing)
    if row.fence != claimed.fence:
        return SettleResult.LEASE_LOST
    return SettleResult.CANCEL_REQUESTED if row.status is Status.PROCESSING else SettleResult.SETTLED


def _unless_mine(outcome: Moved | Refused, status: Status, *, by: str, at: datetime) -> Moved | Refused:
    """A row that stands as this very call would have left it was changed by its first try, whose answer was lost."""
    row = outcome.action
    if row is not None and (row.status, row.changed_by, row.changed_at) == (status, by, at):
        return Moved(row)
    return outcome
