"""Filters in a query, and many actions changed by one request; asked as API Gateway asks it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.ids import SYSTEM_TENANT
from duetime.memory.jobs import MemoryJobStore
from duetime.memory.notes import MemoryRoutes
from duetime.model.action import Ending, Status
from duetime.model.row_parts import RunPlan
from duetime.ports.job_store import JobPorts
from duetime_contract.job_specimens import recorded
from tests.api.conftest import ADA, OPERATOR

BOB = {**ADA, "sub": "3", "email": "bob@acme.example"}
EVE = {"custom:tenant_id": "globex", "sub": "2", "email": "eve@globex.example"}


@pytest.fixture
def put(call, clock):
    """Schedules a remark and lets a second pass; its id."""

    def schedule(correlation_id="order:7", claims=ADA, **more):
        body = {"type": "remark", "payload": {}, "in": 60, "correlation_id": correlation_id} | more
        made = call.schedule(body=body, claims=claims)
        clock.wait_until(clock.now() + timedelta(seconds=1))
        return made["id"]

    return schedule


@pytest.fixture
def fail(put, worker, clock):
    """A remark that has failed; its id."""

    def failed(**more):
        action_id = put(**{"in": 0, **more})
        tenant = more.get("claims", ADA)["custom:tenant_id"]
        claimed = worker.claim(action_id, tenant=tenant)
        worker.settle(claimed, Ending.FAILED, Status.FAILED, message="no bank", kept_until=clock.now())
        return action_id

    return failed


@pytest.fixture
def stumble(worker, clock):
    """Makes the first attempt of an action fail; a second one is to come."""

    def stumbled(action_id):
        clock.wait_until(clock.now() + timedelta(seconds=90))
        claimed = worker.claim(action_id)
        worker.settle(claimed, Ending.FAILED, Status.PENDING, due_at=clock.now() + timedelta(hours=1))

    return stumbled


def ids_of(response):
    assert response.status == 200, response.text
    return [item["id"] for item in response.json["items"]]


class TestQuery:
    def test_takes_each_filter(self, call, put):
        first, second = put("order:7"), put("order:8", **{"in": 600})
        large = call.schedule()["id"]
        for query, found in (
            ({"type": "remark"}, [second, first]),
            ({"correlation_id": "order:7"}, [first]),
            ({"due_after": "2026-03-01T12:05:00Z", "due_until": "2026-03-01T12:10:01Z"}, [second]),
            ({"created_until": "2026-03-01T12:00:00Z"}, [first]),
            ({"created_after": "2026-03-01T13:00:00+01:00"}, [large, second]),
            ({"status": "pending"}, [large, second, first]),
            ({"status": "executed,failed"}, []),
        ):
            assert ids_of(call("query", query=query)) == found

    def test_takes_ids_with_commas_and_no_other_text(self, call, put):
        first, _, third = put(), put(), put()
        assert set(ids_of(call("query", query={"ids": f"{first},{third}"}))) == {first, third}
        response = call("query", query={"ids": "order:7"})
        assert (response.status, "copy ids from a list of actions" in response.text) == (422, True)

    @pytest.mark.parametrize("field", ["ids", "payload", "status", "error"])
    def test_rejects_a_null_filter_and_an_empty_list(self, call, field):
        """A filter whose value is missing must not select everything else."""
        for value in (None, []):
            response = call("cancel-many", body={"type": "remark", "dry_run": True, field: value})
            assert response.status == 422

    def test_accepts_several_statuses_in_both_spellings(self, call, put):
        waiting, cancelled = put(), put()
        call("cancel", action_id=cancelled)
        assert ids_of(call("query", query={"status": "pending,cancelled"})) == [cancelled, waiting]
        doubled = {
            "queryStringParameters": {"status": "cancelled"},
            "multiValueQueryStringParameters": {"status": ["pending", "cancelled"]},
        }
        assert ids_of(call("query", **doubled)) == [cancelled, waiting]
        assert ids_of(call("query", query={"status": "cancelled"})) == [cancelled]

    def test_takes_a_correlation_id_that_holds_a_comma(self, call, put):
        action_id = put("order:7,8")
        assert ids_of(call("query", query={"correlation_id": "order:7,8"})) == [action_id]

    def test_runs_of_a_job_are_listed_for_callers_who_see_the_job(self, call_cloud, run_until, clock):
        run_until(clock.now() + timedelta(hours=2))
        response = call_cloud("query", query={"job": "billing-hourly", "status": "executed"}, claims=OPERATOR)
        assert [item["job"] for item in response.json["items"]] == ["billing-hourly"] * 2
        response = call_cloud("query", query={"job": "billing-hourly"}, claims=ADA)
        assert (response.status, response.code) == (404, "job-not-found")

    @pytest.mark.parametrize(
        ("query", "code", "detail"),
        [
            ({"status": "done"}, "invalid-request", "status.0 must be 'pending', 'retrying', 'processing'"),
            ({"status": ""}, "invalid-request", "status.0 must be"),
            ({"due_after": "soon"}, "invalid-argument", "is no ISO 8601 time"),
            ({"due_until": "2026-03-01T12:00:00"}, "invalid-argument", "has no offset"),
            ({"created_after": "2300-01-01T00:00Z"}, "invalid-argument", "1970 to 2199"),
            ({"job": "nightly"}, "invalid-argument", "two or more kebab-case segments"),
            ({"type": ""}, "invalid-argument", "type '' is not a payload type"),
            (
                {"due_after": "2026-03-02T00:00Z", "due_until": "2026-03-01T00:00Z"},
                "invalid-argument",
                "due_after must lie before due_until",
            ),
            ({"dry_run": "true"}, "invalid-request", "dry_run is not known here"),
        ],
    )
    def test_an_invalid_filter_is_rejected(self, call, query, code, detail):
        response = call("query", query=query)
        assert (response.status, response.code) == (422, code)
        assert detail in response.json["detail"]


class TestCancel:
    def test_a_dry_run_precedes_the_change(self, call, put):
        mine, other = [put(), put()], put("order:8")
        body = {"correlation_id": "order:7", "dry_run": True}
        detail = call("cancel-many", body=body).json
        assert detail["dry_run"] is True
        assert [item["id"] for item in detail["changed"]] == mine
        assert {item["status"] for item in detail["changed"]} == {"pending"}
        done = call("cancel-many", body=body | {"dry_run": False}).json
        assert [item["id"] for item in done["changed"]] == mine
        assert {item["status"] for item in done["changed"]} == {"cancelled"}
        assert {item["cancelled_by"] for item in done["changed"]} == {"ada@acme.example"}
        assert (done["left"], done["next_cursor"], done["dry_run"]) == ([], None, False)
        assert call("get", action_id=other).json["status"] == "pending"

    def test_goes_on_from_the_cursor(self, call, put):
        mine = [put() for _ in range(5)]
        body, seen = {"correlation_id": "order:7", "limit": 2}, []
        while True:
            step = call("cancel-many", body=body).json
            seen.append([item["id"] for item in step["changed"]])
            if step["next_cursor"] is None:
                break
            body["cursor"] = step["next_cursor"]
        assert seen == [mine[:2], mine[2:4], mine[4:]]

    def test_reports_the_unchanged_ones_and_the_reason(self, call_over, store, put):
        action_id = put()

        class Meddling:
            def __getattr__(self, name):
                return getattr(store, name)

            def by_correlation(self, *inputs, **more):
                page = store.by_correlation(*inputs, **more)
                call_over(store)("cancel", action_id=action_id, claims=BOB)
                return page

        jobs = JobPorts(MemoryJobStore(store), MemoryRoutes([]))
        step = call_over(Meddling(), jobs=jobs)("cancel-many", body={"correlation_id": "order:7"}).json
        assert step["changed"] == []
        assert [item["id"] for item in step["left"]] == [action_id]
        assert "it is cancelled" in step["left"][0]["reason"]

    def test_touches_no_other_tenant(self, call, put):
        theirs = put(claims=EVE)
        assert call("cancel-many", body={"correlation_id": "order:7"}).json["changed"] == []
        assert call("cancel-many", body={"created_until": "2026-03-02T00:00Z"}).json["changed"] == []
        assert call("get", action_id=theirs, claims=EVE).json["status"] == "pending"

    @pytest.mark.parametrize(
        ("body", "code", "detail"),
        [
            ({}, "invalid-argument", "name the actions to cancel"),
            ({"dry_run": True, "limit": 5}, "invalid-argument", "name the actions to cancel"),
            ({"correlation_id": None}, "invalid-argument", "correlation_id is None"),
            ({"due_until": None, "type": "remark"}, "invalid-argument", "due_until is None"),
            ({"status": "executed"}, "invalid-argument", "cancel takes pending or processing actions"),
            ({"corelation_id": "order:7"}, "invalid-request", "corelation_id is not known here"),
            ({"type": "remark", "dry_run": "no"}, "invalid-request", "dry_run must be"),
            ({"type": "remark", "limit": 101}, "invalid-request", "limit must be less than"),
            ({"type": "remark", "limit": "5"}, "invalid-request", "limit must be"),
            ({"type": "remark", "at": "2027-01-01T00:00Z"}, "invalid-request", "at is not known here"),
            ({"status": 5}, "invalid-request", "status must be"),
            ({"status": ["failed", 5]}, "invalid-request", "status.1 must be"),
            (None, "invalid-request", "the body is required"),
        ],
    )
    def test_an_invalid_filter_is_rejected_and_nothing_changes(self, call, put, body, code, detail):
        action_id = put()
        response = call("cancel-many", body=body)
        assert (response.status, response.code) == (422, code)
        assert detail in response.json["detail"]
        assert call("get", action_id=action_id).json["status"] == "pending"

    def test_rejects_a_forged_cursor(self, call):
        response = call("cancel-many", body={"type": "remark", "cursor": "x"})
        assert (response.status, response.code) == (422, "invalid-cursor")

    def test_is_the_only_method_there(self, call):
        response = call("cancel-many", httpMethod="GET")
        assert (response.status, response.code) == (405, "wrong-method")
        assert response.headers["Allow"] == "POST"


class TestPreview:
    def test_counts_all_that_match_by_type_and_status(self, call, put, stumble):
        mine = [put(), put(), put()]
        stumble(mine[0])
        put("order:8")
        step = call("cancel-many", body={"correlation_id": "order:7", "dry_run": True, "limit": 1}).json
        assert len(step["changed"]) == 1
        assert step["matched"] == {
            "count": 3,
            "more": False,
            "by_type": {"remark": 3},
            "by_status": {"pending": 2, "retrying": 1},
        }

    def test_says_that_there_may_be_more_than_were_counted(self, call, put, monkeypatch):
        for name in ("MOST_STEPS", "STEP"):
            monkeypatch.setattr(f"duetime.api.bulk_actions.{name}", 2)
        for _ in range(6):
            put()
        body = {"correlation_id": "order:7", "dry_run": True, "limit": 1}
        matched = call("cancel-many", body=body).json["matched"]
        assert (matched["count"], matched["more"]) == (5, True)

    def test_the_server_sets_the_cut_off_which_the_change_takes(self, call, put, clock):
        before, body = put(), {"correlation_id": "order:7", "dry_run": True}
        preview = call("cancel-many", body=body).json
        clock.wait_until(clock.now() + timedelta(seconds=1))
        after = put()
        done = call("cancel-many", body=body | {"dry_run": False, "created_until": preview["created_until"]})
        assert [item["id"] for item in done.json["changed"]] == [before]
        assert (done.json["matched"], done.json["created_until"]) == (None, preview["created_until"])
        assert call("get", action_id=after).json["status"] == "pending"

    def test_only_its_first_step_counts(self, call, put):
        put(), put()
        body = {"correlation_id": "order:7", "dry_run": True, "limit": 1}
        first = call("cancel-many", body=body).json
        second = call("cancel-many", body=body | {"cursor": first["next_cursor"]}).json
        assert (first["matched"]["count"], second["matched"]) == (2, None)


class TestRuns:
    """Runs of jobs: which lists and changes include them."""

    def test_a_list_states_whether_it_has_runs(self, call, put, fail):
        put(), fail()
        for query, expected in (
            ({}, False),
            ({"status": "pending"}, False),
            ({"status": "failed,pending"}, False),
            ({"status": "failed"}, True),
            ({"status": "failed", "runs": "false"}, False),
        ):
            assert call("query", query=query).json["includes_runs"] is expected, query

    def test_a_redrive_without_runs_leaves_the_failed_runs_of_jobs(self, call, store, fail, clock):
        run = replace(recorded(store, status=Status.FAILED), planned=RunPlan(clock.now()))
        failed = fail()
        store.record(run)
        body = {"status": "failed", "dry_run": True}
        with_runs = call("redrive-many", body=body, claims=OPERATOR).json
        without = call("redrive-many", body=body | {"runs": False}, claims=OPERATOR).json
        assert {item["id"] for item in with_runs["changed"]} == {failed, run.id}
        assert [item["id"] for item in without["changed"]] == [failed]
        assert (with_runs["includes_runs"], without["includes_runs"]) == (True, False)

    @pytest.mark.parametrize(
        ("query", "detail"),
        [
            ({"runs": "true"}, "found by job, by id, or among failed actions"),
            ({"runs": "false", "job": "billing-hourly"}, "leave out runs, or the job"),
        ],
    )
    def test_a_contradiction_is_rejected(self, call, query, detail):
        response = call("query", query=query)
        assert (response.status, response.code) == (422, "invalid-argument")
        assert detail in response.json["detail"]

    def test_without_runs_is_no_filter_of_a_change(self, call, put):
        put()
        response = call("cancel-many", body={"runs": False, "dry_run": True})
        assert (response.status, response.code) == (422, "invalid-argument")


class TestRetrying:
    def test_is_a_filter_of_lists(self, call, put, stumble):
        retrying, waiting = put(), put()
        stumble(retrying)
        assert ids_of(call("query", query={"status": "retrying"})) == [retrying]
        assert ids_of(call("query", query={"status": "pending"})) == [waiting, retrying]
        [row] = call("query", query={"status": "retrying,failed"}).json["items"]
        assert (row["status"], row["is_retrying"]) == ("pending", True)

    def test_is_a_filter_of_a_cancel_and_none_of_a_redrive(self, call, put, stumble):
        retrying, waiting = put(), put()
        stumble(retrying)
        done = call("cancel-many", body={"status": "retrying"}).json
        assert [item["id"] for item in done["changed"]] == [retrying]
        assert call("get", action_id=waiting).json["status"] == "pending"
        response = call("redrive-many", body={"status": "retrying"})
        assert (response.status, response.code) == (422, "invalid-argument")
        assert "redrive takes failed actions; retrying ones cannot" in response.json["detail"]


class TestRedrive:
    @pytest.mark.parametrize(
        ("when", "due_at"),
        [
            ({}, "2026-03-01T12:00:02Z"),
            ({"in": 60}, "2026-03-01T12:01:02Z"),
            ({"at": "2026-03-02T09:00", "tz": "Europe/Paris"}, "2026-03-02T08:00:00Z"),
        ],
    )
    def test_redrives_failed_actions_at_once_or_at_the_given_time(self, call, fail, when, due_at):
        failed = [fail(), fail(correlation_id="order:8")]
        detail = call("redrive-many", body={"type": "remark", "dry_run": True, **when}).json
        assert [item["status"] for item in detail["changed"]] == ["failed", "failed"]
        done = call("redrive-many", body={"type": "remark", **when}).json
        assert [item["id"] for item in done["changed"]] == failed[::-1]
        assert {(item["status"], item["due_at"]) for item in done["changed"]} == {("pending", due_at)}

    def test_with_the_sample_request_changes_nothing(self, call, fail):
        fail()
        assert call("redrive-many").json == {
            "changed": [],
            "left": [],
            "next_cursor": None,
            "dry_run": False,
            "includes_runs": True,
            "created_until": None,
            "matched": None,
        }

    @pytest.mark.parametrize(
        ("body", "code", "detail"),
        [
            ({}, "invalid-argument", "name the actions to redrive"),
            ({"status": "failed", "in": 5, "at": "2027-01-01T00:00Z"}, "invalid-request", 'either "at"'),
            ({"status": "failed", "tz": "Europe/Paris"}, "invalid-request", "counts from now"),
            ({"status": "pending"}, "invalid-argument", "redrive takes failed actions"),
        ],
    )
    def test_an_invalid_filter_is_rejected(self, call, body, code, detail):
        response = call("redrive-many", body=body)
        assert (response.status, response.code) == (422, code)
        assert detail in response.json["detail"]


class TestDeadLetters:
    def test_dead_letters_list_failed_actions_latest_failure_first(self, call, put, fail):
        failed = [fail() for _ in range(3)]
        put()
        page = call("dead-letters", query={}).json
        assert [item["id"] for item in page["items"]] == failed[::-1]
        assert page["items"][0]["failure_reason"] == "no bank"
        assert page["next_cursor"] is None

    def test_come_in_pages_by_the_same_filters(self, call, fail):
        failed = [fail(correlation_id=f"order:{n}") for n in range(3)]
        first = call("dead-letters", query={"limit": "2"}).json
        rest = call("dead-letters", query={"limit": "2", "cursor": first["next_cursor"]})
        assert ids_of(rest) == failed[:1]
        assert ids_of(call("dead-letters", query={"correlation_id": "order:1"})) == [failed[1]]
        assert ids_of(call("dead-letters")) == []

    def test_are_the_callers_own_and_for_operators_codes_jobs_too(self, call, store, fail):
        mine, theirs = fail(), fail(claims=EVE)
        run = recorded(store, status=Status.FAILED)
        store.record(replace(run, tenant_id=SYSTEM_TENANT))
        assert ids_of(call("dead-letters", query={}, claims=ADA)) == [mine]
        assert ids_of(call("dead-letters", query={}, claims=EVE)) == [theirs]
        assert ids_of(call("dead-letters", query={}, claims=OPERATOR)) == [run.id, mine]

    @pytest.mark.parametrize(
        ("query", "status", "code"),
        [
            ({"status": "pending"}, 422, "invalid-request"),
            ({"limit": "0"}, 422, "invalid-request"),
            ({"cursor": "x"}, 422, "invalid-cursor"),
            ({"cursor": "0001-01-01T00:00:00+14:00 x acme"}, 422, "invalid-cursor"),
        ],
    )
    def test_take_no_other_parameters(self, call, query, status, code):
        response = call("dead-letters", query=query)
        assert (response.status, response.code) == (status, code)

    def test_take_each_parameter_once(self, call):
        response = call("dead-letters", multiValueQueryStringParameters={"type": ["remark", "other"]})
        assert (response.status, response.code) == (422, "invalid-request")
        assert response.json["detail"] == "type is given twice"
