"""Jobs that a tenant registers at run time, for handlers that code has in simulated time."""

import pytest

from duetime import App, Payload, every, on_event
from duetime.errors import DeclarationError, NotFound, StateConflict, UnknownType
from duetime.ids import version_of
from duetime.model.action import Status
from duetime.model.job import JobRef, Origin
from tests.journeys.recorded_job import MIDNIGHT, MINUTE, at
from tests.journeys.reports import Report, ReportingApp
from tests.journeys.reports import reporting as reporting  # noqa: PLC0414 - a fixture


def test_a_registered_job_runs_at_its_times_for_its_tenant(reporting):
    job = reporting.register()
    assert (job.origin, job.version, job.registered_by) == (Origin.RUNTIME, 1, "simulation")
    assert reporting.cloud.actions(Status.PENDING)[0].tenant_id == "acme"
    reporting.cloud.advance(minutes=30)
    assert reporting.made == [("acme", "acme-report", 3, item) for item in at(10, 20, 30)]
    first, *_ = reporting.jobs.history("acme-report")
    assert reporting.cloud.scheduler.get(first.id).id == first.id


def test_a_job_for_a_handler_without_a_payload_is_registered_by_its_name(reporting):
    reporting.register(handler="office-clean", cadences=[every(minutes=10)])
    reporting.cloud.advance(minutes=10)
    assert reporting.made == [("acme", "acme-report", None, MIDNIGHT + 10 * MINUTE)]


def test_a_name_that_is_taken_is_rejected(reporting):
    reporting.register(idempotency_key="k-1")
    with pytest.raises(StateConflict, match="set replace to replace it"):
        reporting.register(idempotency_key="k-2")
    with pytest.raises(StateConflict, match="a job that code declares"):
        reporting.register(name="office-clean", replace=True)
    assert reporting.cloud.memory.job_store.get(JobRef("acme", "office-clean")) is None


def test_a_replaced_job_continues_in_a_new_version(reporting):
    reporting.register()
    reporting.cloud.advance(minutes=15)
    replaced = reporting.register(cadences=["every 7m"], handler=Report(size=9), replace=True)
    assert (replaced.version, replaced.registered_by) == (2, "simulation")
    reporting.cloud.advance(minutes=15)
    assert [(size, ran_at) for _, _, size, ran_at in reporting.made] == [
        (3, MIDNIGHT + 10 * MINUTE),
        (9, MIDNIGHT + 21 * MINUTE),
        (9, MIDNIGHT + 28 * MINUTE),
    ]
    assert reporting.register(cadences=["every 7m"], handler=Report(size=9), replace=True).version == 2


def test_a_job_that_is_rolled_back_is_planned_at_once_in_a_new_version(reporting):
    reporting.register()
    reporting.register(cadences=["every 7m"], replace=True)
    rolled = reporting.jobs.roll_back("acme-report", "1")
    assert (rolled.version, rolled.cursor) == (3, MIDNIGHT + 20 * MINUTE)
    assert version_of(reporting.rows(Status.PENDING)[-1].id) == 3
    reporting.cloud.advance(minutes=20)
    assert reporting.begun() == at(10, 20)


def test_an_unregistered_job_stops_running_and_its_history_remains(reporting):
    reporting.register()
    reporting.cloud.advance(minutes=15)
    reporting.jobs.unregister("acme-report")
    reporting.cloud.advance(hours=1)
    assert reporting.begun() == at(10)
    with pytest.raises(NotFound, match="no job"):
        reporting.jobs.get("acme-report")
    assert "acme-report" not in {item.name for item in reporting.jobs.list()}
    assert Status.EXECUTED in {item.status for item in reporting.jobs.history("acme-report")}
    assert not [name for _, name in reporting.cloud.memory.job_wakes.known() if "acme-report" in name]
    with pytest.raises(NotFound, match="no job"):
        reporting.jobs.unregister("acme-report")


def test_a_job_that_is_registered_again_continues_its_version_numbers(reporting):
    reporting.register()
    reporting.cloud.advance(minutes=15)
    reporting.jobs.unregister("acme-report")
    reporting.cloud.advance(minutes=1)
    assert reporting.register().version == 2
    reporting.cloud.advance(minutes=14)
    assert reporting.begun() == at(10, 20, 30)
    shown = reporting.jobs.explain("acme-report", MIDNIGHT, reporting.cloud.now)
    assert [item.account.value for item in shown] == ["executed"] * 3


def test_another_tenant_sees_nothing_of_it_and_may_use_its_name(reporting):
    reporting.register()
    reporting.cloud.advance(minutes=10)
    theirs = reporting.cloud.scheduler_for("globex").jobs
    assert {item.name for item in theirs.list()} == {
        "duetime-catch-up",
        "duetime-recount",
        "duetime-sweep",
        "office-clean",
    }
    for call in (
        theirs.get,
        theirs.pause,
        theirs.trigger,
        theirs.skip_next,
        theirs.history,
        theirs.unregister,
    ):
        with pytest.raises(NotFound, match="no job"):
            call("acme-report")
    reporting.register(jobs=theirs, handler=Report(size=5))
    reporting.cloud.advance(minutes=10)
    assert {item[:3] for item in reporting.made} == {("acme", "acme-report", 3), ("globex", "acme-report", 5)}
    theirs.unregister("acme-report")
    assert reporting.jobs.get("acme-report").removed_at is None


@pytest.mark.parametrize("handler", ["no-such-handler", "duetime-sweep"])
def test_an_unknown_handler_is_rejected(reporting, handler):
    with pytest.raises(UnknownType, match=f"no handler is registered for the type '{handler}'"):
        reporting.register(handler=handler)


def test_a_handler_that_a_later_deploy_brings_can_be_registered_for(reporting):
    class Invoice(Payload):
        number: int = 1

    app = App()
    app.include(reporting.app)

    @app.action
    def write(invoice: Invoice) -> None:
        reporting.made.append((invoice.number,))

    reporting.cloud.deploy(app)
    reporting.register(handler=Invoice())
    reporting.cloud.advance(minutes=10)
    assert reporting.made == [(1,)]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"name": "report"}, "two or more kebab-case segments"),
        ({"name": "duetime-report"}, "reserved for the system's own jobs"),
        ({"cadences": ["every 1m"] * 2}, "occurs twice"),
        ({"cadences": ["every 10s"], "precision": "minute"}, "due at seconds within a minute"),
        ({"catch_up": 101}, "catch_up is 101"),
        ({"overlap": "sometimes"}, "overlap is 'sometimes'"),
        ({"title": "x" * 101}, "title has 101 characters"),
        ({"idempotency_key": ""}, "idempotency_key has 0 characters"),
        ({"cadences": [on_event("kb", "Uploaded")]}, "'kb' is not in the setting event_sources"),
    ],
)
def test_an_invalid_registration_is_rejected_with_the_reason(reporting, options, problem):
    with pytest.raises(ValueError, match=problem):
        reporting.register(**options)


def test_an_unsupported_precision_is_rejected():
    reporting = ReportingApp()
    reporting.cloud.memory.job_wakes.precision = "minute"
    reporting.cloud.scheduler = reporting.cloud.scheduler_for("acme")
    for precise in ({}, {"precision": "second"}, {"precision": "second", "cadences": ["every 10s"]}):
        with pytest.raises(
            DeclarationError, match=r"acme-report.*honour minutes only; use precision='minute'"
        ):
            reporting.register(jobs=reporting.cloud.jobs, **precise)
    with pytest.raises(NotFound, match="no job"):
        reporting.jobs.get("acme-report")
    assert reporting.register(jobs=reporting.cloud.jobs, precision="minute").definition.precision == "minute"


def test_a_payload_too_large_for_a_row_is_rejected(reporting):
    class Letter(Payload):
        text: str

    with pytest.raises(DeclarationError, match=r"its payload has 3,0.. bytes as JSON"):
        reporting.register(handler=Letter(text="x" * 3_000))


def test_a_registered_job_is_started_only_by_events_of_its_tenant(reporting):
    reporting.register(handler="office-clean", cadences=[on_event("crm", "Sold")])
    reporting.cloud.advance(minutes=1)
    for tenant_id in ("acme", "globex", ""):
        reporting.cloud.send_event("crm", "Sold", {"tenant_id": tenant_id})
    assert [item[:2] for item in reporting.made] == [("acme", "acme-report")]
    assert len(reporting.rows(Status.EXECUTED)) == 1


def test_a_registered_job_is_operated_like_any_other(reporting):
    reporting.register()
    reporting.jobs.pause("acme-report", until=25 * MINUTE)
    assert reporting.jobs.trigger("acme-report", payload=Report(size=7)).tenant_id == "acme"
    reporting.cloud.advance(minutes=31)
    assert [(size, ran_at) for _, _, size, ran_at in reporting.made] == [
        (7, MIDNIGHT),
        (3, MIDNIGHT + 30 * MINUTE),
    ]
    reporting.jobs.skip_next("acme-report")
    reporting.jobs.set("acme-report", attempts=1)
    reporting.cloud.advance(minutes=20)
    assert reporting.begun()[2:] == at(50)
    shown = reporting.jobs.explain("acme-report", MIDNIGHT, reporting.cloud.now)
    assert [item.reason or item.account.value for item in shown] == [
        "paused",
        "paused",
        "executed",
        "requested",
        "executed",
    ]


def test_a_deploy_leaves_registered_jobs_alone(reporting):
    before = reporting.register()
    reporting.cloud.advance(minutes=2)
    reporting.cloud.deploy(reporting.app)
    reporting.cloud.deploy(App())
    after = reporting.jobs.get("acme-report")
    assert (after.definition, after.version, after.removed_at) == (before.definition, 1, None)


def test_a_job_that_code_declares_is_not_unregistered(reporting):
    with pytest.raises(StateConflict, match="code declares it; remove it from the code"):
        reporting.jobs.unregister("office-clean")
    with pytest.raises(NotFound, match="no job"):
        reporting.jobs.unregister("no job#at all")
