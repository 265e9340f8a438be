"""An action of acme that a run has handed over, as a back end stores it."""

from datetime import timedelta

from duetime.clock import SystemClock
from duetime.ids import due_shard_of, new_action_id
from duetime.model.action import Action
from duetime.model.lease import ClaimTerms


def hand_over_one(store, handed_over, *, type_name):
    """Put, claim and hand over an action; return the claimed row.

    No app here has a handler of its type: the engine's worker must not claim it first.
    """
    now = SystemClock().now()
    action_id = new_action_id(now)
    store.put(
        Action(
            tenant_id="acme",
            id=action_id,
            type=type_name,
            due_at=now + timedelta(hours=1),
            due_shard=due_shard_of(action_id, len(store.due_shards)),
            created_by="clerk",
            payload="{}",
        )
    )
    terms = ClaimTerms(
        now=now + timedelta(hours=1),
        lease_until=now + timedelta(hours=2),
        skew=timedelta(seconds=5),
        nonce="nonce",
        instance="worker-1",
        queued_at=now,
        retry="[1,[60],0.1,null]",
    )
    (row,) = [row for row in store.rows() if row.id == action_id]
    claimed = store.claim(row, terms).action
    store.hand_over(claimed, handed_over.by(claimed, now))
    return claimed
