"""The expected workload of a deployment, the input of the estimate, and its counts of a month."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import Field, dataclass, field, fields
from typing import Any, Self

from duetime.cost.units import DAYS, EVENTS_OF_ONE, IN_ROW_LIMIT, MOST_TIMERS
from duetime.errors import InvalidArgument, truncate

ARCHITECTURES = ("arm64", "x86_64")
EVENTS = ("standard", "all", "off")
TIMERS = ("eventbridge", "wheel")
TENANTS = ("one", "several")
STARTS = ("instant", "second")
METRICS = ("few", "all")
_MOST = 1e12


def _number(default: float, about: str, *, low: float = 0, high: float = _MOST) -> Any:
    return field(default=default, metadata={"about": about, "low": low, "high": high})


def _share(default: float, about: str) -> Any:
    return _number(default, about, high=1)


def _one_of(choices: tuple[str, ...], about: str) -> Any:
    return field(default=choices[0], metadata={"about": about, "choices": choices})


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """The work of a deployment, spread evenly over the day. A share is a part of the actions, 0 to 1.

    Raises:
        InvalidArgument: a value is out of range.
    """

    actions_per_day: float = _number(100_000, "one-shots scheduled a day")
    far_share: float = _share(0.3, "share of them due more than 15 minutes ahead")
    far_hours: float = _number(24, "how many hours ahead those are due, on average")
    payload_bytes: float = _number(300, "bytes of a payload as JSON", high=399 * 1_024)
    handler_ms: float = _number(100, "milliseconds that a handler runs", high=900_000)
    handler_memory: float = _number(256, "MB of memory of a worker", low=128, high=10_240)
    function_memory: float = _number(512, "MB of memory of duetime's own functions", low=128, high=10_240)
    architecture: str = _one_of(ARCHITECTURES, "the machines of the functions")
    correlation_share: float = _share(0, "share of the one-shots with a correlation id")
    keyed_share: float = _share(0, "share of the one-shots with a concurrency key")
    rated_share: float = _share(0, "share of the one-shots under a rate limit")
    deferred_share: float = _share(0, "share of those that the limit defers")
    retries_share: float = _share(0.01, "further attempts for each action and each run, on average")
    failed_share: float = _share(0.001, "share of the actions and runs that fail for good")
    jobs: float = _number(5, "recurring jobs")
    runs_per_day: float = _number(24, "runs of each job a day")
    events: str = _one_of(EVENTS, "which lifecycle events are published")
    timers: str = _one_of(TIMERS, "what wakes a far action")
    start: str = _one_of(STARTS, "when runs start; second: up to a second late")
    tenants: str = _one_of(TENANTS, "how many tenants; due queues are fair among several")
    worker_batch: float = _number(1, "messages in one call of a worker, at most", low=1, high=10)
    worker_pollers: float = _number(0, "provisioned pollers of each worker; 0: Lambda's own", high=200)
    workers: float = _number(1, "workers, each with queues of its own", low=1, high=1_000)
    high_queues: float = _number(0, "high queues of workers", high=1_000)
    retention_days: float = _number(30, "days that a settled action is kept", low=1, high=3_650)
    log_days: float = _number(30, "days that logs are kept", low=1, high=3_653)
    api_requests_per_day: float = _number(1_000, "requests to the admin API a day")
    mails_per_day: float = _number(0, "notifications sent as mails a day")
    notices_per_day: float = _number(0, "notifications published to a topic a day")
    canaries_per_hour: float = _number(12, "canaries an hour", high=60)
    metrics: str = _one_of(METRICS, "which metrics are written")
    metric_types: float = _number(0, "types with their own metrics", high=10_000)
    metric_tenants: float = _number(0, "tenants with their own metrics", high=10_000)
    alarms: float = _number(8, "alarms")
    kms_keys: float = _number(0, "1 with the setting kms_key", high=1)
    web_acls: float = _number(0, "1 with the setting web_acl", high=1)
    web_acl_rules: float = _number(2, "rules of the web ACL; the managed one has two", high=1_000)

    def __post_init__(self) -> None:
        problems = [
            problem for field in fields(self) for problem in _problems(field, getattr(self, field.name))
        ]
        if problems:
            raise InvalidArgument(*problems)

    @property
    def canaries(self) -> float:
        """The canaries of a month."""
        return DAYS * 24 * self.canaries_per_hour

    @property
    def due_queues(self) -> float:
        """The due queues of workers: each has one, and some another for a high priority."""
        return self.workers + self.high_queues

    @property
    def queues(self) -> float:
        """The queues: of workers, system and notifications, and the failure queue."""
        return self.due_queues + 1 + (self.events != "off") + 1

    @property
    def runs_of_jobs_per_day(self) -> float:
        """The runs of all jobs together."""
        return self.jobs * self.runs_per_day


def _problems(field: Field[Any], value: object) -> Iterator[str]:
    choices = field.metadata.get("choices")
    if choices is not None:
        if value not in choices:
            yield f"{field.name} is {_shown(value)}; allowed is {', '.join(choices)}"
        return
    low, high = field.metadata["low"], field.metadata["high"]
    if not is_number(value) or not low <= value <= high:
        yield f"{field.name} is {_shown(value)}; allowed is a number from {low:,.12g} to {high:,.0f}"


def is_number(value: Any) -> bool:
    """Return whether it is a finite int or float, and no bool."""
    return type(value) is int or (type(value) is float and math.isfinite(value))


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else truncate(repr(value), 60)


@dataclass(frozen=True, slots=True)
class Volume:
    """Counts of a month.

    Attributes:
        actions: one-shots.
        far: one-shots due more than 15 minutes ahead.
        runs: runs of jobs; each has a timer, since it is planned with the run before.
        retries: further attempts, of actions and runs.
        deferrals: one-shots that wait for their instant under a rate limit.
        failures: actions and runs that failed for good.
        timers: one-shot schedules of EventBridge Scheduler; none with the wheel, or for many far actions.
        events: published lifecycle events.
        is_offloaded: whether payloads are items of their own.
    """

    actions: float
    far: float
    runs: float
    retries: float
    deferrals: float
    failures: float
    timers: float
    events: float
    is_offloaded: bool

    @classmethod
    def from_workload(cls, work: Workload) -> Self:
        """Return the counts of a workload."""
        actions = work.actions_per_day * DAYS
        runs = work.runs_of_jobs_per_day * DAYS
        far = actions * work.far_share
        done = actions + runs
        has_timers = work.timers == "eventbridge" and far + runs <= MOST_TIMERS
        failed_actions = actions * work.failed_share
        return cls(
            actions=actions,
            far=far,
            runs=runs,
            retries=done * work.retries_share,
            deferrals=actions * work.rated_share * work.deferred_share,
            failures=done * work.failed_share,
            timers=far + runs if has_timers else 0,
            events=_events(work.events, actions, runs, failed_actions),
            is_offloaded=work.payload_bytes > IN_ROW_LIMIT,
        )

    @property
    def done(self) -> float:
        """One-shots and runs of jobs."""
        return self.actions + self.runs

    @property
    def attempts(self) -> float:
        """Runs of handlers."""
        return self.done + self.retries

    @property
    def messages(self) -> float:
        """Due messages: one for each attempt, and one for each deferral."""
        return self.attempts + self.deferrals

    @property
    def near(self) -> float:
        """Due messages that arm sends."""
        return self.messages - self.far - self.runs

    @property
    def turned(self) -> float:
        """Due messages that the wheel sends."""
        return self.far + self.runs - self.timers

    @property
    def armed(self) -> float:
        """Stream records that arm receives: one for each pending row and each offloaded payload."""
        return self.messages + (self.actions if self.is_offloaded else 0)


def _events(which: str, actions: float, runs: float, failed_actions: float) -> float:
    if which == "off":
        return 0
    of_actions = EVENTS_OF_ONE * actions if which == "all" else failed_actions
    return of_actions + EVENTS_OF_ONE * runs
