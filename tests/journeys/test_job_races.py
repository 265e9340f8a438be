"""Jobs among many workers and operators at once, and answers that were lost in simulated time."""

import threading
from dataclasses import replace
from datetime import timedelta
from typing import ClassVar

import pytest

from duetime import App, Run, every
from duetime.errors import BackendUnavailable, InvalidCursor, JobNotFound
from duetime.ids import JobName
from duetime.jobs.register import Registration
from duetime.model.action import Status
from duetime.model.job import JobRef
from duetime.ports.wakeups import Delivery
from duetime.testing import SimulatedCloud
from duetime.wakeups.due_messages import message_of
from tests.journeys.diary import HOUR, MIDNIGHT, MINUTE, SECOND, Diary, accounts, at, grid

UNAVAILABLE = BackendUnavailable("the jobs table", "it is throttled")


@pytest.fixture
def diary():
    return Diary(every(minutes=10))


def failing(monkeypatch, target, name, *, times, answer=UNAVAILABLE):
    """Have the first calls of a method raise, or say that somebody else was faster."""
    method, left = getattr(target, name), [times]

    def faulty(*arguments, **more):
        if left[0] > 0:
            left[0] -= 1
            if isinstance(answer, Exception):
                raise answer
            return answer
        return method(*arguments, **more)

    monkeypatch.setattr(target, name, faulty)


def lose_wakes(monkeypatch, cloud):
    """No schedule of EventBridge wakes any job."""
    fire = cloud._cloud.job_wakes.fire
    monkeypatch.setattr(cloud._cloud.job_wakes, "fire", lambda now: fire(now)[:0])


class TestAnOperatorsChange:
    CHANGES: ClassVar = {
        "pause": lambda diary: diary.cloud.jobs.pause(diary.name),
        "resume": lambda diary: diary.cloud.jobs.resume(diary.name, cadence="Every_10m"),
        "set": lambda diary: diary.cloud.jobs.set(diary.name, attempts=2),
        "deploy": lambda diary: diary.deploy(every(minutes=7)),
        "drop": lambda diary: diary.cloud.deploy(App()),
        "replace": lambda diary: diary.cloud.jobs.register(registration(replace=True, title="x")),
        "unregister": lambda diary: diary.cloud.jobs.unregister("acme-print"),
    }

    @pytest.fixture(params=list(CHANGES))
    def change(self, request, diary):
        diary.cloud.jobs.register(registration())
        diary.cloud.jobs.pause(diary.name, cadence="Every_10m")
        diary.cloud.advance(minutes=5)
        return lambda: self.CHANGES[request.param](diary)

    def test_is_made_though_others_were_faster(self, diary, monkeypatch, change):
        failing(monkeypatch, diary.cloud._cloud.job_store, "change", times=3, answer=False)
        before = {job.ref: job.revision for job in diary.cloud._cloud.job_store._jobs.values()}
        change()
        after = {job.ref: job.revision for job in diary.cloud._cloud.job_store._jobs.values()}
        assert before != after

    def test_is_given_up_when_the_job_never_stops_changing(self, diary, monkeypatch, change):
        failing(monkeypatch, diary.cloud._cloud.job_store, "change", times=99, answer=False)
        with pytest.raises(BackendUnavailable, match="kept changing"):
            change()


def registration(**options):
    return Registration(name="acme-print", handler="press-print", cadences=["every 10m"], **options)


class TestAClaim:
    @pytest.mark.parametrize("times", [1, 9])
    @pytest.mark.parametrize("method", ["claim", "end_pending", "wait"])
    def test_that_others_were_faster_than_is_decided_again(self, monkeypatch, method, times):
        diary = Diary(every(minutes=10), overlap="queue_one", lasts=[35 * MINUTE])
        failing(monkeypatch, diary.cloud._cloud.job_store, method, times=times, answer=False)
        diary.cloud.advance(hours=1)
        assert diary.begun == at(10, 20, 50, 60)

    def test_whose_job_never_stops_changing_comes_again_with_its_message(self, diary, monkeypatch):
        failing(monkeypatch, diary.cloud._cloud.job_store, "claim", times=10, answer=False)
        with pytest.raises(BackendUnavailable, match="kept changing during the claim"):
            diary.cloud.advance(minutes=10)
        assert diary.runs == []
        diary.cloud.advance(minutes=8)
        assert diary.begun == at(10)

    def test_whose_answer_was_lost_runs_once(self, diary, monkeypatch):
        store = diary.cloud._cloud.job_store
        claim, lost = store.claim, []

        def lose_the_answer(taking):
            lost.append(claim(taking))
            return claim(taking) if len(lost) > 1 else False

        monkeypatch.setattr(store, "claim", lose_the_answer)
        diary.cloud.advance(minutes=30)
        assert diary.begun == at(10, 20, 30)
        assert diary.job.running is None
        assert diary.job.tally.executed == 3

    def test_of_a_row_that_is_gone_does_nothing(self, diary):
        diary.cloud.advance(minutes=1)
        memory = diary.cloud._cloud
        wake = message_of(replace(diary.rows[0], id="press-print.000001.20260302T000000Z"))
        memory.run(Delivery(wake, diary.cloud.now, "gone"))
        assert diary.runs == []

    def test_by_many_workers_at_once_runs_each_once_and_no_two_side_by_side(self):
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
        memory = cloud._cloud
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
    def test_a_run_ends_though_the_next_could_not_be_woken(self, monkeypatch):
        diary = Diary(every(minutes=10), overlap="queue_one", lasts=[12 * MINUTE])
        store = diary.cloud._cloud.job_store
        settle = store.settle

        def settle_and_break(*arguments):
            done = settle(*arguments)
            failing(monkeypatch, store, "get", times=1)
            monkeypatch.setattr(store, "settle", settle)
            return done

        monkeypatch.setattr(store, "settle", settle_and_break)
        diary.cloud.advance(minutes=25)
        (_, _, first), (_, _, second) = diary.runs
        assert first == MIDNIGHT + 10 * MINUTE
        assert MIDNIGHT + 22 * MINUTE <= second <= MIDNIGHT + 22 * MINUTE + 15 * SECOND

    def test_a_run_without_a_lock_ends_though_it_could_not_be_counted(self, monkeypatch):
        diary = Diary(every(minutes=10), overlap="allow")
        failing(monkeypatch, diary.cloud._cloud.job_store, "count", times=1)
        diary.cloud.advance(minutes=20)
        assert diary.at(Status.EXECUTED) == at(10, 20)
        assert diary.job.tally.executed == 1

    def test_a_run_runs_though_its_job_could_not_be_planned_ahead(self, monkeypatch):
        diary = Diary(every(minutes=1))
        memory = diary.cloud._cloud
        lose_wakes(monkeypatch, diary.cloud)
        memory._sweep_at = MIDNIGHT + HOUR
        diary.cloud.advance(seconds=61)
        planned = len(diary.rows)
        failing(monkeypatch, memory.job_store, "move_cursor", times=1)
        diary.cloud.advance(minutes=planned - 1)
        assert sorted(diary.begun) == grid(MIDNIGHT, MINUTE, planned)
        assert len(diary.rows) > planned

    def test_one_job_that_cannot_be_attended_to_holds_up_no_other(self, monkeypatch):
        app, ran = App(), []

        @app.job(every(minutes=1), name="press-print")
        def press(run: Run) -> None:
            ran.append(run.nominal_at)

        @app.job(every(minutes=1), name="a-broken-job")
        def broken(run: Run) -> None:
            ran.append(None)

        cloud = SimulatedCloud(app, start=MIDNIGHT)
        memory = cloud._cloud
        lose_wakes(monkeypatch, cloud)
        get = memory.job_store.get

        def faulty(ref):
            if ref.name == "a-broken-job":
                raise UNAVAILABLE
            return get(ref)

        monkeypatch.setattr(memory.job_store, "get", faulty)
        until = MIDNIGHT + HOUR
        while cloud.now < until:
            try:
                cloud.advance(until - cloud.now)
            except BackendUnavailable:  # a claim of the broken job
                continue
        assert [item for item in ran if item] == grid(MIDNIGHT, MINUTE, 60)
        assert memory.steps.maintain_due_jobs(stop_at=cloud.now + MINUTE).failed == ("a-broken-job",)

    def test_a_tend_that_has_no_time_leaves_the_jobs_for_the_next(self, diary):
        memory = diary.cloud._cloud
        diary.outage(HOUR)
        assert memory.steps.maintain_due_jobs(stop_at=diary.cloud.now).attended == 0
        assert memory.steps.maintain_due_jobs(stop_at=diary.cloud.now + SECOND).attended == 1

    def test_a_pass_was_made_though_it_could_not_be_recorded(self, diary, monkeypatch):
        failing(monkeypatch, diary.cloud._cloud.store, "record", times=1_000)
        diary.cloud.advance(hours=7)
        assert diary.begun == grid(MIDNIGHT, 10 * MINUTE, 42)
        assert list(diary.cloud.jobs.history("duetime-catch-up")) == []


def test_planners_that_each_lose_their_answer_now_and_then_lose_and_double_nothing(monkeypatch):
    diary = Diary(every(seconds=10))
    store = diary.cloud._cloud.job_store
    move, count = store.move_cursor, [0]

    def lose_the_answer(*arguments, **more):
        moved = move(*arguments, **more)
        count[0] += 1
        return moved and count[0] % 2 == 0

    monkeypatch.setattr(store, "move_cursor", lose_the_answer)
    diary.cloud.advance(hours=1)
    assert diary.begun == grid(MIDNIGHT, 10 * SECOND, 360)
    assert accounts(diary.cloud, diary.name, MIDNIGHT) == {"executed": 360}


def test_a_row_whose_job_is_gone_is_skipped(diary):
    diary.cloud.advance(minutes=5)
    ref = JobRef("system", JobName(diary.name))
    diary.cloud._cloud.job_store._jobs.pop(ref)
    diary.cloud._cloud.job_wakes.remove("schedule", diary.name)
    diary.cloud.advance(minutes=10)
    assert diary.skipped()[0] == (MIDNIGHT + 10 * MINUTE, "disabled")
    with pytest.raises(JobNotFound):
        diary.cloud.jobs.history(diary.name)


@pytest.mark.parametrize("limit", [0, 201])
def test_a_page_of_a_size_that_makes_no_sense_is_refused(diary, limit):
    with pytest.raises(ValueError, match="allowed is 1 to 200"):
        diary.cloud.jobs.list(limit=limit)
    with pytest.raises(ValueError, match="allowed is 1 to 200"):
        diary.cloud.jobs.history(diary.name, limit=limit)


def test_a_cursor_of_another_list_is_refused(diary):
    with pytest.raises(InvalidCursor):
        diary.cloud.jobs.list(cursor="press-print")


def test_nothing_is_in_the_way_of_a_day_of_every_second_job_beside_operators():
    diary = Diary(every(seconds=30), overlap="queue_one")
    jobs = diary.cloud.jobs
    for index in range(24):
        diary.cloud.advance(timedelta(minutes=3, seconds=17 * index % 41))
        (jobs.pause, jobs.resume)[index % 2](diary.name)
        if index % 5 == 0:
            jobs.trigger(diary.name)
        if index % 7 == 0:
            diary.deploy(every(seconds=30 + index % 2 * 15), overlap="queue_one")
    diary.cloud.advance(minutes=3)
    assert set(accounts(diary.cloud, diary.name, MIDNIGHT)) == {"executed", "paused"}
    cadence_runs = [nominal for trigger, nominal, _ in diary.runs if trigger == "cadence"]
    assert len(cadence_runs) == len(set(cadence_runs))
    assert all(nominal == ran_at for trigger, nominal, ran_at in diary.runs if trigger == "cadence")
