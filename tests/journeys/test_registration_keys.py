"""A registration under a key is made once while the key holds; so is the run that it triggers."""

from datetime import timedelta
from functools import partial

import pytest

from duetime.errors import InvalidArgument, NotFound, StateConflict
from duetime.jobs.register import Registration
from duetime.model.action import Status
from duetime_contract.races import together
from tests.journeys.recorded_job import MIDNIGHT, MINUTE, at
from tests.journeys.reports import Report
from tests.journeys.reports import reporting as reporting  # noqa: PLC0414 - a fixture


def test_a_repeated_registration_with_one_key_registers_once(reporting):
    first = reporting.register(idempotency_key="k-1")
    reporting.cloud.advance(minutes=1)
    assert reporting.register(idempotency_key="k-1").version == first.version
    assert reporting.register(idempotency_key="k-1", cadences=["every 5m"]).definition == first.definition
    reporting.cloud.advance(minutes=29)
    assert reporting.begun() == at(10, 20, 30)


def test_a_registrations_key_holds_for_its_time_to_live(reporting):
    reporting.register(idempotency_key="k-1", idempotency_ttl=timedelta(hours=2))
    reporting.cloud.advance(minutes=119)
    assert reporting.register(idempotency_key="k-1", cadences=["every 5m"]).version == 1
    reporting.cloud.advance(minutes=1)
    with pytest.raises(StateConflict, match="is taken"):
        reporting.register(idempotency_key="k-1", cadences=["every 5m"])
    assert reporting.register(idempotency_key="k-1", cadences=["every 5m"], replace=True).version == 2


def test_a_setting_bounds_the_life_of_a_registrations_key(reporting):
    reporting.register(idempotency_key="k-1")
    reporting.cloud.advance(hours=24, seconds=-1)
    reporting.register(idempotency_key="k-1")
    reporting.cloud.advance(seconds=1)
    with pytest.raises(StateConflict, match="is taken"):
        reporting.register(idempotency_key="k-1")


def test_a_replacing_registration_has_its_own_key_and_time(reporting):
    reporting.register(idempotency_key="k-1")
    reporting.cloud.advance(hours=23)
    reporting.register(idempotency_key="k-2", replace=True)
    reporting.cloud.advance(hours=23)
    assert reporting.register(idempotency_key="k-2", cadences=["every 5m"]).version == 1
    with pytest.raises(StateConflict, match="is taken"):
        reporting.register(idempotency_key="k-1")


def test_each_tenant_has_its_own_keys_of_registrations(reporting):
    theirs = reporting.cloud.scheduler_for("globex").jobs
    reporting.register(idempotency_key="k-1", idempotency_ttl=timedelta(hours=1))
    reporting.register(idempotency_key="k-1", jobs=theirs, handler=Report(size=5))
    reporting.cloud.advance(hours=1)
    assert reporting.register(idempotency_key="k-1", jobs=theirs).definition.payload == '{"size":5}'
    with pytest.raises(StateConflict, match="is taken"):
        reporting.register(idempotency_key="k-1")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"idempotency_key": "k-1", "idempotency_ttl": timedelta(seconds=59)}, "no time to live"),
        ({"idempotency_key": "k-1", "idempotency_ttl": timedelta(days=31)}, "no time to live"),
        ({"idempotency_ttl": timedelta(hours=1)}, "time to live without a key"),
    ],
)
def test_an_invalid_time_to_live_is_rejected(reporting, options, problem):
    with pytest.raises(InvalidArgument, match=problem):
        reporting.register(**options)
    with pytest.raises(NotFound, match="no job"):
        reporting.jobs.get("acme-report")


class TestRegisteredAndTriggered:
    def register(self, reporting, **options):
        options = {"name": "acme-report", "handler": Report(size=3), "cadences": ["every 10m"]} | options
        return reporting.jobs.register_and_trigger(Registration(**options))

    def test_a_trigger_runs_a_job_at_once_and_returns_the_run(self, reporting):
        job, run = self.register(reporting)
        assert job == reporting.jobs.get("acme-report")
        assert (run.tenant_id, run.trigger, run.job) == ("acme", "manual", "acme-report")
        reporting.cloud.advance(minutes=10)
        assert reporting.begun() == at(0, 10)
        assert reporting.cloud.scheduler.get(run.id).status is Status.EXECUTED

    def test_a_repeated_key_returns_the_same_run_in_its_current_state(self, reporting):
        _, first = self.register(reporting, idempotency_key="k-1")
        reporting.cloud.advance(minutes=5)
        job, again = self.register(reporting, idempotency_key="k-1", cadences=["every 5m"])
        assert (again.id, again.status) == (first.id, Status.EXECUTED)
        assert job.definition.cadences == ("every 10m",)
        reporting.cloud.advance(minutes=4)
        assert reporting.begun() == at(0)

    def test_the_same_key_by_many_at_once_is_one_run(self, reporting):
        registered = together([partial(self.register, reporting, idempotency_key="k-1")] * 8)
        assert len({run.id for _, run in registered}) == 1
        reporting.cloud.advance(minutes=5)
        assert reporting.begun() == at(0)

    def test_a_run_that_was_lost_with_its_caller_is_made_by_the_repeated_call(self, reporting):
        reporting.register(idempotency_key="k-1")
        reporting.cloud.advance(minutes=1)
        _, run = self.register(reporting, idempotency_key="k-1")
        assert run.due_at == MIDNIGHT + MINUTE
        assert self.register(reporting, idempotency_key="k-1").run.id == run.id

    def test_a_replaced_job_is_triggered_once_for_each_key(self, reporting):
        same = {"replace": True, "handler": Report(size=3)}
        ids = [
            self.register(reporting, idempotency_key=key, **same).run.id
            for key in ("k-1", "k-1", "k-2", "k-2")
        ]
        assert (ids[0], ids[2]) == (ids[1], ids[3])
        assert len(set(ids)) == 2

    def test_a_name_that_is_taken_is_rejected_and_nothing_runs(self, reporting):
        reporting.register()
        with pytest.raises(StateConflict, match="is taken"):
            self.register(reporting)
        reporting.cloud.advance(minutes=9)
        assert reporting.begun() == []
