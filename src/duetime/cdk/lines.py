"""The lines of the dashboard's graphs: the metrics of each kind of part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from duetime.cdk import series
from duetime.cdk.monitored import Monitored
from duetime.cdk.widgets import WidgetLine
from duetime.model.metric import Metric

_MESSAGE_STATES = {"Visible": "waiting", "Delayed": "not due yet", "NotVisible": "taken"}
"""The states of messages: SQS' names, and the labels."""


class Lines:
    """The lines of one scheduler, labelled without its prefix."""

    def __init__(self, monitored: Monitored) -> None:
        self._monitored = monitored

    def ours(self, stats: Mapping[Metric, str]) -> Sequence[WidgetLine]:
        """Return duetime's own metrics."""
        deployment = self._monitored.deployment
        return [
            WidgetLine(series.of_deployment(deployment, metric), stat, metric.value)
            for metric, stat in stats.items()
        ]

    def sums(self, *metrics: Metric) -> Sequence[WidgetLine]:
        """Return duetime's own counters."""
        return self.ours(dict.fromkeys(metrics, "Sum"))

    def spread(self, metric: Metric) -> Sequence[WidgetLine]:
        """Return the median and the 99th percentile."""
        measured = series.of_deployment(self._monitored.deployment, metric)
        return [WidgetLine(measured, stat, stat) for stat in ("p50", "p99")]

    def functions(self, metric: str, stat: str, *, only: Sequence[str] = ()) -> Sequence[WidgetLine]:
        """Return each function, or those in `only`."""
        short = self._monitored.short
        return [
            WidgetLine(series.of_function(function, metric), stat, short(function))
            for function in self._monitored.functions
            if not only or short(function) in only
        ]

    def waiting(self) -> Sequence[WidgetLine]:
        """Return the messages in the queues that feed workers."""
        return self._queues([*self._monitored.queues], [*_MESSAGE_STATES])

    def given_up(self) -> Sequence[WidgetLine]:
        """Return the messages in the queues that feed salvage."""
        return self._queues(self._monitored.last_queues, ("Visible", "NotVisible"))

    def _queues(self, queues: Sequence[str], states: Sequence[str]) -> Sequence[WidgetLine]:
        return [
            WidgetLine(
                series.of_queue(queue, f"ApproximateNumberOfMessages{state}"),
                "Maximum",
                f"{self._monitored.short(queue)}: {_MESSAGE_STATES[state]}",
            )
            for queue in queues
            for state in states
        ]

    def tables(self, metrics: Mapping[str, str]) -> Sequence[WidgetLine]:
        """Return each table without its indexes; `metrics` maps labels to metrics."""
        return [
            WidgetLine(series.of_table(table, metric), "Sum", f"{shape.name}: {label}")
            for table, shape in self._monitored.tables.items()
            for label, metric in metrics.items()
        ]

    def apis(self, stats: Mapping[str, str]) -> Sequence[WidgetLine]:
        """Return each REST API."""
        return [
            WidgetLine(series.of_api(api, metric), stat, f"{self._monitored.short(api)}: {metric}")
            for api in self._monitored.apis
            for metric, stat in stats.items()
        ]
