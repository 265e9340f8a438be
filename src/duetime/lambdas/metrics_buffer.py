"""Buffer the metrics of one invocation by type and tenant, and write them when it ends.

They are written in CloudWatch's Embedded Metric Format: JSON lines among the logs. Writing them calls no
service, so a metric cannot delay or fail an invocation. A run that is alone in its invocation has its metrics
in its own line, because CloudWatch charges for bytes.

CloudWatch charges for each metric with each value of its dimensions. So types and tenants have values of
their own only as the settings name them, and with ``metric_types="*"`` published types alone.
"""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from duetime.clock import SystemClock
from duetime.errors import DuetimeError
from duetime.lambdas.frame import C, Event, Handler
from duetime.model.action import Action
from duetime.model.metric import NAMESPACE, Metric
from duetime.ports.meter import Subject
from duetime.ports.wakeups import Routes
from duetime.settings import Settings

UNKNOWN, OTHER = "unknown", "other"
"""The value for unpublished types, and for types and tenants without a value of their own."""

_ALL = ["*"]

_OF_EACH_ACTION = frozenset({Metric.SCHEDULED, Metric.EXECUTED, Metric.RUN_TIME})
"""Not written with ``metrics="few"``: no alarm reads them. `lateness` has one value a run."""


@dataclass(frozen=True, slots=True)
class BufferedMetric:
    """Values of metrics that share their dimensions."""

    dimensions: Sequence[Mapping[str, str]]
    """The sets of dimensions of each value: the deployment alone, with the type, with the tenant."""
    values: Mapping[Metric, Sequence[float]]
    """A counter has one value: its sum."""


WriteMetrics = Callable[[Sequence[BufferedMetric]], None]
"""Writes the metrics of one invocation; not called without any."""


class MetricsBuffer:
    """The meter of a Lambda's process; parallel invocations share it."""

    def __init__(
        self,
        settings: Settings,
        knows: Callable[[str], bool],
        write: WriteMetrics,
        *,
        in_lines: bool = False,
    ) -> None:
        """Make one for a function.

        Args:
            settings: the deployment's.
            knows: returns whether a type is published; called at the end of an invocation, with
                ``metric_types="*"``.
            write: writes the metrics.
            in_lines: the metrics of a run that is alone in its invocation are in its line of the log.
        """
        self._deployment = deployment_of(settings)
        self._types, self._tenants = settings.metric_types.split(), settings.metric_tenants.split()
        self._knows, self._write = knows, write
        self._left_out = _OF_EACH_ACTION if settings.metrics == "few" else frozenset[Metric]()
        self._in_lines, self._is_alone = in_lines, False
        self._lock = threading.Lock()
        self._gathered: dict[tuple[str | None, str | None], dict[Metric, list[float]]] = _empty()

    def add(self, metric: Metric, value: float = 1, *, of: Action | Subject | None = None) -> None:
        """See `duetime.ports.meter.Meter`."""
        if metric in self._left_out:
            return
        whose = (None, None) if of is None else self._whose(of.type, of.tenant_id)
        with self._lock:
            values = self._gathered[whose][metric]
            if metric.is_counter:
                values[:] = [sum(values) + value]
            else:
                values.append(value)

    def add_run(self, values: Mapping[Metric, float], action: Action) -> Mapping[str, object]:
        """See `duetime.ports.meter.Meter`."""
        if self._is_alone:
            measured = {metric: [value] for metric, value in values.items() if metric not in self._left_out}
            buffered = self._buffered(*self._whose(action.type, action.tenant_id), measured)
            members = embedded(buffered.dimensions, measured)
            dimensions = {"type": action.type, "tenant": action.tenant_id}
            if all(members.get(name, dimensions[name]) == dimensions[name] for name in dimensions):
                return members
        for metric, value in values.items():
            self.add(metric, value, of=action)
        return {}

    def flush(self) -> None:
        """Write the metrics, and empty the buffer."""
        with self._lock:
            taken, self._gathered = self._gathered, _empty()
        if taken:
            self._write([self._buffered(*whose, values) for whose, values in taken.items()])

    def around(self, handler: Handler[C]) -> Handler[C]:
        """Return the handler with a flush at the end of each invocation, even of a failed one."""

        def metered(event: Event, context: C) -> Event:
            self._is_alone = self._in_lines and len(event.get("Records", ())) == 1
            try:
                return handler(event, context)
            finally:
                self.flush()

        return metered

    def _buffered(
        self, type_name: str | None, tenant: str | None, values: Mapping[Metric, Sequence[float]]
    ) -> BufferedMetric:
        alone = {"deployment": self._deployment}
        sets = [alone]
        if type_name is not None:
            is_named = self._types != _ALL or self._knows(type_name)
            sets.append(alone | {"type": type_name if is_named else UNKNOWN})
        if tenant is not None:
            sets.append(alone | {"tenant": tenant})
        return BufferedMetric(sets, values)

    def _whose(self, type_name: str, tenant_id: str) -> tuple[str | None, str | None]:
        return _value(type_name, self._types), _value(tenant_id, self._tenants)


def _value(name: str, named: Sequence[str]) -> str | None:
    """Return a dimension's value; None if the setting names none, so that metrics have no such dimension."""
    if not named:
        return None
    return name if named == _ALL or name in named else OTHER


def deployment_of(settings: Settings) -> str:
    """Return the value that separates the metrics of deployments."""
    return settings.prefix.removesuffix("-") or "duetime"


def published(routes: Routes) -> Callable[[str], bool]:
    """Return whether a worker runs a type; False while this is unknown."""

    def knows(type_name: str) -> bool:
        try:
            return routes.queue_for(type_name) is not None
        except DuetimeError:
            return False

    return knows


def _empty() -> dict[tuple[str | None, str | None], dict[Metric, list[float]]]:
    return defaultdict(lambda: defaultdict(list))


_MOST_VALUES = 100
"""The most values of one metric in a line."""


def write_metrics(gathered: Sequence[BufferedMetric]) -> None:
    """Write the metrics of an invocation to standard output."""
    for buffered in gathered:
        for values in _lines(buffered.values):
            members = embedded(buffered.dimensions, values)
            print(json.dumps(members, separators=(",", ":")))  # noqa: T201 - Lambda's log


def embedded(
    dimensions: Sequence[Mapping[str, str]], values: Mapping[Metric, Sequence[float]]
) -> Mapping[str, object]:
    """Return the members of a line that has these metrics."""
    directive = {
        "Namespace": NAMESPACE,
        "Dimensions": [list(names) for names in dimensions],
        "Metrics": [{"Name": metric.value, "Unit": metric.unit.value} for metric in values],
    }
    at = int(SystemClock().now().timestamp() * 1_000)
    numbers = {metric.value: [float(value) for value in measured] for metric, measured in values.items()}
    return {
        "_aws": {"Timestamp": at, "CloudWatchMetrics": [directive]},
        **{name: value for names in dimensions for name, value in names.items()},
        **{name: some[0] if len(some) == 1 else some for name, some in numbers.items()},
    }


def _lines(values: Mapping[Metric, Sequence[float]]) -> Iterator[Mapping[Metric, Sequence[float]]]:
    """Yield the values of each line; a second line is needed only for too many values of one metric."""
    for start in range(0, max(map(len, values.values())), _MOST_VALUES):
        cut_out = {metric: some[start : start + _MOST_VALUES] for metric, some in values.items()}
        yield {metric: some for metric, some in cut_out.items() if some}
