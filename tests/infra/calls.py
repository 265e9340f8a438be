"""What is called of AWS, as IAM judges it: no emulator does."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import boto3

from tests.infra.synthesis import listed, text

PREFIX = "duetime-"


@dataclass(frozen=True)
class Call:
    """One thing that must be allowed: an action, on what, and under which partition key."""

    action: str
    resource: str
    key: str | None = None


@dataclass
class Recorder:
    """Calls by who made them. Only clients that are made while it records are heard."""

    calls: dict[str, set[Call]] = field(default_factory=dict)
    who: str | None = None

    @contextmanager
    def recording(self) -> Iterator["Recorder"]:
        boto3.setup_default_session()
        boto3.DEFAULT_SESSION.events.register("before-parameter-build", self._hear)
        yield self
        boto3.setup_default_session()

    @contextmanager
    def acting(self, who: str) -> Iterator[None]:
        previous, self.who = self.who, who
        yield
        self.who = previous

    def _hear(self, params: Mapping[str, Any], model: Any, **_about: Any) -> None:
        if self.who is not None:
            made = calls_of(model.service_model.service_name, model.name, params)
            self.calls.setdefault(self.who, set()).update(made)


def calls_of(service: str, operation: str, params: Mapping[str, Any]) -> Iterator[Call]:
    """What IAM is asked for one call."""
    match service:
        case "dynamodb":
            yield from _of_dynamodb(operation, params)
        case "scheduler":
            yield from _of_scheduler(operation, params)
        case "dynamodbstreams":
            yield Call(f"dynamodb:{operation}", _stream(params))
        case "sns":
            yield Call(
                f"sns:{operation}", f"{params['TopicArn'].rpartition(':')[2].removeprefix(PREFIX)}/topic"
            )
        case "events":
            yield from _of_events(operation, params)
        case "sqs":
            queue = params["QueueUrl"].rpartition("/")[2].removeprefix(PREFIX)
            yield Call(f"sqs:{operation.removesuffix('Batch')}", queue)
        case "logs":
            yield Call(f"logs:{operation}", params["logGroupName"].replace(f"/aws/lambda/{PREFIX}", "logs/"))
        case _:
            raise AssertionError(f"{service} is called")


def _of_events(operation: str, params: Mapping[str, Any]) -> Iterator[Call]:
    match operation:
        case "PutEvents":
            for entry in params["Entries"]:
                yield Call("events:PutEvents", f"bus/{entry['EventBusName']}")
        case "ListRuleNamesByTarget":
            yield Call(f"events:{operation}", "*")
        case _:
            rule = f"rules/{(params.get('Name') or params['Rule']).removeprefix(PREFIX)}"
            for target in params.get("Targets", [{"Arn": None}]):
                name = target["Arn"] and target["Arn"].rpartition(":")[2].removeprefix(PREFIX)
                yield Call(f"events:{operation}", rule, name)


def _of_dynamodb(operation: str, params: Mapping[str, Any]) -> Iterator[Call]:
    match operation:
        case "TransactWriteItems":
            for kind, item in (pair for entry in params["TransactItems"] for pair in entry.items()):
                action = "ConditionCheckItem" if kind == "ConditionCheck" else f"{kind}Item"
                yield _on_item(action, item)
        case "BatchGetItem":
            for table, keys in params["RequestItems"].items():
                for key in keys["Keys"]:
                    yield Call("dynamodb:BatchGetItem", _table(table), key["pk"]["S"])
        case "BatchWriteItem":
            for table, requests in params["RequestItems"].items():
                for request in requests:
                    item = request["PutRequest"]["Item"]
                    yield Call("dynamodb:BatchWriteItem", _table(table), item["pk"]["S"])
        case "Query":
            index = f"/{params['IndexName']}" if "IndexName" in params else ""
            partition = re.match(r"\S+ = (:\w+)", params["KeyConditionExpression"])[1]
            key = params["ExpressionAttributeValues"][partition]["S"]
            yield Call("dynamodb:Query", _table(params["TableName"]) + index, key)
        case _:
            yield _on_item(operation, params)


def _on_item(action: str, params: Mapping[str, Any]) -> Call:
    item = params.get("Key") or params.get("Item")
    return Call(f"dynamodb:{action}", _table(params["TableName"]), item["pk"]["S"] if item else None)


def _of_scheduler(operation: str, params: Mapping[str, Any]) -> Iterator[Call]:
    if operation == "ListSchedules":
        yield Call("scheduler:ListSchedules", "*")
        return
    group = params["GroupName"].removeprefix(PREFIX)
    yield Call(f"scheduler:{operation}", f"schedules/{group}/{params['Name']}")
    if "Target" in params:
        yield Call("iam:PassRole", "wakes")


def _stream(params: Mapping[str, Any]) -> str:
    """A stream in the page's words, by its ARN or by an iterator, which begins with it."""
    arn = params.get("StreamArn") or params["ShardIterator"]
    return f"{_table(arn.partition('table/')[2].partition('/')[0])}/stream"


def _table(name: str) -> str:
    return name.removeprefix(PREFIX)


def allows(statement: Mapping[str, Any], resources: list[str], call: Call) -> bool:
    """Whether one statement, whose resources are in the page's words, allows a call."""
    if call.action not in listed(statement["Action"]):
        return False
    if not any(fnmatchcase(call.resource, resource) for resource in resources):
        return False
    conditions = statement.get("Condition", {})
    if targets := conditions.get("ForAllValues:ArnEquals"):
        return text(targets["events:TargetArn"]).endswith(f":{PREFIX}{call.key}")
    bound = conditions.get("ForAllValues:StringLike")
    if bound is None:
        return True
    return call.key is not None and any(
        fnmatchcase(call.key, pattern) for pattern in bound["dynamodb:LeadingKeys"]
    )
