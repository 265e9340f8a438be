"""Adds up the metrics of the steps, since the local cloud has no CloudWatch."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from duetime.lambdas.metrics_buffer import BufferedMetric, MetricsBuffer
from duetime.model.metric import Metric
from duetime.settings import Settings

log = logging.getLogger("duetime.metrics")

_SeriesKey = tuple[Metric, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class MetricSeries:
    """One metric under one set of dimensions.

    Attributes:
        value: a counter's sum since the start; of another metric, the last value.
        count: the number of values.
    """

    name: str
    unit: str
    dimensions: Mapping[str, str]
    value: float
    count: int


class Metrics(MetricsBuffer):
    """The current value of every metric.

    Args:
        settings: the deployment's.
        knows: returns whether a type is published.
    """

    def __init__(self, settings: Settings, knows: Callable[[str], bool]) -> None:
        super().__init__(settings, knows, self.take)
        self._series: dict[_SeriesKey, MetricSeries] = {}
        self._turn = threading.Lock()

    def add(self, *given: Any, **of: Any) -> None:
        """See `duetime.ports.meter.Meter`; no invocation ends here, so the buffer is emptied at once."""
        super().add(*given, **of)
        self.flush()

    def take(self, gathered: Sequence[BufferedMetric]) -> None:
        """Add measurements."""
        with self._turn:
            for buffered in gathered:
                for metric, values in buffered.values.items():
                    for dimensions in buffered.dimensions:
                        self._add(metric, dimensions, values)
                    log.debug(metric.value, extra={"values": list(values), **buffered.dimensions[-1]})

    def _add(self, metric: Metric, dimensions: Mapping[str, str], values: Sequence[float]) -> None:
        key = (metric, tuple(sorted(dimensions.items())))
        before = self._series.get(key)
        sum_before, count = (before.value, before.count) if before else (0.0, 0)
        value = sum_before + sum(values) if metric.is_counter else values[-1]
        self._series[key] = MetricSeries(
            metric.value, metric.unit.value, dict(dimensions), value, count + len(values)
        )

    def list(self) -> Sequence[MetricSeries]:
        """Return all series by name; the deployment's own come before those of types and tenants."""
        with self._turn:
            keys = sorted(self._series, key=lambda key: (key[0].value, len(key[1]), key[1]))
            return [self._series[key] for key in keys]

    def value(self, metric: Metric | str, **dimensions: str) -> float | None:
        """Return a metric's value, or None without any; ``type`` or ``tenant`` select a series."""
        for series in self.list():
            parts = {name: value for name, value in series.dimensions.items() if name != "deployment"}
            if series.name == metric and parts == dimensions:
                return series.value
        return None
