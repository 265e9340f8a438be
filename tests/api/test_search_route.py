"""The search box: what a text may mean, for the caller's tenant and rights."""

from datetime import timedelta

import pytest

from duetime.memory.jobs import MemoryJobStore
from duetime.model.action import Status
from duetime_contract.specimens import claim, end
from tests.api.charges import SECRET, Charges


@pytest.fixture
def charges():
    return Charges()


def groups(charges, text, group="readers", **more):
    response = charges.ask("GET", "/search", group, queryStringParameters={"q": text, "limit": "5"}, **more)
    assert response.status == 200, response.text
    return {found["kind"]: found for found in response.json["items"]}


def values(found):
    return [item["value"] for item in found["items"]]


def schedule(charges, **more):
    body = {"type": "charge", "payload": {}, "in": 60} | more
    return charges.ask("POST", "/actions", body=body).json["id"]


def test_an_action_is_found_by_its_id_and_by_its_beginning(charges):
    action_id = schedule(charges)
    assert groups(charges, action_id)["action"]["items"] == [
        {"value": action_id, "type": "charge", "status": "pending", "count": None}
    ]
    assert values(groups(charges, action_id[:13].upper())["action"]) == [action_id]
    assert "action" not in groups(charges, "ffff")
    assert groups(charges, action_id, tenant="globex") == {}


def test_more_actions_than_fit_are_counted_as_more(charges):
    ids = [schedule(charges) for _ in range(8)]
    found = groups(charges, ids[0][:6])["action"]
    assert (len(found["items"]), found["count"], found["more"]) == (5, 6, True)


def test_correlation_ids_are_found_by_their_beginning_with_counts(charges):
    for order in ("order:17", "order:17", "order:18", "other"):
        schedule(charges, correlation_id=order)
    found = groups(charges, "order:")["correlation"]
    assert [(item["value"], item["count"]) for item in found["items"]] == [("order:17", 2), ("order:18", 1)]
    assert found["scanned"]["rows"] == 4


def test_an_old_correlation_id_is_found_by_its_whole(charges, monkeypatch):
    schedule(charges, correlation_id="order:17")
    charges.clock.wait_until(charges.clock.now() + timedelta(seconds=1))
    schedule(charges)
    monkeypatch.setattr("duetime.api.search.LARGEST_PAGE", 1)
    assert "correlation" not in groups(charges, "order:1")
    assert values(groups(charges, "order:17")["correlation"]) == ["order:17"]


def test_jobs_are_found_by_a_part_of_their_name_and_types_with_counts(charges):
    schedule(charges)
    assert values(groups(charges, "charges-h")["job"]) == ["charges-hourly"]
    assert values(groups(charges, "hourly")["job"]) == ["charges-hourly"]
    assert groups(charges, "CHAR")["type"]["items"] == [
        {"value": "charge", "type": None, "status": None, "count": 1}
    ]


@pytest.mark.parametrize("text", ["\ue000", "no such file", "ä-b"])
def test_a_text_that_no_job_name_can_have_is_not_looked_up_among_jobs(charges, text, monkeypatch):
    """Below U+E000 there is no character that DynamoDB stores."""
    read, list_jobs = [], MemoryJobStore.list
    monkeypatch.setattr(
        MemoryJobStore, "list", lambda store, *of, **page: read.append(page) or list_jobs(store, *of, **page)
    )
    assert "job" not in groups(charges, text)
    assert read == []
    assert values(groups(charges, "hourly")["job"]) == ["charges-hourly"]
    assert read


def fail(charges, *reasons):
    store = charges.cloud.store
    for reason in reasons:
        action_id = schedule(charges, **{"in": 0})
        (row,) = (row for row in store.rows() if row.id == action_id)
        run = claim(store, row.ref, row.due_at)
        store.settle(run, end(Status.FAILED, charges.clock.now(), reason))


def test_spaces_and_dots_alone_are_no_text_of_an_error(charges):
    """The same texts as `error` of the list: it ignores repeated spaces, and rejects a text of `…` alone."""
    fail(charges, "no such file")
    assert values(groups(charges, "such   file")["error"]) == ["no such file"]
    assert "error" not in groups(charges, "………")


def test_errors_are_found_by_a_part_of_their_text_as_one_pattern(charges):
    fail(charges, "Timeout after 10 s", "Timeout after 20 s")
    found = groups(charges, "timeout")["error"]
    assert [(item["value"], item["count"]) for item in found["items"]] == [("Timeout after … s", 2)]
    listed = charges.ask(
        "GET", "/actions/query", queryStringParameters={"error": "Timeout after … s", "status": "failed"}
    )
    assert len(listed.json["items"]) == 2


def test_a_payload_field_is_found_as_the_caller_sees_it(charges):
    action_id = schedule(charges, payload={"email": SECRET})
    assert values(groups(charges, f"payload.email={SECRET}")["payload"]) == [action_id]
    assert "payload" not in groups(charges, f"payload.email={SECRET}", "clerks")


def test_kinds_without_a_right_are_left_out(charges):
    schedule(charges, correlation_id="charges-x")
    assert {"job", "correlation", "type"} <= groups(charges, "charge").keys()
    assert groups(charges, "charges", "planners").keys() == {"job"}


@pytest.mark.parametrize(("q", "detail"), [("", "at least 1"), ("x" * 201, "at most 200")])
def test_a_text_of_a_wrong_length_is_rejected(charges, q, detail):
    response = charges.ask("GET", "/search", queryStringParameters={"q": q})
    assert response.status == 422
    assert detail in response.json["detail"]
