"""Jobs that cannot be maintained wait for longer after each failure, and delay no other tenant's."""

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from duetime import App, Payload, every
from duetime.errors import BackendMisconfigured, BackendUnavailable
from duetime.ids import TenantId
from duetime.jobs.maintain import MaintainDueJobs, in_turns
from duetime.jobs.register import Registration
from duetime.model.job import JobRef
from duetime.testing import SimulatedCloud
from tests.api.deployment import Hooked

POISON, SLOW = 1_000, timedelta(milliseconds=200)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


class Report(Payload):
    pass


@pytest.fixture
def cloud():
    app = App()

    @app.action
    def report(payload: Report) -> None: ...

    return SimulatedCloud(app)


@pytest.fixture
def tried():
    return []


@pytest.fixture
def wakes(cloud, tried):
    """EventBridge rejects what the noisy tenant's jobs need, each after 200 ms."""
    hooked = Hooked(cloud.memory.job_wakes)

    def put(put_wake, wake):
        if wake.ref.tenant_id != "noisy":
            return put_wake(wake)
        tried.append(cloud.now)
        cloud.memory.clock.wait_until(cloud.now + SLOW)
        raise BackendMisconfigured("EventBridge", "the pattern is invalid", "Change it")

    hooked.hooks["put"] = put
    cloud.memory.steps.maintain._wakes = hooked
    return hooked


def register(cloud, tenant, name):
    jobs = cloud.scheduler_for(tenant).jobs
    jobs.register(Registration(name=name, handler=Report(), cadences=[every(hours=6)]))
    return JobRef(TenantId(tenant), name)


def test_a_thousand_poison_jobs_delay_no_other_tenant_by_more_than_a_sweep(cloud, wakes):
    for number in range(POISON):
        register(cloud, "noisy", f"noisy-{number}")
    for _ in range(3):  # also while they are being tried again
        refs = [register(cloud, tenant, f"{tenant}-report") for tenant in ("acme", "globex")]
        cloud.memory.steps.maintain_due_jobs(stop_at=cloud.now + MINUTE)
        assert not any(cloud.memory.job_store.get(ref).wakes.is_stale for ref in refs)
        for ref in refs:
            cloud.scheduler_for(ref.tenant_id).jobs.unregister(ref.name)
        cloud.memory.steps.maintain_due_jobs(stop_at=cloud.now + MINUTE)


def test_a_job_that_fails_is_tried_after_a_minute_and_after_twice_as_long_each_time(cloud, wakes, tried):
    ref = register(cloud, "noisy", "noisy-report")
    sweep = cloud.memory.steps.maintain_due_jobs
    end = cloud.now + 6 * HOUR
    while cloud.now < end:
        sweep(stop_at=cloud.now + MINUTE)
        cloud.memory.clock.wait_until(cloud.now + MINUTE)
    waits = [round((late - early) / MINUTE) for early, late in pairwise(tried)]
    assert waits[:6] == sorted(waits[:6])
    assert waits[5] >= 16
    assert max(waits) <= 61
    assert len(tried) <= 14
    assert cloud.memory.job_store.get(ref).maintain_failures == len(tried)
    wakes.hooks.clear()
    cloud.memory.clock.wait_until(cloud.now + HOUR)
    assert sweep(stop_at=cloud.now + MINUTE).failed == ()
    job = cloud.memory.job_store.get(ref)
    assert (job.maintain_failures, job.wakes.is_stale) == (0, False)


def test_a_change_of_a_failing_job_is_tried_at_once(cloud, wakes, tried):
    ref = register(cloud, "noisy", "noisy-report")
    sweep = cloud.memory.steps.maintain_due_jobs
    for _ in range(4):
        cloud.memory.clock.wait_until(cloud.now + HOUR)
        assert sweep(stop_at=cloud.now + MINUTE).failed == ("noisy-report",)
    cloud.scheduler_for("noisy").jobs.pause(ref.name)
    assert cloud.memory.job_store.get(ref).maintain_failures == 0
    sweep(stop_at=cloud.now + MINUTE)
    assert len(tried) == 5


def test_tenants_take_turns():
    a, b, c = (
        [JobRef(TenantId(tenant), f"{tenant}-{number}") for number in range(count)]
        for tenant, count in (("acme", 3), ("globex", 1), ("initech", 2))
    )
    assert list(in_turns([*a, *b, *c])) == [a[0], b[0], c[0], a[1], c[1], a[2]]


def test_the_log_names_a_job_that_fails(cloud, wakes, caplog):
    register(cloud, "noisy", "noisy-report")
    cloud.memory.steps.maintain_due_jobs(stop_at=cloud.now + MINUTE)
    failed = [record.job for record in caplog.records if record.message == "job not maintained"]
    assert failed == ["noisy-report"]


def hang(cloud, wakes):
    """Let each call of EventBridge fail after five seconds; return the jobs that it was called for."""
    called = []

    def put(_put_wake, wake):
        called.append(wake.ref.name)
        cloud.memory.clock.wait_until(cloud.now + timedelta(seconds=5))
        raise BackendUnavailable("EventBridge", "Read timeout")

    wakes.hooks["put"] = put
    return called


def test_while_eventbridge_hangs_all_jobs_are_planned_and_the_pass_ends(cloud, wakes):
    refs = [register(cloud, "acme", f"report-{number}") for number in range(40)]
    cloud.memory.clock.wait_until(cloud.now + 13 * HOUR)
    called, begun = hang(cloud, wakes), cloud.now
    assert not any(cloud.memory.job_store.get(ref).cursor > cloud.now for ref in refs)
    cloud.memory.steps.maintain_due_jobs(stop_at=begun + MINUTE)
    assert all(cloud.memory.job_store.get(ref).cursor > cloud.now for ref in refs)
    assert len(called) == 3
    assert cloud.now - begun == timedelta(seconds=15)


@pytest.mark.parametrize("fails", [0, 1])
def test_a_job_about_which_all_calls_hang_delays_the_next_one_by_one_pass(cloud, fails):
    """It cannot be postponed either, so it stays the first in the index; also if the next one failed once."""
    first, second = (register(cloud, "acme", f"report-{number}") for number in range(2))
    cloud.memory.clock.wait_until(cloud.now + 13 * HOUR)
    jobs = Hooked(cloud.memory.job_store)

    def get(read, ref):
        if ref == first:
            cloud.memory.clock.wait_until(cloud.now + timedelta(seconds=7))
            raise BackendUnavailable("DynamoDB", "Read timeout")
        if failing and ref == second:
            raise BackendUnavailable("DynamoDB", "throttled")
        return read(ref)

    jobs.hooks["get"], failing = get, bool(fails)
    sweep = cloud.memory.steps.maintain_due_jobs
    sweep._jobs = sweep._maintain._jobs = jobs
    for _ in range(fails):
        sweep(stop_at=cloud.now + timedelta(seconds=60))
    failing = False
    for _ in range(2):
        sweep(stop_at=cloud.now + timedelta(seconds=14))
    job = cloud.memory.job_store.get(second)
    assert job.cursor > cloud.now
    assert not job.wakes.is_stale


def test_in_fresh_processes_a_job_about_which_all_calls_hang_delays_the_others_by_a_few_passes(cloud):
    """A fresh process does not know the hanging one; each pass begins with another job."""
    hanging, *others = (register(cloud, "acme", f"report-{number}") for number in range(3))
    cloud.memory.clock.wait_until(cloud.now + 13 * HOUR)
    jobs = Hooked(cloud.memory.job_store)

    def get(read, ref):
        if ref == hanging:
            cloud.memory.clock.wait_until(cloud.now + timedelta(seconds=7))
            raise BackendUnavailable("DynamoDB", "Read timeout")
        return read(ref)

    jobs.hooks["get"] = get
    known = cloud.memory.steps.maintain_due_jobs
    known._maintain._jobs = jobs
    for _ in range(6):
        minute = cloud.now
        seen = replace(cloud.memory.backends, jobs=jobs)
        fresh = MaintainDueJobs(seen, known._maintain, pauses=known._pauses)
        fresh(stop_at=cloud.now + timedelta(seconds=10))
        cloud.memory.clock.wait_until(minute + timedelta(minutes=1))
    for ref in others:
        job = cloud.memory.job_store.get(ref)
        assert job.cursor > cloud.now
        assert not job.wakes.is_stale


def test_each_job_has_its_turn_while_eventbridge_hangs_and_all_wakes_are_set_afterwards(cloud, wakes):
    refs = [register(cloud, "acme", f"report-{number}") for number in range(9)]
    called = hang(cloud, wakes)
    for _ in range(9):
        cloud.memory.steps.maintain_due_jobs(stop_at=cloud.now + MINUTE)
        cloud.memory.clock.wait_until(cloud.now + MINUTE)
    assert set(called) == {ref.name for ref in refs}
    wakes.hooks.clear()
    cloud.memory.clock.wait_until(cloud.now + HOUR)
    cloud.memory.steps.maintain_due_jobs(stop_at=cloud.now + MINUTE)
    assert not any(cloud.memory.job_store.get(ref).wakes.is_stale for ref in refs)


def test_a_job_that_is_registered_again_while_the_repair_removes_its_wake_has_it_afterwards(cloud, wakes):
    """The index does not have the job, and its removal and registration come in the middle of the repair."""
    wakes.hooks.clear()
    ref = register(cloud, "acme", "new-report")
    cloud.memory.steps.maintain_due_jobs(stop_at=cloud.now + MINUTE)
    [wake] = cloud.memory.job_wakes.known()
    cloud.scheduler_for("acme").jobs.unregister("new-report")

    def remove(remove_wake, kind, name):
        register(cloud, "acme", "new-report")
        remove_wake(kind, name)

    wakes.hooks["remove"] = remove
    repair = cloud.memory.steps.repair
    repair._wakes, repair._jobs = wakes, Hooked(cloud.memory.job_store)
    repair._jobs.hooks["due_for_maintenance"] = lambda *_given, **_more: ((), None)
    assert repair(stop_at=cloud.now + MINUTE).removed == ("acme.new-report",)
    assert wake in cloud.memory.job_wakes.known()
    assert not cloud.memory.job_store.get(ref).wakes.is_stale
