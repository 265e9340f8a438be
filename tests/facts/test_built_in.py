"""The probe: every worker runs it, its payload chooses what it does, and its name is reserved."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from duetime import App, Fatal, Payload, Retry
from duetime.declare.built_in import probe_handler
from duetime.errors import DeclarationError, InvalidPayload, UnknownType
from duetime.ids import ActionId, TenantId
from duetime.lambdas.loading import load_apps
from duetime.model.action import Action
from duetime.model.built_in import CANARY, PROBE, is_counted, is_probe, probe_type, worker_of
from duetime.model.run import RunCancelled, WorkerDied
from duetime.testing.fakes import fake_run


class Ping(Payload):
    pass


def app_of(worker="default"):
    app = App(worker)

    @app.action
    def ping(payload: Ping) -> None: ...

    return app


billing, mails = app_of(), app_of("mails")


def act(run=None, **payload):
    handler = probe_handler("default")
    handler(handler.payload(**payload), run or fake_run())


@pytest.mark.parametrize(("worker", "name"), [("default", PROBE), ("mails", "duetime-probe-mails")])
def test_a_worker_runs_its_probe_which_is_routed_and_not_among_the_apps_own_handlers(worker, name):
    app = app_of(worker)
    assert name in app.handler_set.by_name
    assert app.manifest.types == {"ping": 1, name: 1}
    assert [*app.handlers] == ["ping"]
    assert (probe_type(worker), worker_of(name), is_probe(name)) == (name, worker, True)
    assert app.payload(name, '{"fail": 2}').type_name == name


def test_the_api_reads_the_probes_of_all_workers_and_of_no_other():
    where = f"{__name__}:billing {__name__}:mails"
    combined = load_apps(where)
    assert combined.payload("duetime-probe-mails", "{}").type_name == "duetime-probe-mails"
    assert combined.payload(PROBE, "{}").type_name == PROBE
    with pytest.raises(UnknownType):
        combined.payload("duetime-probe-reports", "{}")


def test_a_users_type_cannot_have_a_probes_name():
    class Own(Payload, name="duetime-probe-mine"):
        pass

    def own(payload: Own) -> None: ...

    with pytest.raises(DeclarationError, match="reserved for duetime's own"):
        App().action(own)


def test_a_probe_succeeds_unless_its_payload_says_otherwise():
    act()


def test_a_failing_probe_succeeds_after_its_failures():
    for attempt in (1, 2):
        with pytest.raises(Retry):
            act(fake_run(attempt=attempt), fail=2)
    act(fake_run(attempt=3), fail=2)


@pytest.mark.parametrize(("field", "error"), [("poison", Fatal), ("die", WorkerDied)])
def test_only_the_first_run_is_poisoned_or_ends_its_process(field, error):
    with pytest.raises(error):
        act(replace(fake_run(), fence=1), **{field: True})
    act(replace(fake_run(), fence=2), **{field: True})


def test_a_cancel_ends_a_sleeping_probe():
    with pytest.raises(RunCancelled):
        act(fake_run(cancelled=True), sleep=30)


def test_a_probe_may_settle_by_a_commit_of_its_own():
    run = fake_run()
    act(run, commit=True)
    assert run.committed == ()


@pytest.mark.parametrize("payload", ['{"sleep": 31}', '{"sleep": -1}', '{"fail": 3}', '{"other": 1}'])
def test_a_probe_is_bounded(payload):
    with pytest.raises(InvalidPayload):
        App().payload(PROBE, payload)


@pytest.mark.parametrize(
    ("type_name", "payload", "counts"),
    [
        ("remind", "no JSON", True),
        (CANARY, '{"notify": true}', False),
        (PROBE, None, False),
        (PROBE, "{}", False),
        (PROBE, '{"notify": true}', True),
        (PROBE, "no JSON", False),
        (PROBE, "[1]", False),
        (PROBE, "[" * 100_000, False),
    ],
)
def test_only_a_probe_that_requests_it_is_counted_whatever_its_payload_is(type_name, payload, counts):
    assert is_counted(replace(stored_action(), type=type_name, payload=payload)) is counts


def stored_action():
    return Action(
        tenant_id=TenantId("acme"),
        id=ActionId("01983b5e-7c00-7a3c-9f21-5d0c8e4b7a16"),
        type=PROBE,
        due_at=datetime(2026, 3, 1, tzinfo=UTC),
        due_shard="0",
        created_by="ada",
        payload=None,
    )
