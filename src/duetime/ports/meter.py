"""The port of metrics: steps say what happened, in one line; where that goes is no concern of theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from duetime.ids import TenantId
from duetime.model.action import Action
from duetime.model.metric import Metric


@dataclass(frozen=True, slots=True)
class Subject:
    """What a metric is told of, where that is no action."""

    type: str
    tenant_id: TenantId


class Meter(Protocol):
    """Takes what is counted and measured. Steps call it after the fact, from any thread."""

    def add(self, metric: Metric, value: float = 1, *, of: Action | Subject | None = None) -> None:
        """Count `value` more of a counter, or take down one value of another metric.

        It talks to nobody and raises nothing: what is metered must not fail over it.

        Args:
            metric: what happened.
            value: how many, or how much.
            of: the action, whose type and tenant are told; None for what concerns the deployment alone.
        """
        ...


class NoMeter:
    """Takes nothing down."""

    def add(self, metric: Metric, value: float = 1, *, of: Action | Subject | None = None) -> None:
        """See `Meter`."""


UNMETERED = NoMeter()
