"""Jobs among many workers and operators at once, and answers that were lost in simulated time."""

import threading
from datetime import timedelta
from typing import ClassVar

import pytest

from duetime import App, Run, every
from duetime.errors import BackendUnavailable, InvalidCursor, NotFound
from duetime.ids import SYSTEM_TENANT
from duetime.jobs.register import Registration
from duetime.memory.jobs import MemoryJobStore
from duetime.memory.store import MemoryStore
from duetime.model.action import SkipReason, Status
from duetime.model.transition import started
from duetime.ports.wakeups import Delivery
from duetime.retry import NEVER
from duetime.testing import SimulatedCloud
from duetime.wakeups.due_messages import message_of
from duetime.worker.claim_job_run import ClaimJobRun
from duetime_contract.job_specimens import added, occurrence
from duetime_contract.specimens import NOON, put, stored_row, terms
from tests.backends import backends
from tests.hooked import Hooked, hook_backend
from tests.journeys.recorded_job import HOUR, MIDNIGHT, MINUTE, SECOND, RecordedJob, accounts, at, grid
from tests.unpaused import UNPAUSED

UNAVAILABLE = BackendUnavailable("the jobs table", "it is throttled")


class WithSpare(RecordedJob):
    """An app with a second job, without cadences: registered jobs may run its handler."""

    def app(self, *cadences, **options):
        app = super().app(*cadences, **options)

        @app.job(name="press-spare")
        def spare(run: Run) -> None:
            del run

        return app


@pytest.fixture
def recorded():
    return WithSpare(every(minutes=10))


def failing(backend, name, *, times, answer=UNAVAILABLE):
    """Have the first calls of a method raise, or return that another caller was faster."""
    left = [times]

    def faulty(method, *arguments, **more):
        if left[0] > 0:
            left[0] -= 1
            if isinstance(answer, Exception):
                raise answer
            return answer
        return method(*arguments, **more)

    backend.hooks[name] = faulty


def lose_wakes(memory):
    """No schedule of EventBridge wakes any job."""
    memory.job_wakes = Hooked(memory.job_wakes)
    memory.job_wakes.hooks["fire"] = lambda fire, now: fire(now)[:0]


class TestAnOperatorsChange:
    CHANGES: ClassVar = {
        "pause": lambda recorded: recorded.cloud.jobs.pause(recorded.name),
        "resume": lambda recorded: recorded.cloud.jobs.resume(recorded.name, cadence="Every_10m"),
        "set": lambda recorded: recorded.cloud.jobs.set(recorded.name, attempts=2),
        "deploy": lambda recorded: recorded.deploy(every(minutes=7)),
        "drop": lambda recorded: recorded.cloud.deploy(App()),
        "replace": lambda recorded: recorded.cloud.jobs.register(registration(replace=True, title="x")),
        "unregister": lambda recorded: recorded.cloud.jobs.unregister("acme-print"),
    }

    @pytest.fixture(params=list(CHANGES))
    def change(self, request, recorded):
        recorded.cloud.jobs.register(registration())
        recorded.cloud.jobs.pause(recorded.name, cadence="Every_10m")
        recorded.cloud.advance(minutes=5)
        return lambda: self.CHANGES[request.param](recorded)

    def test_is_made_after_lost_races(self, recorded, change):
        failing(recorded.hook("jobs"), "change", times=3, answer=False)
        before = revisions(recorded)
        change()
        assert revisions(recorded) != before

    def test_fails_if_the_job_never_stops_changing(self, recorded, change):
        failing(recorded.hook("jobs"), "change", times=99, answer=False)
        planned = {row.ref: row.status for row in recorded.cloud.actions()}
        with pytest.raises(BackendUnavailable, match="kept changing"):
            change()
        rows = {row.ref: row.status for row in recorded.cloud.actions()}
        assert {ref: rows[ref] for ref in planned} == planned

    def test_skips_the_planned_runs_of_a_removed_job_at_once(self, recorded):
        recorded.cloud.jobs.register(registration())
        recorded.cloud.advance(minutes=1)
        recorded.cloud.jobs.unregister("acme-print")
        statuses = {row.status for row in recorded.cloud.actions() if row.job == "acme-print"}
        assert statuses == {Status.SKIPPED}

    @pytest.mark.parametrize(
        ("operation", "counts"),
        [
            ("pause", {"missed": 5, "executed": 1}),
            ("skip_next", {"missed": 5, "executed": 1}),
            ("resume", {"missed": 2, "paused": 4}),
        ],
    )
    def test_changes_nothing_of_what_was_due_before(self, operation, counts):
        recorded = RecordedJob(every(minutes=10))
        memory = recorded.cloud.memory
        if operation == "resume":
            recorded.cloud.jobs.pause(recorded.name, cadence="Every_10m")
        lose_wakes(memory)
        memory.sweep_at = MIDNIGHT + 3 * HOUR
        recorded.outage(65 * MINUTE)
        getattr(recorded.cloud.jobs, operation)(
            recorded.name, **({"cadence": "Every_10m"} if operation == "resume" else {})
        )
        memory.sweep_at = recorded.cloud.now
        recorded.cloud.advance(minutes=1)
        found = accounts(recorded.cloud, recorded.name, MIDNIGHT, recorded.cloud.now)
        assert found == counts


def revisions(recorded):
    store = recorded.cloud.memory.job_store
    return {
        job.ref: job.revision
        for tenant in (SYSTEM_TENANT, "acme")
        for job in store.list(tenant, limit=100, cursor=None)
    }


def registration(name="acme-print", **options):
    return Registration(name=name, handler="press-spare", cadences=["every 10m"], **options)


class TestAClaim:
    def test_stops_no_holder_before_the_job_has_its_place(self):
        recorded = RecordedJob(every(minutes=10), overlap="cancel_running", lasts=[25 * MINUTE])
        jobs, requests = recorded.hook("jobs"), []

        def wait(method, job, ref):
            requests.append(recorded.cloud.memory.store.get(job.running).cancel_request)
            return len(requests) > 1 and method(job, ref)

        jobs.hooks["wait"] = wait
        recorded.cloud.advance(minutes=30)
        assert requests[:2] == [None, None]

    @pytest.mark.parametrize("times", [1, 9])
    @pytest.mark.parametrize("method", ["claim", "end_pending", "wait"])
    def test_after_a_lost_race_is_decided_again(self, method, times):
        recorded = RecordedJob(every(minutes=10), overlap="queue_one", lasts=[35 * MINUTE])
        failing(recorded.hook("jobs"), method, times=times, answer=False)
        recorded.cloud.advance(hours=1)
        assert recorded.begun == at(10, 20, 50, 60)

    def test_of_a_constantly_changing_job_fails_and_its_message_is_redelivered(self, recorded):
        failing(recorded.hook("jobs"), "claim", times=10, answer=False)
        with pytest.raises(BackendUnavailable, match="kept changing during the claim"):
            recorded.cloud.advance(minutes=10)
        assert recorded.runs == []
        recorded.cloud.advance(minutes=8)
        assert recorded.begun == at(10)

    def test_with_a_lost_response_runs_once(self, recorded):
        lost = []

        def lose_the_answer(claim, taking):
            lost.append(claim(taking))
            return claim(taking) if len(lost) > 1 else False

        recorded.hook("jobs").hooks["claim"] = lose_the_answer
        recorded.cloud.advance(minutes=30)
        assert recorded.begun == at(10, 20, 30)
        assert recorded.job.running is None
        assert recorded.job.tally.executed == 3

    def test_of_a_missing_row_does_nothing(self, recorded):
        recorded.cloud.advance(minutes=1)
        gone = recorded.rows[0].ref._replace(id="press-print.000001.20260302T000000Z")
        memory = recorded.cloud.memory
        claim = ClaimJobRun(memory.backends, UNPAUSED)
        assert claim(gone, terms(recorded.cloud.now), NEVER) is None

    def test_by_many_workers_runs_every_time_once_and_never_in_parallel(self):
        app, together, most, ran = App(), [0], [0], []
        lock = threading.Lock()

        @app.job(every(seconds=1), name="press-print", overlap="skip")
        def press(run: Run) -> None:
            with lock:
                together[0] += 1
                most[0] = max(most[0], together[0])
            threading.Event().wait(0.002)
            with lock:
                together[0] -= 1
                ran.append(run.nominal_at)

        cloud = SimulatedCloud(app, start=MIDNIGHT)
        cloud.clock.wait_until(MIDNIGHT + 90 * SECOND)
        memory = cloud.memory
        due = [action for action in cloud.actions() if action.due_at <= cloud.now]
        deliveries = [Delivery(message_of(item), item.due_at, item.id) for item in due for _ in range(2)]
        barrier = threading.Barrier(8)

        def work(mine):
            barrier.wait()
            for item in mine:
                memory.run(item)

        threads = [threading.Thread(target=work, args=(deliveries[n::8],)) for n in range(8)]
        for item in threads:
            item.start()
        for thread in threads:
            thread.join()
        settled = {action.status for action in cloud.actions() if action.due_at <= cloud.now}
        assert most == [1]
        assert len(ran) == len(set(ran))
        assert settled <= {Status.EXECUTED, Status.SKIPPED}
        assert cloud.jobs.get("press-print").tally.executed == len(ran)


class TestWhatIsLeftForLater:
    def test_a_run_ends_even_if_the_next_cannot_be_woken(self):
        recorded = RecordedJob(every(minutes=10), overlap="queue_one", lasts=[12 * MINUTE])
        jobs = recorded.hook("jobs")

        def settle_and_break(settle, *arguments):
            done = settle(*arguments)
            failing(jobs, "get", times=1)
            del jobs.hooks["settle"]
            return done

        jobs.hooks["settle"] = settle_and_break
        recorded.cloud.advance(minutes=25)
        (_, _, first), (_, _, second) = recorded.runs
        assert first == MIDNIGHT + 10 * MINUTE
        assert MIDNIGHT + 22 * MINUTE <= second <= MIDNIGHT + 22 * MINUTE + 30 * SECOND

    def test_an_overlapping_run_is_counted_once_after_a_lost_response(self):
        recorded = RecordedJob(every(minutes=10), overlap="allow")
        jobs = recorded.hook("jobs")

        def settle_and_lose(settle, *arguments, **given):
            del jobs.hooks["settle"]
            settle(*arguments, **given)
            raise BackendUnavailable("the jobs table", "its response was lost")

        jobs.hooks["settle"] = settle_and_lose
        with pytest.raises(BackendUnavailable):
            recorded.cloud.advance(minutes=20)
        recorded.cloud.advance(minutes=10)
        assert recorded.at(Status.EXECUTED) == at(10, 20)
        assert recorded.job.tally.executed == 2

    def test_a_run_plans_its_job_ahead_before_its_handler_begins(self):
        recorded = RecordedJob(every(minutes=1))
        lose_wakes(recorded.cloud.memory)
        recorded.cloud.memory.sweep_at = MIDNIGHT + HOUR
        recorded.cloud.advance(seconds=61)
        planned = len(recorded.rows)
        recorded.lasts.extend([timedelta(0)] * planned)
        seen = []
        recorded.stop_if_cancel_requested = lambda run: seen.append((run.nominal_at, len(recorded.rows)))
        recorded.cloud.advance(minutes=planned - 1)
        assert max(seen) > (grid(MIDNIGHT, MINUTE, planned)[-1], planned)

    def test_a_run_runs_even_if_its_job_cannot_be_planned(self):
        recorded = RecordedJob(every(minutes=1))
        memory = recorded.cloud.memory
        lose_wakes(memory)
        memory.sweep_at = MIDNIGHT + HOUR
        recorded.cloud.advance(seconds=61)
        planned = len(recorded.rows)
        failing(recorded.hook("jobs"), "move_cursor", times=1)
        recorded.cloud.advance(minutes=planned - 1)
        assert sorted(recorded.begun) == grid(MIDNIGHT, MINUTE, planned)
        assert len(recorded.rows) > planned

    def test_a_job_that_could_not_be_planned_once_is_maintained_as_before(self, recorded):
        lose_wakes(recorded.cloud.memory)
        failing(recorded.hook("jobs"), "move_cursor", times=1)
        failures = set()
        for _ in range(40):
            recorded.cloud.advance(minutes=1)
            failures.add(recorded.job.maintain_failures)
        assert failures == {0, 1}
        assert recorded.job.maintain_failures == 0

    def test_a_job_is_planned_even_if_its_wakes_cannot_be_set(self, recorded):
        failing(recorded.hook("job_wakes"), "put", times=9)
        for name in ("acme-print", "acme-copy"):
            recorded.cloud.jobs.register(registration(name))
        planned = {action.job for action in recorded.cloud.actions()}
        assert {"acme-print", "acme-copy"} <= planned

    def test_a_job_that_cannot_be_maintained_delays_no_other(self):
        app, ran = App(), []

        @app.job(every(minutes=1), name="press-print")
        def press(run: Run) -> None:
            ran.append(run.nominal_at)

        @app.job(every(minutes=1), name="a-broken-job")
        def broken(run: Run) -> None:
            ran.append(None)

        cloud = SimulatedCloud(app, start=MIDNIGHT)
        memory = cloud.memory
        lose_wakes(memory)

        def faulty(get, ref):
            if ref.name == "a-broken-job":
                raise UNAVAILABLE
            return get(ref)

        hook_backend(memory, "jobs", app).hooks["get"] = faulty
        until = MIDNIGHT + HOUR
        while cloud.now < until:
            try:
                cloud.advance(until - cloud.now)
            except BackendUnavailable:  # a claim of the broken job
                continue
        assert [item for item in ran if item] == grid(MIDNIGHT, MINUTE, 60)
        assert memory.steps.maintain_due_jobs(stop_at=cloud.now + MINUTE).failed == ("a-broken-job",)

    def test_maintenance_without_time_leaves_the_jobs_for_the_next_pass(self, recorded):
        memory = recorded.cloud.memory
        recorded.outage(HOUR)
        assert memory.steps.maintain_due_jobs(stop_at=recorded.cloud.now).maintained == 0
        assert memory.steps.maintain_due_jobs(stop_at=recorded.cloud.now + SECOND).maintained == 1

    def test_a_pass_runs_even_if_it_cannot_be_recorded(self, recorded):
        failing(recorded.hook("store"), "record", times=1_000)
        recorded.cloud.advance(hours=7)
        assert recorded.begun == grid(MIDNIGHT, 10 * MINUTE, 42)
        assert list(recorded.cloud.jobs.history("duetime-catch-up")) == []


def test_planners_with_lost_responses_lose_and_double_no_run():
    recorded = RecordedJob(every(seconds=10))
    count = [0]

    def lose_the_answer(move, *arguments, **more):
        moved = move(*arguments, **more)
        count[0] += 1
        return moved and count[0] % 2 == 0

    recorded.hook("jobs").hooks["move_cursor"] = lose_the_answer
    recorded.cloud.advance(hours=1)
    assert recorded.begun == grid(MIDNIGHT, 10 * SECOND, 360)
    assert accounts(recorded.cloud, recorded.name, MIDNIGHT) == {"executed": 360}


def test_a_row_of_a_missing_job_is_skipped(recorded):
    recorded.cloud.advance(minutes=5)
    recorded.hook("jobs").hooks["get"] = lambda _get, _ref: None
    recorded.cloud.memory.job_wakes.remove("schedule", recorded.name)
    recorded.cloud.advance(minutes=10)
    assert recorded.skipped()[0] == (MIDNIGHT + 10 * MINUTE, "disabled")
    with pytest.raises(NotFound, match="no job"):
        recorded.cloud.jobs.history(recorded.name)


@pytest.mark.parametrize("limit", [0, 201])
def test_an_invalid_page_size_is_rejected(recorded, limit):
    with pytest.raises(ValueError, match="allowed is 1 to 200"):
        recorded.cloud.jobs.list(limit=limit)
    with pytest.raises(ValueError, match="allowed is 1 to 200"):
        recorded.cloud.jobs.history(recorded.name, limit=limit)


def test_a_cursor_of_another_list_is_rejected(recorded):
    with pytest.raises(InvalidCursor):
        recorded.cloud.jobs.list(cursor="press-print")


def test_operators_changes_lose_no_run_of_a_frequent_job():
    recorded = RecordedJob(every(seconds=30), overlap="queue_one")
    jobs = recorded.cloud.jobs
    for index in range(24):
        recorded.cloud.advance(timedelta(minutes=3, seconds=17 * index % 41))
        (jobs.pause, jobs.resume)[index % 2](recorded.name)
        if index % 5 == 0:
            jobs.trigger(recorded.name)
        if index % 7 == 0:
            recorded.deploy(every(seconds=30 + index % 2 * 15), overlap="queue_one")
    recorded.cloud.advance(minutes=3)
    assert set(accounts(recorded.cloud, recorded.name, MIDNIGHT)) == {"executed", "paused"}
    cadence_runs = [nominal for trigger, nominal, _ in recorded.runs if trigger == "cadence"]
    assert len(cadence_runs) == len(set(cadence_runs))
    assert all(nominal == ran_at for trigger, nominal, ran_at in recorded.runs if trigger == "cadence")


def test_a_time_that_an_earlier_version_ran_is_covered_though_a_third_version_has_taken_over():
    store = MemoryStore()
    jobs = MemoryJobStore(store)
    added(jobs, version=3, ends={1: NOON - SECOND, 2: NOON + MINUTE}, since=NOON + MINUTE)
    ran = put(store, occurrence(store, version=1))
    store.write(ran, started(ran, terms()))
    row = put(store, occurrence(store, version=2))
    claim = ClaimJobRun(backends(store, jobs=jobs), UNPAUSED)
    assert claim(row.ref, terms(NOON + 2 * MINUTE), NEVER) is None
    assert stored_row(store, row.ref).skip_reason is SkipReason.COVERED
