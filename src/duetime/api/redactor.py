"""The reader: what a caller sees of payloads. Who lacks the permission sees no value that a payload keeps as sensitive."""

from __future__ import annotations

import json
from dataclasses import dataclass

from aws_lambda_powertools.event_handler.request import Request

from duetime.api.context import ApiContext, caller_at
from duetime.app import App
from duetime.declare.handler import Handler
from duetime.model.action import Action
from duetime.model.job import Job
from duetime.model.permissions import Permission
from duetime.model.redaction import WHOLE, Redacted, redacted
from duetime.model.undelivered import Undelivered, UndeliveredKind


@dataclass(frozen=True, slots=True)
class Redactor:
    """What one caller sees of payloads; the app's models say what of them is sensitive."""

    app: App
    sees_all: bool

    def of_action(self, action: Action) -> Redacted:
        """The payload of an action."""
        return self._redact(action.type, action.payload, action.payload_version)

    def of_job(self, job: Job) -> Redacted:
        """The payload of a job's runs."""
        definition = job.definition
        return self._redact(definition.type, definition.payload, definition.payload_version)

    def of_undelivered(self, thing: Undelivered) -> Redacted:
        """The body of what is undelivered: nothing of one that can hold a payload, if any type keeps something sensitive.

        Whose payload an event becomes is not looked up. A lifecycle event was redacted as it was made.
        """
        keeps_any = any(handler.sensitive for handler in self.app.handlers.values())
        is_closed = keeps_any and not self.sees_all and _can_hold_a_payload(thing)
        return WHOLE if is_closed else Redacted(thing.body)

    def _redact(self, type_name: str, written: str | None, version: int) -> Redacted:
        """A payload as it is written; to others without what is sensitive, and nothing of one that this app cannot read."""
        if written is None:
            return Redacted(None)
        if self.sees_all:
            return Redacted(json.loads(written))
        handler = self.app.handlers.get(type_name)
        if handler is None or version > handler.version:
            return WHOLE
        if not handler.sensitive:
            return Redacted(json.loads(written))
        return _without_sensitive(handler, written, version)


def _can_hold_a_payload(thing: Undelivered) -> bool:
    """An event becomes the payload of a run; a message that leads to no action is one that nobody could read."""
    return thing.kind is UndeliveredKind.EVENT or (
        thing.kind is UndeliveredKind.MESSAGE and thing.action is None
    )


def _without_sensitive(handler: Handler, written: str, version: int) -> Redacted:
    """The payload as its model reads it, each field under its own name: an alias could hide what a path means."""
    try:
        read = handler.read(written, version)
        text = "null" if read is None else read.model_dump_json(by_alias=False)
        return redacted(json.loads(text), handler.sensitive)
    except Exception:  # noqa: BLE001 - validators, upcasts and serializers are the user's own code
        return WHOLE


def reader_at(api: ApiContext, request: Request) -> Redactor:
    """What who has sent a request sees of payloads."""
    return Redactor(api.app, Permission.READ_PAYLOADS in caller_at(request).permissions)
