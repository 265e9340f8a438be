"""A damaged item affects itself alone, is never claimed, and is shown as undelivered.

Each attribute is removed, has another type, or is of a later version. All damaged items of a kind are in the
tables at once, beside good ones.
"""

from dataclasses import replace

import boto3
import pytest
from moto import mock_aws

from duetime.aws.items import from_item, to_item
from duetime.aws.messages import to_json
from duetime.errors import UnreadableRow
from duetime.ids import SYSTEM_TENANT, job_name, new_action_id
from duetime.model.action import Action, Status
from duetime.model.job import JobRef
from duetime.model.row_parts import Concurrency
from duetime.model.run_stats import RunStats
from duetime.ports.job_state import STATE
from duetime.wakeups.due_messages import message_of
from duetime_contract.job_specimens import OPERATED
from tests.contract import damage
from tests.contract.conftest import LOCAL, MOTO
from tests.contract.damage import Deployment, damages, put
from tests.hostile.attributes import FILLED
from tests.stored_jobs import to_definition, to_state

HEALTHY = JobRef(SYSTEM_TENANT, job_name("healthy-nightly"))
KEYED = {"concurrency": Concurrency("customer:42", 9_999)}
INDEXED = {"maintenance_shard", "maintain_at"}
AWS = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "eu-west-1",
    "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",
}


@pytest.fixture(params=[MOTO, LOCAL])
def deployment(request, monkeypatch):
    """A deployment on each engine; moto has the queues and EventBridge of both."""
    for name, value in AWS.items():
        monkeypatch.setenv(name, value)
    if request.param != "moto":
        monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", request.getfixturevalue("local_endpoint"))
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    damage.ran.clear()
    with mock_aws():
        made = Deployment(is_fast=request.param != "moto")
        yield made
        made.remove()


def pending(deployment, text, **fields) -> Action:
    """Return a row that has been due for an hour, with every attribute that a pending one-shot can have."""
    now = deployment.clock.now()
    row = replace(
        FILLED,
        id=new_action_id(now - 2 * damage.LATE),
        type="note",
        payload=f'{{"text":"{text}"}}',
        payload_version=1,
        due_at=now - damage.LATE,
        due_shard="0",
        status=Status.PENDING,
        concurrency=None,
        lease_until=None,
        nonce=None,
        kept_until=None,
        cancel_request=None,
        retry="[1,[60],0.1,null]",
        idempotency_key=None,
        depth=1,
    )
    return replace(row, **fields)


class TestRows:
    """Rows of actions: each damage in a row of its own, between good rows of the same shard."""

    @pytest.fixture
    def fields(self, request):
        return getattr(request, "param", {})

    @pytest.fixture
    def damaged(self, deployment, fields):
        deployment.deploy(replace(damage.app.manifest, jobs=()))
        table, client = deployment.settings.made.actions_table, deployment.dynamodb
        specimen = to_item(pending(deployment, "x", **fields))
        rows = {}
        for number, case in enumerate(damages(specimen)):
            row = pending(deployment, case.name, **fields)
            item = to_item(row)
            changed = {**case.item, **{name: item[name] for name in ("pk", "sk")}}
            if case.item.get("payload") == specimen["payload"]:
                changed["payload"] = item["payload"]
            if put(client, table, damage.Damage(case.name, changed)):
                rows[case.name] = (row, changed)
            if number % 20 == 0:
                good = pending(deployment, f"good {number}", **fields)
                client.put_item(TableName=table, Item=to_item(good))
        return rows

    def unreadable(self, damaged):
        found = {}
        for name, (row, item) in damaged.items():
            try:
                from_item(item)
            except UnreadableRow:
                found[name] = (row, item)
        return found

    def test_a_pass_runs_all_readable_rows_and_shows_each_other_one(self, deployment, damaged):
        unreadable = self.unreadable(damaged)
        assert len(unreadable) > 30
        assert deployment.pass_and_work() == []
        good = {text for text in damage.ran if text.startswith("good")}
        assert len(good) >= 3
        assert not {*damage.ran} & {*unreadable}
        stored = deployment.items(deployment.settings.made.actions_table)
        for name, (_, item) in unreadable.items():
            assert stored[item["pk"]["S"], item["sk"]["S"]] == item, name
        shown = deployment.undelivered()
        in_index = {name for name, (_, item) in unreadable.items() if {"due_at", "due_shard"} <= {*item}}
        missed = {name for name in in_index if unreadable[name][0].id not in shown}
        later = {name for name in missed if "due" in name}
        assert missed == later, "a row that the index has is shown"

    @pytest.mark.parametrize("fields", [{}, KEYED], indirect=True, ids=["alone", "keyed"])
    def test_a_row_that_was_armed_before_its_damage_is_not_claimed(self, deployment, damaged):
        unreadable = self.unreadable(damaged)
        bodies = [to_json(message_of(row)) for row, _ in unreadable.values()]
        assert sorted(deployment.deliver(bodies)) == sorted(bodies)
        stored = deployment.items(deployment.settings.made.actions_table)
        for name, (_, item) in unreadable.items():
            assert stored[item["pk"]["S"], item["sk"]["S"]] == item, name
        assert damage.ran == []

    def test_arm_shows_each_damaged_row_that_it_receives_and_arms_the_others(self, deployment, damaged):
        unreadable = self.unreadable(damaged)
        stream = [
            self.record(number, item) for number, (_, item) in enumerate(damaged.values()) if "status" in item
        ]
        assert deployment.arm({"Records": stream}, damage.CONTEXT) == {"batchItemFailures": []}
        assert deployment.publish({"Records": stream}, damage.CONTEXT) == {"batchItemFailures": []}
        shown = deployment.undelivered()
        missed = {
            name for name, (row, item) in unreadable.items() if "status" in item and row.id not in shown
        }
        assert missed == set()
        assert len(deployment.bodies(deployment.due)) == len(damaged) - len(unreadable)

    def record(self, number, item):
        keys = {name: item[name] for name in ("pk", "sk")}
        return {
            "eventName": "INSERT",
            "dynamodb": {
                "Keys": keys,
                "NewImage": item,
                "SequenceNumber": str(number),
                "ApproximateCreationDateTime": 1_800_000_000,
            },
        }

    def test_no_list_and_no_read_of_the_api_fails(self, deployment, damaged):
        ids = [row.id for row, _ in damaged.values()]
        paths = [
            "/actions/query",
            "/dead-letters",
            "/summary",
            *(f"/actions/{action_id}" for action_id in ids),
        ]
        statuses = {path: deployment.get(path).status for path in paths}
        assert {path: status for path, status in statuses.items() if status not in {200, 409}} == {}
        assert len([status for status in statuses.values() if status == 409]) == len(self.unreadable(damaged))


class TestJobs:
    """Jobs that code declares: each damage in a job of its own."""

    @pytest.fixture
    def damaged(self, deployment):
        deployment.deploy()
        table, client = deployment.settings.made.jobs_table, deployment.dynamodb
        cases = [
            (place, case)
            for place, item in enumerate(self.items(deployment, "a-a"))
            for case in damages(item)
        ]
        firsts = {place: [at for at, _ in cases].index(place) for place in (0, 1)}
        jobs = {}
        for number, (place, _) in list(enumerate(cases))[:: 1 if deployment.is_fast else 4]:
            name = f"damaged-{number:03}"
            items = self.items(deployment, name)
            case = list(damages(items[place]))[number - firsts[place]]
            if put(client, table, case):
                client.put_item(TableName=table, Item=items[1 - place])
                jobs[name] = case.name
        return jobs

    def items(self, deployment, name):
        """Return state and definition of a job, with every attribute."""
        healthy = deployment.backends.jobs.get(HEALTHY)
        tally = RunStats(
            executed=2,
            failed=1,
            consecutive_failures=1,
            last_started_at=deployment.clock.now(),
            last_id="a-b.1",
            last_status="failed",
            last_error="it failed",
            triggered_by="ann",
        )
        job = replace(
            healthy,
            **OPERATED,
            ref=JobRef(SYSTEM_TENANT, job_name(name)),
            definition=replace(healthy.definition, name=job_name(name)),
            maintain_at=deployment.clock.now(),
            tally=tally,
            running=FILLED.ref,
            waiting=FILLED.ref,
            maintain_failures=2,
        )
        return to_state(job), to_definition(job)

    def unreadable(self, deployment, damaged):
        found = set()
        for name in damaged:
            try:
                deployment.backends.jobs.get(JobRef(SYSTEM_TENANT, job_name(name)))
            except UnreadableRow:
                found.add(name)
        return found

    def manifest(self, names, cadence):
        (healthy,) = damage.app.manifest.jobs
        jobs = [
            replace(healthy, cadences=(cadence,)),
            *(replace(healthy, name=job_name(name)) for name in names),
        ]
        return replace(damage.app.manifest, jobs=tuple(jobs))

    def test_a_deploy_and_its_rollback_leave_damaged_jobs_as_they_are(self, deployment, damaged):
        unreadable = self.unreadable(deployment, damaged)
        assert len(unreadable) > deployment.most(40)
        declared = sorted(unreadable)
        before = deployment.items(deployment.settings.made.jobs_table)
        for cadence in ("0 4 1 1 ?", "0 3 1 1 ?"):
            lines = deployment.deploy(self.manifest(declared, cadence))
            assert any(line.startswith("changed healthy-nightly") for line in lines)
            assert {line.split()[1] for line in lines if line.startswith("left ")} == {*declared}
        after = deployment.items(deployment.settings.made.jobs_table)
        keys = [key for key in before if key[0].removeprefix("system#") in unreadable]
        assert {key: after.get(key) for key in keys} == {key: before[key] for key in keys}

    def test_a_pass_maintains_the_others_and_shows_each_damaged_job(self, deployment, damaged):
        unreadable = self.unreadable(deployment, damaged)
        deployment.catch_up({}, damage.CONTEXT)
        shown = deployment.undelivered()
        stored = deployment.items(deployment.settings.made.jobs_table)
        in_index = {name for name in unreadable if {*stored.get((f"system#{name}", STATE), ())} >= INDEXED}
        assert len(in_index) > deployment.most(40)
        missed = {damaged[name] for name in in_index if f"system#{name}" not in shown}
        assert missed <= {f"{name} of a later version" for name in INDEXED}, "the index has all others"
        assert not deployment.backends.jobs.get(HEALTHY).wakes.is_stale

    def test_no_read_of_the_api_fails(self, deployment, damaged):
        paths = ["/jobs", "/jobs/coming", "/jobs/load", "/summary", *(f"/jobs/{name}" for name in damaged)]
        statuses = {path: deployment.get(path).status for path in paths}
        assert {path: status for path, status in statuses.items() if status not in {200, 409}} == {}
