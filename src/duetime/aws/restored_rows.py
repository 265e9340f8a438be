"""The rows of a restored table: list unsettled ones, hold doubtful ones, release held ones.

A held row is pending and due at the end of 2199, so no message, timer or sweep can start it. Its note has the
evidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from duetime import instant
from duetime.aws.dynamodb import Client, DynamoTable
from duetime.aws.job_items import job_key
from duetime.aws.store import DynamoStore
from duetime.ids import ActionId
from duetime.model.action import Action, Status
from duetime.model.job import JobRef
from duetime.model.lease import Applied
from duetime.model.quick_fields import with_fields
from duetime.model.row_parts import Act
from duetime.model.swap import PENDING_AS_READ, Guard
from duetime.ports.job_state import STATE
from duetime.settings import MOST_DUE_SHARDS

HELD_UNTIL = instant.LATEST
"""The due time of held rows."""

FENCE_JUMP = 1_000
"""Added to the fence of a held row: a repeated run must have a higher fence than each run that was lost."""

_PAGE = 100


class RestoredRows:
    """The unsettled rows of an actions table. Each method may raise `BackendUnavailable`."""

    def __init__(self, client: Client, table: str, *, due_shards: int) -> None:
        self.store = DynamoStore(client, table, due_shards=due_shards)

    def unsettled(self) -> Iterator[Action]:
        """Yield all pending and processing rows, held ones too, without offloaded payloads."""
        return self._rows(after=None)

    def held(self) -> Iterator[Action]:
        """Yield the held rows."""
        rows = self._rows(after=HELD_UNTIL.replace(microsecond=0, second=0))
        return (row for row in rows if is_held(row))

    def hold(self, row: Action, note: str, *, by: str, at: datetime) -> bool:
        """Hold a row if status, generation and fence are as in `row`; its worker then holds nothing.

        The due time moves to `first_due_at`. The wake of the previous generation changes nothing.
        """
        held = with_fields(
            row,
            status=Status.PENDING,
            first_due_at=row.nominal_at,
            due_at=HELD_UNTIL,
            generation=row.generation + 1,
            fence=row.fence + FENCE_JUMP,
            lease_until=None,
            nonce=None,
            cancel_request=None,
            note=note,
            changed=Act(at, by),
        )
        guard = Guard(status=row.status, as_read=("generation", "fence"))
        return isinstance(self.store.swap(row, held, guard), Applied)

    def release(self, row: Action, *, by: str, at: datetime) -> Action | None:
        """Make a held row due at its nominal time, or now if that has passed.

        Return the row; None if it has changed.
        """
        released = with_fields(
            row,
            due_at=max(row.nominal_at, at),
            generation=row.generation + 1,
            note=None,
            changed=Act(at, by),
        )
        outcome = self.store.swap(row, released, PENDING_AS_READ)
        return outcome.action if isinstance(outcome, Applied) else None

    def newest_of(self, ref: JobRef) -> ActionId | None:
        """Return the id of a job's row with the highest version; None without rows."""
        page = self.store.of_job(ref.tenant_id, ref.name, limit=1, cursor=None)
        return page.actions[0].id if page.actions else None

    def _rows(self, after: datetime | None) -> Iterator[Action]:
        for shard in map(str, range(MOST_DUE_SHARDS)):
            cursor = None
            while True:
                page = self.store.due(shard, after=after, until=HELD_UNTIL, limit=_PAGE, cursor=cursor)
                rows = self.store.get_rows([entry.ref for entry in page.entries]) if page.entries else ()
                yield from (row for row in rows if not row.status.is_final)
                cursor = page.cursor
                if cursor is None:
                    break


def is_held(row: Action) -> bool:
    """Return whether a row is held."""
    return row.status is Status.PENDING and row.due_at == HELD_UNTIL and row.note is not None


def free_lock(client: Client, jobs_table: str, ref: JobRef) -> None:
    """Free a job's lock and its waiting place: while the switch is off, no run holds them."""
    DynamoTable(client, jobs_table).update(
        job_key(ref, STATE),
        UpdateExpression="REMOVE running, waiting",
        ConditionExpression="attribute_exists(pk)",
    )
