"""Run counts.

Added by minute, name and tenant; read by span.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from duetime.ids import TenantId
from duetime.model.run_counts import LATENESS_BOUNDS, CountedEnding, Kind, MinuteCounts, RunCount
from duetime.ports.run_counts import RunCounts
from duetime_contract.specimens import ACME, EXPIRY, GLOBEX, HOUR, MINUTE, NOON, SECOND

JOB = "billing-nightly"


def ended(
    at: datetime = NOON,
    ending: CountedEnding = CountedEnding.EXECUTED,
    lateness: int | None = 0,
    *,
    name: str = JOB,
    kind: Kind = "job",
    tenant_id: TenantId = ACME,
) -> RunCount:
    """Return the count of one run."""
    return RunCount(tenant_id=tenant_id, kind=kind, name=name, at=at, ending=ending, lateness=lateness)


def buckets(*counts: int) -> list[int]:
    """Return the counts of all buckets, of which the first are given."""
    return [*counts, *[0] * (len(LATENESS_BOUNDS) + 1 - len(counts))]


class RunCountsContract:
    """The whole contract of `duetime.ports.run_counts.RunCounts`.

    Override the fixture `counts`.
    """

    @pytest.fixture
    def counts(self) -> RunCounts:
        raise NotImplementedError("override the fixture `counts`: it returns your back end, empty")

    def read(
        self, counts: RunCounts, since: datetime = NOON, span: timedelta = HOUR, tenant_id: TenantId = ACME
    ) -> list[MinuteCounts]:
        return sorted(
            counts.read(tenant_id, since, since + span), key=lambda row: (row.minute, row.kind, row.name)
        )

    def test_runs_of_a_minute_are_added_up_by_their_end_and_their_lateness(self, counts: RunCounts) -> None:
        counts.add([ended(), ended(NOON + 59 * SECOND, lateness=5)], expires_at=EXPIRY)
        counts.add([ended(ending=CountedEnding.FAILED, lateness=None)], expires_at=EXPIRY)
        [minute] = self.read(counts)
        assert minute == MinuteCounts(
            tenant_id=ACME,
            kind="job",
            name=JOB,
            minute=NOON,
            endings={CountedEnding.EXECUTED: 2, CountedEnding.FAILED: 1},
            lateness=[*buckets(1)[:-1], 1],
        )

    @pytest.mark.parametrize("ending", CountedEnding)
    def test_each_end_has_a_count_of_its_own(self, counts: RunCounts, ending: CountedEnding) -> None:
        counts.add([ended(ending=ending)], expires_at=EXPIRY)
        [minute] = self.read(counts)
        assert minute.endings == {ending: 1}

    @pytest.mark.parametrize("bucket", range(len(LATENESS_BOUNDS) + 1))
    def test_each_bucket_of_lateness_has_a_count_of_its_own(self, counts: RunCounts, bucket: int) -> None:
        counts.add([ended(lateness=bucket)], expires_at=EXPIRY)
        [minute] = self.read(counts)
        assert [index for index, count in enumerate(minute.lateness) if count] == [bucket]

    def test_minutes_names_kinds_and_tenants_are_counted_apart(self, counts: RunCounts) -> None:
        counts.add(
            [
                ended(),
                ended(NOON + MINUTE),
                ended(name="billing-hourly"),
                ended(name="send", kind="type"),
                ended(tenant_id=GLOBEX),
            ],
            expires_at=EXPIRY,
        )
        assert [(row.minute, row.kind, row.name) for row in self.read(counts)] == [
            (NOON, "job", "billing-hourly"),
            (NOON, "job", JOB),
            (NOON, "type", "send"),
            (NOON + MINUTE, "job", JOB),
        ]
        assert [row.tenant_id for row in self.read(counts, tenant_id=GLOBEX)] == [GLOBEX]

    def test_a_span_includes_its_begin_and_excludes_its_end(self, counts: RunCounts) -> None:
        for minutes in (-1, 0, 29, 30):
            counts.add([ended(NOON + minutes * MINUTE)], expires_at=EXPIRY)
        found = self.read(counts, span=30 * MINUTE)
        assert [row.minute for row in found] == [NOON, NOON + 29 * MINUTE]

    def test_a_span_may_cross_hours_and_midnight(self, counts: RunCounts) -> None:
        for hours in (10, 11, 12, 13):
            counts.add([ended(NOON + hours * HOUR)], expires_at=EXPIRY)
        found = self.read(counts, NOON + 11 * HOUR, 2 * HOUR)
        assert [row.minute for row in found] == [NOON + 11 * HOUR, NOON + 12 * HOUR]

    def test_a_tenant_without_runs_has_none(self, counts: RunCounts) -> None:
        assert self.read(counts) == []
        counts.add([], expires_at=EXPIRY)
        assert self.read(counts) == []
