"""The way from a deployment's alarms to a person: alarms, their topics, confirmed subscriptions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from duetime.aws import clients
from duetime.aws.faults import translate_errors


class AlarmRoute(NamedTuple):
    """One alarm with the number of confirmed subscriptions of its topics."""

    name: str
    topics: tuple[str, ...]
    confirmed: int


class Alarms:
    """The alarms whose names begin with a deployment's prefix.

    Each method raises `BackendMisconfigured` or `BackendUnavailable` if its call fails.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        with translate_errors("AWS"):
            self._cloudwatch, self._sns = clients.of("cloudwatch"), clients.of("sns")

    def routes(self) -> list[AlarmRoute]:
        """Return the alarms, each with its topics."""
        confirmed: dict[str, int] = {}
        routes = []
        for alarm in self._alarms():
            topics = tuple(action for action in alarm.get("AlarmActions", ()) if ":sns:" in action)
            for topic in topics:
                if topic not in confirmed:
                    confirmed[topic] = self._confirmed(topic)
            routes.append(AlarmRoute(alarm["AlarmName"], topics, sum(confirmed[topic] for topic in topics)))
        return routes

    def fire(self, name: str, reason: str) -> None:
        """Set an alarm to its alarm state; CloudWatch evaluates it again within its period."""
        with translate_errors("CloudWatch"):
            self._cloudwatch.set_alarm_state(AlarmName=name, StateValue="ALARM", StateReason=reason)

    def _alarms(self) -> Iterator[dict[str, Any]]:
        with translate_errors("CloudWatch"):
            pages = self._cloudwatch.get_paginator("describe_alarms").paginate(AlarmNamePrefix=self._prefix)
            for page in pages:
                yield from page["MetricAlarms"]

    def _confirmed(self, topic: str) -> int:
        with translate_errors("SNS"):
            pages = self._sns.get_paginator("list_subscriptions_by_topic").paginate(TopicArn=topic)
            found = [
                subscription["SubscriptionArn"] for page in pages for subscription in page["Subscriptions"]
            ]
        return sum(arn.startswith("arn:") for arn in found)  # otherwise it says that it is not confirmed
