"""Read the rows of runs that hold a lock or a slot, damaged ones too."""

from __future__ import annotations

from collections.abc import Collection

from duetime.declare.handler import LONGEST_RUN
from duetime.model.action import ActionRef
from duetime.model.lease import ClaimTerms
from duetime.ports.actions import ActionStore, DamagedRow, Holder


def read_holders(
    actions: ActionStore, refs: Collection[ActionRef], terms: ClaimTerms
) -> dict[ActionRef, Holder]:
    """Return the rows by their keys; rows that are gone are left out.

    If the lease of a damaged row cannot be read, or ends later than any lease does, the read writes one into
    the row: what the row holds is free once that has ended.
    """
    damaged: list[DamagedRow] = []
    found = actions.get_rows([*refs], damaged=damaged) if refs else ()
    longest = terms.now + max(terms.lease_until - terms.now, LONGEST_RUN)
    for row in damaged:
        if row.may_run and (row.lease_until is None or row.lease_until > longest + terms.skew):
            actions.limit_lease(row, longest)
    rows: list[Holder] = [*found, *damaged]
    return {row.ref: row for row in rows}
