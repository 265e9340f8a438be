"""What the deployed functions meter, as it stands: the local cloud has no CloudWatch, and its terminal is no place for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from duetime.lambdas.metrics_buffer import BufferedMetric
from duetime.model.metric import Metric

log = logging.getLogger("duetime.metrics")

_Place = tuple[Metric, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class MetricSeries:
    """One metric under one set of dimensions."""

    name: str
    unit: str
    dimensions: Mapping[str, str]
    value: float
    """A counter's sum since the cloud was started; of another metric the last value."""
    count: int
    """How often it was told."""


class Metrics:
    """Takes what each invocation metered."""

    def __init__(self) -> None:
        self._standing: dict[_Place, MetricSeries] = {}
        self._turn = threading.Lock()

    def take(self, gathered: Sequence[BufferedMetric]) -> None:
        """Add it up; see `duetime.lambdas.metrics_buffer.Rearm`."""
        with self._turn:
            for each in gathered:
                for metric, values in each.values.items():
                    for dimensions in each.dimensions:
                        self._add(metric, dimensions, values)
                    extra: dict[str, Any] = {"values": list(values), **each.dimensions[-1]}
                    log.debug(metric.value, extra=extra)

    def _add(self, metric: Metric, dimensions: Mapping[str, str], values: Sequence[float]) -> None:
        place = (metric, tuple(sorted(dimensions.items())))
        before = self._standing.get(place)
        sum_before, count = (before.value, before.count) if before else (0.0, 0)
        value = sum_before + sum(values) if metric.is_counter else values[-1]
        self._standing[place] = MetricSeries(
            metric.value, metric.unit.value, dict(dimensions), value, count + len(values)
        )

    def list(self) -> Sequence[MetricSeries]:
        """All that was told, by name, the whole deployment's before its parts."""
        with self._turn:
            places = sorted(self._standing, key=lambda each: (each[0].value, len(each[1]), each[1]))
            return [self._standing[place] for place in places]

    def value(self, metric: Metric | str, **dimensions: str) -> float | None:
        """Where a metric stands; with ``type`` or ``tenant``, what is told of that alone. None: nothing was told."""
        for each in self.list():
            parts = {name: value for name, value in each.dimensions.items() if name != "deployment"}
            if each.name == metric and parts == dimensions:
                return each.value
        return None
