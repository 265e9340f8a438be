"""Series: one metric with its dimensions, as alarms and the dashboard ask for it. Whose it is is said by name alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from duetime.cdk.gateway import STAGE
from duetime.model.metric import NAMESPACE, Metric


@dataclass(frozen=True, slots=True)
class Series:
    """What CloudWatch keeps under one name and one set of dimensions."""

    namespace: str
    metric: str
    dimensions: Mapping[str, str] = field(default_factory=dict)


def of_deployment(deployment: str, metric: Metric) -> Series:
    """One of duetime's own, of all types and tenants together."""
    return Series(NAMESPACE, metric.value, {"deployment": deployment})


def of_function(function: str, metric: str) -> Series:
    """One that Lambda keeps of a function."""
    return Series("AWS/Lambda", metric, {"FunctionName": function})


def of_queue(queue: str, metric: str) -> Series:
    """One that SQS keeps of a queue."""
    return Series("AWS/SQS", metric, {"QueueName": queue})


def of_table(table: str, metric: str, *, index: str = "") -> Series:
    """One that DynamoDB keeps of a table without its indexes, or of one of them."""
    of_index = {"GlobalSecondaryIndexName": index} if index else {}
    return Series("AWS/DynamoDB", metric, {"TableName": table} | of_index)


def of_api(api: str, metric: str) -> Series:
    """One that API Gateway keeps of a REST API."""
    return Series("AWS/ApiGateway", metric, {"ApiName": api, "Stage": STAGE})
