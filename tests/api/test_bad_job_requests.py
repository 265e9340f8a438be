"""Invalid requests of jobs get a problem, never an internal error."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.api.drawn import drawing, in_both_lanes

BODIES = {
    "pause until the past": (
        "POST",
        "/billing-nightly/pause",
        {"until": "2026-01-01T00:00:00Z"},
        422,
        "invalid-argument",
        "has passed",
    ),
    "pause until nothing": (
        "POST",
        "/billing-nightly/pause",
        {"until": "soon"},
        422,
        "invalid-argument",
        "ISO 8601",
    ),
    "pause until a local time": (
        "POST",
        "/billing-nightly/pause",
        {"until": "2027-01-01T00:00"},
        422,
        "invalid-argument",
        "no offset",
    ),
    "pause until the year 1": (
        "POST",
        "/billing-nightly/pause",
        {"until": "0001-01-01T00:00:00+23:59"},
        422,
        "invalid-argument",
        "1970 to 2199",
    ),
    "pause another cadence": (
        "POST",
        "/billing-nightly/pause",
        {"cadence": "Daily_03.00"},
        409,
        "job-conflict",
        "its cadences are",
    ),
    "pause with a member too many": (
        "POST",
        "/billing-nightly/pause",
        {"why": "x"},
        422,
        "invalid-request",
        "why is not known here",
    ),
    "resume what is not paused": (
        "POST",
        "/billing-nightly/resume",
        None,
        409,
        "job-conflict",
        "it is not paused",
    ),
    "trigger with a payload it has no use for": (
        "POST",
        "/billing-nightly/trigger",
        {"payload": {"text": "x"}},
        422,
        "invalid-payload",
        "takes none",
    ),
    "trigger without the payload it needs": (
        "POST",
        "/billing-rebuild/trigger",
        None,
        422,
        "invalid-payload",
        "there is none",
    ),
    "trigger with a payload that fails the model": (
        "POST",
        "/billing-rebuild/trigger",
        {"payload": {"number": "many"}},
        422,
        "invalid-payload",
        "number: Input should be a valid number",
    ),
    "trigger with a list": (
        "POST",
        "/billing-rebuild/trigger",
        {"payload": []},
        422,
        "invalid-request",
        "payload must be a JSON object",
    ),
    "trigger a pass with a payload": (
        "POST",
        "/duetime-sweep/trigger",
        {"payload": {}},
        422,
        "invalid-payload",
        "takes none",
    ),
    "skip the next of nothing": (
        "POST",
        "/billing-rebuild/skip-next",
        None,
        409,
        "job-conflict",
        "it has no next run",
    ),
    "skip the next of another cadence": (
        "POST",
        "/billing-nightly/skip-next",
        {"cadence": "x"},
        409,
        "job-conflict",
        "its cadences are",
    ),
    "set attempts to none": (
        "PUT",
        "/billing-nightly/settings",
        {"attempts": 0},
        422,
        "bad-declaration",
        "1 to 100",
    ),
    "set without a body": ("PUT", "/billing-nightly/settings", None, 422, "invalid-request", "required"),
    "set a cadence it has not": (
        "PUT",
        "/billing-nightly/settings",
        {"attempts": 2, "cadence": "x"},
        409,
        "job-conflict",
        "its cadences are",
    ),
    "set its timing": (
        "PUT",
        "/billing-nightly/settings",
        {"cadences": ["daily 03:00"]},
        422,
        "invalid-request",
        "cadences is not known here",
    ),
    "take back codes job": ("DELETE", "/billing-nightly", None, 409, "job-conflict", "code declares it"),
    "replace codes job": (
        "PUT",
        "/billing-nightly",
        {"type": "remark", "payload": {}, "cadences": ["daily 06:00"]},
        409,
        "job-name-taken",
        "code declares",
    ),
    "replace under a name that is none": (
        "PUT",
        "/report",
        {"type": "remark", "payload": {}},
        422,
        "invalid-argument",
        "kebab-case",
    ),
}


@pytest.mark.parametrize("case", BODIES.values(), ids=BODIES.keys())
def test_an_impossible_change_gets_a_problem_and_changes_nothing(ask, cloud, case):
    method, path, body, status, code, detail = case
    name = path.split("/")[1]
    rows, before = cloud.store.rows(), ask("GET", f"/{name}").text
    response = ask(method, path, body=body)
    assert (response.status, response.code) == (status, code), response.text
    assert detail in response.json["detail"]
    assert cloud.store.rows() == rows
    assert ask("GET", f"/{name}").text == before


QUERIES = [
    ("", {"limit": "0"}, 422, "invalid-request", "limit must be greater than or equal to 1"),
    ("", {"limit": "101"}, 422, "invalid-request", "limit must be less than or equal to 100"),
    ("", {"cursor": "x"}, 422, "invalid-cursor", "start again without one"),
    ("", {"cursor": ""}, 422, "invalid-cursor", "start again"),
    ("", {"cursor": "third acme-report"}, 422, "invalid-cursor", "start again"),
    ("", {"status": "failed"}, 422, "invalid-request", "known are limit, cursor"),
    ("/billing-hourly/runs", {"status": "done"}, 422, "invalid-request", "status must be"),
    ("/billing-hourly/runs", {"from": "noon"}, 422, "invalid-argument", "ISO 8601"),
    ("/billing-hourly/runs", {"form": "noon"}, 422, "invalid-request", "form is not known here"),
    ("/billing-hourly/occurrences", {"until": "2026-03-01T12:00"}, 422, "invalid-argument", "no offset"),
    ("/billing-hourly/occurrences", {"limit": "501"}, 422, "invalid-request", "limit must be less"),
    ("/preview", {}, 422, "invalid-request", "cadence is required"),
    ("/preview", {"cadence": "61 * * * *"}, 400, "invalid-cron", "use 0-59\n    61 * * * *\n    ^^"),
    ("/preview", {"cadence": "0 0 30 2 *"}, 400, "never-fires", "\n    "),
    ("/preview", {"cadence": "x" * 3_000}, 422, "invalid-request", "2000 characters"),
    ("/preview", {"cadence": "daily 09:00", "count": "0"}, 422, "invalid-request", "count must be"),
    ("/preview", {"cadence": "daily 09:00", "tz": "UTC"}, 422, "invalid-request", "tz is not known here"),
]


@pytest.mark.parametrize("case", QUERIES, ids=[f"{path} {query!r:.40}" for path, query, *_ in QUERIES])
def test_a_bad_query_is_rejected(ask, case):
    path, query, status, code, detail = case
    response = ask("GET", path, query=query)
    assert (response.status, response.code) == (status, code), response.text
    assert detail in response.json["detail"]


@pytest.mark.parametrize(
    "cursor", ["own x", " ", "system \ud800", "own a#b-c", "own " + "9" * 9_000, "own\u0000 a-b"]
)
def test_a_forged_cursor_is_rejected(ask, cursor):
    response = ask("GET", query={"cursor": cursor})
    assert (response.status, response.code) == (422, "invalid-cursor")


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
WORDS = (
    st.sampled_from(["daily 09:00", "0 9 * * *", "every 1s", "manual", "every", "on_event a b"]) | st.text()
)
SPANS = st.floats() | st.integers() | st.lists(st.floats()) | ANYTHING
ALMOST = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["acme-report", "billing-nightly", "x"]) | ANYTHING,
        "type": st.sampled_from(["remark", "billing-nightly", "billing-rebuild"]) | ANYTHING,
        "payload": st.dictionaries(st.sampled_from(["text", "number", "rest"]), ANYTHING) | ANYTHING,
        "cadences": st.lists(WORDS) | ANYTHING,
        "cadence": WORDS | ANYTHING,
        "retry": st.fixed_dictionaries(
            {}, optional={"attempts": ANYTHING, "backoff": SPANS, "jitter": SPANS}
        ),
        "attempts": ANYTHING,
        "backoff": SPANS,
        "catch_up": ANYTHING,
        "from": st.datetimes().map(str) | ANYTHING,
        "until": st.datetimes().map(str) | ANYTHING,
        "at_once": ANYTHING,
        "order": ANYTHING,
        "reason": ANYTHING,
        "trigger": ANYTHING,
    },
)
CHANGES = (
    ("POST", ""),
    ("PUT", "/acme-report"),
    ("POST", "/billing-hourly/pause"),
    ("POST", "/billing-hourly/resume"),
    ("POST", "/billing-rebuild/trigger"),
    ("POST", "/billing-hourly/skip-next"),
    ("PUT", "/billing-hourly/settings"),
    ("POST", "/billing-hourly/backfills"),
    ("PATCH", "/billing-hourly/backfills/0badcafe"),
)


@in_both_lanes(100)
def test_no_body_causes_a_server_error(ask, number):
    @drawing(number)
    @given(body=(ALMOST | ANYTHING).map(json.dumps) | st.text())
    def check(body):
        for method, path in CHANGES:
            assert ask(method, path, body=body).status in {200, 201, 202, 204, 400, 404, 409, 413, 422}

    check()


@in_both_lanes(100)
def test_no_query_or_name_causes_a_server_error(ask, number):
    @drawing(number)
    @given(
        query=st.dictionaries(
            st.sampled_from(["limit", "cursor", "from", "until", "status", "count", "cadence"]) | st.text(),
            WORDS | st.text() | st.integers().map(str) | st.datetimes().map(str),
        ),
        name=st.text(),
    )
    def check(query, name):
        of_job = ("runs", "occurrences", "backfills", "backfills/preview", f"backfills/{name}")
        for path in ("", "/preview", *(f"/billing-hourly/{part}" for part in of_job), f"/{name}"):
            assert ask("GET", path, query=query).status in {200, 400, 404, 422}

    check()
