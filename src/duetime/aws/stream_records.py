"""The records of both tables' streams, as the facts that are published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duetime.aws.access import to_entry
from duetime.aws.items import change_of
from duetime.aws.job_items import SPAN, STATE, from_span, job_ref_of, state_alone
from duetime.aws.keys import Item
from duetime.aws.undelivered import PARTITION, from_undelivered_item
from duetime.errors import DuetimeError, UnreadableRow
from duetime.events.publish import PublishedFact
from duetime.model.job_events import JobChange, SpanKept


def subject_of(images: Mapping[str, Any]) -> PublishedFact | None:
    """Return the fact in a record of either stream, or None for a removed or an unpublished item.

    Raises:
        UnreadableRow: an item has an invalid attribute.
    """
    if change := change_of(images):
        return change
    old, new = images.get("OldImage"), images.get("NewImage")
    if new is None:
        return None
    try:
        return _read(old, new)
    except (LookupError, ValueError, TypeError, AttributeError, DuetimeError) as error:
        raise UnreadableRow([new.get("pk"), new.get("sk")], error) from error


def _read(old: Item | None, new: Item) -> PublishedFact | None:
    if "audit_of" in new:
        return to_entry(new)
    if new["sk"]["S"] == STATE:
        is_redefined = old is not None and old.get("defined_in") != new.get("defined_in")
        return JobChange(state_alone(old) if old else None, state_alone(new), is_redefined)
    if new["sk"]["S"].startswith(SPAN):
        return SpanKept(job_ref_of(new), from_span(new))
    return from_undelivered_item(new) if new["pk"]["S"] == PARTITION else None
