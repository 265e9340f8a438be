"""The health of the deployment: an open probe without tenants' data, and details for operators."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, TypeVar

from aws_lambda_powertools.event_handler.request import Request

from duetime import instant
from duetime.api.context import caller_at
from duetime.api.errors import RequestError
from duetime.api.routes import RouteGroup, route
from duetime.api.views import Instant, View, shows
from duetime.errors import BackendMisconfigured, BackendUnavailable, truncate
from duetime.ids import SYSTEM_TENANT, ActionId, JobName, TenantId
from duetime.model.action import Action, ActionRef, Status
from duetime.model.built_in import is_probe
from duetime.model.permissions import Permission
from duetime.settings import Settings
from duetime.wakeups.due_scanner import DueShards, is_cursor
from duetime.wakeups.sweep import BOOKMARK
from duetime.wakeups.system_jobs import CATCH_UP, SWEEP

log = logging.getLogger(__name__)

_MISSING_ACTION = ActionRef(SYSTEM_TENANT, ActionId("00000000-0000-7000-8000-000000000000"))
_MISSED_SWEEPS = 3
"""A sweep is woken each minute: one that has not passed for so long is ill."""

FIRST_PAGE = 100
_LOOKED_AT = 5
"""The soonest entries of a due shard: a long run stays first in its own until it is settled."""
_DAY = timedelta(days=1)

Result = TypeVar("Result")


class HealthView(View):
    """All parts respond."""

    status: Literal["ok"] = "ok"
    """Always ``ok``: an unhealthy part is a problem response."""
    parts: dict[str, str]
    """Each probed part: ``ok``."""


class CountView(View):
    """How many there are; `more` where a page did not hold them all."""

    count: int
    """How many were counted."""
    more: bool
    """Whether there are more than that."""


class PassView(View):
    """The latest pass of the sweep or of the catch-up."""

    began_at: Instant
    """When it began."""
    status: Status
    """How it ended, or that it runs."""
    message: str | None
    """Why it failed."""


@shows(Action, "tenant_id id type due_at")
class OverdueView(View):
    """The pending action that has been due for longest, except actions with a concurrency key."""


class LimitsView(View):
    """Settings in seconds; `duetime deployment verify` waits and measures by them."""

    near_limit: float
    """An action that is due later than this has a timer."""
    wake_early: float
    """A timer wakes this long before the due time."""
    lease: float
    """How long a run's lease lasts without a heartbeat."""
    clock_skew: float
    """How long after its end a lease still counts."""
    sweep_rate: float
    """The interval of the sweep; the console judges the age of the last one by it."""


class HealthDetails(View):
    """The state of the deployment; null if a part did not respond or has no data."""

    status: Literal["ok", "ill"]
    """Whether nothing is ill."""
    ill: list[str]
    """What is ill: parts that do not answer, ``sweep``, ``catch-up``, ``overdue``, ``failure queue``."""
    parts: dict[str, str]
    """Each checked part: ``ok``, or how it failed."""
    requested_at: Instant
    """When all this was read."""
    enabled: bool
    """The global switch: off, nothing fires."""
    timers: str
    """What wakes a far action: ``eventbridge`` or ``wheel``."""
    due_shards: int
    """Partitions of the due index."""
    swept_until: Instant | None
    """When the sweep last went through every due shard."""
    last_sweep: PassView | None
    """The latest pass of each minute's sweep."""
    last_catch_up: PassView | None
    """The latest deep pass."""
    oldest_overdue: OverdueView | None
    """What has waited for longest without a pause; null if nothing is overdue."""
    held: CountView | None
    """Overdue actions that a pause or an open breaker holds."""
    held_too_long: CountView | None
    """Actions that had to begin after a pause, or to probe a breaker, and are late for that."""
    undelivered: CountView | None
    """Inputs that could not be delivered; an operator redrives them."""
    failed_last_day: CountView | None
    """Of the caller's tenant, and of code's jobs."""
    failure_queue: int | None
    """About how many messages wait for the undelivered handler."""
    types: list[str] | None
    """What published manifests run."""
    probes: list[str] | None
    """The types of the built-in probe, one for each worker: `duetime deployment verify` schedules them."""
    limits: LimitsView
    """The settings that bound a wake and a takeover."""
    runbook: str | None
    """The deployment's runbook; null if none is set."""


@dataclass(slots=True)
class _PartAnswers:
    parts: dict[str, str] = field(default_factory=dict)

    def read(self, part: str, read: Callable[[], Result]) -> Result | None:
        try:
            result = read()
        except (BackendUnavailable, BackendMisconfigured) as error:
            log.warning("a part is ill", extra={"part": part, "reason": truncate(error)})
            self.parts[part] = error.code
            return None
        self.parts.setdefault(part, "ok")
        return result

    @property
    def ill(self) -> list[str]:
        return [name for name, state in self.parts.items() if state != "ok"]


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Overdue actions: the oldest that may begin, how many are held, and how many were held too long."""

    oldest: tuple[datetime, Action] | None
    """With the instant from which it might begin."""
    held: CountView
    held_too_long: CountView


class HealthRoutes(RouteGroup):
    """Serves the open probe, and the details to operators."""

    tag = "service"

    @route("getHealth", "GET", "/health", is_open=True)
    def get(self) -> HealthView:
        """Return 200 if all parts respond; else a 503 that names the unhealthy parts."""
        answers = _PartAnswers()
        answers.read("actions table", lambda: self.api.store.get(_MISSING_ACTION))
        answers.read("jobs table", lambda: self.health.bookmarks.read("health"))
        if answers.ill:
            ill = (f"the {name} is {state}" for name, state in answers.parts.items() if state != "ok")
            raise RequestError("unhealthy", " and ".join(ill), members={"parts": answers.parts})
        return HealthView(parts=answers.parts)

    @route("getHealthDetails", "GET", "/health/details", Permission.SYSTEM)
    def details(self, request: Request) -> HealthDetails:
        """Return what lags, what waits and what is known; the status is 200 even if parts are unhealthy."""
        api, answers, now = self.api, _PartAnswers(), self.api.clock.now()
        undelivered, tenant_id = api.undelivered, caller_at(request).tenant_id
        swept = answers.read("jobs table", self._swept_until)
        sweep = answers.read("actions table", lambda: self._last(SWEEP))
        catch_up = answers.read("actions table", lambda: self._last(CATCH_UP))
        pauses = api.pauses
        are_known = pauses is None or answers.read("pauses", pauses.stored) is not None
        due = answers.read("due index", lambda: self._waiting(now)) if are_known else None
        ready_at, overdue = due.oldest if due and due.oldest else (None, None)
        failed = answers.read("failed index", lambda: self._failed(tenant_id, now - _DAY))
        undelivered_count = answers.read("undelivered list", self._undelivered) if undelivered else None
        waiting = answers.read("failure queue", self.health.waiting) if self.health.waiting else None
        types = answers.read("manifests", lambda: [*api.jobs.routes.types()])
        late = {
            "sweep": swept,
            "catch-up": catch_up.created_at if catch_up else None,
            "overdue": ready_at,
        }
        ill = [
            *answers.ill,
            *(self._late(late, now) if api.settings.enabled else ()),
        ]
        return HealthDetails(
            status="ill" if ill else "ok",
            ill=ill,
            parts=answers.parts,
            requested_at=now,
            enabled=api.settings.enabled,
            timers=api.settings.timers,
            due_shards=len(api.store.due_shards),
            swept_until=swept,
            last_sweep=sweep and _pass(sweep),
            last_catch_up=catch_up and _pass(catch_up),
            oldest_overdue=overdue and OverdueView.of(overdue),
            held=due.held if due else None,
            held_too_long=due.held_too_long if due else None,
            undelivered=undelivered_count,
            failed_last_day=failed,
            failure_queue=waiting,
            types=None if types is None else [name for name in types if not is_probe(name)],
            probes=None if types is None else sorted(filter(is_probe, types)),
            limits=_limits_of(api.settings),
            runbook=self.health.runbook,
        )

    def _late(self, found: Mapping[str, datetime | None], now: datetime) -> Iterator[str]:
        """Return the names of late passes and overdue actions; a pass that never ran is not late."""
        settings = self.api.settings
        stale = _MISSED_SWEEPS * settings.sweep_rate
        most = {"sweep": stale, "catch-up": 2 * settings.catch_up_rate, "overdue": self._latest}
        for name, at in found.items():
            if at is not None and now - at > most[name]:
                yield name

    @property
    def _latest(self) -> timedelta:
        """How late an action may begin."""
        return self.api.settings.grace + _MISSED_SWEEPS * self.api.settings.sweep_rate

    def _swept_until(self) -> datetime | None:
        """Return the time up to which every shard is swept; an unfinished shard lags until it is finished."""
        grace = self.api.settings.grace
        band = f"{grace.total_seconds():g}/"
        marks = [mark for name, mark in self.health.bookmarks.read(BOOKMARK).items() if name.startswith(band)]
        ends = [instant.parse(mark) for mark in marks if not is_cursor(mark)]
        return min(ends) + grace if ends else None

    def _last(self, job: JobName) -> Action | None:
        page = self.api.store.of_job(SYSTEM_TENANT, job, limit=1, cursor=None)
        return next(iter(page), None)

    def _waiting(self, now: datetime) -> _Waiting:
        """Return the first pending rows of each due shard: more of them if some may be held."""
        store, pauses = self.api.store, self.api.pauses
        most = FIRST_PAGE if pauses is not None and pauses.knows_any() else _LOOKED_AT
        pages = [
            store.due(shard, after=None, until=now, limit=most, cursor=None)
            for shard in DueShards(store, self.health.bookmarks, self.api.clock).known()
        ]
        rows = store.get_rows([entry.ref for page in pages for entry in page.entries])
        pending = [row for row in rows if row.status is Status.PENDING and row.due_at <= now]
        ready = [(self.api.ready_at(row), row) for row in pending]
        free = [(at, row) for at, row in ready if row.concurrency is None and at <= now]
        late = [row for at, row in free if at > row.due_at and now - at > self._latest]
        oldest = min(free, key=lambda found: found[0], default=None)
        has_more = any(page.cursor is not None for page in pages)
        return _Waiting(
            oldest,
            CountView(count=sum(at > now for at, _ in ready), more=has_more),
            CountView(count=len(late), more=has_more),
        )

    def _failed(self, tenant_id: TenantId, since: datetime) -> CountView:
        page = self.api.store.failed(sorted({tenant_id, SYSTEM_TENANT}), limit=FIRST_PAGE, cursor=None)
        late = [action for action in page if action.failed_at > since]
        return CountView(count=len(late), more=len(late) == len(page) and page.cursor is not None)

    def _undelivered(self) -> CountView:
        assert self.api.undelivered is not None  # noqa: S101 - called only where it is there
        page = self.api.undelivered.store.list(limit=FIRST_PAGE, cursor=None)
        return CountView(count=len(page), more=page.cursor is not None)


def _limits_of(settings: Settings) -> LimitsView:
    return LimitsView(**{name: getattr(settings, name).total_seconds() for name in LimitsView.model_fields})


def _pass(row: Action) -> PassView:
    last = row.attempts[-1] if row.attempts else None
    return PassView(
        began_at=last.started_at if last else row.due_at, status=row.status, message=last and last.message
    )
