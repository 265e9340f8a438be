"""AWS calls that fail: a shared client answers calls of one operation with an error."""

import json
from contextlib import contextmanager
from types import SimpleNamespace

from botocore.exceptions import ReadTimeoutError

from tests.emulated.fast_path.requests import activate


@contextmanager
def answered(client, operation, respond):
    """Answer calls of the operation with what `respond` returns for the request; `None` passes it to AWS."""
    event = f"before-call.{client.meta.service_model.service_id.hyphenize()}.{operation}"

    def answer(params, **_context):
        response = respond(json.loads(params["body"]))
        if response is None:
            return None
        return SimpleNamespace(status_code=400 if "Error" in response else 200), response

    client.meta.events.register(event, answer)
    try:
        yield
    finally:
        client.meta.events.unregister(event, answer)


def failing(client, operation, code="ThrottlingException", *, where=""):
    """Fail calls of the operation whose request contains the text `where`."""
    error = {"Error": {"Code": code, "Message": "throttled"}}
    return answered(client, operation, lambda request: error if where in json.dumps(request) else None)


@contextmanager
def hanging(client, *operations):
    """Let each request of the operations end as one that hangs does: at its read timeout, without the wait.

    Yield the list of the operations that were tried; botocore repeats each call as its configuration sets.
    """
    tried = []
    service = client.meta.service_model.service_id.hyphenize()

    def time_out(request, event_name, **_context):
        tried.append(event_name.rpartition(".")[2])
        raise ReadTimeoutError(endpoint_url=request.url)

    events = [f"before-send.{service}.{operation}" for operation in operations]
    for event in events:
        client.meta.events.register_first(event, time_out)
    try:
        with activate(None):  # what is not sent cannot hang
            yield tried
    finally:
        for event in events:
            client.meta.events.unregister(event, time_out)
