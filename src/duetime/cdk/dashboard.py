"""The dashboard: an operator's questions, from effects on users at the top to costs at the bottom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

from aws_cdk import Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from duetime.cdk import series
from duetime.cdk.deployment import Deployment
from duetime.cdk.lines import Lines
from duetime.cdk.monitored import Monitored
from duetime.cdk.widgets import Row, Widget, WidgetLine, body, by_type, graph, statuses, text
from duetime.model.metric import Metric

_FIVE_MINUTES, _HOUR = 300, 3_600
_GRAPH, _TEXT, _STATUSES = 6, 4, 5
_HOW_TO_READ = """## {name}
Each title is a question, each row a subject: from effects on users, at the top, to costs. \
**Start with the alarms**. {runbook} \
`duetime doctor` checks what metrics do not cover. A graph without data means that nothing happened. \
Counts cover five minutes unless the title has another period."""

_RUNBOOK = "What each means is in {}, in the section that its description names."
_COMMAND = "`duetime deployment runbook` prints the section of the runbook that an alarm's description names."


class Dashboard(Construct):
    """One dashboard for a scheduler.

    Args:
        scope: as in CDK.
        construct_id: as in CDK.
        monitored: the parts that it shows.
        alarms: the ARNs of the alarms whose states it shows.
        deployment: has the runbook and the bounds.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        monitored: Monitored,
        *,
        alarms: Sequence[str],
        deployment: Deployment,
    ) -> None:
        super().__init__(scope, construct_id)
        self._region, self._deployment = Stack.of(self).region, deployment
        self._runbook = _RUNBOOK.format(deployment.runbook) if deployment.runbook else _COMMAND
        self._dashboard = cloudwatch.CfnDashboard(
            self, "Dashboard", dashboard_name=f"{monitored.prefix}scheduler", dashboard_body=""
        )
        self.show(monitored, alarms)

    def show(self, monitored: Monitored, alarms: Sequence[str]) -> None:
        """Show these parts, and no others."""
        self._monitored, self._lines = monitored, Lines(monitored)
        shown = body([*self._head(alarms), *self._rows(self._deployment)])
        self._dashboard.dashboard_body = Stack.of(self).to_json_string(shown)

    def _head(self, alarms: Sequence[str]) -> Iterator[Row]:
        markdown = _HOW_TO_READ.format(name=f"{self._monitored.prefix}scheduler", runbook=self._runbook)
        yield Row(_TEXT, [text(markdown)])
        if alarms:
            yield Row(_STATUSES, [statuses("Is anything wrong?", alarms)])

    def _rows(self, deployment: Deployment) -> Iterator[Row]:
        late = deployment.lateness_alarm / timedelta(milliseconds=1)
        yield from (self._in_time(late), self._failures(), self._upcoming())
        if self._monitored.has_types:
            yield self._types()
        yield self._functions()
        if self._monitored.apis:
            yield self._api()
        yield self._costs()

    def _in_time(self, late: float) -> Row:
        return Row(
            _GRAPH,
            [
                self._graph(
                    "Do runs begin on time? (ms late)", self._lines.spread(Metric.LATENESS), bound=late
                ),
                self._graph(
                    "How overdue is the oldest? (s)", self._lines.ours({Metric.OLDEST_DUE_AGE: "Maximum"})
                ),
                self._graph(
                    "How late are the canaries? (ms)", self._lines.ours({Metric.CANARY_LATENESS: "Maximum"})
                ),
                self._graph(
                    "How late do changes reach their readers? (ms)",
                    self._lines.functions("IteratorAge", "Maximum", only=("arm", "publish")),
                ),
            ],
        )

    def _failures(self) -> Row:
        return Row(
            _GRAPH,
            [
                self._graph(
                    "Do actions fail?",
                    self._lines.sums(Metric.FAILED, Metric.RETRIED, Metric.RECOVERED, Metric.MISSED),
                ),
                self._graph(
                    "Was anything given up, or lost on its way?",
                    self._lines.sums(Metric.UNDELIVERED, Metric.CATCH_UP_SENT),
                ),
                self._graph("Does salvage empty its queues? (messages)", self._lines.given_up()),
            ],
        )

    def _upcoming(self) -> Row:
        return Row(
            _GRAPH,
            [
                self._graph(
                    "What is upcoming? (an hour)",
                    self._lines.sums(Metric.SCHEDULED, Metric.RESCHEDULED, Metric.REDRIVEN, Metric.CANCELLED),
                    period=_HOUR,
                ),
                self._graph("What waits in the queues? (messages)", self._lines.waiting()),
                self._graph("How long do handlers run? (ms)", self._lines.spread(Metric.RUN_TIME)),
            ],
        )

    def _types(self) -> Row:
        return Row(
            _GRAPH,
            [
                self._by_type("Which types run?", Metric.EXECUTED, "Sum"),
                self._by_type("Which types fail?", Metric.FAILED, "Sum"),
                self._by_type("Which types are late? (p99, ms)", Metric.LATENESS, "p99"),
            ],
        )

    def _functions(self) -> Row:
        return Row(
            _GRAPH,
            [
                self._graph("Do functions fail?", self._lines.functions("Errors", "Sum")),
                self._graph("Are functions throttled?", self._lines.functions("Throttles", "Sum")),
                self._graph(
                    "Are the tables throttled?",
                    self._lines.tables({"reads": "ReadThrottleEvents", "writes": "WriteThrottleEvents"}),
                ),
            ],
        )

    def _api(self) -> Row:
        return Row(
            _GRAPH,
            [
                self._graph("How many requests does the API get?", self._lines.apis({"Count": "Sum"})),
                self._graph(
                    "Does it reject requests or fail?",
                    self._lines.apis({"4XXError": "Sum", "5XXError": "Sum"}),
                ),
                self._graph("How long does it take? (p99, ms)", self._lines.apis({"Latency": "p99"})),
            ],
        )

    def _costs(self) -> Row:
        called, ran = self._lines.functions("Invocations", "Sum"), self._lines.functions("Duration", "Sum")
        return Row(
            _GRAPH,
            [
                self._graph(
                    "What do the tables cost? (units an hour)",
                    self._lines.tables(
                        {
                            "read units": "ConsumedReadCapacityUnits",
                            "write units": "ConsumedWriteCapacityUnits",
                        }
                    ),
                    period=_HOUR,
                ),
                self._graph("How often are functions called? (an hour)", called, period=_HOUR),
                self._graph("How long do they run? (ms an hour)", ran, period=_HOUR),
            ],
        )

    def _graph(
        self,
        title: str,
        lines: Sequence[WidgetLine],
        *,
        period: int = _FIVE_MINUTES,
        bound: float | None = None,
    ) -> Widget:
        return graph(title, lines, region=self._region, period=period, bound=bound)

    def _by_type(self, title: str, metric: Metric, stat: str) -> Widget:
        deployment = self._monitored.deployment
        measured = series.of_deployment(deployment, metric)
        return by_type(title, deployment, measured, stat, region=self._region)
