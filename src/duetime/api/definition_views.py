"""The JSON views of a job's definitions, and of the differences between two."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Self

from duetime.api.api_model import ApiModel
from duetime.api.job_views import RetryView
from duetime.api.redactor import Redactor
from duetime.api.views import Instant
from duetime.model.job import Definition, Overlap, Precision, StoredDefinition, is_manual
from duetime.retry import RetryPolicy

_SAME = (
    *("type", "overlap", "catch_up", "precision", "failure_threshold", "deadline", "within"),
    *("every_success_within", "after", "after_timeout", "title", "category", "description"),
)


class DefinitionView(ApiModel):
    """What a registration of a job sets."""

    type: str
    """The payload type, whose handler runs it."""
    payload: Any
    """The payload of each run, or null. Sensitive values are `[redacted]` without `payloads:read`."""
    redacted: list[str]
    """The paths of sensitive values that are hidden from the caller; `*` if all is hidden."""
    cadences: list[str]
    """Their texts; none for a job that is only triggered."""
    retry: RetryView | None
    """Null where the handler's own policy applies."""
    overlap: Overlap
    """What becomes of an occurrence while another run has not ended."""
    catch_up: int
    """How many of the latest missed occurrences are made up for."""
    precision: Precision
    """`second`, or `minute` if a run may be that late."""
    failure_threshold: int
    """Failures in a row after which a notification is sent."""
    deadline: str | None
    """The wall time by which a nominal time must have succeeded."""
    within: int | None
    """Or the seconds after the nominal time."""
    every_success_within: int | None
    """Seconds: a longer time without a success is reported."""
    after: str | None
    """The job whose run of the same nominal day must have succeeded before a run begins."""
    after_timeout: int | None
    """Seconds for which a run waits for it; null: 12 hours."""
    title: str
    """Its name for people; may be empty."""
    category: str
    """What lists may group it by; may be empty."""
    description: str
    """What it is for; may be empty."""

    @classmethod
    def from_definition(cls, definition: Definition, redactor: Redactor) -> Self:
        """Return the view of a definition for one caller."""
        payload = redactor.of_definition(definition)
        return cls(
            **{name: getattr(definition, name) for name in _SAME},
            payload=payload.payload,
            redacted=list(payload.paths),
            cadences=[] if is_manual(definition) else list(definition.cadences),
            retry=definition.retry and RetryView.from_policy(RetryPolicy.parse(definition.retry)),
        )


class FieldChangeView(ApiModel):
    """A field that differs between two definitions."""

    field: str
    """Its name in a definition."""
    before: Any
    """Its former value; null without one. Sensitive values of payloads are hidden."""
    after: Any
    """Its later value."""


def changes_between(before: Definition, after: Definition, redactor: Redactor) -> Iterator[FieldChangeView]:
    """Yield the fields that differ, in the order of `DefinitionView`."""
    old, new = (_as_json(definition, redactor) for definition in (before, after))
    for field in DefinitionView.model_fields:
        if field == "redacted":
            continue
        differs = (
            (before.payload, before.payload_version) != (after.payload, after.payload_version)
            if field == "payload"  # also if the values that differ are hidden
            else old[field] != new[field]
        )
        if differs:
            yield FieldChangeView(field=field, before=old[field], after=new[field])


def _as_json(definition: Definition, redactor: Redactor) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(
        DefinitionView.from_definition(definition, redactor).model_dump_json()
    )
    return fields


class StoredDefinitionView(ApiModel):
    """A definition that a job has or had."""

    id: str
    """For a roll-back: the version, or the version and a number for a definition that an edit replaced."""
    version: int
    """The job's version, which counts changes of its schedule."""
    since: Instant
    """When it came into force."""
    until: Instant | None
    """When it was replaced; null while it is in force."""
    by: str | None
    """Who registered it; null if that is not recorded."""
    definition: DefinitionView
    """What it sets."""
    changes: list[FieldChangeView]
    """What differs from the definition before it, or from that of `against`; none for the first."""

    @classmethod
    def from_stored(
        cls, stored: StoredDefinition, before: StoredDefinition | None, redactor: Redactor
    ) -> Self:
        """Return the view of a stored definition beside the one that it is compared with."""
        changes = before and changes_between(before.definition, stored.definition, redactor)
        return cls(
            id=stored.id,
            version=stored.version,
            since=stored.since,
            until=stored.until,
            by=stored.by or None,
            definition=DefinitionView.from_definition(stored.definition, redactor),
            changes=list(changes or ()),
        )


class StoredDefinitionList(ApiModel):
    """A job's definitions."""

    items: list[StoredDefinitionView]
    """The present one first."""
