"""The lines that graphs are drawn of: each kind of part with one of its metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from duetime.cdk import series
from duetime.cdk.monitored import Monitored
from duetime.cdk.widgets import WidgetLine
from duetime.model.metric import Metric

_STANDING = {"Visible": "waiting", "Delayed": "not due yet", "NotVisible": "taken"}
"""How messages stand, in SQS' words and ours."""


class Lines:
    """The lines of one scheduler, labelled without its prefix."""

    def __init__(self, watched: Monitored) -> None:
        self._watched = watched

    def ours(self, stats: Mapping[Metric, str]) -> Sequence[WidgetLine]:
        """Metrics of duetime's own."""
        deployment = self._watched.deployment
        return [
            WidgetLine(series.of_deployment(deployment, each), stat, each.value)
            for each, stat in stats.items()
        ]

    def sums(self, *metrics: Metric) -> Sequence[WidgetLine]:
        """Counters of duetime's own."""
        return self.ours(dict.fromkeys(metrics, "Sum"))

    def spread(self, metric: Metric) -> Sequence[WidgetLine]:
        """What is usual, and what one in a hundred sees."""
        measured = series.of_deployment(self._watched.deployment, metric)
        return [WidgetLine(measured, stat, stat) for stat in ("p50", "p99")]

    def functions(self, metric: str, stat: str, *, only: Sequence[str] = ()) -> Sequence[WidgetLine]:
        """Each function, or those of them that are named."""
        short = self._watched.short
        return [
            WidgetLine(series.of_function(function, metric), stat, short(function))
            for function in self._watched.functions
            if not only or short(function) in only
        ]

    def waiting(self) -> Sequence[WidgetLine]:
        """What is in the queues that are worked at."""
        return self._queues([*self._watched.queues], [*_STANDING])

    def given_up(self) -> Sequence[WidgetLine]:
        """What is in the queues that salvage empties."""
        return self._queues(self._watched.last_queues, ("Visible", "NotVisible"))

    def _queues(self, queues: Sequence[str], standing: Sequence[str]) -> Sequence[WidgetLine]:
        return [
            WidgetLine(
                series.of_queue(queue, f"ApproximateNumberOfMessages{each}"),
                "Maximum",
                f"{self._watched.short(queue)}: {_STANDING[each]}",
            )
            for queue in queues
            for each in standing
        ]

    def tables(self, metrics: Mapping[str, str]) -> Sequence[WidgetLine]:
        """Each table without its indexes; `metrics` by their labels."""
        return [
            WidgetLine(series.of_table(table, metric), "Sum", f"{shape.name}: {label}")
            for table, shape in self._watched.tables.items()
            for label, metric in metrics.items()
        ]

    def apis(self, stats: Mapping[str, str]) -> Sequence[WidgetLine]:
        """Each REST API."""
        return [
            WidgetLine(series.of_api(api, metric), stat, f"{self._watched.short(api)}: {metric}")
            for api in self._watched.apis
            for metric, stat in stats.items()
        ]
