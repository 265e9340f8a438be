"""Notification preferences over HTTP: recipients, kinds and channels; and the permissions to set them."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.model.notification import Channel, NotificationKind
from duetime.model.preferences import ADDRESSES_LIMIT
from tests.api.conftest import NOW
from tests.api.deployment import ALONE, CLAIMS, Deployment

FAILING, DEAD = NotificationKind.RECURRING_FAILING, NotificationKind.DEAD_LETTERED
GLOBEX = CLAIMS | {"custom:tenant_id": "globex", "cognito:groups": "admin"}
GROUPS = {**ALONE, "operators": "actions:manage system", "clerks": "jobs:read"}


@pytest.fixture
def deployment(clock):
    return Deployment(clock, roles=GROUPS)


@pytest.fixture
def ask(deployment):
    def call(method, *groups, **changes):
        fields = {"body": None, **changes}
        return deployment.ask(method, "/notifications/preferences", *(groups or ("admin",)), **fields)

    return call


@pytest.fixture
def choose(ask):
    """Chooses, as an admin unless the test says otherwise."""
    return lambda *groups, query=None, headers=None, **fields: ask(
        "PUT", *groups, body=fields, query=query, headers=headers
    )


def test_without_preferences_notifications_for_admins_are_in_their_list(ask):
    response = ask("GET")
    assert (response.status, response.headers["ETag"]) == (200, '"0"')
    assert response.json == {
        "language": "en",
        "mails_in": "en",
        "languages": ["en", "fr"],
        "channels": {},
        "channels_in_force": {
            "scheduling.action_failed": [],
            "scheduling.dead_lettered": ["in_app"],
            "scheduling.undelivered": ["in_app"],
            "scheduling.breaker_opened": ["in_app"],
            "scheduling.approval_requested": [],
            "jobs.recurring_failing": [],
            "jobs.recurring_succeeding": [],
            "jobs.chain_refused": ["in_app"],
            "jobs.deadline_missed": ["in_app"],
            "jobs.deadline_at_risk": ["in_app"],
            "jobs.silent": ["in_app"],
        },
        "channels_available": ["in_app"],
        "addresses": [],
        "admin_addresses": [],
        "revision": 0,
        "changed_at": None,
        "changed_by": None,
    }


def test_a_change_replaces_only_the_given_fields(ask, choose):
    first = choose(
        language="fr",
        channels={FAILING: ["in_app", "email", "email"]},
        addresses=["a@acme.example", "b@acme.example", "a@acme.example"],
        admin_addresses=["root@acme.example"],
    )
    assert (first.status, first.headers["ETag"]) == (200, '"1"')
    assert first.json["addresses"] == ["a@acme.example", "b@acme.example"]
    assert first.json["channels"] == {FAILING: ["email", "in_app"]}
    assert first.json["channels_in_force"][DEAD] == ["email", "in_app"]
    assert (first.json["changed_at"], first.json["changed_by"]) == (
        "2026-03-01T12:00:00Z",
        "ada@acme.example",
    )
    assert ask("GET").json == first.json
    second = choose(channels={DEAD: []}, addresses=[]).json
    assert second["channels"] == {DEAD: [], FAILING: ["email", "in_app"]}
    assert (second["language"], second["addresses"], second["revision"]) == ("fr", [], 2)
    assert second["admin_addresses"] == ["root@acme.example"]
    third = choose(channels={DEAD: None}).json
    assert third["channels"] == {FAILING: ["email", "in_app"]}
    assert ask("GET", claims=GLOBEX).json["revision"] == 0


def test_a_repeated_change_has_no_effect(ask, choose):
    chosen = choose(language="fr", channels={FAILING: ["email"]}).json
    again = choose(language="fr", channels={FAILING: ["email"]})
    assert (again.status, again.json) == (200, chosen)


@pytest.mark.parametrize(
    ("language", "result"), [("fr-CA", "fr"), ("de", "en"), ("en-GB", "en"), ("fr", "fr")]
)
def test_a_language_without_a_translation_is_stored_and_mails_are_in_english(choose, language, result):
    response = choose(language=language)
    assert (response.status, response.json["language"], response.json["mails_in"]) == (200, language, result)


def test_the_preferences_list_the_deployments_channels(clock):
    deployment = Deployment(
        clock, mail_from="duetime@example.com", topic_arn="arn:aws:sns:eu-west-1:123456789012:notifications"
    )
    response = deployment.ask("GET", "/notifications/preferences", "admins", body=None)
    assert response.json["channels_available"] == list(Channel)


def test_a_change_needs_the_current_revision(ask, choose):
    seen = ask("GET").headers["ETag"]
    assert choose(headers={"If-Match": seen}, language="fr").status == 200
    refused = choose(headers={"If-Match": seen}, language="de")
    assert (refused.status, refused.code) == (412, "precondition-failed")
    assert ask("GET").json["language"] == "fr"
    assert choose(headers={"If-Match": "*"}, language="de").json["revision"] == 2


@pytest.mark.parametrize(
    ("headers", "problem"),
    [({}, (409, "preferences-conflict")), ({"If-Match": '"0"'}, (412, "precondition-failed"))],
)
def test_a_concurrent_change_of_preferences_is_a_conflict(deployment, choose, headers, problem):
    store = deployment.preferences

    def overtake(put, chosen):
        assert put(replace(store.get("acme"), addresses=("first@acme.example",)))
        return put(chosen)

    store.hooks["put"] = overtake
    response = choose(headers=headers, language="fr")
    assert (response.status, response.code) == problem
    stored = store.get("acme")
    assert (stored.addresses, stored.language) == (("first@acme.example",), "en")


@pytest.mark.parametrize("group", ["manage_actions", "manage_jobs"])
def test_members_choose_for_the_tenant_but_not_for_its_admins(ask, choose, group):
    choose(admin_addresses=["root@acme.example"], channels={DEAD: ["email"]})
    response = choose(group, language="fr", addresses=["a@acme.example"], channels={FAILING: ["email"]})
    assert (response.status, response.json["admin_addresses"]) == (200, None)
    for fields, what in (
        ({"admin_addresses": []}, "admin_addresses"),
        ({"admin_addresses": ["eve@acme.example"]}, "admin_addresses"),
        ({"channels": {DEAD: []}}, str(DEAD)),
        ({"channels": {DEAD: None}}, str(DEAD)),
        ({"language": "de", "channels": {DEAD: ["sns"]}}, str(DEAD)),
    ):
        refused = choose(group, **fields)
        assert (refused.status, refused.code) == (403, "forbidden")
        assert refused.json["detail"].startswith(
            f"changing {'the channels of ' * (what == DEAD)}{what} needs"
        )
    stored = ask("GET").json
    assert (stored["admin_addresses"], stored["language"]) == (["root@acme.example"], "fr")
    assert choose(group, channels={DEAD: ["email"]}).status == 200  # as it stands


@pytest.mark.parametrize("group", ["read_actions", "clerks"])
def test_viewers_read_the_preferences_and_change_nothing(ask, choose, group):
    choose(addresses=["a@acme.example"], admin_addresses=["root@acme.example"])
    seen = ask("GET", group)
    assert (seen.json["addresses"], seen.json["admin_addresses"]) == (["a@acme.example"], None)
    refused = choose(group, language="fr")
    assert (refused.status, refused.code) == (403, "forbidden")
    assert "actions:manage or jobs:manage" in refused.json["detail"]


def test_operators_choose_for_the_deployments_own(ask, choose):
    systems = {"query": {"scope": "system"}}
    response = choose("operators", **systems, admin_addresses=["ops@example.com"], channels={DEAD: ["email"]})
    assert (response.status, response.json["admin_addresses"]) == (200, ["ops@example.com"])
    assert ask("GET", "operators", **systems).json == response.json
    assert ask("GET").json["revision"] == 0
    assert choose("operators", admin_addresses=["ops@example.com"]).status == 403  # of the tenant
    assert choose("manage_actions", **systems, language="fr").status == 403
    assert ask("GET", "manage_actions", **systems).status == 403


@pytest.mark.parametrize(
    ("fields", "where", "result"),
    [
        ({"addresses": ["ada"]}, "addresses", "'ada' is no mail address; write it as in ada@example.com"),
        ({"addresses": ["a@b.c\nBcc: d@e.fr"]}, "addresses", "is no mail address"),
        ({"admin_addresses": [""]}, "admin_addresses", "is no mail address"),
        ({"addresses": [f"a{n}@acme.example" for n in range(21)]}, "addresses", f"at most {ADDRESSES_LIMIT}"),
        ({"addresses": ["a@acme.example"] * 1_001}, "addresses", "1000"),
        ({"addresses": "a@acme.example"}, "addresses", "list"),
        ({"addresses": [1]}, "addresses.0", "must be text"),
        ({"language": "Klingon"}, "language", "use one such as en or fr"),
        ({"channels": {"jobs.strange": ["email"]}}, "channels.jobs.strange", "'jobs.recurring_failing'"),
        ({"channels": {FAILING: ["pigeon"]}}, f"channels.{FAILING}.0", "must be 'email', 'sns' or 'in_app'"),
        ({"channels": {FAILING: "email"}}, f"channels.{FAILING}", "list"),
        ({"channels": []}, "channels", "must be a JSON object"),
        ({"colour": "red"}, "colour", "is not known here"),
        ({}, "the body", "say at least one of language, channels, addresses, admin_addresses"),
        ({"language": None, "tenant_id": "globex"}, "the body", "say at least one of"),
    ],
)
def test_an_invalid_preference_is_rejected_with_the_remedy(ask, fields, where, result):
    response = ask("PUT", body=fields)
    assert (response.status, response.code) == (422, "invalid-request")
    [flaw] = response.json["errors"]
    assert flaw["where"] == where
    assert result in flaw["problem"]
    assert ask("GET").json["revision"] == 0


def test_every_problem_is_named_at_once(ask):
    fields = {"language": "?", "addresses": ["x", "y"], "admin_addresses": ["z"]}
    result = ask("PUT", body=fields).json["errors"]
    assert [item["where"] for item in result] == ["addresses", "addresses", "admin_addresses", "language"]


@pytest.mark.parametrize(("body", "status"), [(None, 422), ("", 422), ("{", 400), ("[1]", 422)])
def test_an_empty_body_is_rejected(ask, body, status):
    assert ask("PUT", body=body).status == status


def test_an_unknown_parameter_is_rejected(ask):
    assert ask("GET", query={"colour": "red"}).code == "invalid-request"


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_two_scopes_are_rejected(ask, method):
    twice = {"multiValueQueryStringParameters": {"scope": ["tenant", "system"]}}
    fields = {"language": "fr"} if method == "PUT" else None
    assert ask(method, query={"scope": "system"}, body=fields, **twice).code == "invalid-request"


def test_the_audit_trail_records_changes(deployment, choose, clock):
    fields = {"language": "fr", "channels": {FAILING: ["email"]}, "admin_addresses": ["root@acme.example"]}
    choose(**fields)
    clock.wait_until(NOW + timedelta(seconds=1))
    choose(query={"scope": "system"}, language="de")
    systems, own = deployment.ask("GET", "/audit", "admin").json["items"]
    assert (own["operation"], own["target"], own["by"]) == ("set", "preferences", "ada@acme.example")
    masked = {
        "admin_addresses": ["r…@acme.example"]
    }  # who may read the trail need not be who may see addresses
    assert (own["request_fields"], own["result"]) == (fields | masked, {"revision": 1})
    assert systems["request_fields"] == {"scope": "system", "language": "de"}
