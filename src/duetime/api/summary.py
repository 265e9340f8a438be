"""Route of the summary: how the runs of the last hours ended, by minute, from counts and not from samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Self

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.request import Request

from duetime.api.context import caller_at
from duetime.api.routes import RouteGroup, route
from duetime.api.views import Instant, View, shows
from duetime.ids import SYSTEM_TENANT
from duetime.model.permissions import Permission
from duetime.model.run_counts import LATENESS_BOUNDS, CountedEnding, Kind, MinuteCounts
from duetime.model.work_pause import WorkPause

_MINUTE = timedelta(minutes=1)
_LONGEST = 24 * 60


class EndingsView(View):
    """The numbers of runs by their end."""

    executed: int
    """Runs that succeeded."""
    failed: int
    """Runs that failed for good."""
    cancelled: int
    """Actions that were cancelled, before a run or during it."""
    skipped: int
    """Occurrences that were skipped or missed."""
    retried: int
    """Attempts that failed, with another one to follow."""

    @classmethod
    def sum_of(cls, counted: Iterable[MinuteCounts], **more: object) -> Self:
        """Return the sums, with the other fields."""
        total = Counter[CountedEnding]()
        for row in counted:
            total.update(row.endings)
        return cls(**{ending.value: total[ending] for ending in CountedEnding}, **more)


class MinuteView(EndingsView):
    """The runs that ended within a minute."""

    at: Instant
    """The begin of the minute."""


class CountedNameView(EndingsView):
    """The runs of a job, or the one-shots of a payload type."""

    kind: Kind
    """`job` or `type`."""
    name: str
    """The job's name, or the payload type."""
    tenant_id: str
    """The tenant that owns it; ``system`` for code's jobs."""
    by_minute: list[int]
    """How many ended in each minute of the span, oldest first; the sum of all ends but `retried`."""
    failed_by_minute: list[int]
    """How many of them failed for good."""


class LatenessView(View):
    """How many runs began with a lateness up to a bound, and above the bound before."""

    up_to: float | None
    """Seconds; null: any longer lateness."""
    count: int
    """The runs. Runs that catch up, and actions with a concurrency key, are left out."""


@shows(WorkPause, "id reason by since until")
class TenantPauseView(View):
    """The pause of a tenant: no run of it begins."""

    tenant: str
    """The paused tenant."""


class SummaryView(View):
    """The ended runs of a span, of the caller's tenant; for operators also those of code's jobs."""

    since: Instant
    """The begin of the span, a full minute."""
    until: Instant
    """The end of the span."""
    is_counted: bool
    """Whether this deployment counts runs (the setting `run_counts`); if not, all lists are empty."""
    includes_executed_one_shots: bool
    """Whether one-shots that succeeded are counted: only with `events=all`. Their failures always are."""
    total: EndingsView
    """The sums of the span."""
    minutes: list[MinuteView]
    """The minutes in which a run ended, oldest first."""
    names: list[CountedNameView]
    """Each job and type with an ended run, those with the most first."""
    lateness: list[LatenessView]
    """How late first attempts began."""
    paused: TenantPauseView | None
    """The pause of the caller's tenant; null if its work may begin."""


class Summary(RouteGroup):
    """Serves the counts of ended runs."""

    tag = "actions"

    @route("getSummary", "GET", "/summary", Permission.READ_ACTIONS)
    def summary(
        self,
        request: Request,
        *,
        minutes: Annotated[
            int, Query(ge=1, le=_LONGEST, description="the length of the span; an hour by default")
        ] = 60,
    ) -> SummaryView:
        """Return how the runs of the last minutes ended, and how late they began.

        The counts lag by some seconds. If a part of the deployment failed, a few runs may be counted twice or
        not at all; the rows are exact.
        """
        until = self.api.clock.now()
        since = until.replace(second=0, microsecond=0) - (minutes - 1) * _MINUTE
        counted = self._read(request, since, until)
        settings, pause = self.api.settings, self.api.pause_of(caller_at(request).tenant_id)
        return SummaryView(
            since=since,
            until=until,
            is_counted=self._is_counted,
            includes_executed_one_shots=self._is_counted and settings.events == "all",
            total=EndingsView.sum_of(counted),
            minutes=_minutes(counted),
            names=_names(counted, since, minutes),
            lateness=_lateness(counted),
            paused=None if pause is None else TenantPauseView.of(pause, tenant=pause.name),
        )

    @property
    def _is_counted(self) -> bool:
        settings = self.api.settings
        return self.api.counts is not None and settings.made.run_counts and settings.events != "off"

    def _read(self, request: Request, since: datetime, until: datetime) -> Sequence[MinuteCounts]:
        if self.api.counts is None or not self._is_counted:
            return []
        caller = caller_at(request)
        tenants = [caller.tenant_id]
        if Permission.SYSTEM in caller.permissions and caller.tenant_id != SYSTEM_TENANT:
            tenants.append(SYSTEM_TENANT)
        return [row for tenant in tenants for row in self.api.counts.read(tenant, since, until + _MINUTE)]


def _minutes(counted: Sequence[MinuteCounts]) -> list[MinuteView]:
    by_minute: dict[datetime, list[MinuteCounts]] = {}
    for row in counted:
        by_minute.setdefault(row.minute, []).append(row)
    return [MinuteView.sum_of(by_minute[minute], at=minute) for minute in sorted(by_minute)]


def _names(counted: Sequence[MinuteCounts], since: datetime, minutes: int) -> list[CountedNameView]:
    by_name: dict[tuple[str, Kind, str], list[MinuteCounts]] = {}
    for row in counted:
        by_name.setdefault((row.tenant_id, row.kind, row.name), []).append(row)
    views = [
        CountedNameView.sum_of(
            rows,
            tenant_id=tenant,
            kind=kind,
            name=name,
            by_minute=_line(rows, since, minutes, {*CountedEnding} - {CountedEnding.RETRIED}),
            failed_by_minute=_line(rows, since, minutes, {CountedEnding.FAILED}),
        )
        for (tenant, kind, name), rows in by_name.items()
    ]
    return sorted(views, key=lambda view: (-sum(view.by_minute), view.kind, view.name, view.tenant_id))


def _line(
    counted: Sequence[MinuteCounts], since: datetime, minutes: int, endings: set[CountedEnding]
) -> list[int]:
    line = [0] * minutes
    for row in counted:
        line[(row.minute - since) // _MINUTE] += sum(row.endings.get(ending, 0) for ending in endings)
    return line


def _lateness(counted: Sequence[MinuteCounts]) -> list[LatenessView]:
    bounds = [*(bound.total_seconds() for bound in LATENESS_BOUNDS), None]
    sums = [sum(row.lateness[bucket] for row in counted) for bucket in range(len(bounds))]
    return [LatenessView(up_to=bound, count=count) for bound, count in zip(bounds, sums, strict=True)]
