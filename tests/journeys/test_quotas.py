"""A tenant beyond a quota is rejected with the number, the limit and who raises it; others notice nothing."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime import App, Order, Payload, RetryPolicy, Run, Scheduler, every, on_event
from duetime._setting_fields import QUOTAS
from duetime.actions.order import ScheduleResult
from duetime.actions.usage_quotas import UsageQuotas
from duetime.embedded.cloud import MemoryCloud
from duetime.errors import BackendUnavailable, KeyConflict, QuotaExceeded, SettingsError
from duetime.ids import TenantId
from duetime.jobs.register import Registration
from duetime.jobs.token_buckets import TokenBuckets
from duetime.memory.keyed_items import MemoryItems
from duetime.model.action import SkipReason
from duetime.model.quota import Quota, limit_of
from duetime.model.usage import Usage
from duetime.ports.usage import UsageCounts
from duetime.settings import Settings
from duetime.testing import SimulatedCloud, TurnedClock
from tests.api.conftest import NOW
from tests.api.deployment import CLAIMS, Deployment

ACME, GLOBEX = TenantId("acme"), TenantId("globex")
ORDERS, OWN_ORDERS = on_event("shop", "order", tenant="detail.tenant"), on_event("shop", "order")


class Report(Payload):
    text: str = ""


def cloud_with(ran=None, **quotas):
    return SimulatedCloud(
        app_with(ran), settings=Settings(tenants="*", quotas=quotas, event_sources={"shop": "detail.tenant"})
    )


def app_with(ran=None):
    app = App()

    @app.action
    def report(payload: Report) -> None: ...

    @app.job(ORDERS, name="count-orders")
    def count_orders(run: Run) -> None:
        if ran is not None:
            ran.append(run.tenant_id)

    return app


def registration(name, *cadences, replace=False):
    return Registration(name=name, handler=Report(), cadences=cadences, replace=replace)


def test_members_of_a_batch_beyond_the_quota_are_rejected_before_one_is_written():
    cloud = cloud_with(acme="pending=3")
    acme = cloud.scheduler_for("acme")
    with pytest.raises(QuotaExceeded), acme.batch("import") as batch:
        batch.schedule_many([Order(payload=Report(), at=timedelta(minutes=5))] * 4)
    assert not list(acme.list())


def test_one_shots_beyond_the_quota_of_pending_are_rejected_until_others_are_settled():
    cloud = cloud_with(acme="pending=3")
    acme, globex = cloud.scheduler_for("acme"), cloud.scheduler_for("globex")
    soon = Order(payload=Report(), at=timedelta(minutes=5))
    acme.schedule_many([soon, soon])
    with pytest.raises(QuotaExceeded) as caught:
        acme.schedule_many([soon, soon])
    error = caught.value
    assert (error.quota, error.used, error.added, error.limit) == ("pending", 2, 2, 3)
    globex.schedule_many([soon] * 9)
    cloud.advance(seconds=11)
    later = acme.schedule(Report(), at=timedelta(days=90))
    with pytest.raises(QuotaExceeded, match="'acme' has 3 pending, and 1 more would exceed its quota of 3"):
        acme.transact_items(Report(), at=timedelta(0))
    cloud.advance(minutes=6)
    acme.schedule_many([soon, soon])
    acme.cancel(later.id)
    cloud.advance(seconds=11)
    acme.schedule(Report(), at=timedelta(days=90))
    with pytest.raises(QuotaExceeded):
        acme.schedule(Report(), at=timedelta(0))


def test_a_repeat_of_a_key_gets_the_first_action_at_the_quota_and_uses_nothing_of_it():
    cloud = cloud_with(acme="pending=4")
    acme = cloud.scheduler_for("acme")
    order = Order(payload=Report(), at=timedelta(hours=1), idempotency_key="r-1")
    first = acme.place(order).action
    for _ in range(5):
        assert acme.place(order) == ScheduleResult(first, is_new=False)
    acme.schedule_many([order, replace(order, idempotency_key=None), replace(order, idempotency_key="r-2")])
    last = acme.schedule(Report(), at=timedelta(hours=1))
    for _ in range(2):
        assert acme.place(order) == ScheduleResult(first, is_new=False)
        assert acme.schedule_many([order, order]) == (first, first)
        with pytest.raises(KeyConflict, match="idempotency key"):
            acme.place(replace(order, payload=Report(text="another")))
        with pytest.raises(QuotaExceeded, match="has 4 pending, and 1 more"):
            acme.schedule_many([order, replace(order, idempotency_key="r-3")])
        cloud.advance(seconds=11)
    acme.cancel(last.id)
    cloud.advance(seconds=11)
    acme.schedule_many([order, replace(order, idempotency_key="r-3")])


def test_retries_and_new_due_times_leave_the_count_of_pending_as_it_is():
    app, tried = App(), []

    @app.action(retry=RetryPolicy(attempts=2, backoff=60))
    def report(payload: Report) -> None:
        tried.append(1)
        raise ValueError

    cloud = SimulatedCloud(app, settings=Settings(tenants="*", quotas={"acme": "pending=1"}))
    acme = cloud.scheduler_for("acme")
    action = acme.schedule(Report(), at=timedelta(days=50))
    acme.reschedule(action.id, timedelta(0))
    for _ in range(2):
        cloud.advance(seconds=11)
        with pytest.raises(QuotaExceeded):
            acme.schedule(Report(), at=timedelta(0))
    cloud.advance(hours=1)
    assert (len(tried), acme.get(action.id).status) == (2, "failed")
    acme.redrive(action.id, at=timedelta(hours=1))
    cloud.advance(seconds=11)
    with pytest.raises(QuotaExceeded):
        acme.schedule(Report(), at=timedelta(0))


def test_a_further_call_of_a_debounce_key_uses_nothing_of_the_quota_of_pending():
    acme = cloud_with(acme="pending=1").scheduler_for("acme")
    soon = Order(payload=Report(), at=timedelta(minutes=5), debounce_key="report:17")
    first = acme.place(soon).action
    assert acme.place(soon).action.id == first.id
    assert acme.schedule_many([soon, soon])[1].debounced.calls == 3
    with pytest.raises(QuotaExceeded):
        acme.place(replace(soon, debounce_key="report:18"))


def test_the_api_rejects_an_action_beyond_the_quota_of_pending_with_its_numbers():
    deployment = Deployment(TurnedClock(NOW), quotas={"acme": "pending=1"})
    keyed = {"type": "remark", "payload": {"text": "x"}, "in": 60, "idempotency_key": "r-1"}
    first, repeated, rejected = (
        deployment.ask("POST", "/actions", "operators", body=body)
        for body in (keyed, keyed, keyed | {"idempotency_key": "r-2"})
    )
    assert (first.status, repeated.status, rejected.status) == (201, 200, 409)
    assert repeated.json["id"] == first.json["id"]
    assert {name: rejected.json[name] for name in ("quota", "used", "added", "limit")} == {
        "quota": "pending", "used": 1, "added": 1, "limit": 1,
    }  # fmt: skip


def test_payload_bytes_beyond_the_quota_are_rejected_until_the_next_day():
    cloud = cloud_with(acme="payload_bytes=10000")
    acme = cloud.scheduler_for("acme")
    acme.schedule(Report(text="x" * 5_000), at=timedelta(days=9))
    acme.schedule(Report(text="x" * 50), at=timedelta(0))
    cloud.advance(seconds=11)
    with pytest.raises(
        QuotaExceeded, match=r"has 5,\d\d\d payload_bytes, and 5,\d\d\d more .* wait until tomorrow"
    ):
        acme.schedule(Report(text="x" * 5_000), at=timedelta(0))
    acme.schedule(Report(text="x"), at=timedelta(0))
    cloud.advance(days=1)
    acme.schedule(Report(text="x" * 9_000), at=timedelta(0))


def test_a_count_that_cannot_be_read_limits_nothing():
    class Unreadable(UsageCounts):
        def read(self, *_):
            raise BackendUnavailable("DynamoDB", "no right")

    quota = UsageQuotas(Unreadable(MemoryItems()), TurnedClock(NOW), Settings(quotas={"acme": "pending=0"}))
    quota.take(ACME, Usage(pending=5, payload_bytes=10))


def test_a_registration_beyond_the_quota_of_jobs_is_rejected():
    cloud = cloud_with(acme="jobs=2")
    acme, globex = cloud.scheduler_for("acme").jobs, cloud.scheduler_for("globex").jobs
    for name in ("acme-a", "acme-b"):
        acme.register(registration(name, every(hours=1)))
    with pytest.raises(QuotaExceeded) as caught:
        acme.register(registration("acme-c"))
    error = caught.value
    assert (error.tenant_id, error.quota, error.used, error.added, error.limit) == ("acme", "jobs", 2, 1, 2)
    assert "ask an operator to raise the setting quotas" in str(error)
    acme.register(registration("acme-a", every(hours=2), replace=True))
    globex.register(registration("acme-c"))
    acme.unregister("acme-b")
    acme.register(registration("acme-c"))


def test_a_registration_beyond_the_quota_of_event_rules_is_rejected():
    cloud = cloud_with(**{"*": "event_rules=2"})
    acme = cloud.scheduler_for("acme").jobs
    acme.register(registration("acme-a", OWN_ORDERS))
    refund = on_event("shop", "refund")
    with pytest.raises(QuotaExceeded, match="has 1 event_rules, and 2 more would exceed its quota of 2"):
        acme.register(registration("acme-b", OWN_ORDERS, refund))
    acme.register(registration("acme-b", OWN_ORDERS, every(hours=1)))
    acme.register(registration("acme-c", every(hours=1)))


def test_a_job_that_exists_can_be_registered_again_after_its_quota_was_lowered():
    clock, settings = TurnedClock(NOW), Settings(tenants="*", event_sources={"shop": "detail.tenant"})
    cloud = MemoryCloud(app_with(), clock=clock, settings=settings)
    lowered = replace(settings, quotas={"acme": "jobs=0 event_rules=0"})
    before, after = (
        Scheduler(
            cloud.store, tenant_id="acme", actor="a", clock=clock, settings=own, jobs=cloud.job_ports
        ).jobs
        for own in (settings, lowered)
    )
    before.register(registration("acme-a", OWN_ORDERS))
    after.register(registration("acme-a", OWN_ORDERS, replace=True))
    after.register(registration("acme-a", every(hours=1), replace=True))
    with pytest.raises(QuotaExceeded, match="has 0 event_rules, and 1 more"):
        after.register(registration("acme-a", OWN_ORDERS, replace=True))


def test_runs_of_events_beyond_the_quota_are_skipped_with_the_reason():
    ran = []
    cloud = cloud_with(ran, acme="events=3")
    for tenant in ("acme", "acme", "globex") * 3:
        cloud.send_event("shop", "order", {"tenant": tenant})
    cloud.advance(seconds=1)
    assert sorted(ran) == ["acme"] * 3 + ["globex"] * 3
    skipped = cloud.actions("skipped")
    assert [run.skip_reason for run in skipped] == [SkipReason.REFUSED] * 3
    assert "its quota of events is 3 a minute" in skipped[0].note
    cloud.advance(minutes=1)
    cloud.send_event("shop", "order", {"tenant": "acme"})
    cloud.advance(seconds=1)
    assert ran.count("acme") == 4


def test_requests_beyond_the_quota_are_rejected_until_a_second_has_passed():
    clock = TurnedClock(NOW)
    deployment = Deployment(clock, quotas={"acme": "requests=5"})
    other = CLAIMS | {"custom:tenant_id": "globex"}
    statuses = [deployment.ask("GET", "/me").status for _ in range(8)]
    assert statuses == [200] * 5 + [429] * 3
    rejected = deployment.ask("GET", "/me")
    assert rejected.json["type"] == "urn:duetime:problem:rate-exceeded"
    assert "acme" in rejected.json["detail"]
    assert deployment.ask("GET", "/me", claims=other).status == 200
    clock.wait_until(NOW + timedelta(seconds=1))
    assert deployment.ask("GET", "/me").status == 200


def test_a_deployment_with_one_tenant_has_no_quotas_unless_the_setting_names_some():
    for tenants in ("", "acme"):
        assert {limit_of(Settings(tenants=tenants), ACME, quota) for quota in Quota} == {None}
    several = Settings(tenants="acme globex", quotas={"acme": "jobs=5", "*": "jobs=7 events=9"})
    assert [limit_of(several, tenant, Quota.JOBS) for tenant in (ACME, GLOBEX)] == [5, 7]
    assert [limit_of(several, ACME, quota) for quota in (Quota.EVENTS, Quota.REQUESTS)] == [
        9,
        QUOTAS["requests"],
    ]
    assert {*Quota} == {*QUOTAS}


@pytest.mark.parametrize("words", ["jobs", "jobs=", "jobs=-1", "jobs=x", "payload=5", "jobs=1 jobs=2"])
def test_a_wrong_quota_is_a_settings_error(words):
    with pytest.raises(SettingsError, match="quotas"):
        Settings(quotas={"acme": words})


def test_a_bucket_refills_evenly_and_forgets_the_least_recent_tenant():
    clock = TurnedClock(NOW)
    buckets = TokenBuckets(clock, timedelta(seconds=10))
    assert [buckets.take(ACME, 2) for _ in range(3)] == [True, True, False]
    clock.wait_until(NOW + timedelta(seconds=5))
    assert [buckets.take(ACME, 2) for _ in range(2)] == [True, False]
    for number in range(10_001):
        buckets.take(TenantId(f"t-{number}"), 2)
    assert buckets.take(ACME, 2)
