"""Two tenants that share a deployment see nothing of each other: no id, no count, no cursor."""

import json
from dataclasses import replace
from datetime import timedelta

from hypothesis import strategies as st

from duetime.ids import TenantId
from duetime.model.action import Ending, Status
from duetime.model.notification import NotificationKind
from duetime.notifications.mail.samples import sample
from duetime.testing import TurnedClock
from tests.api.conftest import NOW, Worker
from tests.api.deployment import GUARDED, NAME, Deployment, at
from tests.api.drawn import holds_for

TENANTS = ("acme", "globex")
NOBODYS_JOB = "own-unknown"
NOBODYS_ENTRY = "n.20260301T120000000000Z.0123456789abcdef"
EXAMPLES = 40
steps = st.lists(
    st.tuples(
        st.sampled_from(TENANTS),
        st.sampled_from(
            [
                "schedule",
                "fail",
                "cancel",
                "register",
                "trigger",
                "grant",
                "cancel-many",
                "notify",
                "choose",
                "read",
            ]
        ),
        st.integers(0, 2),
    ),
    min_size=4,
    max_size=25,
)
LISTS = (
    ("/actions/query", {}),
    ("/actions/query", {"correlation_id": "c-0"}),
    ("/actions/query", {"status": "failed"}),
    ("/dead-letters", {}),
    ("/jobs", {}),
    ("/audit", {}),
    ("/notifications", {}),
    ("/notifications", {"unread": "true", "kind": "jobs.recurring_failing"}),
)
SEEN = (*LISTS, ("/grants", {}), ("/notifications/preferences", {}))
"""All that a tenant sees; lists are read page by page."""


class Tenants:
    """Both tenants' admins at one deployment, and the items that each has created."""

    def __init__(self):
        self.deployment = Deployment(
            TurnedClock(NOW), roles={"heads": "actions:manage jobs:manage audit:read grants:manage"}
        )
        self.worker = Worker(self.deployment.cloud.store, self.deployment.clock)
        self.actions = {tenant: [] for tenant in TENANTS}
        self.jobs = {tenant: set() for tenant in TENANTS}
        self.notifications = {tenant: [] for tenant in TENANTS}

    def ask(self, tenant, method, path, **changes):
        claims = {"custom:tenant_id": tenant, "sub": f"head-of-{tenant}", "cognito:groups": "heads"}
        return self.deployment.ask(method, path, claims=claims, **{"body": None, **changes})

    def do(self, tenant, step, number):
        mine = self.actions[tenant]
        match step:
            case "schedule" | "fail":
                body = {
                    "type": "remark",
                    "payload": {"text": tenant},
                    "in": 0 if step == "fail" else 60,
                    "correlation_id": f"c-{number}",
                    "idempotency_key": f"k-{len(mine)}",
                }
                made = self.ask(tenant, "POST", "/actions", body=body)
                assert made.status == 201, made.text
                mine.append(made.json["id"])
                if step == "fail":
                    self._fail(tenant, mine[-1])
            case "cancel" if mine:
                self.ask(tenant, "DELETE", f"/actions/{mine[number % len(mine)]}")
            case "register":
                name = f"own-job-{number}-of-{tenant}"
                self.ask(tenant, "POST", "/jobs", body={"name": name, "type": "remark"})
                self.jobs[tenant].add(name)
            case "trigger":
                for name in sorted(self.jobs[tenant]):
                    self.ask(tenant, "POST", f"/jobs/{name}/trigger", body={"payload": {}})
            case "grant":
                body = {"permissions": ["jobs:read"]}
                self.ask(tenant, "PUT", f"/grants/clerks-{number}-of-{tenant}", body=body)
            case "cancel-many":
                self.ask(tenant, "POST", "/actions/cancel", body={"correlation_id": f"c-{number}"})
            case _:
                self._tell(tenant, step, number)

    def _tell(self, tenant, step, number):
        match step:
            case "notify":
                self._notify(tenant)
            case "choose":
                body = {"addresses": [f"clerk-{number}@{tenant}.example"]}
                self.ask(tenant, "PUT", "/notifications/preferences", body=body)
            case "read":
                self.ask(tenant, "POST", "/notifications/read", body={"limit": 1})

    def _notify(self, tenant):
        made = sample(NotificationKind.RECURRING_FAILING, is_digest=False)
        result = replace(
            made, id=f"{tenant}-{len(self.notifications[tenant])}", tenant_id=TenantId(tenant), at=NOW
        )
        self.deployment.notified.inbox.add(result, expires_at=NOW + timedelta(days=30))
        self.notifications[tenant].append(result.entry_id)

    def _fail(self, tenant, action_id):
        claimed = self.worker.claim(action_id, tenant=tenant)
        self.worker.settle(claimed, Ending.FAILED, Status.FAILED, message=f"of {tenant}")

    def seen(self, tenant, **query):
        """All that a tenant's lists answer."""
        return [
            self.ask(tenant, "GET", path, query={**query_of_list, **query}).text
            for path, query_of_list in SEEN
        ]


@holds_for(steps, st.sampled_from(TENANTS), examples=EXAMPLES)
def test_a_tenant_sees_the_same_as_if_it_were_alone(steps, me):
    together, (other,) = Tenants(), set(TENANTS) - {me}
    for tenant, step, number in steps:
        before = together.seen(other) if tenant == me else together.seen(me)
        together.do(tenant, step, number)
        assert before == (together.seen(other) if tenant == me else together.seen(me))
    for text in together.seen(me):
        assert other not in text
        assert not any(
            action in text for action in (*together.actions[other], *together.notifications[other])
        )


@holds_for(steps, st.sampled_from(TENANTS), examples=EXAMPLES)
def test_another_tenants_item_gets_the_same_response_as_a_missing_one(steps, me):
    tenants, (other,) = Tenants(), set(TENANTS) - {me}
    for step in steps:
        tenants.do(*step)
    before = tenants.seen(other)
    for method, path, _ in GUARDED:
        for foreign, unknown in _pairs(path, tenants, other):
            bodies = [None, {}, {"in": 60}, {"attempts": 3}, {"permissions": ["jobs:read"]}]
            for body in bodies:
                theirs = tenants.ask(me, method, at(path, foreign), body=body)
                nobodys = tenants.ask(me, method, at(path, unknown), body=body)
                assert (theirs.status, theirs.headers) == (nobodys.status, nobodys.headers)
                assert theirs.text.replace(foreign, "…") == nobodys.text.replace(unknown, "…")
    assert tenants.seen(other) == before


def _pairs(path, tenants, other):
    """Names of the other tenant that a route could contain, each with a name that does not exist."""
    if "<action_id>" in path:
        return [(action, NAME) for action in tenants.actions[other][:3]]
    if "<notification_id>" in path:
        return [(entry, NOBODYS_ENTRY) for entry in tenants.notifications[other][:3]]
    return [(job, NOBODYS_JOB) for job in sorted(tenants.jobs[other])[:2]] if "<name>" in path else []


@holds_for(steps, st.sampled_from(TENANTS), examples=EXAMPLES)
def test_another_tenants_cursor_shows_only_the_callers_items(steps, me):
    tenants, (other,) = Tenants(), set(TENANTS) - {me}
    for step in steps:
        tenants.do(*step)
    for path, query_of_list in LISTS:
        page = tenants.ask(other, "GET", path, query={**query_of_list, "limit": "1"}).json
        if page["next_cursor"] is not None:
            query = {**query_of_list, "cursor": page["next_cursor"]}
            response = tenants.ask(me, "GET", path, query=query)
            assert response.status in {200, 422}, response.text
            theirs = (other, *tenants.actions[other], *tenants.notifications[other])
            assert not any(their in response.text for their in theirs)


@holds_for(steps, st.sampled_from(TENANTS), examples=EXAMPLES)
def test_a_bulk_change_touches_and_counts_only_the_callers_items(steps, me):
    tenants, (other,) = Tenants(), set(TENANTS) - {me}
    for step in steps:
        tenants.do(*step)
    before = tenants.seen(other)
    for path in ("/actions/cancel", "/actions/redrive"):
        for fields in ({"type": "remark"}, {"correlation_id": "c-0"}, {"correlation_id": "c-1"}):
            response = tenants.ask(me, "POST", path, body=fields)
            result = json.loads(response.text)
            assert response.status == 200, response.text
            assert {entry["tenant_id"] for entry in result["changed"]} <= {me}
            assert {entry["id"] for entry in result["left"]} <= _own(tenants, me)
    assert tenants.seen(other) == before


def _own(tenants, me):
    items = tenants.ask(me, "GET", "/actions/query", query={"limit": "100"}).json["items"]
    return {item["id"] for item in items} | {*tenants.actions[me], NAME}
