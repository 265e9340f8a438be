"""The alarms as resources, their topic, and the budget."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from duetime.cdk.alarm_list import Alarm, alarms_of
from duetime.cdk.deployment import Deployment
from duetime.cdk.monitored import Monitored

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
