"""Filters on errors and payloads, in queries and in changes of many actions."""

import pytest

from tests.api.charges import SECRET, Charges


@pytest.fixture
def charges():
    return Charges()


def query(charges, *fields, group="clerks", **more):
    parameters = {name: [value] for name, value in more.items()} | (
        {"payload": list(fields)} if fields else {}
    )
    return charges.ask(
        "GET",
        "/actions/query",
        group,
        queryStringParameters={name: values[-1] for name, values in parameters.items()},
        multiValueQueryStringParameters=parameters,
    )


def ids_of(response):
    assert response.status == 200, response.text
    return [item["id"] for item in response.json["items"]]


def test_a_payload_field_is_found_in_both_spellings(charges):
    made = charges.schedule({"order": "o-7"})
    charges.schedule({"order": "o-8"})
    assert ids_of(query(charges, "order=o-7")) == [made["id"]]
    response = query(charges, "payload.order=o-7", "cards=[]")
    assert ids_of(response) == []
    assert response.json["scanned"] == {"rows": 2, "until": made["created_at"]}


def test_a_hidden_value_is_found_only_with_the_permission(charges):
    made = charges.schedule({"email": SECRET, "cards": [{"number": SECRET}]})
    plain = charges.schedule({"email": SECRET}, "plain")
    for field in ("email", "cards.number"):
        assert made["id"] not in ids_of(query(charges, f"{field}={SECRET}"))
        assert made["id"] in ids_of(query(charges, f"{field}={SECRET}", group="readers"))
    assert ids_of(query(charges, f"email={SECRET}")) == [plain["id"]]


def test_a_hidden_value_selects_no_action_for_a_change(charges):
    made = charges.schedule({"email": SECRET})
    body = {"payload": [f"email={SECRET}"]}
    assert charges.ask("POST", "/actions/cancel", body=body).json["changed"] == []
    changed = charges.ask("POST", "/actions/cancel", "readers", body=body).json["changed"]
    assert [action["id"] for action in changed] == [made["id"]]


def test_the_audit_trail_has_the_fields_of_a_change_without_their_values(charges):
    charges.schedule({"email": SECRET})
    body = {"payload": [f"email={SECRET}"], "type": "charge"}
    charges.ask("POST", "/actions/cancel", "readers", body=body)
    trail = charges.ask("GET", "/audit", "readers")
    assert SECRET not in trail.text
    (cancel,) = (entry for entry in trail.json["items"] if entry["operation"] == "cancel")
    assert cancel["request_fields"] == {"type": "charge", "payload_fields": ["email"]}


def test_the_cursor_is_bound_to_the_payload_fields(charges):
    for order in ("o-7", "o-7"):
        charges.schedule({"order": order})
    cursor = query(charges, "order=o-7", limit="1").json["next_cursor"]
    assert query(charges, "order=o-8", limit="1", cursor=cursor).code == "invalid-cursor"
    assert len(ids_of(query(charges, "order=o-7", limit="1", cursor=cursor))) == 1


@pytest.mark.parametrize(
    ("fields", "detail"),
    [
        (["customer"], "'customer' is no FIELD=VALUE; write it as in customer=42"),
        (["=42"], "'=42' is no FIELD=VALUE"),
        (["a..b=1"], "payload has the field 'a..b'"),
        (["a=1", "a=2"], "payload.a has two values"),
        (["a=" + "x" * 201], "payload has a text of 201 characters; allowed are 200"),
        ([f"a{at}=1" for at in range(6)], "at most 5"),
    ],
)
def test_a_malformed_field_is_rejected(charges, fields, detail):
    response = query(charges, *fields)
    assert response.status == 422
    assert detail in response.json["detail"]


def test_an_empty_error_is_rejected(charges):
    response = query(charges, error=" … ")
    assert (response.status, response.code) == (422, "invalid-argument")
    assert "error is ' … '; use a text of 1 to 200 characters" in response.json["detail"]


def test_a_preview_of_a_change_by_error_counts_what_matches(charges):
    charges.schedule({"order": "o-7"})
    body = {"error": "timeout", "dry_run": True}
    preview = charges.ask("POST", "/actions/redrive", body=body).json
    assert (preview["changed"], preview["matched"]["count"]) == ([], 0)
