"""Write metrics in CloudWatch's Embedded Metric Format: JSON lines among the logs.

CloudWatch reads the values from the log. Writing them calls no service, so a metric cannot delay or fail an
invocation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from duetime.lambdas.metrics_buffer import BufferedMetric
from duetime.model.metric import NAMESPACE, Metric

_MOST_VALUES = 99
"""The most values of one metric in a line: at 100, the format's limit, Powertools writes the line itself."""


def write_metrics(gathered: Sequence[BufferedMetric]) -> None:
    """Write the metrics of an invocation to standard output."""
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
    """Yield the values of each line; a second line is needed only for too many values of one metric."""
    longest = max(map(len, values.values()))
    for start in range(0, longest, _MOST_VALUES):
        cut_out = {metric: some[start : start + _MOST_VALUES] for metric, some in values.items()}
        yield {metric: some for metric, some in cut_out.items() if some}
