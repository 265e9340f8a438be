"""CloudFormation's rules on resources that outlive a stack, which ministack lacks.

Written from CloudFormation's documentation:

- `DeletionPolicy`: Retain keeps a resource. RetainExceptOnCreate keeps it, unless the operation that
  creates it is rolled back.
- A table that exists is not created again: the stack fails, and the message ends in "already exists".
- A change set with `ImportExistingResources` imports it, if its policy is one of those two, its name is
  in the template, and it depends on no resource of the stack. An imported table is not deleted by a rollback.
- A protected table is not deleted.
"""
# ruff: noqa: SLF001 - ministack has no public interface

from __future__ import annotations

import json
from typing import Any

from ministack.services import cloudformation as state
from ministack.services import dynamodb
from ministack.services.cloudformation import changesets, handlers, stacks
from ministack.services.cloudformation.helpers import _p

TABLE = "AWS::DynamoDB::Table"
KEEPS = ("Retain", "RetainExceptOnCreate")
ROLLING_BACK = ("ROLLBACK_IN_PROGRESS", "UPDATE_ROLLBACK_IN_PROGRESS")

_create_change_set = changesets._create_change_set
_provision = stacks._provision_resource
_delete = stacks._delete_resource
_imported: set[str] = set()
"""The names of imported tables, until the operation ends."""


def _create_set(params: Any) -> Any:
    answer = _create_change_set(params)
    name, stack = _p(params, "ChangeSetName"), _p(params, "StackName")
    for made in state._change_sets.values():
        if (made["ChangeSetName"], made["StackName"]) == (name, stack):
            made["imports"] = _p(params, "ImportExistingResources", "false").lower() == "true"
    return answer


def _executed(stack_name: str | None) -> dict[str, Any]:
    """Return the change set that a stack executes, if it does."""
    for made in state._change_sets.values():
        if made["StackName"] == stack_name and made["ExecutionStatus"] == "EXECUTE_IN_PROGRESS":
            return dict(made)
    return {}


def _provision_or_import(kind: str, logical_id: str, properties: dict[str, Any], stack_name: str) -> Any:
    name = properties.get("TableName") if kind == TABLE else None
    if name not in dynamodb._tables:
        return _provision(kind, logical_id, properties, stack_name)
    executed = _executed(stack_name)
    if not executed.get("imports"):
        raise ValueError(f"Resource of type '{kind}' with identifier '{name}' already exists.")
    written = executed["_template"]["Resources"][logical_id]
    if written.get("DeletionPolicy") not in KEEPS:
        raise ValueError(f"{logical_id} must have the DeletionPolicy attribute set to Retain for import")
    if written.get("DependsOn") or not isinstance(written["Properties"]["TableName"], str):
        raise ValueError(f"{logical_id} depends on another resource and cannot be imported")
    _imported.add(str(name))
    table = dynamodb._tables[name]
    return name, {"Arn": table["TableArn"], "StreamArn": table["LatestStreamArn"]}


def _delete_if_allowed(
    kind: str,
    physical_id: str,
    properties: dict[str, Any],
    stack_name: str | None = None,
    logical_id: str | None = None,
) -> None:
    stack = state._stacks[stack_name]
    template = _executed(stack_name).get("_template") or stack.get("_template") or {}
    written = template.get("Resources", {}).get(logical_id) or _previous(stack, logical_id)
    policy = written.get("DeletionPolicy", "Delete")
    is_new = stack["StackStatus"] in ROLLING_BACK and physical_id not in _imported
    if policy == "Retain" or (policy == "RetainExceptOnCreate" and not is_new):
        return
    if kind == TABLE and dynamodb._tables.get(physical_id, {}).get("DeletionProtectionEnabled"):
        raise ValueError(f"Resource {physical_id} cannot be deleted as it is currently protected")
    _delete(kind, physical_id, properties, stack_name, logical_id)


def _previous(stack: dict[str, Any], logical_id: str | None) -> dict[str, Any]:
    """Return a resource of the last template, which the executed one lacks."""
    template = json.loads(stack.get("_template_body") or "{}")
    return dict(template.get("Resources", {}).get(logical_id, {}))


def correct() -> None:
    """Keep and import resources by their policies."""
    handlers._ACTION_HANDLERS["CreateChangeSet"] = _create_set
    stacks._provision_resource = _provision_or_import
    stacks._delete_resource = _delete_if_allowed
