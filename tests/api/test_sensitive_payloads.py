"""Callers without ``payloads:read`` see no sensitive value of a payload on any route."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import strategies as st

from duetime import App, Payload
from duetime.api.redactor import Redactor
from duetime.ids import ActionId, TenantId
from duetime.model.action import ActionRef
from duetime.model.checkpoint import Checkpoint
from duetime.model.undelivered import UndeliveredKind
from tests.api.charges import REDACTED, SECRET, Charges
from tests.api.conftest import NOW
from tests.api.drawn import holds_for
from tests.contract.rules.undelivered import given_up


@pytest.fixture
def charges():
    return Charges()


FULL = {"email": SECRET, "cards": [{"number": SECRET}, {"number": SECRET, "holder": "Bob"}]}


def test_a_sensitive_value_is_redacted_for_callers_without_the_permission(charges):
    made = charges.schedule(FULL)
    assert made["payload"]["email"] == REDACTED
    result = charges.ask("GET", f"/actions/{made['id']}").json
    assert result["payload"] == {
        "order": "o-1",
        "email": REDACTED,
        "cards": [{"holder": "Ada", "number": REDACTED}, {"holder": "Bob", "number": REDACTED}],
        "wallet": None,
    }
    assert result["redacted"] == made["redacted"] == ["email", "cards.number"]
    seen = charges.ask("GET", f"/actions/{made['id']}", "readers").json
    assert seen["payload"]["cards"] == [
        {"holder": "Ada", "number": SECRET},
        {"holder": "Bob", "number": SECRET},
    ]
    assert (seen["payload"]["email"], seen["redacted"]) == (SECRET, [])


def test_a_value_under_an_alias_is_shown_under_the_name_of_its_field(charges):
    made = charges.schedule({"purse": SECRET})
    assert (made["payload"]["wallet"], made["redacted"]) == (REDACTED, ["wallet"])
    assert charges.ask("GET", f"/actions/{made['id']}", "readers").json["payload"]["wallet"] == SECRET


def test_empty_values_are_not_listed_as_redacted(charges):
    made = charges.schedule({})
    assert (made["payload"]["email"], made["redacted"]) == (None, [])


def test_a_type_without_sensitive_fields_is_shown_as_stored(charges):
    made = charges.schedule({"email": SECRET}, "plain")
    assert (made["payload"], made["redacted"]) == ({"email": SECRET}, [])


def test_each_route_redacts_the_sensitive_values_of_a_job(charges):
    body = {"name": "own-charges", "type": "charge", "cadences": ["every 1h"], "payload": FULL}
    replacing = {name: value for name, value in body.items() if name != "name"}
    for response in (
        charges.ask("POST", "/jobs", body=body),
        charges.ask("GET", "/jobs/own-charges"),
        charges.ask("PUT", "/jobs/own-charges", body=replacing),
        charges.ask("PUT", "/jobs/own-charges/settings", body={"attempts": 3}),
        charges.ask("GET", "/jobs/charges-hourly"),
    ):
        assert response.status < 300, response.text
        assert SECRET not in response.text
        assert "email" in response.json["redacted"]
    assert charges.ask("GET", "/jobs/charges-hourly", "readers").json["payload"]["email"] == SECRET
    other = {**replacing, "payload": {**FULL, "email": f"{SECRET}2"}}
    for response in (
        charges.ask("POST", "/jobs/draft", body={**other, "name": "own-charges", "replace": True}),
        charges.ask("PUT", "/jobs/own-charges", body=other),
        charges.ask("GET", "/jobs/own-charges/definitions"),
        charges.ask("GET", "/jobs/own-charges/definitions/1"),
        charges.ask("POST", "/jobs/own-charges/roll-back", body={"definition": "1"}),
    ):
        assert response.status < 300, response.text
        assert SECRET not in response.text
    changed = charges.ask("GET", "/jobs/own-charges/definitions", "readers")
    assert changed.json["items"][0]["changes"][0]["after"]["email"] == SECRET
    triggered = charges.ask("POST", "/jobs/charges-hourly/trigger")
    run = charges.ask("GET", f"/actions/{triggered.json['id']}")
    assert (run.json["payload"]["email"], run.json["redacted"]) == (REDACTED, ["email"])
    assert SECRET not in charges.ask("GET", "/jobs", query={"runs": "5"}).text
    for role, email, paths in (("clerks", REDACTED, ["email"]), ("readers", SECRET, [])):
        page = charges.ask("GET", "/jobs/charges-hourly/runs", role).json["items"]
        (listed,) = (item for item in page if item["trigger"] == "manual")
        assert (listed["payload"]["email"], listed["redacted"]) == (email, paths)


def test_a_field_that_the_class_no_longer_has_is_redacted(charges):
    class Slim(Payload, version=2, sensitive=("name",), name="slim"):
        name: str = ""

        @classmethod
        def upcast(cls, written, version):
            del version, written["email"]
            return written

    class Strict(Payload, version=2, sensitive=("name",), name="strict"):
        name: str = ""

    app = App()
    app.action(_taking(Slim))
    app.action(_taking(Strict))
    made = charges.schedule({})
    (row,) = (row for row in charges.cloud.store.rows() if row.id == made["id"])
    old = replace(row, payload=json.dumps({"email": SECRET, "name": SECRET}), payload_version=1)
    clerks = Redactor(app, sees_all=False)
    assert clerks.of_action(replace(old, type="slim")) == ({"name": REDACTED}, ("name",))
    assert clerks.of_action(replace(old, type="strict")) == (None, ("*",))


def _taking(payload_type):
    def handler(payload) -> None: ...

    handler.__annotations__["payload"] = payload_type
    return handler


def test_a_payload_of_an_older_version_is_upcast_and_then_redacted(charges):
    made = charges.schedule({})
    path = charges.keep(made["id"], payload=json.dumps({"mail": SECRET}), payload_version=1)
    result = charges.ask("GET", path)
    assert (result.json["payload"]["email"], result.json["redacted"]) == (REDACTED, ["email"])
    assert charges.ask("GET", path, "readers").json["payload"] == {"mail": SECRET}


@pytest.mark.parametrize(
    "changes",
    [
        {"type": "unknown"},
        {"payload": json.dumps({"mail": SECRET})},
        {"payload": json.dumps({"order": "crash", "email": SECRET})},
        {"payload": json.dumps([SECRET])},
        {"payload": json.dumps({"email": SECRET}), "payload_version": 3},
    ],
)
def test_an_unreadable_payload_is_redacted_completely(charges, changes):
    made = charges.schedule(FULL)
    path = charges.keep(made["id"], **changes)
    result = charges.ask("GET", path)
    assert result.status == 200
    assert (result.json["payload"], result.json["redacted"]) == (None, ["*"])
    assert SECRET in charges.ask("GET", path, "readers").text


def test_a_tenants_admin_grants_it_only_for_that_tenant(charges):
    made, theirs = charges.schedule(FULL), charges.schedule(FULL, tenant="globex")
    grant = {"permissions": ["payloads:read"]}
    assert charges.ask("PUT", "/grants/clerks", "heads", body=grant).status == 200
    assert charges.ask("GET", f"/actions/{made['id']}").json["payload"]["email"] == SECRET
    other = charges.ask("GET", f"/actions/{theirs['id']}", tenant="globex")
    assert (other.status, other.json["payload"]["email"]) == (200, REDACTED)
    assert charges.ask("GET", f"/actions/{theirs['id']}").status == 404


def test_only_the_permission_does_not_show_an_action(charges):
    made = charges.schedule(FULL)
    charges.ask("PUT", "/grants/lone", "heads", body={"permissions": ["payloads:read"]})
    assert charges.ask("GET", f"/actions/{made['id']}", "lone").status == 403


@pytest.mark.parametrize(
    ("kind", "action", "is_in_events"),
    [
        (UndeliveredKind.EVENT, False, False),
        (UndeliveredKind.MESSAGE, False, False),
        (UndeliveredKind.MESSAGE, True, True),
        (UndeliveredKind.WAKE, True, True),
    ],
)
def test_an_undelivered_input_is_shown_unless_it_can_contain_a_payload(charges, kind, action, is_in_events):
    thing = replace(given_up("a", NOW), kind=kind, body=SECRET)
    thing = replace(thing, action=ActionRef(TenantId("acme"), ActionId("a")) if action else None)
    charges.undelivered.keep(thing, expires_at=NOW + timedelta(days=1))
    result = charges.ask("GET", f"/undelivered/{thing.id}").json
    assert (result["body"], result["redacted"]) == ((SECRET, []) if is_in_events else (None, ["*"]))
    assert charges.ask("GET", f"/undelivered/{thing.id}", "readers").json["body"] == SECRET
    assert SECRET not in charges.ask("GET", "/undelivered").text


secrets = st.uuids().map(lambda item: f"secret-{item}")


@holds_for(
    secrets,
    st.lists(secrets, max_size=3),
    st.sampled_from(["schedule", "register", "trigger", "replace"]),
    examples=40,
)
def test_no_response_has_a_sensitive_value_without_the_permission(email, numbers, how):
    charges = Charges()
    payload = {"email": email, "cards": [{"number": number} for number in numbers]}
    job = {"type": "charge", "payload": payload, "cadences": ["every 1h"]}
    answers = [charges.ask("POST", "/jobs", body={**job, "name": "own-charges"})]
    match how:
        case "schedule":
            answers.append(
                charges.ask("POST", "/actions", body={"type": "charge", "payload": payload, "in": 60})
            )
        case "trigger":
            answers.append(charges.ask("POST", "/jobs/own-charges/trigger", body={"payload": payload}))
        case "replace":
            answers.append(charges.ask("PUT", "/jobs/own-charges", body=job))
    assert all(response.status < 300 for response in answers)
    answers += [
        charges.ask("GET", path)
        for path in (
            "/actions/query",
            "/jobs",
            "/jobs/own-charges",
            "/jobs/own-charges/runs",
            "/jobs/own-charges/occurrences",
            "/jobs/coming",
            "/jobs/load",
            "/audit",
            *(f"/actions/{row.id}" for row in charges.cloud.store.rows() if row.tenant_id == "acme"),
        )
    ]
    assert all(response.status < 300 for response in answers)
    assert not any("secret-" in response.text for response in answers)


@pytest.mark.parametrize("field", ["checkpoint", "result"])
def test_what_runs_of_a_type_with_sensitive_fields_store_is_hidden_without_the_permission(charges, field):
    shown, stored = {}, f'["{SECRET}"]'
    for type_name in ("charge", "plain"):
        made = charges.schedule({"email": SECRET}, type_name)
        assert made[field] is None
        row = charges.cloud.store.get(ActionRef(TenantId(made["tenant_id"]), ActionId(made["id"])))
        value = Checkpoint(stored, 0, 1) if field == "checkpoint" else stored
        charges.cloud.store.write(row, replace(row, **{field: value}))
        for role in ("clerks", "readers"):
            shown[type_name, role] = charges.ask("GET", f"/actions/{made['id']}", role).json[field]
            assert SECRET not in charges.ask("GET", "/actions", role).text
    assert shown == {
        ("charge", "clerks"): REDACTED,
        ("charge", "readers"): [SECRET],
        ("plain", "clerks"): [SECRET],
        ("plain", "readers"): [SECRET],
    }
