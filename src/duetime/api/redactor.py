"""The redactor: callers without ``payloads:read`` see no sensitive values of payloads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from duetime.app import App
from duetime.declare.handler import Handler
from duetime.model.action import Action
from duetime.model.job import Definition, Job
from duetime.model.redaction import REDACTED, WHOLE, Redacted, read_payload, redacted, sensitive_values
from duetime.model.undelivered import Undelivered, UndeliveredKind


@dataclass(frozen=True, slots=True)
class Redactor:
    """Redacts payloads for one caller; the app's models mark the sensitive fields."""

    app: App
    sees_all: bool

    def of_action(self, action: Action) -> Redacted:
        """Return the payload of an action."""
        return self._redact(action.type, action.payload, action.payload_version)

    def checkpoint_of(self, action: Action) -> Any:
        """Return the checkpoint of an action; hide it if its type has sensitive fields.

        The handler chooses its form, so the paths of sensitive values in it are unknown.
        """
        return self._of_runs(action, None if action.checkpoint is None else action.checkpoint.text)

    def result_of(self, action: Action) -> Any:
        """Return the result of an action; hide it as its checkpoint is hidden."""
        return self._of_runs(action, action.result)

    def _of_runs(self, action: Action, text: str | None) -> Any:
        if text is None:
            return None
        handler = self.app.handlers.get(action.type)
        is_open = self.sees_all or (handler is not None and not handler.sensitive)
        return read_payload(text) if is_open else REDACTED

    def secrets_of(self, action: Action) -> Sequence[object] | None:
        """Return the values that texts of its handler must not show; None if they are unknown."""
        handler = self.app.handlers.get(action.type)
        if self.sees_all or (action.payload is None and not action.payload_size):
            return ()
        if handler is None or action.payload_version > handler.version:
            return None
        if not handler.sensitive:
            return ()
        try:
            return tuple(sensitive_values(json.loads(action.payload or ""), handler.sensitive))
        except ValueError:  # a payload that is gone or damaged
            return None

    def of_job(self, job: Job) -> Redacted:
        """Return the payload of a job's runs."""
        return self.of_definition(job.definition)

    def of_definition(self, definition: Definition) -> Redacted:
        """Return the payload of a definition."""
        return self._redact(definition.type, definition.payload, definition.payload_version)

    def of_undelivered(self, thing: Undelivered) -> Redacted:
        """Return the body of an undelivered input; hide it if it can hold a sensitive payload.

        Whose payload an event becomes is not looked up. A lifecycle event was redacted as it was made.
        """
        keeps_any = any(handler.sensitive for handler in self.app.handlers.values())
        is_closed = keeps_any and not self.sees_all and _can_hold_a_payload(thing)
        return WHOLE if is_closed else Redacted(thing.body)

    def _redact(self, type_name: str, written: str | None, version: int) -> Redacted:
        """Return the payload, redacted without the permission; hide one that this app cannot read."""
        if written is None:
            return Redacted(None)
        if self.sees_all:
            return Redacted(read_payload(written))
        handler = self.app.handlers.get(type_name)
        if handler is None or version > handler.version:
            return WHOLE
        if not handler.sensitive:
            return Redacted(read_payload(written))
        return _without_sensitive(handler, written, version)


def _can_hold_a_payload(thing: Undelivered) -> bool:
    """Return whether the body can hold a payload: an event's can, and an unreadable message's."""
    return thing.kind is UndeliveredKind.EVENT or (
        thing.kind is UndeliveredKind.MESSAGE and thing.action is None
    )


def _without_sensitive(handler: Handler, written: str, version: int) -> Redacted:
    """Return the payload under its model's field names, because paths of sensitive fields use these."""
    try:
        read = handler.read(written, version)
        return redacted(json.loads("null" if read is None else read.to_json()), handler.sensitive)
    except Exception:  # noqa: BLE001 - validators, upcasts and serializers are the user's own code
        return WHOLE
