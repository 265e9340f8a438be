"""The raw loop: boto3 alone, on the local cloud's emulator, with the calls of a burst of actions.

For each ten messages one receive and one delete; for each action the very claim and settle. A table and a
queue of its own, of the same shape, so that the local cloud's own parts have nothing to do with it.
"""

from __future__ import annotations

import time
from datetime import timedelta
from itertools import count
from typing import Any

from duetime.aws import conditions, tables
from duetime.aws.items import to_item
from duetime.aws.keys import row_key
from duetime.aws.messages import to_json
from duetime.clock import SystemClock
from duetime.ids import TenantId, due_shard_of, new_action_id
from duetime.model import transition
from duetime.model.action import Action, Ending, Status
from duetime.model.lease import ClaimTerms, Settlement
from duetime.model.swap import MY_RUN, UNCLAIMED
from duetime.wakeups.due_messages import message_of
from tests.emulated import LocalCloud

_TABLE, _QUEUE = "raw-actions", "raw-due"
_BATCH = 10


class RawLoop:
    """A thread that receives, claims, settles and deletes."""

    def __init__(self, cloud: LocalCloud) -> None:
        self._dynamodb, self._sqs = cloud.client("dynamodb"), cloud.client("sqs")
        self._dynamodb.create_table(**tables.create_table_request(tables.ACTIONS, _TABLE))
        self._url = self._sqs.create_queue(QueueName=_QUEUE)["QueueUrl"]
        self._clock = SystemClock()

    def drain(self, actions: int) -> float:
        """Put rows and messages, then process them; return actions a second."""
        calls = self._prepared([self._action() for _ in range(actions)])
        before = time.perf_counter()
        while calls:
            messages = self._sqs.receive_message(
                QueueUrl=self._url,
                MaxNumberOfMessages=_BATCH,
                MessageSystemAttributeNames=["All"],
                MessageAttributeNames=["All"],
            )["Messages"]
            for message in messages:
                claim, settle = calls.pop(message["Body"])
                self._dynamodb.update_item(**claim)
                self._dynamodb.update_item(**settle)
            self._sqs.delete_message_batch(
                QueueUrl=self._url,
                Entries=[
                    {"Id": str(place), "ReceiptHandle": message["ReceiptHandle"]}
                    for place, message in enumerate(messages)
                ],
            )
        return actions / (time.perf_counter() - before)

    def _prepared(self, actions: list[Action]) -> dict[str, tuple[Any, Any]]:
        """Put rows and messages; return the two updates of each action by its message's body."""
        for action in actions:
            self._dynamodb.put_item(TableName=_TABLE, Item=to_item(action))
        bodies = {to_json(message_of(action)): action for action in actions}
        for first in range(0, len(bodies), _BATCH):
            batch = list(bodies)[first : first + _BATCH]
            entries: Any = [
                {"Id": str(n), "MessageBody": body} for n, body in zip(count(), batch, strict=False)
            ]
            self._sqs.send_message_batch(QueueUrl=self._url, Entries=entries)
        return {body: self._updates(action) for body, action in bodies.items()}

    def _action(self) -> Action:
        now = self._clock.now()
        action_id = new_action_id(now)
        return Action(
            tenant_id=TenantId("acme"),
            id=action_id,
            type="tick",
            due_at=now,
            due_shard=due_shard_of(action_id, 16),
            created_by="raw",
            payload="{}",
        )

    def _updates(self, action: Action) -> tuple[Any, Any]:
        now = self._clock.now()
        terms = ClaimTerms(
            now=now,
            lease_until=now + timedelta(minutes=5),
            skew=timedelta(seconds=5),
            nonce=action.id[-12:],
            instance="raw-1",
            queued_at=now,
            retry="[1,[60],0.1,null]",
        )
        claimed = transition.started(action, terms)
        settlement = Settlement(
            status=Status.EXECUTED,
            ending=Ending.EXECUTED,
            finished_at=now,
            kept_until=now + timedelta(days=30),
        )
        common = {
            "TableName": _TABLE,
            "Key": row_key(action.ref),
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        claim = conditions.swap(action, claimed, UNCLAIMED)
        settle = conditions.swap(claimed, transition.settled(claimed, settlement), MY_RUN)
        return common | dict(claim), common | dict(settle)
