"""Metrics in CloudWatch's Embedded Metric Format.

JSON lines among the logs, from which CloudWatch takes the values.

Writing them calls no service, so that no metric costs an invocation time or can fail it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from duetime.lambdas.metrics_buffer import BufferedMetric
from duetime.model.metric import NAMESPACE, Metric

_MOST_VALUES = 99
"""Of one metric in a line.

The format takes 100, and Powertools writes a line by itself when it has so many.
"""


def write_metrics(gathered: Sequence[BufferedMetric]) -> None:
    """Write what an invocation metered to standard output."""
    from aws_lambda_powertools.metrics import EphemeralMetrics  # noqa: PLC0415 - only a Lambda's process writes so

    for buffered in gathered:
        alone, *others = buffered.dimensions
        for values in _lines(buffered.values):
            line = EphemeralMetrics(namespace=NAMESPACE)
            line.service = ""  # Powertools would make a dimension of what the environment names so
            for name, word in alone.items():
                line.add_dimension(name, word)
            for further in others:
                line.add_dimensions(**further)
            for metric, some in values.items():
                for value in some:
                    line.add_metric(metric.value, metric.unit.value, value)
            line.flush_metrics()


def _lines(values: Mapping[Metric, Sequence[float]]) -> Iterator[Mapping[Metric, Sequence[float]]]:
    """What goes into each line; one is enough but where a metric has more values than it takes."""
    longest = max(map(len, values.values()))
    for start in range(0, longest, _MOST_VALUES):
        cut_out = {metric: some[start : start + _MOST_VALUES] for metric, some in values.items()}
        yield {metric: some for metric, some in cut_out.items() if some}
