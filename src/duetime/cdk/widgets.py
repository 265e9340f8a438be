"""The widgets of a CloudWatch dashboard's body, in rows of equal columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from duetime.cdk.series import Series

WIDTH = 24
"""The width of a dashboard, in CloudWatch's unit."""

Widget = dict[str, Any]


@dataclass(frozen=True, slots=True)
class WidgetLine:
    """One series in a graph."""

    series: Series
    stat: str
    label: str


@dataclass(frozen=True, slots=True)
class Row:
    """Widgets side by side."""

    height: int
    widgets: Sequence[Widget]


def text(markdown: str) -> Widget:
    """Return a text widget."""
    return {"type": "text", "properties": {"markdown": markdown}}


def statuses(title: str, alarms: Sequence[str]) -> Widget:
    """Return a widget with the states of alarms, given their ARNs."""
    return {"type": "alarm", "properties": {"title": title, "alarms": list(alarms)}}


def graph(
    title: str, lines: Sequence[WidgetLine], *, region: str, period: int = 300, bound: float | None = None
) -> Widget:
    """Return a graph of lines over time, with a horizontal line at `bound`."""
    shown = {"metrics": [_metric(line) for line in lines], "period": period}
    if bound is not None:
        shown["annotations"] = {"horizontal": [{"label": "alarm", "value": bound}]}
    return _metrics(title, region, shown)


def by_type(title: str, deployment: str, metric: Series, stat: str, *, region: str) -> Widget:
    """Return a graph with a line for each type, which CloudWatch searches when the dashboard is opened."""
    query = f'{{{metric.namespace},deployment,type}} MetricName="{metric.metric}" deployment="{deployment}"'
    search = {
        "expression": f"SEARCH('{query}', '{stat}', 300)",
        "id": "each",
        "label": "${PROP('Dim.type')}",
    }
    return _metrics(title, region, {"metrics": [[search]], "period": 300})


def body(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the dashboard's body: the rows from top to bottom."""
    tops = accumulate((row.height for row in rows), initial=0)
    return {
        "widgets": [
            {
                **widget,
                "x": column * (WIDTH // len(row.widgets)),
                "y": top,
                "width": WIDTH // len(row.widgets),
                "height": row.height,
            }
            for row, top in zip(rows, tops, strict=False)
            for column, widget in enumerate(row.widgets)
        ]
    }


def _metrics(title: str, region: str, shown: dict[str, Any]) -> Widget:
    fixed = {"title": title, "region": region, "view": "timeSeries", "yAxis": {"left": {"min": 0}}}
    return {"type": "metric", "properties": fixed | shown}


def _metric(line: WidgetLine) -> list[Any]:
    series = line.series
    dimensions = [text for pair in series.dimensions.items() for text in pair]
    return [series.namespace, series.metric, *dimensions, {"stat": line.stat, "label": line.label}]
