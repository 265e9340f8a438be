"""The items of a job as DynamoDB has them."""

from duetime.aws.keyed_items import ItemFields, stored
from duetime.ports.job_state import DEFINITION, JOB, STATE, define, fields_of
from duetime.ports.job_store import to_job


def item_of(write):
    """Return the item that a put stores."""
    return stored(write.kind, write.after({}))


def to_state(job):
    """Return the state item of a new job."""
    return stored(JOB, fields_of(job))


def to_definition(job):
    """Return the item of the current definition."""
    return item_of(define(job))


def from_items(state, definition):
    """Return the job of its two items."""
    return to_job({STATE: ItemFields(JOB, state), DEFINITION: ItemFields(JOB, definition)})
