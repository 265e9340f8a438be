"""*Failover* over AWS: check the target, move the epoch, wait, activate, and make its wakes from the rows.

It uses the operator's credentials, in the target's region alone: the other region may be gone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from duetime import instant
from duetime.aws.backends import AwsBackends
from duetime.aws.deployed import DeployedTables
from duetime.aws.tables import FORMAT
from duetime.clock import Clock
from duetime.errors import BackendMisconfigured
from duetime.ids import SYSTEM_TENANT, new_action_id
from duetime.model.active_region import TRUSTED, ActiveRegion
from duetime.model.audit import AuditEntry, AuditKind, AuditTarget
from duetime.model.audit_chain import ChainHead
from duetime.model.job import JobRef
from duetime.settings import Settings
from duetime.wakeups.failover import Reconciled, Switch, TakeOver
from duetime.wakeups.sweep import BOOKMARK, FENCED

_LONGEST_SWEEP = timedelta(minutes=1)

Note = Callable[[str], None]
"""Receives a line at each step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailoverReport:
    """What a failover did, or would do.

    Attributes:
        target: the region that becomes active.
        before: the item before it; None without one.
        after: the item after it; None in a preview.
        quiet_time: how long no region claims.
        last_sweep_at: when the former region swept last, as far as it was replicated; None if unknown.
        reconciled: what was made from the rows; None in a preview.
        entry_id: the id of the audit entry.
    """

    target: str
    before: ActiveRegion | None
    after: ActiveRegion | None = None
    quiet_time: timedelta
    last_sweep_at: datetime | None = None
    reconciled: Reconciled | None = None
    entry_id: str | None = None

    def to_json(self) -> Mapping[str, Any]:
        """Return the report as JSON; durations in seconds."""
        done = self.reconciled
        return {
            "target": self.target,
            "epoch": self.after.epoch if self.after else self.before and self.before.epoch,
            "active": self.after.region if self.after else self.before and self.before.region,
            "quiet_time": self.quiet_time.total_seconds(),
            "last_sweep_at": self.last_sweep_at and instant.text(self.last_sweep_at),
            "reconciled": done and _counts(done),
            "audit_entry": self.entry_id,
        }


@dataclass(frozen=True, kw_only=True)
class RunFailover:
    """One failover.

    Attributes:
        target: the region of the process, which becomes active.
        settings: those that are deployed there, with `regions_table`.
        clock: the present time.
        by: the operator.
        is_fenced: the target's deployment has the setting, so it stands by until the item names it. Otherwise
            it runs already, and its first failover needs no wait.
        note: receives a line at each step.

    Raises:
        BackendMisconfigured: the deployment has no table of the active region, or no replica there.
    """

    target: str
    settings: Settings
    clock: Clock
    by: str
    is_fenced: bool = True
    note: Note = lambda _line: None
    _backends: AwsBackends = field(init=False)

    def __post_init__(self) -> None:
        if not self.settings.regions_table:
            raise BackendMisconfigured(
                "duetime",
                f"the deployment in {self.target} has no setting regions_table, so no region can be active",
                "Name the table with --regions-table, and deploy both regions with the setting",
            )
        object.__setattr__(self, "_backends", AwsBackends(self.settings, self.clock))
        self._check_replica()

    def preview(self) -> FailoverReport:
        """Return what would happen, and change nothing."""
        return FailoverReport(
            target=self.target,
            before=self._backends.regions.read(),
            quiet_time=self._quiet_time(),
            last_sweep_at=self._last_sweep_at(),
        )

    def __call__(self) -> FailoverReport:
        """Switch, then make jobs' schedules, timers and messages from the rows. A repeat goes on.

        Raises:
            OperationFailed: the target is active; nothing was changed.
            BackendUnavailable: not all was done; repeat it.
            BackendMisconfigured: another region goes on; the target has not become active.
        """
        before, switch, began_at = self._backends.regions.read(), self._switch, self.clock.now()
        quiet_time = self._quiet_time()
        fenced = switch.fence(self.target)
        since = self.clock.elapsed()
        entry = self._entry(before, fenced)
        self._backends.audit_trail.begin(entry)
        if before is not None or self.is_fenced:
            self.note(f"epoch {fenced.epoch}: no region claims; wait {quiet_time}")
            switch.wait(since, quiet_time)
            self._check_all_are_fenced(began_at)
        after = switch.activate(fenced)
        self.note(f"epoch {after.epoch}: {after.region} is active")
        return self._take_over(before, after, entry, quiet_time)

    def reconcile(self) -> FailoverReport:
        """Make the wakes from the rows again.

        Raises:
            BackendMisconfigured: the target is not active.
        """
        active = self._backends.regions.read()
        if active is None or active.region != self.target:
            raise BackendMisconfigured(
                "duetime", f"{self.target} is not active", "Repeat the command without --reconcile"
            )
        entry = self._entry(active, active)
        self._backends.audit_trail.begin(entry)
        return self._take_over(active, active, entry, timedelta(0))

    def _take_over(
        self, before: ActiveRegion | None, after: ActiveRegion, entry: AuditEntry, quiet_time: timedelta
    ) -> FailoverReport:
        last_sweep_at = self._last_sweep_at()
        done = TakeOver(self._backends)(after.moved_at)
        self._backends.audit_trail.end(_ended(entry, done))
        return FailoverReport(
            target=self.target,
            before=before,
            after=after,
            quiet_time=quiet_time,
            last_sweep_at=last_sweep_at,
            reconciled=done,
            entry_id=entry.id,
        )

    def _quiet_time(self) -> timedelta:
        """Return how long no region claims: until leases have ended, and until an unfenced region has swept.

        If the region that swept last is not known to be fenced, its next sweep begins within one rate of the
        last that a fenced one may begin. It ends, and its bookmark replicates, within another.
        """
        leases = self._switch.quiet_time
        if not self.is_fenced or FENCED in self._backends.bookmarks.read(BOOKMARK):
            return leases
        return max(leases, self._last_sweep_after + 2 * self.settings.sweep_rate)

    @property
    def _last_sweep_after(self) -> timedelta:
        """How long after the begin of an epoch a fenced region may begin to read the due index."""
        return TRUSTED + self.settings.clock_skew + _LONGEST_SWEEP

    def _check_all_are_fenced(self, began_at: datetime) -> None:
        """Check that no region has swept during the wait: one without the setting does not stop.

        Raises:
            BackendMisconfigured: one has.
        """
        swept_at = self._last_sweep_at() if self.is_fenced else None
        if swept_at is not None and swept_at > began_at + self._last_sweep_after:
            raise BackendMisconfigured(
                "duetime",
                f"another region swept at {swept_at:%Y-%m-%dT%H:%M:%SZ}, after the epoch had moved, so it"
                f" does not have the setting regions_table; {self.target} has not become active",
                "Deploy that region with the setting, or make it active with --regions-table; then repeat",
            )

    @property
    def _switch(self) -> Switch:
        return Switch(self._backends.regions, clock=self.clock, settings=self.settings, by=self.by)

    def _check_replica(self) -> None:
        found = DeployedTables.from_settings(self.settings).format()
        if found != FORMAT:
            raise BackendMisconfigured(
                "DynamoDB",
                f"{self.settings.made.jobs_table} in {self.target} has the format {found};"
                f" allowed is {FORMAT}",
                "Add a replica of both tables there, as the page on disasters describes",
            )

    def _last_sweep_at(self) -> datetime | None:
        marks = self._backends.bookmarks.read(BOOKMARK)
        ends = [_swept_at(band, mark) for band, mark in marks.items()]
        return max((end for end in ends if end is not None), default=None)

    def _entry(self, before: ActiveRegion | None, fenced: ActiveRegion) -> AuditEntry:
        now = self.clock.now()
        entry = AuditEntry(
            id=new_action_id(now),
            tenant_id=SYSTEM_TENANT,
            target=AuditTarget(AuditKind.REGION, self.target),
            operation="failover",
            by=self.by,
            roles=(),
            address=None,
            requested_at=now,
            request_fields={"epoch": fenced.epoch, "from": before.region if before else ""},
            expires_at=(now + self.settings.audit_retention).replace(microsecond=0),
        )
        return ChainHead(entry.id).append(entry)[0]


def _ended(begun: AuditEntry, done: Reconciled) -> AuditEntry:
    link = begun.begun_link
    head = ChainHead(begun.id) if link is None else ChainHead(link.chain, link.number, link.hash)
    return head.append(begun.ended(200, _counts(done)))[0]


def _counts(done: Reconciled) -> Mapping[str, Any]:
    return {
        "jobs": done.jobs,
        "armed": done.armed,
        "sent": done.sent,
        "missing_times": {_name(ref): [*map(instant.text, times)] for ref, times in done.missing.items()},
        "failed_jobs": [*map(_name, done.failed)],
    }


def _name(ref: JobRef) -> str:
    return f"{ref.tenant_id}/{ref.name}"


def _swept_at(band: str, mark: str) -> datetime | None:
    """Return when a sweep ended: a band's bookmark is the due time up to which it has read."""
    seconds, _, _shard = band.partition("/")
    try:
        return instant.parse(mark) + timedelta(seconds=float(seconds))
    except (ValueError, OverflowError):  # also a cursor, in a band with too many rows
        return None
