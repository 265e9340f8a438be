"""Each write from each status: illegal changes of status are rejected and change nothing.

The cases are made from `duetime.model.action.TRANSITIONS`, so a status or a write that is added is tried too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from duetime.model.action import TRANSITIONS, Action, Attempt, SkipReason, Status
from duetime.model.lease import Applied, Rejected, SettleResult
from duetime.ports.action_store import ActionStore
from duetime_contract.specimens import CALLER, EXPIRY, HOUR, MINUTE, NOON, end, terms
from duetime_contract.subject import StoreContract

LATER = NOON + HOUR


@dataclass(frozen=True, slots=True)
class Write:
    """A write of the port: the status that it leads to, and the one that it starts from."""

    name: str
    leads_to: Status
    starts_from: Status
    make: Callable[[ActionStore, Action], object]

    @property
    def stays(self) -> bool:
        """Whether it changes a row without changing its status."""
        return self.starts_from is self.leads_to


def _settle(status: Status) -> Write:
    def make(store: ActionStore, row: Action) -> object:
        ran = row.attempts or (Attempt(queued_at=NOON, started_at=NOON, instance="worker-1"),)
        return store.settle(replace(row, attempts=ran), end(status, NOON + MINUTE))

    return Write(f"settle as {status}", status, Status.PROCESSING, make)


WRITES = (
    Write(
        "claim",
        Status.PROCESSING,
        Status.PENDING,
        lambda store, row: store.claim(row, terms(NOON + MINUTE)),
    ),
    *map(_settle, (Status.EXECUTED, Status.FAILED, Status.CANCELLED, Status.PENDING)),
    Write(
        "cancel",
        Status.CANCELLED,
        Status.PENDING,
        lambda store, row: store.cancel(row, by=CALLER, at=NOON, kept_until=EXPIRY),
    ),
    Write(
        "skip",
        Status.SKIPPED,
        Status.PENDING,
        lambda store, row: store.skip(
            row, SkipReason.OVERLAP, note="", by=CALLER, at=NOON + MINUTE, kept_until=EXPIRY
        ),
    ),
    Write(
        "ask to cancel",
        Status.PROCESSING,
        Status.PROCESSING,
        lambda store, row: store.ask_to_cancel(row, by=CALLER, at=NOON),
    ),
    Write(
        "reschedule",
        Status.PENDING,
        Status.PENDING,
        lambda store, row: store.reschedule(row, LATER, by=CALLER, at=NOON),
    ),
    Write(
        "dismiss",
        Status.FAILED,
        Status.FAILED,
        lambda store, row: store.dismiss(row, "done by hand", by=CALLER, at=NOON),
    ),
    Write(
        "redrive",
        Status.PENDING,
        Status.FAILED,
        lambda store, row: store.redrive(row, LATER, by=CALLER, at=NOON),
    ),
)

LEGAL = [(write, status) for write in WRITES for status in Status if status is write.starts_from]
REFUSED = [(write, status) for write in WRITES for status in Status if status is not write.starts_from]


def _case_name(case: tuple[Write, Status]) -> str:
    return f"{case[0].name} when {case[1]}"


class LegalityContract(StoreContract):
    """The legal changes of status, and no other."""

    @pytest.mark.parametrize(("write", "status"), REFUSED, ids=map(_case_name, REFUSED))
    def test_a_write_from_the_wrong_status_changes_nothing(
        self, store: ActionStore, write: Write, status: Status
    ) -> None:
        row = self.bring_to(store, status)
        answer = write.make(store, row)
        assert store.get(row.ref) == row
        assert not isinstance(answer, Applied)

    @pytest.mark.parametrize(("write", "status"), REFUSED, ids=map(_case_name, REFUSED))
    def test_a_rejection_has_the_row_that_caused_it(
        self, store: ActionStore, write: Write, status: Status
    ) -> None:
        row = self.bring_to(store, status)
        answer = write.make(store, row)
        if isinstance(answer, Rejected):
            assert answer.action == row
        elif not isinstance(answer, SettleResult):
            assert write.name == "claim"

    @pytest.mark.parametrize(("write", "status"), LEGAL, ids=map(_case_name, LEGAL))
    def test_a_write_from_the_right_status_leads_to_the_next_status(
        self, store: ActionStore, write: Write, status: Status
    ) -> None:
        row = self.bring_to(store, status)
        write.make(store, row)
        after = store.get(row.ref)
        assert after is not None
        assert after != row
        assert after.status is write.leads_to

    def test_the_writes_make_legal_changes_and_leave_none_untried(self) -> None:
        made = {(write.starts_from, write.leads_to) for write in WRITES if not write.stays}
        legal = {(before, after) for before, possible in TRANSITIONS.items() for after in possible}
        assert made == legal

    def test_every_illegal_change_of_status_is_tried(self) -> None:
        tried = {(status, write.leads_to) for write, status in REFUSED}
        illegal = {
            (before, after) for before in Status for after in Status if after not in TRANSITIONS[before]
        }
        assert illegal - {(Status.PROCESSING, Status.PROCESSING)} <= tried
