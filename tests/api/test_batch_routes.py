"""Batches over HTTP: their progress, and changes of all members, with permissions and the audit trail."""

from datetime import timedelta

import pytest

from duetime.actions.order import Order
from duetime.scheduler import Scheduler
from duetime.wakeups.assembly import Steps
from tests.api.conftest import OPERATOR, Remark, sample_event
from tests.backends import backends

NAME = "import-2027-03"
BOB = {**OPERATOR, "custom:tenant_id": "globex"}


def code_of(response):
    """The code of a problem."""
    return response.json["type"].rpartition("/")[2].rpartition(":")[2]


@pytest.fixture
def scheduler(store, clock, settings):
    return Scheduler(store, tenant_id="acme", actor="clerk", clock=clock, settings=settings)


@pytest.fixture
def batch(scheduler):
    batch = scheduler.batch(NAME, on_complete=Remark())
    batch.schedule_many(Order(Remark(), at=timedelta(hours=1)) for _ in range(3))
    return batch


@pytest.fixture
def ask(call):
    def ask(method, path="", body=None, claims=OPERATOR, query=None):
        sample = f"{path.rpartition('/')[2]}-batch" if method == "POST" else "get-batch"
        event = sample_event(sample, claims=claims, query=query)
        event |= {"httpMethod": method, "path": f"/api/v1/batches{path}"}
        event["pathParameters"] = {"proxy": f"batches{path}"}
        if method == "POST":
            event["body"] = body or "{}"
        return call.send(event)

    return ask


def test_a_batch_is_listed_and_shown_with_its_progress(ask, batch, store, clock):
    count = Steps(backends(store, clock=clock)).count_batch
    count.sweep(batch.batch.ref, stop_at=clock.now() + timedelta(minutes=1))
    shown = ask("GET", f"/{NAME}").json
    assert ask("GET").json == {"items": [shown], "next_cursor": None}
    assert (shown["state"], shown["size"], shown["left"], shown["executed"]) == ("open", 3, 3, 0)
    assert shown["counted_at"] is not None
    assert shown["on_complete"] == batch.batch.on_complete


def test_a_batch_is_closed_once(ask, batch):
    assert ask("POST", f"/{NAME}/close").json["state"] == "running"
    again = ask("POST", f"/{NAME}/close")
    assert (again.status, code_of(again)) == (409, "batch-conflict")
    assert "only an open one can be closed" in again.text


def test_members_are_listed_cancelled_and_redriven_in_steps(ask, batch):
    first = ask("GET", f"/{NAME}/members", query={"limit": "2"}).json
    assert (len(first["items"]), first["next_cursor"].partition(".")[0]) == (2, "2")
    assert all(item["batch"] == NAME for item in first["items"])
    preview = ask("POST", f"/{NAME}/cancel", '{"dry_run": true}').json
    assert (len(preview["changed"]), preview["dry_run"]) == (3, True)
    done = ask("POST", f"/{NAME}/cancel", '{"limit": 2}').json
    rest = ask("POST", f"/{NAME}/cancel", f'{{"cursor": "{done["next_cursor"]}"}}').json
    assert (len(done["changed"]), len(rest["changed"]), rest["next_cursor"]) == (2, 1, None)
    assert (
        ask("GET", f"/{NAME}/members", query={"status": "cancelled"}).json["items"][0]["status"]
        == "cancelled"
    )
    assert ask("POST", f"/{NAME}/redrive").json["changed"] == []


def test_another_tenant_finds_no_batch(ask, batch):
    answer = ask("GET", f"/{NAME}", claims=BOB)
    assert (answer.status, code_of(answer)) == (404, "batch-not-found")


def test_a_change_of_a_batch_is_in_the_audit_trail(call, ask, batch):
    ask("POST", f"/{NAME}/close")
    claims = {**OPERATOR, "cognito:groups": "admins"}
    entries = call.send(sample_event("list-audit-entries", claims=claims, query={})).json["items"]
    assert [(entry["operation"], entry["target"]) for entry in entries] == [("close", f"batch:{NAME}")]


def test_an_action_is_scheduled_after_others(call, batch):
    body = {"type": "remark", "payload": {}, "in": 0, "after": [f"batch:{NAME}"], "after_failure": "skip"}
    made = call.schedule(body=body)
    assert (made["is_held"], made["after"]) == (True, f"batch:{NAME}")
    why = call("why", action_id=made["id"]).json
    assert f"It waits for batch {NAME}, which is open: 3 of 3 are left." in why["sentence"]
    unknown = call("schedule", body={**body, "after": ["01a5d82c-1800-79e3-aeda-66f0e0000000"]})
    assert (unknown.status, code_of(unknown)) == (404, "action-not-found")
    wrong = call("schedule", body={**body, "after": None})
    assert (wrong.status, code_of(wrong)) == (422, "invalid-argument")
