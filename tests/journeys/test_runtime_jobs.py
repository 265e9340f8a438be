"""Jobs that a tenant registers at run time, for handlers that code has in simulated time."""

import pytest

from duetime import App, Payload, every, on_event
from duetime.errors import DeclarationError, JobConflict, JobNameTaken, JobNotFound, UnknownType
from duetime.memory.job_wakes import MemoryJobWakes
from duetime.model.action import Status
from duetime.model.job import Origin
from tests.journeys.recorded_job import MIDNIGHT, MINUTE, at
from tests.journeys.reports import Office, Report
from tests.journeys.reports import office as office  # noqa: PLC0414 - a fixture


def test_a_registered_job_runs_at_its_times_for_its_tenant(office):
    job = office.register()
    assert (job.origin, job.version, job.registered_by) == (Origin.RUNTIME, 1, "simulation")
    assert office.cloud.actions(Status.PENDING)[0].tenant_id == "acme"
    office.cloud.advance(minutes=30)
    assert office.made == [("acme", "acme-report", 3, item) for item in at(10, 20, 30)]
    first, *_ = office.jobs.history("acme-report")
    assert office.cloud.scheduler.get(first.id).id == first.id


def test_a_job_for_a_handler_without_a_payload_is_registered_by_its_name(office):
    office.register(handler="office-clean", cadences=[every(minutes=10)])
    office.cloud.advance(minutes=10)
    assert office.made == [("acme", "acme-report", None, MIDNIGHT + 10 * MINUTE)]


def test_a_name_that_is_taken_is_refused(office):
    office.register(idempotency_key="k-1")
    with pytest.raises(JobNameTaken, match="set replace to replace it"):
        office.register(idempotency_key="k-2")
    with pytest.raises(JobNameTaken, match="a job that code declares"):
        office.register(name="office-clean", replace=True)


def test_a_replaced_job_goes_on_in_a_new_version(office):
    office.register()
    office.cloud.advance(minutes=15)
    replaced = office.register(cadences=["every 7m"], handler=Report(size=9), replace=True)
    assert (replaced.version, replaced.registered_by) == (2, "simulation")
    office.cloud.advance(minutes=15)
    assert [(size, ran_at) for _, _, size, ran_at in office.made] == [
        (3, MIDNIGHT + 10 * MINUTE),
        (9, MIDNIGHT + 21 * MINUTE),
        (9, MIDNIGHT + 28 * MINUTE),
    ]
    assert office.register(cadences=["every 7m"], handler=Report(size=9), replace=True).version == 2


def test_an_unregistered_job_runs_no_more_and_keeps_its_history(office):
    office.register()
    office.cloud.advance(minutes=15)
    office.jobs.unregister("acme-report")
    office.cloud.advance(hours=1)
    assert office.begun() == at(10)
    with pytest.raises(JobNotFound):
        office.jobs.get("acme-report")
    assert "acme-report" not in {item.name for item in office.jobs.list()}
    assert Status.EXECUTED in {item.status for item in office.jobs.history("acme-report")}
    assert not [name for _, name in office.cloud.memory.job_wakes.known() if "acme-report" in name]
    with pytest.raises(JobNotFound):
        office.jobs.unregister("acme-report")


def test_a_job_that_is_registered_again_goes_on_counting_its_versions(office):
    office.register()
    office.cloud.advance(minutes=15)
    office.jobs.unregister("acme-report")
    office.cloud.advance(minutes=1)
    assert office.register().version == 2
    office.cloud.advance(minutes=14)
    assert office.begun() == at(10, 20, 30)
    shown = office.jobs.explain("acme-report", MIDNIGHT, office.cloud.now)
    assert [item.account.value for item in shown] == ["executed"] * 3


def test_another_tenant_sees_nothing_of_it_and_may_use_its_name(office):
    office.register()
    office.cloud.advance(minutes=10)
    theirs = office.cloud.scheduler_for("globex").jobs
    assert {item.name for item in theirs.list()} == {"duetime-catch-up", "duetime-sweep", "office-clean"}
    for call in (
        theirs.get,
        theirs.pause,
        theirs.trigger,
        theirs.skip_next,
        theirs.history,
        theirs.unregister,
    ):
        with pytest.raises(JobNotFound):
            call("acme-report")
    office.register(jobs=theirs, handler=Report(size=5))
    office.cloud.advance(minutes=10)
    assert {item[:3] for item in office.made} == {("acme", "acme-report", 3), ("globex", "acme-report", 5)}
    theirs.unregister("acme-report")
    assert office.jobs.get("acme-report").removed_at is None


@pytest.mark.parametrize("handler", ["no-such-handler", "duetime-sweep"])
def test_a_handler_that_code_does_not_have_is_refused(office, handler):
    with pytest.raises(UnknownType, match=f"no handler is registered for the type '{handler}'"):
        office.register(handler=handler)


def test_a_handler_that_a_later_deploy_brings_can_be_registered_for(office):
    class Invoice(Payload):
        number: int = 1

    app = App()
    app.include(office.app)

    @app.action
    def write(invoice: Invoice) -> None:
        office.made.append((invoice.number,))

    office.cloud.deploy(app)
    office.register(handler=Invoice())
    office.cloud.advance(minutes=10)
    assert office.made == [(1,)]


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
        ({"cadences": [on_event("kb", "Uploaded")]}, "there is no tenant; add the event"),
    ],
)
def test_a_registration_that_cannot_work_is_refused_and_says_why(office, options, problem):
    with pytest.raises(ValueError, match=problem):
        office.register(**options)


def test_a_precision_that_the_back_end_cannot_honour_is_refused(monkeypatch):
    office = Office()
    monkeypatch.setattr(MemoryJobWakes, "precision", "minute")
    office.cloud.scheduler = office.cloud.scheduler_for("acme")
    for precise in ({}, {"precision": "second"}, {"precision": "second", "cadences": ["every 10s"]}):
        with pytest.raises(
            DeclarationError, match=r"acme-report.*honour minutes only; use precision='minute'"
        ):
            office.register(jobs=office.cloud.jobs, **precise)
    with pytest.raises(JobNotFound):
        office.jobs.get("acme-report")
    assert office.register(jobs=office.cloud.jobs, precision="minute").definition.precision == "minute"


def test_a_payload_too_large_for_a_row_is_refused(office):
    class Letter(Payload):
        text: str

    with pytest.raises(DeclarationError, match=r"its payload has 3,0.. bytes as JSON"):
        office.register(handler=Letter(text="x" * 3_000))


def test_a_registered_job_is_started_by_its_own_tenants_events_alone(office):
    trigger = on_event("crm", "Sold", tenant="detail.tenant_id")
    office.register(handler="office-clean", cadences=[trigger])
    office.cloud.advance(minutes=1)
    for tenant_id in ("acme", "globex", ""):
        office.cloud.send_event("crm", "Sold", {"tenant_id": tenant_id})
    assert [item[:2] for item in office.made] == [("acme", "acme-report")]
    assert len(office.rows(Status.EXECUTED)) == 1


def test_a_registered_job_is_operated_like_any_other(office):
    office.register()
    office.jobs.pause("acme-report", until=25 * MINUTE)
    assert office.jobs.trigger("acme-report", payload=Report(size=7)).tenant_id == "acme"
    office.cloud.advance(minutes=31)
    assert [(size, ran_at) for _, _, size, ran_at in office.made] == [
        (7, MIDNIGHT),
        (3, MIDNIGHT + 30 * MINUTE),
    ]
    office.jobs.skip_next("acme-report")
    office.jobs.set("acme-report", attempts=1)
    office.cloud.advance(minutes=20)
    assert office.begun()[2:] == at(50)
    shown = office.jobs.explain("acme-report", MIDNIGHT, office.cloud.now)
    assert [item.reason or item.account.value for item in shown] == [
        "paused",
        "paused",
        "executed",
        "asked",
        "executed",
    ]


def test_a_deploy_leaves_registered_jobs_alone(office):
    before = office.register()
    office.cloud.advance(minutes=2)
    office.cloud.deploy(office.app)
    office.cloud.deploy(App())
    after = office.jobs.get("acme-report")
    assert (after.definition, after.version, after.removed_at) == (before.definition, 1, None)


def test_a_job_that_code_declares_is_not_unregistered(office):
    with pytest.raises(JobConflict, match="code declares it; remove it from the code"):
        office.jobs.unregister("office-clean")
    with pytest.raises(JobNotFound):
        office.jobs.unregister("no job#at all")
