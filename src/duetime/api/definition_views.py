"""The JSON views of a job's definitions, and of the differences between two."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Self

from duetime.api.api_model import ApiModel
from duetime.api.job_option_views import JobOptionsView, option_fields
from duetime.api.redactor import Redactor
from duetime.api.views import Instant
from duetime.model.job import Definition, StoredDefinition, is_manual


class _ScheduleView(ApiModel):
    """What a job runs, and when: the first fields of its definition."""

    type: str
    """The payload type, whose handler runs it."""
    cadences: list[str]
    """Their texts; none for a job that is only triggered."""


class DefinitionView(JobOptionsView, _ScheduleView):
    """What a registration of a job sets."""

    after_timeout: int | None
    """Seconds for which a run waits for that of `after`; null: 12 hours."""
    title: str
    """Its name for people; may be empty."""
    category: str
    """What lists may group it by; may be empty."""

    @classmethod
    def from_definition(cls, definition: Definition, redactor: Redactor) -> Self:
        """Return the view of a definition for one caller."""
        return cls(
            **option_fields(definition, redactor.of_definition(definition)),
            type=definition.type,
            cadences=[] if is_manual(definition) else list(definition.cadences),
            after_timeout=definition.after_timeout,
            title=definition.title,
            category=definition.category,
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
