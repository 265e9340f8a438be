"""A meter that keeps all it is told, for tests to look at."""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import NamedTuple

from duetime.model.action import Action
from duetime.model.metric import Metric
from duetime.ports.meter import Subject


class _Told(NamedTuple):
    value: float
    type: str | None
    tenant_id: str | None


class RecordedMetrics:
    """What was counted and measured, in the order in which it was told."""

    def __init__(self) -> None:
        self._told: dict[Metric, list[_Told]] = defaultdict(list)
        self._turn = threading.Lock()

    def add(self, metric: Metric, value: float = 1, *, of: Action | Subject | None = None) -> None:
        """See `duetime.ports.meter.Meter`."""
        whose = (None, None) if of is None else (of.type, of.tenant_id)
        with self._turn:
            self._told[metric].append(_Told(value, *whose))

    def values(
        self,
        metric: Metric | str,
        *,
        type: str | None = None,  # noqa: A002 - the metrics' own word
        tenant_id: str | None = None,
    ) -> tuple[float, ...]:
        """What was told of a metric; of one type or tenant alone, if it is given."""
        return tuple(
            each.value
            for each in self._told.get(Metric(metric), ())
            if type in {None, each.type} and tenant_id in {None, each.tenant_id}
        )

    def total(
        self,
        metric: Metric | str,
        *,
        type: str | None = None,  # noqa: A002 - as above
        tenant_id: str | None = None,
    ) -> float:
        """What a counter stands at."""
        return sum(self.values(metric, type=type, tenant_id=tenant_id))
