"""The interface to metrics. Steps report what happened, independent of the metrics' destination."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from duetime.ids import TenantId
    from duetime.model.action import Action
    from duetime.model.metric import Metric


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a metric that does not belong to an action."""

    type: str
    tenant_id: TenantId


class Meter(Protocol):
    """Records counters and measurements. Steps call it after the event, from any thread."""

    def add(self, metric: Metric, value: float = 1, *, of: Action | Subject | None = None) -> None:
        """Add `value` to a counter, or record one value of another metric.

        It does no I/O and raises nothing, so that a metered step cannot fail because of it.

        Args:
            metric: the metric.
            value: the number or the measured value.
            of: the action or subject with the type and tenant; None for a metric of the deployment.
        """

    def add_run(self, values: Mapping[Metric, float], action: Action) -> Mapping[str, object]:
        """Add the values of a run that has ended; return fields for its line in the log.

        As `add`, it does no I/O and raises nothing.
        """


class NoMeter:
    """Records nothing."""

    def add(self, metric: Metric, value: float = 1, *, of: Action | Subject | None = None) -> None:
        """See `Meter`."""

    def add_run(
        self,
        values: Mapping[Metric, float],  # noqa: ARG002 - it records nothing
        action: Action,  # noqa: ARG002 - as above
    ) -> Mapping[str, object]:
        """See `Meter`."""
        return {}


UNMETERED = NoMeter()
