"""Payloads of a job's runs, validated with the handler's model before a write."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from duetime.app import App
from duetime.declare.handler import Handler
from duetime.errors import InvalidPayload, UnknownType
from duetime.model.job import Job
from duetime.payload import Payload

Sent = Mapping[str, Any] | None


def handler_for(app: App, type_name: str, *, is_operator: bool) -> Handler:
    """Return the handler of a payload type; for an operator also that of a code's job without payload.

    Raises:
        UnknownType: there is none of that name.
    """
    handler = app.handlers.get(type_name)
    if handler is None or (handler.job and (handler.payload or not is_operator)):
        raise UnknownType(type_name, (name for name, handler in app.handlers.items() if handler.job is None))
    return handler


def payload_of(handler: Handler, sent: Sent) -> Payload | None:
    """Return the payload of the request; None if the handler takes none.

    Raises:
        InvalidPayload: its model refuses it, or it is missing, or the handler takes none.
    """
    if handler.payload is None:
        _refuse_any(handler.name, sent)
        return None
    if sent is None:
        raise InvalidPayload(handler.name, ["there is none, and its handler takes one; say it as payload"])
    return handler.payload.from_json(json.dumps(sent), by_alias=True)


def payload_for_run(app: App, job: Job, sent: Sent) -> Payload | None:
    """Return the payload of a triggered run; None for the job's own payload, or if it takes none.

    Raises:
        InvalidPayload: as `payload_of`.
        UnknownType: this app has no handler for the job, so the payload cannot be validated.
    """
    type_name = job.definition.type
    if job.definition.self_scheduled:
        _refuse_any(type_name, sent)
        return None
    if sent is None and (job.definition.payload is not None or job.removed_at is not None):
        return None
    handler = app.handlers.get(type_name)
    if handler is None:
        raise UnknownType(type_name, ())
    return payload_of(handler, sent)


def _refuse_any(type_name: str, sent: Sent) -> None:
    if sent is not None:
        raise InvalidPayload(type_name, ["its handler takes none; leave payload out"])
