"""The keys of a job's items in DynamoDB. `duetime.ports.job_store` lists the items."""

from __future__ import annotations

from duetime.aws.keyed_items import ItemFields
from duetime.aws.keys import Item, partition
from duetime.model.action import ActionRef
from duetime.model.job import Definition, Job, JobRef
from duetime.ports.job_state import DEFINITION, HOLDER, JOB, STATE, job_ref
from duetime.ports.job_store import to_job


def job_key(ref: JobRef, name: str) -> Item:
    """Return the key of one of a job's items."""
    return {"pk": {"S": partition(ref.tenant_id, ref.name)}, "sk": {"S": name}}


def job_ref_of(item: Item) -> JobRef:
    """Return the job of an item or an index entry."""
    return job_ref(item["pk"]["S"])


def holder(ref: ActionRef) -> Item:
    """Return an action's reference as an attribute value."""
    return {"S": HOLDER.store(ref)}


def from_items(state: Item, definition: Item) -> Job:
    """Return the job of its two items.

    Raises:
        UnreadableRow: duetime did not write these items.
    """
    return to_job({STATE: ItemFields(JOB, state), DEFINITION: ItemFields(JOB, definition)})


def state_alone(state: Item) -> Job:
    """Return the job of its state item, with an empty definition.

    Raises:
        UnreadableRow: as above.
    """
    nothing = Definition(name=job_ref_of(state).name, type="", cadences=())
    return from_items(state, {"definition": {"S": nothing.to_json()}})
