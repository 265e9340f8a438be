"""The series that alarms read: a metric with its dimensions, identified by names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from duetime.cdk.gateway import STAGE
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
