"""A role with one grant: a DynamoDB client whose calls a strict reading of the grant's policy judges.

The emulators enforce no policy. This evaluator follows IAM's documentation: a denial wins, every condition
must hold, and ForAllValues needs every key of a request to match one pattern.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import boto3
from botocore.exceptions import ClientError

from tests.infra.synthesis import Synthesised, caller, listed, named, stack

PREFIX = "duetime-"


class Request(NamedTuple):
    """What IAM judges: an action, a table or an index, and the partition keys of all items."""

    action: str
    resource: str
    keys: tuple[str, ...] = ()


def requests_of(operation: str, params: Mapping[str, Any]) -> list[Request]:
    """Return the requests that one call consists of; a transaction has one for each entry."""
    if operation == "TransactWriteItems":
        entries = [pair for entry in params["TransactItems"] for pair in entry.items()]
        kinds = {"ConditionCheck": "ConditionCheckItem"}
        return [_on(kinds.get(kind, f"{kind}Item"), item, [_key(item)]) for kind, item in entries]
    if operation == "BatchGetItem":
        return [
            Request(operation, _name(table), tuple(key["pk"]["S"] for key in keys["Keys"]))
            for table, keys in params["RequestItems"].items()
        ]
    if operation == "BatchWriteItem":
        return [
            Request(
                operation, _name(table), tuple(_key(entry) for write in writes for entry in write.values())
            )
            for table, writes in params["RequestItems"].items()
        ]
    if operation in {"Query", "Scan"}:
        values = [
            value["S"] for value in params.get("ExpressionAttributeValues", {}).values() if "S" in value
        ]
        index = f"/{params['IndexName']}" if "IndexName" in params else ""
        return [Request(operation, _name(params["TableName"]) + index, tuple(values[:1]))]
    return [_on(operation, params, [_key(params)])]


def _on(operation: str, params: Mapping[str, Any], keys: Sequence[str]) -> Request:
    return Request(operation, _name(params["TableName"]), tuple(keys))


def _key(params: Mapping[str, Any]) -> str:
    return str((params.get("Key") or params["Item"])["pk"]["S"])


def _name(table: str) -> str:
    return table.removeprefix(PREFIX)


class Statement(NamedTuple):
    """One statement of a policy."""

    denies: bool
    actions: frozenset[str]
    resources: tuple[str, ...]
    conditions: Mapping[str, Mapping[str, Any]]

    def matches(self, request: Request) -> bool:
        """Return whether the statement applies to a request."""
        return (
            f"dynamodb:{request.action}" in self.actions
            and any(fnmatchcase(request.resource, resource) for resource in self.resources)
            and all(_holds(operator, values, request) for operator, values in self.conditions.items())
        )


def _holds(operator: str, values: Mapping[str, Any], request: Request) -> bool:
    [(variable, expected)] = values.items()
    assert variable == "dynamodb:LeadingKeys", variable
    matches = [any(_is_like(key, pattern) for pattern in listed(expected)) for key in request.keys]
    match operator:
        case "ForAllValues:StringLike":
            return all(matches)
        case "ForAnyValue:StringLike":
            return any(matches)
        case "Null":
            return (expected == "true") == (not request.keys)
    raise AssertionError(f"{operator} is not known")


def _is_like(key: str, pattern: str) -> bool:
    assert "[" not in pattern
    return fnmatchcase(key, pattern)


@dataclass
class BoundRole:
    """The client of a role with these statements; it stores which calls were denied."""

    statements: Sequence[Statement]
    denied: list[Request] = field(default_factory=list)

    def client(self) -> Any:
        """Return a DynamoDB client in the role's name."""
        session = boto3.session.Session()
        session.events.register("provide-client-params.dynamodb", self._judge)
        return session.client("dynamodb")

    def allows(self, request: Request) -> bool:
        """Return whether the policy allows a request."""
        found = [statement for statement in self.statements if statement.matches(request)]
        return bool(found) and not any(statement.denies for statement in found)

    def _judge(self, params: Mapping[str, Any], model: Any, **_about: Any) -> None:
        for request in requests_of(model.name, params):
            if not self.allows(request):
                self.denied.append(request)
                error = {"Code": "AccessDeniedException", "Message": f"not authorized: {request}"}
                raise ClientError({"Error": error}, model.name)


def statements_of(grant: Any) -> list[Statement]:
    """Return the statements of the policy that `grant(scheduler, function)` adds to a function's role."""
    made, scheduler = stack()
    grant(scheduler, caller(made))
    template = Synthesised.from_stack(made)
    [policy] = template.of_type("AWS::IAM::Policy")
    return [
        Statement(
            statement["Effect"] == "Deny",
            frozenset(listed(statement["Action"])),
            tuple(named(template, arn) for arn in listed(statement["Resource"])),
            statement.get("Condition", {}),
        )
        for statement in policy["PolicyDocument"]["Statement"]
    ]
