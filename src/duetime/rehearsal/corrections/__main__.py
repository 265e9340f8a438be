"""ministack with corrections where it differs from AWS.

A program: ``python -m duetime.rehearsal.corrections``, settings in its environment.

- The CDK command line deletes a stack by its ARN, as CloudFormation advises. ministack only finds stacks by
  name: it answers such a deletion with success and deletes nothing.
- A queue of a stack loses its redrive policy: no message would become a dead letter.
- A dead letter does not name its queue.
- EventBridge puts each part of a rule's event into a JSON template as JSON. ministack omits the quotes of
  texts, so that the function cannot read its input.
- No authorizer guards a REST API's methods: see `authorizers`.
- The reference to a domain of sign-in pages is a name of ministack's own, which is part of no URL.
- A stack with mail templates fails. They are created and deleted as by SES' own calls.
- Mails of unverified senders are sent. SES rejects them.
- A stack's user pool has a name of ministack's own.
- A filter of an event source may have ``$or``. ministack takes that for a field, so nothing matches.
- No resource outlives its stack, and none is imported: see `retention`.
"""
# ruff: noqa: SLF001 - ministack has no public interface

from __future__ import annotations

import json
import re
from typing import Any

from ministack.app import main
from ministack.services import eventbridge, lambda_svc, ses, sqs
from ministack.services.cloudformation import handlers, provisioners
from ministack.services.cloudformation.helpers import _p

from duetime.aws.failures import DEAD_LETTER_SOURCE
from duetime.rehearsal.corrections import authorizers, retention

_OK = 200

_delete_by_name = handlers._ACTION_HANDLERS["DeleteStack"]
_create_domain = provisioners._RESOURCE_HANDLERS["AWS::Cognito::UserPoolDomain"]["create"]
_create_pool = provisioners._RESOURCE_HANDLERS["AWS::Cognito::UserPool"]["create"]
_create_queue = provisioners._RESOURCE_HANDLERS["AWS::SQS::Queue"]["create"]
_send_templated = ses._send_templated_email
_move_dead_letters = sqs._dlq_sweep
_select_records = lambda_svc._apply_filter_criteria
_matches = lambda_svc._match_esm_filter

_dead_letter_sources: dict[str, str] = {}
"""The ARN of each dead letter's queue, by the message's id."""


def _delete(params: Any) -> Any:
    """Delete a stack by ``arn:aws:cloudformation:us-east-1:000000000000:stack/NAME/ID`` or by NAME."""
    named = _p(params, "StackName")
    name = named.split("/")[1] if named.startswith("arn:") else named
    return _delete_by_name({**params, "StackName": [name]})


def _create(logical_id: str, properties: dict[str, Any], stack: str) -> Any:
    url, attributes = _create_queue(logical_id, properties, stack)
    if "RedrivePolicy" in properties:
        sqs._queues[url]["attributes"]["RedrivePolicy"] = json.dumps(properties["RedrivePolicy"])
    return url, attributes


def _move(queue: Any) -> None:
    """Move dead letters, and note their queue."""
    before = {message["id"] for message in queue["messages"]}
    _move_dead_letters(queue)
    moved = before - {message["id"] for message in queue["messages"]}
    _dead_letter_sources.update(dict.fromkeys(moved, queue["attributes"]["QueueArn"]))


def _select(records: Any, source: Any) -> Any:
    for record in records:
        if (number := record.get("messageId")) in _dead_letter_sources:
            record["attributes"][DEAD_LETTER_SOURCE] = _dead_letter_sources[number]
    return _select_records(records, source)


def _match(record: Any, pattern: Any) -> bool:
    """Return whether a record matches a filter: all its fields, and one of its alternatives."""
    fields = {name: allowed for name, allowed in pattern.items() if name != "$or"}
    has_one = "$or" not in pattern or any(_match(record, one) for one in pattern["$or"])
    return has_one and bool(_matches(record, fields))


def _create_named_pool(logical_id: str, properties: dict[str, Any], stack: str) -> Any:
    return _create_pool(logical_id, {**properties, "PoolName": properties.get("UserPoolName")}, stack)


def _create_pages(logical_id: str, properties: dict[str, Any], stack: str) -> Any:
    _create_domain(logical_id, properties, stack)
    return properties["Domain"], {}


def _transformed(transformer: Any, _rule: Any, view: Any) -> str:
    """Return the template with ``<name>`` replaced by the JSON of what stands at the path of that name."""
    event = view.event_with_detail()

    def part(found: re.Match[str]) -> str:
        value = event
        for key in transformer["InputPathsMap"][found[1]].removeprefix("$.").split("."):
            value = value[key]
        return json.dumps(value)

    return re.sub(r"<([\w-]+)>", part, transformer["InputTemplate"])


def _create_template(_logical_id: str, properties: dict[str, Any], _stack: str) -> Any:
    template = properties["Template"]
    status, _headers, answer = ses._create_template(
        {f"Template.{key}": [row] for key, row in template.items()}
    )
    if status != _OK:
        raise ValueError(answer.decode())
    return template["TemplateName"], {}


def _delete_template(name: str, _properties: dict[str, Any]) -> None:
    ses._delete_template({"TemplateName": [name]})


def _send(params: Any) -> Any:
    sender = _p(params, "Source")
    if any(row in ses._identities for row in (sender, sender.rpartition("@")[2])):
        return _send_templated(params)
    return ses._error("MessageRejected", f"Email address is not verified: {sender}", 400)


eventbridge._apply_input_transformer = _transformed
ses._send_templated_email = _send
sqs._dlq_sweep = _move
lambda_svc._apply_filter_criteria = _select
lambda_svc._match_esm_filter = _match
handlers._ACTION_HANDLERS["DeleteStack"] = _delete
provisioners._RESOURCE_HANDLERS["AWS::Cognito::UserPoolDomain"]["create"] = _create_pages
provisioners._RESOURCE_HANDLERS["AWS::SQS::Queue"]["create"] = _create
provisioners._RESOURCE_HANDLERS["AWS::Cognito::UserPool"]["create"] = _create_named_pool
provisioners._RESOURCE_HANDLERS["AWS::SES::Template"] = {
    "create": _create_template,
    "delete": _delete_template,
}

authorizers.correct()
retention.correct()

if __name__ == "__main__":
    main()
