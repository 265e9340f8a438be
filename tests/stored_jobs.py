"""The items of a job as DynamoDB has them."""

from duetime.aws.keyed_items import stored
from duetime.ports.job_state import JOB, define, fields_of


def item_of(write):
    """Return the item that a put stores."""
    return stored(write.kind, write.after({}))


def to_state(job):
    """Return the state item of a new job."""
    return stored(JOB, fields_of(job))


def to_definition(job):
    """Return the item of the current definition."""
    return item_of(define(job))
