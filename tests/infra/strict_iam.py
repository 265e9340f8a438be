"""IAM as its documentation describes it, in front of moto: each call is judged by a role's policies.

A condition on ``dynamodb:LeadingKeys`` reads the keys of the call. IAM knows from the table's schema which
parameters are keys. In a call on an absent table the keys are missing, so ``Null: false`` fails. The
call is denied before DynamoDB could answer that the table is missing.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import boto3
from botocore.exceptions import ClientError
from moto.dynamodb.models import dynamodb_backends

from tests.emulated.addresses import ACCOUNT
from tests.infra.calls import Call, allows, calls_of
from tests.infra.synthesis import Synthesised, listed, named
from tests.quick_moto import REGION

_DENIED = "AccessDeniedException"


@dataclass
class StrictIam:
    """Judges all calls of clients that are created while `enforcing`."""

    template: Synthesised
    statements: Sequence[Mapping[str, Any]]
    is_distributed: bool = True
    """Whether IAM has distributed the role; before that, every call is denied."""
    denied: list[Call] = field(default_factory=list)
    made: list[Call] = field(default_factory=list)

    @contextmanager
    def enforcing(self) -> Iterator["StrictIam"]:
        boto3.setup_default_session()
        events = boto3.DEFAULT_SESSION.events
        events.register("provide-client-params", self._judge)
        yield self
        boto3.setup_default_session()

    def _judge(self, params: Mapping[str, Any], model: Any, **_about: Any) -> None:
        for call in calls_of(model.service_model.service_name, model.name, params):
            seen = self._as_iam_sees(call)
            self.made.append(seen)
            if not (self.is_distributed and self._is_allowed(seen)):
                self.denied.append(seen)
                raise _denied(model.name, seen)

    def _as_iam_sees(self, call: Call) -> Call:
        if not call.action.startswith("dynamodb:") or _exists(call.resource.partition("/")[0]):
            return call
        return replace(call, key=None)

    def _is_allowed(self, call: Call) -> bool:
        return any(
            allows(statement, [named(self.template, arn) for arn in listed(statement["Resource"])], call)
            for statement in self.statements
        )


def _exists(table: str) -> bool:
    return f"duetime-{table}" in dynamodb_backends[ACCOUNT][REGION].tables


def _denied(operation: str, call: Call) -> ClientError:
    message = (
        f"User: arn:aws:sts::123456789012:assumed-role/deploy is not authorized to perform: {call.action}"
    )
    return ClientError({"Error": {"Code": _DENIED, "Message": message}}, operation)
