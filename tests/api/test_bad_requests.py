"""Whatever is sent, the answer is a problem that says what was wrong; never a fault of ours."""

import base64
import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.api.gateway_event import BODY_LIMIT
from duetime.model.new_action import PAYLOAD_LIMIT
from tests.api.drawn import drawing, in_both_lanes
from tests.cases import for_each


def order(**changes):
    return {"type": "remark", "payload": {}, "in": 5} | changes


def nested(levels):
    return '{"type":"remark","in":5,"payload":{"rest":' + "[" * levels + "]" * levels + "}}"


BODIES = {
    "no body": (None, 422, "invalid-request", "the body is required"),
    "empty": ("", 422, "invalid-request", "the body is required"),
    "null": ("null", 422, "invalid-request", "the body is required"),
    "cut off": ('{"type": "remark"', 400, "malformed-body", "column"),
    "two values": ("{} {}", 400, "malformed-body", "trailing"),
    "byte order mark": ("\ufeff{}", 400, "malformed-body", "no JSON"),
    "NaN": ('{"type":"remark","in":5,"payload":{"number":NaN}}', 400, "malformed-body", "column"),
    "infinity": ('{"type":"remark","in":Infinity,"payload":{}}', 400, "malformed-body", "column"),
    "10,000 deep": (nested(10_000), 400, "malformed-body", "recursion limit"),
    "10,000 deep objects": ('{"a":' * 10_000, 400, "malformed-body", "recursion limit"),
    "5,000 digits": (
        '{"type":"remark","payload":{},"in":' + "9" * 5_000 + "}",
        400,
        "malformed-body",
        "range",
    ),
    "lone surrogate, escaped": ('{"type": "\\ud800"}', 400, "malformed-body", "escape"),
    "lone surrogate": ('{"type": "\ud800"}', 400, "malformed-body", "UTF-8"),
    "a list": ("[]", 422, "invalid-request", "the body must be a JSON object"),
    "a text": ('"remark"', 422, "invalid-request", "the body must be a JSON object"),
    "nothing in it": ({}, 422, "invalid-request", "type is required; payload is required"),
    "unknown field": (
        order(delay=5),
        422,
        "invalid-request",
        "delay is not known here; known are at, in, tz,",
    ),
    "thousands of unknown fields": (
        {str(number) * 50: 1 for number in range(4_000)},
        422,
        "invalid-request",
        "is not known here",
    ),
    "type is a number": (order(type=5), 422, "invalid-request", "type must be text"),
    "payload is a list": (order(payload=[]), 422, "invalid-request", "payload must be a JSON object"),
    "payload is missing": ({"type": "remark", "in": 5}, 422, "invalid-request", "payload is required"),
    "in is a text": (order(**{"in": "5s"}), 422, "invalid-request", "in must be a number"),
    "in is a truth": (order(**{"in": True}), 422, "invalid-request", "in must be a number"),
    "in is before now": (
        order(**{"in": -1}),
        422,
        "invalid-request",
        "in must be greater than or equal to 0",
    ),
    "in is enormous": (order(**{"in": 10**400}), 422, "invalid-request", "in must be"),
    "in overflows": ('{"type":"remark","payload":{},"in":1e999}', 422, "invalid-request", "in must be"),
    "in is past 2199": (order(**{"in": 9_999_999_999}), 422, "invalid-argument", "1970 to 2199"),
    "neither at nor in": ({"type": "remark", "payload": {}}, 422, "invalid-request", 'either "at"'),
    "both at and in": (order(at="2027-06-01T09:00:00Z"), 422, "invalid-request", 'either "at"'),
    "tz beside in": (order(tz="Europe/Paris"), 422, "invalid-request", "counts from now"),
    "correlation id is empty": (order(correlation_id=""), 422, "invalid-argument", "is empty"),
    "correlation id too long": (order(correlation_id="c" * 257), 422, "invalid-argument", "at most 256"),
    "correlation id holds #": (order(correlation_id="a#b"), 422, "invalid-argument", "separates"),
    "unknown type": (order(type="remarks"), 422, "unknown-type", "known are: apply-plan-change, remark"),
    "a type that Python could import": (order(type="os.system"), 422, "unknown-type", "no handler"),
    "a check of deadlines": (order(type="duetime-deadline"), 422, "unknown-type", "no handler"),
    "a canary": (order(type="duetime-canary"), 422, "unknown-type", "no handler"),
    "a pass": (order(type="duetime-sweep"), 422, "unknown-type", "no handler"),
    "a type of 100,000 characters": (order(type="x" * 100_000), 422, "unknown-type", "no handler"),
    "payload fails its model": (
        order(type="apply-plan-change", payload={"subscription_id": "x"}),
        422,
        "invalid-payload",
        "subscription_id: Input should be a valid UUID",
    ),
    "payload with an unknown field": (order(payload={"txet": "x"}), 422, "invalid-payload", "txet"),
    "payload overflows": (
        '{"type":"remark","in":5,"payload":{"number":1e999}}',
        422,
        "invalid-payload",
        "finite number",
    ),
    "payload overflows where anything goes": (
        '{"type":"remark","in":5,"payload":{"rest":{"n":1e999}}}',
        422,
        "invalid-payload",
        "rest.n: what is stored would be read back as another value",
    ),
    "payload over an item": (
        order(payload={"text": "x" * PAYLOAD_LIMIT}),
        413,
        "payload-too-large",
        "400,000",
    ),
    "body over a megabyte": (
        "x" * (BODY_LIMIT + 1),
        413,
        "body-too-large",
        "1,048,577 bytes; at most 1,048,576",
    ),
}


@for_each("case", BODIES.values())
def test_an_invalid_body_is_rejected_with_the_reason(call, store, case):
    body, status, code, detail = case
    response = call("schedule", body=body)
    assert (response.status, response.code) == (status, code), response.text
    assert detail in response.json["detail"]
    assert len(response.text) < 5_000
    assert store.rows() == ()


TIMES = {
    "tomorrow": "no ISO 8601 time",
    "": "no ISO 8601 time",
    "2027-13-01T00:00:00Z": "no ISO 8601 time",
    "2027-06-01T25:00:00Z": "no ISO 8601 time",
    "2027-06-01T09:00:00": "has no offset",
    "1969-12-31T23:59:59Z": "1970 to 2199",
    "2200-01-01T00:00:00Z": "1970 to 2199",
    "0001-01-01T00:00:00+23:59": "1970 to 2199",
    "9999-12-31T23:59:59-23:59": "1970 to 2199",
    "2" * 5_000: "no ISO 8601 time",
}


@pytest.mark.parametrize(("at", "detail"), TIMES.items(), ids=[time[:30] or "empty" for time in TIMES])
def test_a_time_that_names_no_instant_is_rejected(call, at, detail):
    made = call.schedule()
    for response in (
        call("schedule", body={"type": "remark", "payload": {}, "at": at}),
        call("reschedule", action_id=made["id"], body={"at": at}),
    ):
        assert (response.status, response.code) == (422, "invalid-argument")
        assert detail in response.json["detail"]


@pytest.mark.parametrize(
    ("at", "tz", "detail"),
    [
        ("2027-03-28T02:30:00", "Europe/Paris", "does not exist in Europe/Paris"),
        ("2027-06-01T09:00:00", "Mars/Olympus", "not an IANA time zone"),
        ("2027-06-01T09:00:00", "", "not an IANA time zone"),
        ("2027-06-01T09:00:00", "../../etc/passwd", "not an IANA time zone"),
        ("2027-06-01T09:00:00", "\u0000", "not an IANA time zone"),
        ("2027-06-01T09:00:00Z", "Europe/Paris", "has an offset of its own"),
        ("0001-01-01T00:00:00", "Asia/Tokyo", "1970 to 2199"),
    ],
)
def test_a_local_time_that_its_zone_does_not_have_is_rejected(call, at, tz, detail):
    response = call("schedule", body={"type": "remark", "payload": {}, "at": at, "tz": tz})
    assert (response.status, response.code) == (422, "invalid-argument")
    assert detail in response.json["detail"]


def test_every_flaw_of_a_body_is_named_at_once(call):
    response = call("schedule", body={"type": 5, "payload": 6, "in": "x", "zz": 1})
    assert {item["where"] for item in response.json["errors"]} == {"type", "payload", "in", "zz"}


@pytest.mark.parametrize(
    ("query", "status", "code", "detail"),
    [
        ({"limit": "0"}, 422, "invalid-request", "limit must be greater than or equal to 1"),
        ({"limit": "101"}, 422, "invalid-request", "limit must be less than or equal to 100"),
        ({"limit": "many"}, 422, "invalid-request", "limit must be a whole number"),
        ({"limit": "9" * 5_000}, 422, "invalid-request", "limit must be a smaller whole number"),
        ({"cursor": "here"}, 422, "invalid-cursor", "start again without one"),
        ({"cursor": ""}, 422, "invalid-cursor", "start again without one"),
        ({"correlation_id": ""}, 422, "invalid-argument", "is empty"),
        ({"correlation_id": "a#b"}, 422, "invalid-argument", "separates"),
        ({"correlation_id": "\ud800"}, 422, "invalid-argument", "control character"),
        ({"corelation_id": "a"}, 422, "invalid-request", "known are ids, type, correlation_id, job"),
    ],
)
def test_a_bad_query_is_rejected(call, query, status, code, detail):
    response = call("query", query=query)
    assert (response.status, response.code) == (status, code)
    assert detail in response.json["detail"]


def test_a_repeated_parameter_is_rejected(call):
    response = call("query", multiValueQueryStringParameters={"limit": ["1", "2"]})
    assert (response.status, response.code) == (422, "invalid-request")


@pytest.mark.parametrize("wrong", ["x", "0" * 36, "..", "%2e%2e", "a" * 10_000, "é", "1;drop", "null"])
def test_an_invalid_id_is_not_found(call, wrong):
    response = call("get", action_id=wrong)
    assert response.status == 404
    assert len(response.text) < 500


def test_the_error_of_an_unknown_route_links_to_the_routes(call):
    response = call("get", path="/api/v2/actions")
    assert (response.status, response.code) == (404, "route-not-found")
    assert "/api/v1/" in response.json["detail"]


@pytest.mark.parametrize(
    ("sample", "method", "allowed"),
    [
        ("schedule", "GET", "POST"),
        ("get", "PATCH", "DELETE, GET"),
        ("query", "POST", "GET"),
        ("redrive", "DELETE", "POST"),
        ("reschedule", "POST", "PUT"),
        ("health", "DELETE", "GET"),
    ],
)
def test_the_error_of_a_wrong_method_names_the_right_one(call, sample, method, allowed):
    response = call(sample, httpMethod=method)
    assert (response.status, response.code) == (405, "wrong-method")
    assert response.headers["Allow"] == allowed


@pytest.mark.parametrize(
    "media_type",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/xml"],
)
def test_a_body_without_the_content_type_json_is_rejected(call, media_type):
    response = call("schedule", headers={"content-type": media_type, "Content-Type": media_type})
    assert (response.status, response.code) == (415, "wrong-media-type")
    assert "send application/json" in response.json["detail"]


def test_the_content_type_is_read_in_any_case_and_with_a_charset(call):
    call.schedule(headers={"Content-Type": "Application/JSON; charset=utf-8"})


@pytest.mark.parametrize("body", ["not base64!", base64.b64encode(b'{"type": "\xff"}').decode(), "é"])
def test_bytes_that_are_not_text_are_rejected(call, body):
    response = call("schedule", body=body, isBase64Encoded=True)
    assert (response.status, response.code) == (400, "malformed-body")


def test_a_body_in_base64_is_read(call):
    body = base64.b64encode(json.dumps(order()).encode()).decode()
    assert call.schedule(body=body, isBase64Encoded=True)["type"] == "remark"


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
ALMOST = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["remark", "apply-plan-change", "os.system"]) | ANYTHING,
        "payload": st.dictionaries(st.sampled_from(["text", "number", "rest", "x"]), ANYTHING) | ANYTHING,
        "at": st.datetimes().map(str) | st.text(string.printable) | ANYTHING,
        "in": st.floats() | st.integers() | ANYTHING,
        "tz": st.sampled_from(["Europe/Paris", "UTC"]) | ANYTHING,
        "correlation_id": st.text() | ANYTHING,
    },
)


@in_both_lanes(150)
def test_no_body_causes_a_server_error(call, number):
    @drawing(number)
    @given(body=(ALMOST | ANYTHING).map(json.dumps) | st.text())
    def check(body):
        for sample in ("schedule", "reschedule", "redrive"):
            assert call(sample, body=body).status in {201, 400, 404, 413, 422}

    check()


@in_both_lanes(100)
def test_no_path_or_query_causes_a_server_error(call, number):
    @drawing(number)
    @given(
        query=st.dictionaries(st.sampled_from(["limit", "cursor", "correlation_id"]) | st.text(), st.text()),
        path=st.text(),
        method=st.sampled_from(["GET", "DELETE", "POST", "PUT", "BREW"]),
    )
    def check(query, path, method):
        assert call("query", query=query).status in {200, 400, 422}
        assert call("get", path="/api/v1/actions/" + path, httpMethod=method, body=None).status < 500

    check()
