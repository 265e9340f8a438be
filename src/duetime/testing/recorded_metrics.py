"""A meter that records all metrics, for tests."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from duetime.model.action import Action
from duetime.model.metric import Metric
from duetime.ports.meter import Subject


class _Value(NamedTuple):
    value: float
    type: str | None
    tenant_id: str | None


class RecordedMetrics:
    """Recorded metrics in order."""

    def __init__(self) -> None:
        self._values: dict[Metric, list[_Value]] = defaultdict(list)
        self._turn = threading.Lock()

    def add(self, metric: Metric, value: float = 1, *, of: Action | Subject | None = None) -> None:
        """See `duetime.ports.meter.Meter`."""
        whose = (None, None) if of is None else (of.type, of.tenant_id)
        with self._turn:
            self._values[metric].append(_Value(value, *whose))

    def add_run(self, values: Mapping[Metric, float], action: Action) -> Mapping[str, object]:
        """See `duetime.ports.meter.Meter`."""
        for metric, value in values.items():
            self.add(metric, value, of=action)
        return {}

    def values(
        self,
        metric: Metric | str,
        *,
        type: str | None = None,  # noqa: A002 - the metrics' own word
        tenant_id: str | None = None,
    ) -> tuple[float, ...]:
        """Return the values of a metric, optionally of one type or tenant."""
        return tuple(
            entry.value
            for entry in self._values.get(Metric(metric), ())
            if type in {None, entry.type} and tenant_id in {None, entry.tenant_id}
        )

    def total(
        self,
        metric: Metric | str,
        *,
        type: str | None = None,  # noqa: A002 - as above
        tenant_id: str | None = None,
    ) -> float:
        """Return a counter's sum."""
        return sum(self.values(metric, type=type, tenant_id=tenant_id))
