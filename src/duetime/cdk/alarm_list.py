"""The alarms, one entry each: what is watched, when it is too much, what that means, and where the runbook says what to do.

Each asks for one metric as CloudWatch has it. Nothing that may happen in good health crosses a bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from duetime.cdk import series
from duetime.cdk.deployment import Deployment
from duetime.cdk.monitored import Monitored
from duetime.cdk.series import Series
from duetime.model.metric import Metric

_FIVE_MINUTES, _QUARTER = timedelta(minutes=5), timedelta(minutes=15)
_ANY = 1
_THROTTLED = 10
"""Calls are repeated: a few that were throttled are made good by that alone."""
_REFUSED = 5
"""Answers of 5xx in a quarter of an hour: callers repeat, and a function may be cut off once."""
_OVERDUE = timedelta(minutes=10)
"""By then the sweep has sent a row once, in vain: it looks at rows that are 5, 10, 20 … minutes late."""
_LAG = {"arm": timedelta(minutes=1), "publish": timedelta(minutes=5)}
"""How old a change may be when its reader gets it: arming makes actions late, publishing only tells."""
_SALVAGED = timedelta(minutes=5)
"""Salvage takes seconds."""
_LONGEST_DELAY = timedelta(minutes=15)
"""Of a message that is not due yet; its age may count from when it was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """One bound of one series."""

    name: str
    """Without the prefix."""
    means: str
    page: str
    """The section of the runbook."""
    watches: Series
    statistic: str = "Sum"
    bound: float = _ANY
    """What reaches it is too much; of a silence, what is below it is too little."""
    period: timedelta = _QUARTER
    is_silence: bool = False
    """It is told that too little came: nothing at all, too."""

    def description(self, *, runbook: str, console: str) -> str:
        """What whoever is told reads first: where to read on, what it means, and where to look if there is a console."""
        look = f" (console: {console}/)" if console else ""
        return f"{runbook}#{self.page}: {self.means}{look}"


def alarms_of(watched: Monitored, deployment: Deployment) -> Iterator[Alarm]:
    """All of them, those first that tell of actions."""
    yield from _of_actions(watched, deployment)
    yield from _of_passes(watched, deployment)
    for queue, hidden in watched.queues.items():
        yield _of_queue(watched, queue, hidden)
    for queue in watched.last_queues:
        yield from _of_last_queue(watched, queue)
    yield from _of_streams(watched)
    for function in watched.functions:
        yield from _of_function(watched, function)
    yield from _of_tables(watched)
    for api in watched.apis:
        yield _of_api(watched, api)


def _of_actions(watched: Monitored, deployment: Deployment) -> Iterator[Alarm]:
    def metric(each: Metric) -> Series:
        return series.of_deployment(watched.deployment, each)

    yield Alarm(
        name="failed",
        means="actions failed for good, and wait for somebody to redrive them",
        page="dead-letters",
        watches=metric(Metric.FAILED),
        bound=deployment.failed_alarm,
    )
    yield Alarm(
        name="missed",
        means="occurrences of jobs did not run within their grace, and will not",
        page="occurrences-are-missed",
        watches=metric(Metric.MISSED),
    )
    yield Alarm(
        name="late",
        means="one run in a hundred, or more, begins later than it may",
        page="many-are-late",
        watches=metric(Metric.LATENESS),
        statistic="p99",
        bound=deployment.lateness_alarm / timedelta(milliseconds=1),
    )
    yield Alarm(
        name="undelivered",
        means="salvage kept what a queue, the stream or EventBridge gave up on",
        page="something-is-undelivered",
        watches=metric(Metric.UNDELIVERED),
    )


def _of_passes(watched: Monitored, deployment: Deployment) -> Iterator[Alarm]:
    yield Alarm(
        name="overdue",
        means="a row is overdue, and does not run although the sweep has sent it again",
        page="something-stays-overdue",
        watches=series.of_deployment(watched.deployment, Metric.OLDEST_DUE_AGE),
        statistic="Maximum",
        bound=_OVERDUE.total_seconds(),
    )
    yield Alarm(
        name="caught-up",
        means="the catch-up sent what wake and sweep should have, or what was overdue while all was off",
        page="the-catch-up-found-something",
        watches=series.of_deployment(watched.deployment, Metric.CATCH_UP_SENT),
    )
    yield Alarm(
        name="sweep-silent",
        means="the sweep did not run: lost wakes are not made good, and with the wheel nothing far wakes",
        page="the-sweep-or-the-catch-up-lags",
        watches=series.of_function(watched.function("sweep"), "Invocations"),
        period=max(_FIVE_MINUTES, 2 * deployment.sweep_rate),
        is_silence=True,
    )
    yield Alarm(
        name="catch-up-silent",
        means="the catch-up did not run: what wake and sweep both miss is not made good",
        page="the-sweep-or-the-catch-up-lags",
        watches=series.of_function(watched.function("catch-up"), "Invocations"),
        period=2 * deployment.catch_up_rate,
        is_silence=True,
    )


def _of_queue(watched: Monitored, queue: str, hidden: timedelta) -> Alarm:
    """A message may wait until it is due, and be with a worker: what is older waits for one."""
    longest = _LONGEST_DELAY + hidden + _FIVE_MINUTES
    return Alarm(
        name=f"{watched.short(queue)}-age",
        means="messages wait for a free function, or are taken and not finished",
        page="a-queue-is-behind",
        watches=series.of_queue(queue, "ApproximateAgeOfOldestMessage"),
        statistic="Maximum",
        bound=longest.total_seconds(),
        period=_FIVE_MINUTES,
    )


def _of_last_queue(watched: Monitored, queue: str) -> Iterator[Alarm]:
    """Both are needed: SQS counts no age of what was received three times, nor as held what nobody takes."""
    page = "messages-stay-in-a-dead-letter-queue-or-among-the-failures"
    yield Alarm(
        name=f"{watched.short(queue)}-age",
        means="messages wait for salvage, which does not take them",
        page=page,
        watches=series.of_queue(queue, "ApproximateAgeOfOldestMessage"),
        statistic="Maximum",
        bound=_SALVAGED.total_seconds(),
        period=_FIVE_MINUTES,
    )
    yield Alarm(
        name=f"{watched.short(queue)}-held",
        means="salvage takes messages again and again and fails at them, or they are many",
        page=page,
        watches=series.of_queue(queue, "ApproximateNumberOfMessagesNotVisible"),
        statistic="Average",
        bound=0.5,
    )


def _of_streams(watched: Monitored) -> Iterator[Alarm]:
    for name, longest in _LAG.items():
        if (function := watched.function(name)) in watched.functions:
            yield Alarm(
                name=f"{name}-lag",
                means=f"changes in the tables reach {name} late",
                page="a-stream-lags",
                watches=series.of_function(function, "IteratorAge"),
                statistic="Maximum",
                bound=longest / timedelta(milliseconds=1),
                period=_FIVE_MINUTES,
            )


def _of_function(watched: Monitored, function: str) -> Iterator[Alarm]:
    name = watched.short(function)
    yield Alarm(
        name=f"{name}-errors",
        means="the function failed or was ended: what a handler raises is none of these",
        page="a-function-fails",
        watches=series.of_function(function, "Errors"),
    )
    yield Alarm(
        name=f"{name}-throttled",
        means="Lambda did not run the function, for want of concurrency",
        page="a-function-is-throttled",
        watches=series.of_function(function, "Throttles"),
        bound=_THROTTLED,
    )


def _of_tables(watched: Monitored) -> Iterator[Alarm]:
    """Of an index the writes alone: they hold up the table's, while who is not let read it fails and is seen there."""
    for table, shape in watched.tables.items():
        yield _throttled(f"{shape.name}-reads", series.of_table(table, "ReadThrottleEvents"))
        yield _throttled(f"{shape.name}-writes", series.of_table(table, "WriteThrottleEvents"))
        for index in shape.indexes:
            of_index = series.of_table(table, "WriteThrottleEvents", index=index.name)
            yield _throttled(f"{shape.name}-{index.name}-writes", of_index)


def _throttled(name: str, watches: Series) -> Alarm:
    return Alarm(
        name=f"{name}-throttled",
        means="DynamoDB does not take all that is asked of it",
        page="a-table-is-throttled",
        watches=watches,
        bound=_THROTTLED,
    )


def _of_api(watched: Monitored, api: str) -> Alarm:
    return Alarm(
        name=f"{watched.short(api)}-5xx",
        means="the API fails to answer: tables or function did not",
        page="the-api-answers-5xx",
        watches=series.of_api(api, "5XXError"),
        bound=_REFUSED,
    )
