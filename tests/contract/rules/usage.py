"""The use of quotas, by tenant."""

from __future__ import annotations

from datetime import timedelta

from duetime.model.usage import Usage, day_name, month_name
from duetime.ports.usage import UsageCounts
from duetime_contract.specimens import ACME, GLOBEX, NOON

_THIS, _LATER, _TODAY = month_name(NOON), "m209901", day_name(NOON)


class UsageCountsContract:
    """The whole contract of `duetime.ports.usage.UsageCounts`.

    Subclass it and define a fixture ``counts`` without counts.
    """

    def test_changes_of_a_tenant_add_up_over_batches_and_months(self, counts: UsageCounts) -> None:
        counts.add({(ACME, _THIS): 5, (GLOBEX, _THIS): 1, (ACME, _LATER): 2}, now=NOON)
        for _ in range(20):
            counts.add({(ACME, _THIS): 1, (ACME, _TODAY): 100}, now=NOON)
        counts.add({(ACME, _THIS): -3}, now=NOON)
        assert counts.read(ACME, NOON) == Usage(pending=24, payload_bytes=2_000)
        assert counts.read(GLOBEX, NOON) == Usage(pending=1, payload_bytes=0)

    def test_a_month_that_lost_counts_is_0_and_ends_a_month_later(self, counts: UsageCounts) -> None:
        counts.add({(ACME, _THIS): -4, (ACME, _LATER): 2}, now=NOON)
        assert counts.read(ACME, NOON).pending == 2
        counts.add({(ACME, _THIS): 9}, now=NOON)
        assert counts.read(ACME, NOON).pending == 7
        assert counts.read(ACME, NOON + timedelta(days=63)).pending == 2
        assert counts.read(GLOBEX, NOON) == Usage(0, 0)

    def test_the_bytes_of_a_day_end_with_it(self, counts: UsageCounts) -> None:
        counts.add({(ACME, _TODAY): 7}, now=NOON)
        tomorrow = NOON + timedelta(days=1)
        counts.add({(ACME, day_name(tomorrow)): 5}, now=tomorrow)
        used = [counts.read(ACME, at).payload_bytes for at in (NOON, tomorrow, NOON + timedelta(days=2))]
        assert used == [7, 5, 0]

    def test_a_batch_may_have_any_number_of_months(self, counts: UsageCounts) -> None:
        months = {(ACME, f"m21{year:02}{month:02}"): 1 for year in range(99) for month in range(1, 13)}
        counts.add(months, now=NOON)
        assert counts.read(ACME, NOON).pending == len(months)
