"""The alarms, each with its series, bound, meaning and section of the runbook. Their topic, and a budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from duetime.cdk.deployment import Deployment
from duetime.cdk.gateway import STAGE
from duetime.cdk.monitored import Monitored
from duetime.ids import DEFAULT_WORKER
from duetime.model.metric import NAMESPACE, Metric


@dataclass(frozen=True, slots=True)
class Series:
    """The data of CloudWatch under one metric name and one set of dimensions."""

    namespace: str
    metric: str
    dimensions: Mapping[str, str] = field(default_factory=dict)


def of_deployment(deployment: str, metric: Metric) -> Series:
    """Return a metric of duetime, over all types and tenants."""
    return Series(NAMESPACE, metric.value, {"deployment": deployment})


def of_function(function: str, metric: str) -> Series:
    """Return Lambda's metric of a function."""
    return Series("AWS/Lambda", metric, {"FunctionName": function})


def of_queue(queue: str, metric: str) -> Series:
    """Return SQS' metric of a queue."""
    return Series("AWS/SQS", metric, {"QueueName": queue})


def of_table(table: str, metric: str, *, index: str = "") -> Series:
    """Return DynamoDB's metric of a table without its indexes, or of one index."""
    of_index = {"GlobalSecondaryIndexName": index} if index else {}
    return Series("AWS/DynamoDB", metric, {"TableName": table} | of_index)


def of_api(api: str, metric: str) -> Series:
    """Return API Gateway's metric of a REST API."""
    return Series("AWS/ApiGateway", metric, {"ApiName": api, "Stage": STAGE})


FEW = ("canary", "failed", "sweep-silent", "undelivered")
"""The alarms with ``alarms="few"``; the sweep's silence is a symptom only without a canary."""

_FIVE_MINUTES, _QUARTER = timedelta(minutes=5), timedelta(minutes=15)
_ANY = 1
_THROTTLED = 10
"""Calls are retried, so a few throttled ones do no harm."""
_SERVER_ERRORS = 5
"""Responses of 5xx in a quarter of an hour: callers retry, and a function may be interrupted once."""
_OVERDUE = timedelta(minutes=10)
"""By then the sweep has resent a row once: it resends rows that are 5, 10, 20 … minutes late."""
_LAG = {"arm": timedelta(minutes=1), "publish": timedelta(minutes=5)}
"""The maximum age of a change when its function gets it; only late arming delays actions."""
_UNDELIVERED_TIME = timedelta(minutes=5)
"""The undelivered handler normally takes seconds."""
_LONGEST_DELAY = timedelta(minutes=15)
"""The delay of a message that is not due yet; its age may count from when it was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """One bound of one series.

    Attributes:
        name: without the prefix.
        means: what the state of alarm means.
        page: the section of the runbook.
        watches: the series.
        statistic: CloudWatch's name.
        bound: values at or above it raise the alarm; for a silence, values below it.
        period: of one value.
        is_silence: the alarm is raised by too few events, also by none.
        needs_data: the alarm is raised by no value, too.
        is_symptom: a person must act on it; the others show causes, and are made with ``alarms="all"``.
    """

    name: str
    means: str
    page: str
    watches: Series
    statistic: str = "Sum"
    bound: float = _ANY
    period: timedelta = _QUARTER
    is_silence: bool = False
    needs_data: bool = False
    is_symptom: bool = False

    def description(self, *, runbook: str, console: str) -> str:
        """Return the description: the section of the runbook, the meaning, and the console's address.

        Without an address of the runbook, the section is the command that prints it.
        """
        section = f"{runbook}#{self.page}" if runbook else f"`duetime deployment runbook {self.page}`"
        look = f" (console: {console}/)" if console else ""
        return f"{section}: {self.means}{look}"


def alarms_of(monitored: Monitored, deployment: Deployment) -> Sequence[Alarm]:
    """Return the alarms that the deployment chooses, those of actions first."""
    every = [
        *_of_canary(monitored, deployment),
        *_of_actions(monitored, deployment),
        *_of_passes(monitored),
        *(_of_queue(monitored, queue, hidden) for queue, hidden in monitored.queues.items()),
        *(alarm for queue in monitored.last_queues for alarm in _of_last_queue(monitored, queue)),
        *_of_streams(monitored),
        *(alarm for function in monitored.functions for alarm in _of_function(monitored, function)),
        *_of_tables(monitored),
        *(_of_api(monitored, api) for api in monitored.apis),
    ]
    match deployment.alarms:
        case "all":
            return every
        case "few":
            return [alarm for alarm in every if alarm.is_symptom and alarm.name in FEW]
        case is_on:
            return [alarm for alarm in every if is_on and alarm.is_symptom]


def _of_canary(monitored: Monitored, deployment: Deployment) -> Iterator[Alarm]:
    if monitored.has_canary:
        yield Alarm(
            name="canary",
            means="all canaries of three turns ran late, or none ran: actions do not run on time",
            page="the-canary-is-late-or-silent",
            watches=of_deployment(monitored.deployment, Metric.CANARY_LATENESS),
            statistic="Minimum",
            bound=deployment.lateness_alarm / timedelta(milliseconds=1),
            period=3 * max(deployment.canary, monitored.rates["sweep"]),
            needs_data=True,
            is_symptom=True,
        )


def _of_actions(monitored: Monitored, deployment: Deployment) -> Sequence[Alarm]:
    def read(metric: Metric) -> Series:
        return of_deployment(monitored.deployment, metric)

    return [
        Alarm(
            name="failed",
            means="actions failed permanently, and wait for a redrive",
            page="dead-letters",
            watches=read(Metric.FAILED),
            bound=deployment.failed_alarm,
            is_symptom=True,
        ),
        Alarm(
            name="missed",
            means="occurrences of jobs did not run within their grace, and will not run",
            page="occurrences-are-missed",
            watches=read(Metric.MISSED),
        ),
        Alarm(
            name="late",
            means="at least one run in a hundred begins too late",
            page="many-are-late",
            watches=read(Metric.LATENESS),
            statistic="p99",
            bound=deployment.lateness_alarm / timedelta(milliseconds=1),
        ),
        Alarm(
            name="undelivered",
            means="the undelivered handler kept inputs that a queue, the stream or EventBridge gave up on",
            page="something-is-undelivered",
            watches=read(Metric.UNDELIVERED),
            is_symptom=True,
        ),
    ]


def _of_passes(monitored: Monitored) -> Sequence[Alarm]:
    return [
        Alarm(
            name="overdue",
            means="a row is overdue, and does not run although the sweep has resent it",
            page="something-stays-overdue",
            watches=of_deployment(monitored.deployment, Metric.OLDEST_DUE_AGE),
            statistic="Maximum",
            bound=_OVERDUE.total_seconds(),
            is_symptom=True,
        ),
        Alarm(
            name="caught-up",
            means="the catch-up sent rows that wake and sweep missed,"
            " or that became overdue while all was off",
            page="the-catch-up-found-something",
            watches=of_deployment(monitored.deployment, Metric.CATCH_UP_SENT),
        ),
        Alarm(
            name="sweep-silent",
            means="the sweep did not run: lost wakes are not replaced;"
            " with the wheel, far actions do not wake",
            page="the-sweep-or-the-catch-up-lags",
            watches=of_function(monitored.function("sweep"), "Invocations"),
            period=max(_FIVE_MINUTES, 2 * monitored.rates["sweep"]),
            is_silence=True,
            is_symptom=not monitored.has_canary,
        ),
        Alarm(
            name="catch-up-silent",
            means="the catch-up did not run: rows that both wake and sweep miss are not sent",
            page="the-sweep-or-the-catch-up-lags",
            watches=of_function(monitored.function("catch-up"), "Invocations"),
            period=2 * monitored.rates["catch-up"],
            is_silence=True,
            is_symptom=True,
        ),
    ]


def _of_queue(monitored: Monitored, queue: str, hidden: timedelta) -> Alarm:
    """A message may be delayed, or be with a worker. An older one waits for a worker."""
    longest = _LONGEST_DELAY + hidden + _FIVE_MINUTES
    return Alarm(
        name=f"{monitored.short(queue)}-age",
        means="messages wait for a free function, or are received and not finished",
        page="a-queue-is-behind",
        watches=of_queue(queue, "ApproximateAgeOfOldestMessage"),
        statistic="Maximum",
        bound=longest.total_seconds(),
        period=_FIVE_MINUTES,
    )


def _of_last_queue(monitored: Monitored, queue: str) -> Sequence[Alarm]:
    """Return two alarms: SQS reports no age after three receives, and unreceived messages are not held."""
    page = "messages-stay-in-the-failure-queue"
    return [
        Alarm(
            name=f"{monitored.short(queue)}-age",
            means="messages wait for the undelivered handler, which does not receive them",
            page=page,
            watches=of_queue(queue, "ApproximateAgeOfOldestMessage"),
            statistic="Maximum",
            bound=_UNDELIVERED_TIME.total_seconds(),
            period=_FIVE_MINUTES,
        ),
        Alarm(
            name=f"{monitored.short(queue)}-held",
            means="the undelivered handler receives messages repeatedly and fails, or they are many",
            page=page,
            watches=of_queue(queue, "ApproximateNumberOfMessagesNotVisible"),
            statistic="Average",
            bound=0.5,
        ),
    ]


def _of_streams(monitored: Monitored) -> Iterator[Alarm]:
    for name, longest in _LAG.items():
        if (function := monitored.function(name)) in monitored.functions:
            yield Alarm(
                name=f"{name}-lag",
                means=f"changes in the tables reach {name} late",
                page="a-stream-lags",
                watches=of_function(function, "IteratorAge"),
                statistic="Maximum",
                bound=longest / timedelta(milliseconds=1),
                period=_FIVE_MINUTES,
            )


def _of_function(monitored: Monitored, function: str) -> Sequence[Alarm]:
    name = monitored.short(function)
    return [
        Alarm(
            name=f"{name}-errors",
            means="the function failed or timed out; exceptions of handlers do not count",
            page="a-function-fails",
            watches=of_function(function, "Errors"),
        ),
        Alarm(
            name=f"{name}-throttled",
            means="Lambda did not run the function, for lack of concurrency",
            page="a-function-is-throttled",
            watches=of_function(function, "Throttles"),
            bound=_THROTTLED,
            is_symptom=function == monitored.function(f"work-{DEFAULT_WORKER}"),
        ),
    ]


def _of_tables(monitored: Monitored) -> Iterator[Alarm]:
    """Yield alarms of reads and writes, for an index only of writes: they delay the table's.

    Throttled reads of an index fail in the function that reads, and show there.
    """
    for table, shape in monitored.tables.items():
        yield _throttled(f"{shape.name}-reads", of_table(table, "ReadThrottleEvents"))
        yield _throttled(f"{shape.name}-writes", of_table(table, "WriteThrottleEvents"))
        for index in shape.indexes:
            throttled = of_table(table, "WriteThrottleEvents", index=index.name)
            yield _throttled(f"{shape.name}-{index.name}-writes", throttled)


def _throttled(name: str, watches: Series) -> Alarm:
    return Alarm(
        name=f"{name}-throttled",
        means="DynamoDB throttles requests",
        page="a-table-is-throttled",
        watches=watches,
        bound=_THROTTLED,
    )


def _of_api(monitored: Monitored, api: str) -> Alarm:
    return Alarm(
        name=f"{monitored.short(api)}-5xx",
        means="the API fails: its function or the tables do not respond",
        page="the-api-answers-5xx",
        watches=of_api(api, "5XXError"),
        bound=_SERVER_ERRORS,
        is_symptom=True,
    )


"""CloudFormation sets this tag on all resources; costs can be filtered by it once it is activated."""


class Alarms(Construct):
    """The alarms of a scheduler and its budget, as the deployment chooses. They are published on `topic`."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        monitored: Monitored,
        *,
        deployment: Deployment,
        console_url: str = "",
    ) -> None:
        super().__init__(scope, construct_id)
        self._console_url = console_url
        self._prefix, self._deployment = monitored.prefix, deployment
        self.names: list[str] = []
        """The alarms' names, in the order of the list."""
        self.topic = self._topic() if alarms_of(monitored, deployment) or deployment.budget else None
        self.watch(monitored)
        if self.topic is not None and deployment.budget:
            self._budget(self.topic)

    def watch(self, monitored: Monitored) -> None:
        """Add the alarms of the parts that have none yet."""
        for alarm in alarms_of(monitored, self._deployment):
            name = monitored.prefix + alarm.name
            if self.topic is not None and name not in self.names:
                self._make(alarm, self.topic)
                self.names.append(name)

    def arn(self, name: str) -> str:
        """Return an alarm's ARN."""
        return Stack.of(self).format_arn(
            service="cloudwatch",
            resource="alarm",
            resource_name=name,
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )

    def _topic(self) -> sns.Topic:
        """Create the topic, without encryption: AWS' own key does not allow alarms to publish.

        Messages have names and numbers, but no payloads.
        """
        topic = sns.Topic(
            self,
            "Topic",
            topic_name=f"{self._prefix}alarms",
            display_name=f"{self._prefix}alarms",
            enforce_ssl=True,
        )
        account = {"StringEquals": {"aws:SourceAccount": Stack.of(self).account}}
        alarms = {"ArnLike": {"aws:SourceArn": self.arn(f"{self._prefix}*")}}
        topic.add_to_resource_policy(_let_publish("cloudwatch", topic, account | alarms))
        if self._deployment.budget:
            topic.add_to_resource_policy(_let_publish("budgets", topic, account))
        if self._deployment.alarm_email:
            sns.Subscription(
                self,
                "Mail",
                topic=topic,
                protocol=sns.SubscriptionProtocol.EMAIL,
                endpoint=self._deployment.alarm_email,
            )
        return topic

    def _make(self, alarm: Alarm, topic: sns.Topic) -> None:
        is_percentile = alarm.statistic.startswith("p")
        cloudwatch.CfnAlarm(
            self,
            alarm.name,
            alarm_name=self._prefix + alarm.name,
            alarm_description=alarm.description(runbook=self._deployment.runbook, console=self._console_url),
            namespace=alarm.watches.namespace,
            metric_name=alarm.watches.metric,
            dimensions=[
                cloudwatch.CfnAlarm.DimensionProperty(name=name, value=value)
                for name, value in alarm.watches.dimensions.items()
            ],
            statistic=None if is_percentile else alarm.statistic,
            extended_statistic=alarm.statistic if is_percentile else None,
            period=int(alarm.period.total_seconds()),
            evaluation_periods=1,
            threshold=alarm.bound,
            comparison_operator="LessThanThreshold" if alarm.is_silence else "GreaterThanOrEqualToThreshold",
            treat_missing_data="breaching" if alarm.is_silence or alarm.needs_data else "notBreaching",
            alarm_actions=[topic.topic_arn],
            ok_actions=[topic.topic_arn],
        )

    def _budget(self, topic: sns.Topic) -> None:
        """Create a daily budget. The topic must allow it to publish before it is created."""
        budget = budgets.CfnBudget(
            self,
            "Budget",
            budget=budgets.CfnBudget.BudgetDataProperty(
                budget_name=f"{self._prefix}daily",
                budget_type="COST",
                time_unit="DAILY",
                budget_limit=budgets.CfnBudget.SpendProperty(amount=self._deployment.budget, unit="USD"),
            ),
            notifications_with_subscribers=[
                budgets.CfnBudget.NotificationWithSubscribersProperty(
                    notification=budgets.CfnBudget.NotificationProperty(
                        notification_type="ACTUAL",
                        comparison_operator="GREATER_THAN",
                        threshold=100,
                        threshold_type="PERCENTAGE",
                    ),
                    subscribers=[
                        budgets.CfnBudget.SubscriberProperty(subscription_type="SNS", address=topic.topic_arn)
                    ],
                )
            ],
        )
        budget.node.add_dependency(topic)


def _let_publish(service: str, topic: sns.Topic, conditions: Mapping[str, object]) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        principals=[iam.ServicePrincipal(f"{service}.amazonaws.com")],
        actions=["sns:Publish"],
        resources=[topic.topic_arn],
        conditions=dict(conditions),
    )
