"""Notifications over HTTP: callers see the kinds in their tenant's list that they may read."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.ids import SYSTEM_TENANT, TenantId
from duetime.model.notification import Notification, NotificationKind
from duetime.notifications.mail import languages
from duetime.notifications.mail.samples import sample, samples
from tests.api.conftest import NOW
from tests.api.deployment import ALONE, CLAIMS, Deployment
from tests.cases import for_each

FAILED, FAILING = NotificationKind.ACTION_FAILED, NotificationKind.RECURRING_FAILING
DEAD, UNDELIVERED = NotificationKind.DEAD_LETTERED, NotificationKind.UNDELIVERED
EXPIRY = NOW + timedelta(days=30)
GLOBEX = CLAIMS | {"custom:tenant_id": "globex", "cognito:groups": "admin"}


@pytest.fixture
def deployment(clock):
    return Deployment(
        clock, roles={**ALONE, "operators": "actions:read system", "heads": "actions:read jobs:read"}
    )


@pytest.fixture
def notify(deployment):
    """Puts a notification into a list, so many minutes after noon."""

    def put(kind=FAILED, minutes=0, *, tenant="acme", is_digest=False) -> Notification:
        made = sample(kind, is_digest=is_digest)
        at = NOW + timedelta(minutes=minutes)
        result = replace(made, id=f"{tenant}-{kind}-{minutes}", tenant_id=TenantId(tenant), at=at)
        deployment.notified.inbox.add(result, expires_at=EXPIRY)
        return result

    return put


@pytest.fixture
def ask(deployment):
    """Calls a route of notifications, as an admin unless the test says otherwise."""

    def call(method, path="", *groups, **changes):
        fields = {"body": None, **changes}
        return deployment.ask(method, f"/notifications{path}", *(groups or ("admin",)), **fields)

    return call


@pytest.fixture
def ids(ask):
    """The ids of a page of the list."""
    return lambda *groups, **query: [
        item["id"] for item in ask("GET", "", *groups, query=query).json["items"]
    ]


def test_an_empty_list_is_shown_as_empty(ask):
    response = ask("GET")
    assert (response.status, response.json) == (200, {"items": [], "next_cursor": None})


def test_an_entry_has_a_text_and_facts(ask, notify):
    result = notify(FAILING)
    [entry] = ask("GET").json["items"]
    assert entry == {
        "id": result.entry_id,
        "kind": "jobs.recurring_failing",
        "severity": "warning",
        "subject": entry["subject"],
        "text": entry["text"],
        "language": "en",
        "at": "2026-03-01T12:00:00Z",
        "facts": dict(result.facts),
        "is_digest": False,
        "read_at": None,
        "read_by": None,
    }
    assert result.facts["name"] in entry["subject"]
    assert f"duetime jobs show {result.facts['name']}" in entry["text"]
    assert ask("GET", f"/{result.entry_id}").json == entry


@for_each("result", samples())
@for_each("language", languages())
def test_every_kind_has_a_message_in_every_language(deployment, ask, result, language):
    result = replace(result, tenant_id=TenantId("acme"))
    deployment.notified.inbox.add(result, expires_at=EXPIRY)
    entry = ask("GET", f"/{result.entry_id}", query={"language": language}).json
    assert (entry["kind"], entry["is_digest"], entry["language"]) == (result.kind, result.is_digest, language)
    assert entry["subject"]
    assert "{{" not in entry["text"]


def test_the_language_is_that_of_the_preferences_or_of_the_request(deployment, ask, notify):
    result = notify()
    stored = deployment.notified.preferences.get("acme")
    deployment.notified.preferences.put(replace(stored, language="fr-CA"))
    french, english = ask("GET").json["items"][0], ask("GET", query={"language": "en"}).json["items"][0]
    assert (french["language"], english["language"]) == ("fr", "en")
    assert french["subject"] != english["subject"]
    assert ask("GET", f"/{result.entry_id}").json == french
    assert ask("GET", query={"language": "xx"}).json["items"] == [english]


def test_they_are_listed_newest_first_page_by_page(ask, notify):
    result = [notify(minutes=index).entry_id for index in range(5)]
    seen, query = [], {"limit": "2"}
    while True:
        page = ask("GET", query=query).json
        seen += [item["id"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        query = {"limit": "2", "cursor": page["next_cursor"]}
    assert seen == result[::-1]


def test_only_those_of_a_kind_or_unread_ones_are_listed(ask, notify, ids):
    first, second = notify(), notify(FAILING, 1)
    assert ids(kind="jobs.recurring_failing") == [second.entry_id]
    assert ask("POST", "/read", body={"ids": [second.entry_id]}).json["read"] == 1
    assert ids(unread="true") == [first.entry_id]
    assert ids(unread="true", kind="jobs.recurring_failing") == []


@pytest.mark.parametrize(
    ("group", "seen"),
    [
        ("read_actions", {FAILED}),
        ("manage_actions", {FAILED}),
        ("read_jobs", {FAILING}),
        ("heads", {FAILED, FAILING}),
        ("operators", {FAILED}),
        ("tenant_admin", {FAILED, FAILING, DEAD}),
        ("admin", {FAILED, FAILING, DEAD}),
    ],
)
def test_a_caller_sees_notifications_of_its_permissions(ask, notify, ids, group, seen):
    result = {kind: notify(kind).entry_id for kind in (FAILED, FAILING, DEAD)}
    assert set(ids(group)) == {result[kind] for kind in seen}
    for kind, entry_id in result.items():
        there = kind in seen
        assert ask("GET", f"/{entry_id}", group).status == (200 if there else 404)
        assert ask("GET", "", group, query={"kind": kind}).status == (200 if there else 403)
        assert ask("POST", "/read", group, body={"kind": kind}).status == (200 if there else 403)
        assert ask("POST", "/read", group, body={"ids": [entry_id]}).status == (200 if there else 404)


@pytest.mark.parametrize("group", ["manage_grants", "read_audit", "system", "unknown"])
def test_a_caller_without_read_permissions_sees_none(ask, notify, group):
    result = notify()
    for method, path in (
        ("GET", ""),
        ("GET", f"/{result.entry_id}"),
        ("POST", "/read"),
        ("GET", "/preferences"),
    ):
        response = ask(method, path, group)
        assert (response.status, response.code) == (403, "forbidden")
        assert "actions:read or jobs:read" in response.json["detail"]


def test_the_deployments_own_list_is_for_operators(ask, notify, ids):
    own, systems = notify(), notify(UNDELIVERED, tenant=SYSTEM_TENANT)
    assert ids("operators", scope="system") == [systems.entry_id]
    assert ids("operators") == [own.entry_id]
    assert ask("GET", f"/{systems.entry_id}", "operators", query={"scope": "system"}).status == 200
    assert ask("GET", f"/{systems.entry_id}", "operators").status == 404
    assert ask("POST", "/read", "operators", query={"scope": "system"}).json["read"] == 1
    assert ids("operators", unread="true") == [own.entry_id]


@pytest.mark.parametrize("path", ["", "/preferences", "/n.20260301T120000000000Z.0123456789abcdef"])
def test_other_users_than_operators_see_no_system_jobs(ask, notify, path):
    notify(UNDELIVERED, tenant=SYSTEM_TENANT)
    response = ask("GET", path, "heads", query={"scope": "system"})
    assert (response.status, response.code) == (403, "forbidden")
    assert ask("POST", "/read", "heads", query={"scope": "system"}).status == 403


def test_a_read_notification_stores_its_first_reader_and_time(ask, notify, clock):
    result = notify()
    mark = {"ids": [result.entry_id]}
    assert ask("POST", "/read", body=mark).status == 200
    clock.wait_until(NOW + timedelta(hours=1))
    grace = CLAIMS | {"email": "grace@acme.example", "cognito:groups": "admin"}
    assert ask("POST", "/read", body=mark, claims=grace).status == 200
    entry = ask("GET", f"/{result.entry_id}").json
    assert (entry["read_at"], entry["read_by"]) == ("2026-03-01T12:00:00Z", "ada@acme.example")


def test_all_that_are_unread_are_read_step_by_step(ask, notify, ids):
    for index in range(7):
        notify(minutes=index)
    jobs = notify(FAILING, 9)
    steps, fields = [], {"limit": 3, "kind": FAILED}
    while True:
        step = ask("POST", "/read", body=fields).json
        steps.append(step["read"])
        if step["next_cursor"] is None:
            break
        fields = fields | {"cursor": step["next_cursor"]}
    assert steps == [3, 3, 1]
    assert ids(unread="true") == [jobs.entry_id]
    assert ask("POST", "/read").json == {"read": 1, "next_cursor": None}
    assert ask("POST", "/read", body={}).json == {"read": 0, "next_cursor": None}


def test_a_caller_cannot_mark_an_invisible_notification(ask, notify, ids):
    dead = notify(DEAD)
    assert ask("POST", "/read", "heads").json["read"] == 0
    assert ids(unread="true") == [dead.entry_id]


@pytest.mark.parametrize("unknown", ["nothing", "n.20260301T120000000000Z.0123456789abcdef", "n.1", "%20"])
def test_a_missing_notification_and_another_tenants_get_the_same_response(ask, notify, unknown):
    mine, theirs = notify().entry_id, notify(minutes=1, tenant="globex").entry_id
    for foreign, nobodys in (
        (ask("GET", f"/{theirs}"), ask("GET", f"/{unknown}")),
        [ask("POST", "/read", body={"ids": [mine, one]}) for one in (theirs, unknown)],
    ):
        assert (
            (foreign.status, foreign.code)
            == (nobodys.status, nobodys.code)
            == (404, "notification-not-found")
        )
        assert foreign.text.replace(theirs, "…") == nobodys.text.replace(unknown, "…")
    assert ask("GET", f"/{theirs}", claims=GLOBEX).json["read_at"] is None
    assert ask("GET", f"/{mine}").json["read_at"] is None


def test_a_cursor_of_another_list_or_filter_is_rejected(ask, notify):
    for index in range(3):
        notify(minutes=index)
        notify(minutes=index, tenant="globex")
    theirs = ask("GET", query={"limit": "1"}, claims=GLOBEX).json["next_cursor"]
    mine = ask("GET", query={"limit": "1"}).json["next_cursor"]
    assert ask("GET", query={"cursor": mine}).status == 200
    for query in (
        {"cursor": theirs},
        {"cursor": mine, "unread": "true"},
        {"cursor": mine, "kind": FAILED},
        {"cursor": mine, "scope": "system"},
        {"cursor": mine[:-1]},
        {"cursor": ""},
        {"cursor": "x"},
    ):
        response = ask("GET", query=query)
        assert (response.status, response.code) == (422, "invalid-cursor"), query
    assert ask("POST", "/read", body={"cursor": mine}).status == 422


@pytest.mark.parametrize(
    ("query", "result"),
    [
        ({"kind": "strange"}, "scheduling.dead_lettered"),
        ({"limit": "0"}, "limit"),
        ({"limit": "101"}, "100"),
        ({"unread": "perhaps"}, "unread"),
        ({"scope": "globex"}, "tenant"),
        ({"language": "x" * 36}, "language"),
        ({"colour": "red"}, "known are"),
    ],
)
def test_invalid_parameters_of_the_list_are_rejected_with_the_allowed_values(ask, query, result):
    response = ask("GET", query=query)
    assert (response.status, response.code) == (422, "invalid-request")
    assert result in response.json["detail"]


@pytest.mark.parametrize(
    "fields", [{"ids": []}, {"kind": "x"}, {"limit": 0}, {"limit": 101}, {"limit": "5"}, {"all": True}]
)
def test_a_request_to_mark_with_other_fields_is_rejected(ask, notify, ids, fields):
    result = notify()
    assert ask("POST", "/read", body=fields).code == "invalid-request"
    assert ids(unread="true") == [result.entry_id]


def test_the_audit_trail_records_reads(deployment, ask, notify, clock):
    result = notify()
    ask("POST", "/read", body={"ids": [result.entry_id]})
    clock.wait_until(NOW + timedelta(seconds=1))
    ask("POST", "/read", body={"kind": FAILED})
    many, one = deployment.ask("GET", "/audit", "admin").json["items"]
    for entry, fields, count in ((one, {"ids": [result.entry_id]}, 1), (many, {"kind": FAILED}, 0)):
        assert (entry["operation"], entry["target"], entry["status"]) == ("read", "notification", 200)
        assert (entry["request_fields"], entry["result"]) == (fields, {"read": count})


def test_an_api_without_back_ends_for_it_responds_with_the_reason(call_cloud, deployment):
    event = {"claims": CLAIMS | {"cognito:groups": "admins"}}
    for path in ("/notifications", "/notifications/preferences"):
        response = call_cloud("cancel", httpMethod="GET", path=f"/api/v1{path}", **event)
        assert (response.status, response.code) == (501, "unsupported")
