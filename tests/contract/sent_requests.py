"""The requests that a client sends: what costs one request more is right, and dear."""

from contextlib import contextmanager


@contextmanager
def sent_by(client):
    """Collect the names of the operations that are called meanwhile."""
    names, events = [], client.meta.events
    events.register("before-call.dynamodb", lambda model, **_more: names.append(model.name), unique_id="sent")
    try:
        yield names
    finally:
        events.unregister("before-call.dynamodb", unique_id="sent")
