"""Every event gets a response with a document: never an exception, never an internal error."""

import json

from hypothesis import strategies as st

from duetime.testing import TurnedClock
from tests.api.conftest import NOW, sample_event
from tests.api.deployment import CLAIMS, GUARDED, NAME, Deployment, at
from tests.api.drawn import holds_for

DEPLOYMENT = Deployment(TurnedClock(NOW))
STAFF = CLAIMS | {"cognito:groups": "admins"}
EXAMPLES = 400

texts = st.text(st.characters(), max_size=20) | st.sampled_from(
    ["", "\ud800", "\x00", "#", "/", "..", "é" * 300, "billing-nightly", NAME, "2026-03-01T12:00:00Z", "NaN"]
)
numbers = st.sampled_from([0, -1, 1e308, 10**400, 2**63, 0.1]) | st.integers() | st.floats()
scalars = st.none() | st.booleans() | numbers | texts
anything = st.recursive(
    scalars, lambda part: st.lists(part, max_size=3) | st.dictionaries(texts, part, max_size=3), max_leaves=8
)
FIELDS = [
    "type",
    "payload",
    "at",
    "in",
    "tz",
    "limit",
    "cursor",
    "dry_run",
    "status",
    "due_after",
    "created_until",
    "job",
    "name",
    "cadences",
    "cadence",
    "permissions",
    "until",
    "reason",
    "retry",
    "backoff",
    "attempts",
    "kind",
    "idempotency_key",
    "concurrency_limit",
    "tenant_id",
    "from",
    "count",
    "action",
]
fields = st.sampled_from(FIELDS) | texts
bodies = st.dictionaries(fields, anything, max_size=5)
queries = st.dictionaries(fields, texts, max_size=4)
routes = st.sampled_from([(method, path) for method, path, _ in GUARDED])


def checked_response(event):
    """What the handler answers; a fault of the API's own fails the test here."""
    response = DEPLOYMENT.send(event)
    assert response.status < 500, response.text
    assert response.status < 400 or response.code
    (response.text or "").encode()
    return response


@holds_for(routes, texts, bodies | anything, queries, examples=EXAMPLES)
def test_every_body_name_and_query_gets_a_response(route, name, body, query):
    method, path = route
    checked_response(
        sample_event(
            "cancel",
            httpMethod=method,
            path="/api/v1" + at(path, name),
            claims=STAFF,
            body=json.dumps(body),
            query=query,
        )
    )


@holds_for(routes, st.text(max_size=50), st.booleans(), examples=EXAMPLES)
def test_every_text_as_body_gets_a_response(route, body, is_base64):
    method, path = route
    event = sample_event("cancel", httpMethod=method, path="/api/v1" + at(path, NAME), claims=STAFF)
    checked_response(event | {"body": body, "isBase64Encoded": is_base64})


@holds_for(st.data(), examples=EXAMPLES)
def test_every_shape_of_event_gets_a_response(data):
    method, path = data.draw(routes)
    event = sample_event("schedule", httpMethod=method, path="/api/v1" + at(path, NAME), claims=STAFF)
    for _ in range(data.draw(st.integers(1, 3))):
        part = event
        for _depth in range(data.draw(st.integers(0, 2))):
            inner = [item for item in part.values() if isinstance(item, dict)]
            part = data.draw(st.sampled_from(inner)) if inner else part
        name = data.draw(st.sampled_from(sorted(part)) | texts if part else texts)
        if data.draw(st.booleans()):
            part.pop(name, None)
        else:
            part[name] = data.draw(anything)
    checked_response(event)


@holds_for(anything, examples=EXAMPLES)
def test_an_invalid_event_gets_403(event):
    assert checked_response(event).status == 403
