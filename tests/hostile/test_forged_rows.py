"""A role that is bound to acme forges rows: no other tenant's data is changed, read or delayed.

The role's policy is the synthesised grant, which a strict evaluator applies. A forgery is a key of any form
with any attributes. The policy must deny exactly the keys that a one-shot of acme does not need.
"""

import json
import re
from datetime import timedelta
from urllib.parse import urlencode
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

import pytest
from botocore.exceptions import ClientError

from duetime.aws.items import from_item, to_item
from duetime.aws.keys import is_row, ref_of
from duetime.errors import UnreadableRow
from duetime.ids import is_action_id, new_action_id
from tests.emulated.conftest import eventually, rest
from tests.hostile.conftest import EVENT_JOB, NIGHTLY, Failing, Note

WRITABLE = re.compile(r"acme#(.|payload#.|key#.|debounce#.|batches)")
VOLATILE = re.compile(r"system#(bookmark|undelivered|inbox|notified.*|duetime-.*)|.*#counts")
"""What the system itself writes at any time."""

INDEXED = ("due_shard", "due_at", "correlation", "failed", "failed_at", "tenant_due")
LISTS = (
    "/actions/query",
    "/actions/query?correlation_id=order%3A7",
    "/actions/query?status=failed",
    "/actions/query?due_after=2026-01-01T00%3A00%3A00Z",
    "/dead-letters",
    "/jobs",
    f"/jobs/{EVENT_JOB}",
    f"/jobs/{EVENT_JOB}/runs",
    f"/jobs/{NIGHTLY}/runs",
    "/audit",
    "/summary",
    "/jobs/coming",
    "/jobs/load",
    "/undelivered",
    "/health/details",
)


class Attacker:
    """Writes forgeries with the role's client, and counts what became of them."""

    def __init__(self, cloud, role):
        self.cloud, self.role, self.client = cloud, role, role.client()
        self.table = cloud.settings.made.actions_table
        self.written, self.denied, self.invalid = [], [], 0
        self.base = to_item(
            cloud.scheduler().schedule(Note(text="base"), at=timedelta(days=9)), due_order=True
        )

    def forge(self, forgery):
        key = {"pk": {"S": forgery.partition}, "sk": {"S": forgery.id or self._id_in(forgery.place)}}
        own = {"tenant_due": {"S": f"acme#{key['sk']['S'][-1]}"}}
        item = {**self.base, **own, **dict(forgery.changes), **key}
        item = {name: value for name, value in item.items() if value is not None}
        if not all(item.get(name, {"S": "x"}).get("S") for name in INDEXED):
            self.invalid += 1  # DynamoDB rejects a key of an index that is no text; moto does not
            return
        try:
            if forgery.is_update:
                self._update(key, item)
            else:
                self.client.put_item(TableName=self.table, Item=item)
        except ClientError as error:
            if error.response["Error"]["Code"] == "AccessDeniedException":
                self.denied.append(forgery.partition)
            else:
                self.invalid += 1  # DynamoDB rejects the item itself
        else:
            self.written.append(key)

    def _update(self, key, item):
        names = [name for name in item if name not in key]
        self.client.update_item(
            TableName=self.table,
            Key=key,
            UpdateExpression="SET " + ", ".join(f"#{place} = :{place}" for place in range(len(names))),
            ExpressionAttributeNames={f"#{place}": name for place, name in enumerate(names)},
            ExpressionAttributeValues={f":{place}": item[name] for place, name in enumerate(names)},
        )

    def _id_in(self, place):
        made = new_action_id(self.cloud._clock.now())
        return made[:-1] + (place[-1:] if place[-1:] in "0123456789abcdef" else "0")


def others(cloud):
    """Return all items of other tenants and of the system, by key."""
    found = {}
    for table in (cloud.settings.made.actions_table, cloud.settings.made.jobs_table):
        pages = cloud.client("dynamodb").get_paginator("scan").paginate(TableName=table)
        for item in (item for page in pages for item in page["Items"]):
            if not item["pk"]["S"].startswith("acme#") and not VOLATILE.fullmatch(item["pk"]["S"]):
                found[table, item["pk"]["S"], item["sk"]["S"]] = item
    return found


def read(cloud, path, tenant):
    """Return the status and the body of a request of a tenant's operator."""
    request = HttpRequest(f"{cloud.url}/api/v1{path}")  # noqa: S310 - of this machine
    request.add_header("X-Duetime-Tenant", tenant)
    try:
        with urlopen(request) as answer:  # noqa: S310 - as above
            return answer.status, json.loads(answer.read())
    except OSError as error:
        return error.code, {}


def pages(cloud, path, tenant):
    """Return the items of all pages of a list, and the statuses of the responses."""
    items, statuses, cursor = [], [], None
    while True:
        more = ("&" if "?" in path else "?") + urlencode({"cursor": cursor}) if cursor else ""
        status, body = read(cloud, path + more, tenant)
        statuses.append(status)
        items += body.get("items", [])
        cursor = body.get("next_cursor")
        if cursor is None or status != 200:
            return items, statuses


def unreadable(cloud):
    """Return acme's pending rows that no step can read: the reason of each, by its id."""
    found = {}
    scan = (
        cloud.client("dynamodb").get_paginator("scan").paginate(TableName=cloud.settings.made.actions_table)
    )
    for item in (item for page in scan for item in page["Items"]):
        is_pending = item.get("status") == {"S": "pending"}
        if item["pk"]["S"].startswith("acme#") and is_row(item) and is_pending:
            try:
                from_item(item)
            except UnreadableRow as error:
                found[ref_of(item).id] = f"{error} {str(item)[:600]}"
    return found


def data_of_others(cloud):
    """Return all items of others, and the lists that globex sees."""
    return others(cloud), {path: pages(cloud, path, "globex")[0] for path in LISTS[:5]}


@pytest.fixture(scope="module")
def attacked(forged, cloud, victim, scheduling_role):
    """The cloud after two hundred forgeries."""
    before = data_of_others(cloud)
    attacker = Attacker(cloud, scheduling_role)
    for forgery in forged:
        attacker.forge(forgery)
    for function in ("sweep", "catch-up", "sweep"):
        assert cloud.invoke(function).error is None
    return attacker, before, data_of_others(cloud)


def test_the_policy_permits_keys_of_one_shots_alone(attacked):
    attacker, _, _ = attacked
    assert len(attacker.written) > 60
    assert len(attacker.denied) > 40
    assert all(WRITABLE.fullmatch(key["pk"]["S"]) for key in attacker.written)
    assert not any(WRITABLE.fullmatch(partition) for partition in attacker.denied)


def test_nothing_of_another_tenant_or_of_the_system_is_changed(attacked):
    _, (before, _), (after, _) = attacked
    assert after == before


def test_another_tenants_lists_are_as_before(attacked):
    _, (_, before), (_, after) = attacked
    assert after == before


def test_every_list_answers(cloud, attacked):
    statuses = {
        (path, tenant): set(pages(cloud, path, tenant)[1]) for path in LISTS for tenant in ("acme", "globex")
    }
    assert {about: found for about, found in statuses.items() if found != {200}} == {}


def test_no_forged_action_answers_with_an_internal_error(cloud, attacked):
    attacker, _, _ = attacked
    statuses = {
        read(cloud, f"/actions/{key['sk']['S']}", "acme")[0]
        for key in attacker.written
        if is_action_id(key["sk"]["S"])
    }
    assert statuses <= {200, 404, 409}
    assert 409 in statuses


def test_each_unreadable_row_is_shown_as_undelivered(cloud, attacked):
    damaged = unreadable(cloud)
    assert len(damaged) > 20
    left = damaged
    for _ in range(30):
        items, statuses = pages(cloud, "/undelivered?limit=100", "acme")
        assert set(statuses) == {200}
        shown = {item["action_id"] for item in items}
        left = {row_id: reason for row_id, reason in damaged.items() if row_id not in shown}
        if not left:
            break
        cloud.invoke("sweep")  # each pass reports a bounded number
        rest(0.5)
    assert left == {}


def test_another_tenants_action_and_the_systems_job_run_on_time(cloud, attacked, victim, shop):
    action = victim.schedule(Note(text="after the attack"), at=timedelta(0))
    eventually(lambda: "after the attack" in shop.ran_for("globex"), "globex' action")
    assert action.id
    cloud.scheduler(tenant_id="globex").jobs.trigger(NIGHTLY)
    eventually(lambda: NIGHTLY in shop.ran_for("system"), "the system's job")
    failing = victim.schedule(Failing(text="again"), at=timedelta(0))
    eventually(lambda: victim.get(failing.id).status.is_final, "globex' failure")


def test_no_handler_of_a_job_ran_for_the_attacker(attacked, shop):
    assert set(shop.ran_for("acme")) <= {"base"}
