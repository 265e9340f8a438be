"""All that is stored of a tenant is exported, and erased; nothing of another tenant is."""

import ast
import itertools
import json
import os
import re
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import boto3
import pytest

import duetime.aws
import duetime.ports
from duetime import App, Payload, Rate, RetryPolicy, Run, Scheduler, Status, instant, on_event
from duetime.api.audit_middleware import AuditChains
from duetime.aws import clients, tenant_items
from duetime.aws.backends import AwsBackends
from duetime.aws.deployed import DeployedTables
from duetime.aws.item_kinds import OF_SYSTEM, OF_TENANTS, OTHER, is_classified, kind_of
from duetime.aws.tables import ACTIONS, FORMAT, JOBS, create_table_request
from duetime.errors import BackendUnavailable, InvalidArgument, OperationFailed
from duetime.ids import SYSTEM_TENANT, new_action_id
from duetime.jobs.register import Registration
from duetime.model.audit import AuditKind, AuditTarget
from duetime.model.audit_verification import FindingKind, verify
from duetime.model.change import Change
from duetime.model.deployed_shards import DeployedShards
from duetime.model.job import JobRef
from duetime.model.notification import DigestWindow
from duetime.model.preferences import Preferences
from duetime.model.tenant_erase import TenantErase
from duetime.model.undelivered import UndeliveredKind
from duetime.model.work_pause import PauseScope, WorkPause
from duetime.ports.job_store import JobPorts
from duetime.ports.wakeups import Delivery
from duetime.tenant_data.erase import Erase
from duetime.tenant_data.export import Export
from duetime.testing.turned_clock import TurnedClock
from duetime.wakeups.assembly import Steps
from duetime.wakeups.due_messages import message_of
from duetime.worker.heartbeat import Heartbeat
from duetime.worker.worker import Worker
from duetime_contract.specimens import ACME, EXPIRY, GLOBEX, HOUR, MINUTE, NOON, terms
from tests.contract.conftest import LOCAL, MOTO
from tests.contract.rules.access import entry, grant
from tests.contract.rules.notifications import FAILING, notification
from tests.contract.rules.run_counts import ended
from tests.contract.rules.undelivered import given_up

KINDS = {kind for kinds in OF_TENANTS.values() for kind in kinds}
SECRET = "the secret of {}"


class Note(Payload):
    text: str


class Deployment:
    """A deployment whose tenants have items of every kind."""

    def __init__(self, settings):
        self.settings, self.clock = settings, TurnedClock(NOON)
        boto3.client("scheduler").create_schedule_group(Name=settings.made.job_group)
        tables = DeployedTables(clients.dynamodb(), settings.made.jobs_table)
        tables.mark(FORMAT)
        self.app = self._app()
        tables.publish(self.app.manifest, DeployedShards(16), NOON)
        self.backends = AwsBackends(settings, self.clock)
        self.steps = Steps(self.backends)
        self.steps.reconcile(self.app.manifest.jobs, worker="default")

    def _app(self):
        app = App()

        @app.action(retry=RetryPolicy(attempts=1), rate=Rate(100, "second", per_tenant=True))
        def note(payload: Note, _run: Run) -> None:
            raise ValueError(payload.text)

        @app.job(
            on_event("kb", "Uploaded", tenant="detail.owner"), name="kb-index", retry=RetryPolicy(attempts=1)
        )
        def index(run: Run) -> None:
            raise ValueError(SECRET.format(run.tenant_id))

        @app.job(name="nightly-report")
        def report(_run: Run) -> None: ...

        return app

    def scheduler(self, tenant_id):
        ports = JobPorts(self.backends.jobs, self.backends.routes, "second")
        return Scheduler(
            self.backends.store,
            tenant_id=tenant_id,
            actor="ada",
            clock=self.clock,
            settings=self.settings,
            jobs=ports,
        )

    def work(self, action):
        worker = Worker(self.app.handler_set, self.backends, Heartbeat(self.backends), instance="story")
        worker(Delivery(message_of(action), action.due_at, "receipt"))

    def live(self, tenant_id):
        """Let a tenant use everything."""
        scheduler = self.scheduler(tenant_id)
        scheduler.schedule(
            Note(text="later"), at=timedelta(days=9), idempotency_key="once", correlation_id="c-1"
        )
        for action in self.backends.store.of_tenant(tenant_id, limit=9, cursor=None):
            self.steps.arm([Change(None, action)])
        scheduler.schedule(Note(text="x" * 5_000), at=HOUR, debounce_key="long")
        scheduler.batch("notes").open()
        waits = scheduler.schedule(Note(text="waits"), at=timedelta(days=9), concurrency_key="line")
        self.backends.store.join_tail(waits, self.clock.now())
        self.work(
            scheduler.schedule(
                Note(text=SECRET.format(tenant_id)), at=self.clock.now(), concurrency_key="line"
            )
        )
        scheduler.jobs.register(
            Registration(name="acme-report", handler="nightly-report", cadences=["daily 03:15"])
        )
        self.steps.maintain(JobRef(tenant_id, "acme-report"))
        self._event(tenant_id)
        self._notes(tenant_id)

    def _event(self, tenant_id):
        ref = JobRef(SYSTEM_TENANT, "kb-index")
        (trigger,) = self.backends.jobs.get(ref).cadence_set.triggers
        self.event = {
            "id": f"event-{tenant_id}",
            "time": "2030-06-01T12:00:00Z",
            "source": "kb",
            "detail-type": "Uploaded",
            "detail": {"owner": tenant_id},
        }
        self.work(self.steps.dispatch_jobs.event(ref, trigger.name, self.event))
        self.dispatch_input = {
            "job": ref.name,
            "tenant": "system",
            "cadence": trigger.name,
            "event": self.event,
        }

    def _notes(self, tenant_id):
        backends = self.backends
        backends.grants.put(tenant_id, grant())
        trail = backends.audit_trail
        trail.begin(entry(tenant_id=tenant_id))
        ports = backends.notifications
        ports.preferences.put(Preferences(tenant_id=tenant_id, addresses=("ada@example.com",)))
        ports.inbox.add(notification(tenant_id=tenant_id), expires_at=EXPIRY)
        window = DigestWindow(tenant_id, FAILING, NOON, NOON + 15 * MINUTE)
        ports.windows.count(notification(tenant_id=tenant_id), window, expires_at=EXPIRY)
        ports.deliveries.end(tenant_id, "x:email:ada@example.com", expires_at=EXPIRY)
        backends.run_counts.add([ended(tenant_id=tenant_id)], expires_at=EXPIRY)
        pause = WorkPause(
            id=new_action_id(NOON),
            scope=PauseScope.TENANT,
            name=tenant_id,
            reason="its scripts loop",
            by="ada",
            since=NOON,
        )
        backends.pauses.begin(pause)
        store = backends.undelivered.store
        body = json.dumps(self.dispatch_input)
        store.keep(given_up(f"event-{tenant_id}", kind=UndeliveredKind.EVENT, body=body), expires_at=EXPIRY)
        body = json.dumps({"digest": {"tenant_id": tenant_id}})
        store.keep(given_up(f"digest-{tenant_id}", body=body), expires_at=EXPIRY)

    def items(self, *tables):
        """Return all items of both tables, or of some."""
        for table in tables or (self.settings.made.actions_table, self.settings.made.jobs_table):
            for page in clients.dynamodb().get_paginator("scan").paginate(TableName=table):
                for item in page["Items"]:
                    yield table.removeprefix("duetime-"), item

    def kinds_of(self, tenant_id):
        return Counter(
            kind_of(table, item)
            for table, item in self.items()
            if item["pk"]["S"].startswith(f"{tenant_id}#")
        )

    def wakes_of(self, tenant_id):
        timers = [name for name in self.backends.timers.known() if name.startswith(f"{tenant_id}.")]
        return timers + [
            name for _, name in self.backends.job_wakes.known() if name.startswith(f"{tenant_id}.")
        ]

    def entry(self):
        """Return an entry that a process of the API has not stored yet."""
        now = self.clock.now()
        return replace(entry(), id=new_action_id(now), requested_at=now, expires_at=now + timedelta(days=400))

    def erase(self, **options):
        return Erase(self.settings, self.clock, ACME, by="role/Admin/ada", reason="contract ended", **options)


@pytest.fixture(params=[MOTO, LOCAL])
def deployment(request, deployed, monkeypatch):
    """A deployment on moto; or its tables in DynamoDB Local, and the rest on moto."""
    if request.param == "moto":
        yield Deployment(deployed)
        return
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", request.getfixturevalue("local_endpoint"))
    client, shapes = (
        request.getfixturevalue("local_client"),
        {deployed.made.actions_table: ACTIONS, deployed.made.jobs_table: JOBS},
    )
    for name, shape in shapes.items():
        client.create_table(**create_table_request(shape, name))
    yield Deployment(deployed)
    for name in shapes:
        client.delete_table(TableName=name)


@pytest.fixture
def tenants(deployment):
    """The deployment with two tenants that use everything."""
    for tenant_id in (ACME, GLOBEX):
        deployment.live(tenant_id)
    return deployment


def test_every_kind_of_item_is_erased_and_another_tenant_keeps_all(tenants):
    before = tenants.kinds_of(GLOBEX)
    assert set(before) == KINDS  # the story has every kind
    assert len(tenants.wakes_of(ACME)) == 2
    others = sorted(str(item) for _, item in tenants.items() if item["pk"]["S"].startswith("globex#"))

    report = tenants.erase()()
    assert report.is_complete, report
    assert set(report.items) == KINDS | {"undelivered", "pauses"}
    assert report.items["undelivered"] == 2
    assert not tenants.kinds_of(ACME)
    assert tenants.wakes_of(ACME) == []
    assert sorted(str(item) for _, item in tenants.items() if item["pk"]["S"].startswith("globex#")) == others
    assert len(tenants.wakes_of(GLOBEX)) == 2
    assert all(is_classified(table, item) for table, item in tenants.items())
    survivors = [item for _, item in tenants.items() if "acme" in str(item).replace("acme-report", "")]
    assert {item["operation"]["S"] for item in survivors} == {"erase"}
    assert SECRET.format(ACME) not in str(list(tenants.items()))


def test_a_new_tenant_of_the_same_name_begins_with_nothing(tenants):
    tenants.erase()()
    scheduler = tenants.scheduler(ACME)
    assert list(scheduler.jobs.list()) == list(tenants.scheduler("initech").jobs.list())
    again = scheduler.schedule(Note(text="new"), at=HOUR, idempotency_key="once")
    assert again.payload == '{"text":"new"}'
    assert not tenants.backends.audit_trail.list(ACME, None, limit=9, cursor=None).entries
    assert tenants.backends.preferences.get(ACME) == Preferences(tenant_id=ACME)


def test_the_erase_is_in_the_audit_trail_of_the_system(tenants):
    report = tenants.erase()()
    target = AuditTarget(AuditKind.TENANT, ACME)
    (found,) = tenants.backends.audit_trail.list(SYSTEM_TENANT, target, limit=9, cursor=None).entries
    assert (found.id, found.operation, found.by, found.status) == (
        report.entry_id,
        "erase",
        "role/Admin/ada",
        200,
    )
    assert found.request_fields["reason"] == "contract ended"
    result = {"erased": sum(report.items.values()), "ended_at": instant.text(tenants.clock.now())}
    assert found.result == result
    verified = verify([found], now=NOON + HOUR)
    assert (verified.findings, verified.heads[0].head.number) == ([], 2)
    forged = verify([replace(found, by="role/Admin/eve")], now=NOON + HOUR)
    assert {finding.kind for finding in forged.findings} == {FindingKind.CHANGED}


def test_a_chain_that_goes_on_after_an_erase_has_no_findings(tenants):
    trail = tenants.backends.audit_trail
    chains = AuditChains(trail, os.urandom)
    for _ in range(2):
        chains.end(chains.begin(tenants.entry()).ended(200, {}))
    tenants.erase()()
    tenants.clock.wait_until(tenants.clock.now() + MINUTE)
    for _ in range(3):
        chains.end(chains.begin(tenants.entry()).ended(200, {}))
    target, now = AuditTarget(AuditKind.TENANT, ACME), tenants.clock.now() + HOUR
    erase = TenantErase.latest(trail.list(SYSTEM_TENANT, target, limit=9, cursor=None))
    entries = trail.list(ACME, None, limit=9, cursor=None).entries
    assert [finding.kind for finding in verify(entries, now=now).findings] == [FindingKind.REMOVED]
    assert verify(entries, now=now, erase=erase).findings == []
    first, _, last = sorted(entries, key=lambda entry: entry.begun_link.number)
    removed = verify([first, last], now=now, erase=erase).findings
    assert [(finding.kind, finding.number) for finding in removed] == [(FindingKind.REMOVED, 9)]


def test_a_dry_run_counts_what_an_erase_finds_and_changes_nothing(tenants):
    before = sorted(map(str, tenants.items()))
    report = tenants.erase(keep_audit=True).preview()
    assert sorted(map(str, tenants.items())) == before
    assert set(report.items) == (KINDS | {"undelivered", "pauses"}) - {"audit"}
    assert not report.entry_id


def test_the_audit_trail_can_stay(tenants):
    report = tenants.erase(keep_audit=True)()
    assert report.is_complete
    assert set(tenants.kinds_of(ACME)) == {"audit"}


class Killed(BaseException):
    """Ends the process of a command."""


def test_an_erase_that_is_killed_at_any_call_completes_when_it_is_repeated(tenants, monkeypatch):
    monkeypatch.setattr(tenant_items, "_PAGE", 7)
    for calls in itertools.count(1, step=23):
        left = itertools.count(calls, step=-1)

        def kill(left=left, **_):
            if next(left) <= 0:
                raise Killed

        client = clients.dynamodb()
        client.meta.events.register_first("before-call.dynamodb", kill, "kill")
        try:
            report = tenants.erase()()
            break
        except Killed:
            continue
        finally:
            client.meta.events.unregister("before-call.dynamodb", kill, "kill")
    assert calls > 1
    assert report.is_resumed
    assert report.is_complete
    assert set(report.items) == KINDS | {"undelivered", "pauses"}
    assert not tenants.kinds_of(ACME)
    assert tenants.wakes_of(ACME) == []


def test_a_running_action_is_left_and_erased_when_it_has_ended(tenants):
    store = tenants.backends.store
    action = tenants.scheduler(ACME).schedule(Note(text="long"), at=tenants.clock.now())
    store.claim(action, terms(tenants.clock.now() + 2 * MINUTE))
    report = tenants.erase(wait=MINUTE / 2)()
    assert not report.is_complete
    assert any("1 running action:" in line for line in report.left)
    row = store.get(action.ref)
    assert (row.status, row.cancel_request.by) == (Status.PROCESSING, "role/Admin/ada")
    tenants.clock.wait_until(tenants.clock.now() + HOUR)  # its worker has died
    assert tenants.erase()().is_complete
    assert not tenants.kinds_of(ACME)


def test_the_system_is_no_tenant_to_erase(deployment):
    with pytest.raises(InvalidArgument, match="tenant"):
        Erase(deployment.settings, deployment.clock, "system", by="ada", reason="x")


def test_an_export_has_every_item_and_no_other_tenants(tenants, tmp_path):
    counts = tenants.kinds_of(ACME)
    report = Export(tenants.settings, tenants.clock, ACME, tmp_path / "acme", by="ada")()
    files = {path.stem: path.read_text().splitlines() for path in (tmp_path / "acme").glob("*.jsonl")}
    assert set(files) == KINDS | {"undelivered", "pauses"}
    assert (
        {kind: len(lines) for kind, lines in files.items()}
        == {**counts, "undelivered": 2, "pauses": 1}
        == report.items
    )
    assert "globex" not in str(files)
    assert any(
        json.loads(line).get("payload") == Note(text=SECRET.format(ACME)).to_json()
        for line in files["actions"]
    )
    assert (tmp_path / "acme" / "actions.jsonl").stat().st_mode & 0o077 == 0


def test_an_interrupted_export_goes_on_and_has_each_item_once(tenants, tmp_path, monkeypatch):
    monkeypatch.setattr(tenant_items, "_PAGE", 5)
    complete = Export(tenants.settings, tenants.clock, ACME, tmp_path / "complete", by="ada")()
    calls = itertools.count()

    def interrupt(_line):
        if next(calls) == 3:
            with (tmp_path / "acme" / "actions.jsonl").open("a") as file:
                file.write('{"pk": "half a li')
            raise BackendUnavailable("DynamoDB", "no response")

    with pytest.raises(BackendUnavailable):
        Export(tenants.settings, tenants.clock, ACME, tmp_path / "acme", by="ada")(interrupt)
    report = Export(tenants.settings, tenants.clock, ACME, tmp_path / "acme", by="ada")()
    assert report.is_resumed
    for path in (tmp_path / "complete").glob("*.jsonl"):
        assert sorted((tmp_path / "acme" / path.name).read_text().splitlines()) == sorted(
            path.read_text().splitlines()
        )
    assert report.items == complete.items
    with pytest.raises(OperationFailed, match="a finished export of the tenant acme"):
        Export(tenants.settings, tenants.clock, ACME, tmp_path / "acme", by="ada")()


def test_every_partition_that_the_code_writes_has_a_kind():
    """A new partition must be in `OF_TENANTS` or `OF_SYSTEM`; the story above must then write it."""
    found = set()
    rooms = [Path(room.__file__).parent for room in (duetime.aws, duetime.ports)]
    for path in (path for room in rooms for path in room.glob("*.py")):
        if path.name == "regions.py":
            continue  # its item has a table of its own, with no tenant's data
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                name, _, place = node.value.partition("#")
                if name == "system" and place and " " not in place:
                    found.add(("jobs", f"system#{place}"))
                if name == "{tenant}" and " " not in place:
                    found.add(("either", f"acme#{re.sub('{.*?}', 'a', place)}"))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "partition":
                found |= {("either", f"acme#{text}") for text in _literals(node.args[1])}
    assert {("jobs", f"system#{name}") for name in OF_SYSTEM} <= found
    unknown = {
        key
        for table, key in found
        if not any(is_classified(name, {"pk": {"S": key}}) for name in ("actions", "jobs"))
    }
    assert not unknown


def _literals(argument):
    """Yield the text of a partition's place: a literal, or an f-string with a digit for each value."""
    if isinstance(argument, ast.Constant):
        yield argument.value
    elif isinstance(argument, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else "0" for part in argument.values]
        text = "".join(parts)
        yield text if "#" in text else text.replace("0", "#", 1)


def test_a_forged_partition_is_exported_and_erased_as_other(tenants):
    key = {"pk": {"S": "acme#made-up#x#y"}, "sk": {"S": "x"}}
    clients.dynamodb().put_item(TableName=tenants.settings.made.jobs_table, Item=key)
    assert tenants.erase()().items[OTHER] == 1
