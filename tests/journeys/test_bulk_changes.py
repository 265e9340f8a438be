"""Many actions cancelled, or redriven, at once in simulated time."""

from datetime import timedelta

import pytest

from duetime import App, Fatal, Payload, Run, every
from duetime.errors import InvalidArgument, InvalidCursor, NotFound
from duetime.model.action import Status
from duetime.scheduler import Scheduler
from duetime.testing import SimulatedCloud
from tests.journeys.recorded_job import DAY, HOUR, MIDNIGHT, MINUTE

ORDER = "order:17"


class Ship(Payload):
    item: int = 0


class Bill(Payload):
    item: int = 0


class Slow(Payload):
    pass


class Store:
    """An app whose bank is down until it is said to be up; a slow action may look around while it runs."""

    def __init__(self):
        self.bank_is_up, self.done, self.meanwhile = False, [], lambda _run: None
        self.app = App()

        @self.app.action
        def ship(ship: Ship) -> None:
            self.done.append(ship)

        @self.app.action
        def bill(bill: Bill) -> None:
            if not self.bank_is_up:
                raise Fatal("the bank is down")
            self.done.append(bill)

        @self.app.action
        def slow(_slow: Slow, run: Run) -> None:
            self.meanwhile(run)

        @self.app.job(every(hours=1), name="store-close")
        def close() -> None:
            if not self.bank_is_up:
                raise Fatal("the till is locked")

        self.cloud = SimulatedCloud(self.app, start=MIDNIGHT)
        self.scheduler = self.cloud.scheduler

    def schedule(self, payload, at=DAY, correlation_id=ORDER, scheduler=None):
        return (scheduler or self.scheduler).schedule(payload, at=at, correlation_id=correlation_id)

    def tenant_alone(self, store=None):
        """A scheduler of the same tenant that does not see the jobs of code."""
        memory = self.cloud.memory
        return Scheduler(
            store or memory.store,
            tenant_id="acme",
            actor="ann",
            clock=memory.clock,
            settings=memory.settings,
            jobs=memory.job_ports,
            sees_system=False,
        )

    def is_now(self, actions):
        return [self.scheduler.get(action.id).status.value for action in actions]


@pytest.fixture
def store():
    return Store()


def ids_of(rows):
    return {row.id for row in rows}


class TestCancelMany:
    def test_cancels_pending_and_stops_running_actions_as_in_the_dry_run(self, store):
        waiting = [store.schedule(Ship(item=n)) for n in range(3)]
        other = store.schedule(Ship(), correlation_id="order:18")
        reported = {}

        def look(run):
            reported["dry"] = store.scheduler.cancel_many(correlation_id=ORDER, dry_run=True)
            reported["untouched"] = store.is_now(waiting)
            reported["done"] = store.scheduler.cancel_many(correlation_id=ORDER)

        store.meanwhile = look
        running = store.schedule(Slow(), at=timedelta(0))
        store.cloud.advance(minutes=1)
        assert reported["untouched"] == ["pending"] * 3
        assert reported["dry"].is_dry_run
        assert (
            ids_of(reported["dry"].changed) == ids_of(reported["done"].changed) == ids_of([*waiting, running])
        )
        assert store.is_now([*waiting, other]) == ["cancelled"] * 3 + ["pending"]
        assert store.scheduler.get(running.id).cancel_request.by == "simulation"

    @pytest.mark.parametrize("limit", [1, 7])
    def test_changes_all_of_them_step_by_step(self, store, limit):
        actions = [store.schedule(Ship(item=n)) for n in range(30)]
        step, changed = store.scheduler.cancel_many(correlation_id=ORDER, limit=limit), []
        while True:
            assert len(step.changed) <= limit
            changed += step.changed
            if step.cursor is None:
                break
            step = store.scheduler.cancel_many(correlation_id=ORDER, limit=limit, cursor=step.cursor)
        assert len(changed) == 30
        assert ids_of(changed) == ids_of(actions)
        assert store.is_now(actions) == ["cancelled"] * 30

    def test_leaves_changed_actions_with_the_reason(self, store):
        first, second = (store.schedule(Ship(item=n)) for n in range(2))

        class Meddling:
            """Another caller is faster: it cancels the first action just after the page was read."""

            def __getattr__(self, name):
                return getattr(store.cloud.memory.store, name)

            def by_correlation(self, *requested, **more):
                page = store.cloud.memory.store.by_correlation(*requested, **more)
                store.scheduler.cancel(first.id)
                return page

        step = store.tenant_alone(Meddling()).cancel_many(correlation_id=ORDER)
        assert [entry.id for entry in step.changed] == [second.id]
        assert step.left.keys() == {first.id}
        assert "it is cancelled, and only a pending or running one can be" in step.left[first.id]

    def test_again_changes_nothing(self, store):
        store.schedule(Ship())
        store.scheduler.cancel_many(correlation_id=ORDER)
        again = store.scheduler.cancel_many(correlation_id=ORDER)
        assert (again.changed, again.left, again.cursor) == ((), {}, None)

    def test_touches_no_other_tenants_actions(self, store):
        globex = store.cloud.scheduler_for("globex")
        theirs = store.schedule(Ship(), scheduler=globex)
        assert store.scheduler.cancel_many(correlation_id=ORDER).changed == ()
        assert store.scheduler.cancel_many(created_until=timedelta(0)).changed == ()
        assert globex.get(theirs.id).status is Status.PENDING

    def test_can_select_all_actions_of_a_tenant(self, store):
        actions = [store.schedule(Ship(item=n), correlation_id=f"order:{n}") for n in range(3)]
        store.scheduler.cancel_many(created_until=timedelta(0))
        assert store.is_now(actions) == ["cancelled"] * 3

    def test_of_a_type_in_a_time_range_leaves_all_others(self, store):
        soon, late = store.schedule(Ship(), at=HOUR), store.schedule(Ship(), at=2 * DAY)
        bill = store.schedule(Bill(), at=HOUR)
        store.scheduler.cancel_many(type=Ship, due_until=DAY)
        assert store.is_now([soon, late, bill]) == ["cancelled", "pending", "pending"]

    @pytest.mark.parametrize(
        ("filters", "reported"),
        [
            ({}, "there is no filter; name the actions to cancel: created_until now means all of them"),
            ({"status": list(Status)}, "name the actions to cancel"),
            (
                {"correlation_id": None},
                "correlation_id is None; leave it out to cancel actions with any value",
            ),
            ({"correlation_id": None, "type": "ship"}, "correlation_id is None"),
            ({"correlationid": ORDER}, "there is no filter 'correlationid'"),
            ({"status": "executed"}, "cancel takes pending or processing actions; executed ones cannot"),
        ],
    )
    def test_with_invalid_filters_is_rejected(self, store, filters, reported):
        waiting = store.schedule(Ship())
        with pytest.raises(InvalidArgument) as refused:
            store.scheduler.cancel_many(**filters)
        assert reported in str(refused.value)
        assert store.is_now([waiting]) == ["pending"]

    def test_takes_no_cursor_of_another_query_and_no_step_too_large(self, store):
        with pytest.raises(InvalidCursor):
            store.scheduler.cancel_many(correlation_id=ORDER, cursor="x")
        with pytest.raises(ValueError, match="limit is 201; allowed is 1 to 200"):
            store.scheduler.cancel_many(correlation_id=ORDER, limit=201)


class TestRedriveMany:
    def test_runs_all_failed_ones_of_a_type_in_a_span_again(self, store):
        lost = [store.schedule(Bill(item=n), at=HOUR + n * MINUTE) for n in range(5)]
        late = store.schedule(Bill(item=9), at=3 * HOUR)
        store.cloud.advance(hours=4)
        store.bank_is_up = True
        span = {"type": Bill, "due_after": MIDNIGHT, "due_until": MIDNIGHT + 2 * HOUR}
        would = store.scheduler.redrive_many(**span, dry_run=True)
        assert ids_of(would.changed) == ids_of(lost)
        assert store.is_now(lost) == ["failed"] * 5
        done = store.scheduler.redrive_many(**span)
        assert ids_of(done.changed) == ids_of(lost)
        store.cloud.advance(minutes=1)
        assert store.is_now([*lost, late]) == ["executed"] * 5 + ["failed"]
        store.cloud.check()

    @pytest.mark.parametrize("limit", [1, 7])
    def test_redrives_all_of_them_although_they_leave_the_list(self, store, limit):
        lost = [store.schedule(Bill(item=n), at=MINUTE) for n in range(30)]
        store.cloud.advance(minutes=2)
        cursor, changed = None, []
        while True:
            step = store.scheduler.redrive_many(type=Bill, limit=limit, cursor=cursor, at=HOUR)
            changed += step.changed
            if (cursor := step.cursor) is None:
                break
        assert len(changed) == 30
        assert ids_of(changed) == ids_of(lost)
        assert store.scheduler.list(status="failed", type=Bill).actions == ()

    def test_may_be_for_a_later_time_in_a_zone(self, store):
        lost = store.schedule(Bill(), at=MINUTE)
        store.cloud.advance(minutes=2)
        nine = (MIDNIGHT + 9 * HOUR).replace(tzinfo=None)
        with pytest.raises(InvalidArgument, match=r"^at "):
            store.scheduler.redrive_many(type=Bill, at=nine)
        store.scheduler.redrive_many(type=Bill, at=nine, tz="Europe/Paris")
        assert store.scheduler.get(lost.id).due_at == MIDNIGHT + 8 * HOUR

    def test_touches_no_other_tenants_actions(self, store):
        globex = store.cloud.scheduler_for("globex")
        theirs = store.schedule(Bill(), at=MINUTE, scheduler=globex)
        store.cloud.advance(minutes=2)
        assert store.scheduler.redrive_many(type=Bill).changed == ()
        assert globex.get(theirs.id).status is Status.FAILED

    def test_of_actions_that_have_not_failed_is_rejected(self, store):
        with pytest.raises(InvalidArgument, match="redrive takes failed actions; pending ones cannot"):
            store.scheduler.redrive_many(status="pending", correlation_id=ORDER)


class TestIds:
    def test_change_the_chosen_ones_alone_page_by_page(self, store):
        chosen = [store.schedule(Ship(item=n)) for n in range(3)]
        other = store.schedule(Ship(item=9))
        ids = [row.id for row in chosen]
        step = store.scheduler.cancel_many(ids=ids, limit=2)
        assert len(step.changed) == 2
        last = store.scheduler.cancel_many(ids=ids, limit=2, cursor=step.cursor)
        assert (ids_of((*step.changed, *last.changed)), last.cursor) == (ids_of(chosen), None)
        assert store.is_now([*chosen, other]) == ["cancelled"] * 3 + ["pending"]

    def test_find_runs_of_jobs_and_no_other_tenants_actions(self, store):
        lost = store.schedule(Bill(), at=30 * MINUTE)
        theirs = store.schedule(Bill(), at=30 * MINUTE, scheduler=store.cloud.scheduler_for("globex"))
        store.cloud.advance(hours=1)
        run = store.scheduler.list(job="store-close", status="failed").actions[0]
        ids = [lost.id, run.id, theirs.id]
        assert ids_of(store.scheduler.list(ids=ids)) == {lost.id, run.id}
        assert ids_of(store.tenant_alone().list(ids=ids)) == {lost.id}
        store.bank_is_up = True
        assert ids_of(store.scheduler.redrive_many(ids=ids).changed) == {lost.id, run.id}
        store.cloud.advance(minutes=1)
        assert store.is_now([lost, run]) == ["executed", "executed"]
        store.cloud.check()


class TestRunsOfJobs:
    def test_that_failed_are_redriven_by_their_jobs_name(self, store):
        store.cloud.advance(hours=3)
        failed = store.scheduler.list(job="store-close", status="failed")
        assert len(failed) == 3
        store.bank_is_up = True
        assert ids_of(store.scheduler.redrive_many(job="store-close").changed) == ids_of(failed)
        store.cloud.advance(minutes=5)
        assert set(store.is_now(failed)) == {"executed"}
        store.cloud.check()

    def test_that_are_planned_are_cancelled_by_their_jobs_name(self, store):
        store.cloud.advance(hours=1)
        planned = store.scheduler.list(job="store-close", status="pending")
        assert planned.actions
        store.scheduler.cancel_many(job="store-close", status="pending")
        assert set(store.is_now(planned)) == {"cancelled"}
        store.cloud.check()

    def test_that_failed_are_shown_only_to_callers_that_see_the_system(self, store):
        lost = store.schedule(Bill(), at=90 * MINUTE)
        store.cloud.advance(hours=2)
        shown = store.scheduler.list(status="failed")
        assert [entry.job for entry in shown] == ["store-close", None, "store-close"]
        alone = store.tenant_alone()
        assert [entry.id for entry in alone.list(status="failed")] == [lost.id]
        assert ids_of(alone.redrive_many(status="failed").changed) == {lost.id}
        with pytest.raises(NotFound, match="no job"):
            alone.cancel_many(job="store-close")


class TestList:
    def test_a_list_by_age_stops_at_the_start_of_the_span(self, store):
        for _ in range(6):
            store.schedule(Ship())
            store.cloud.advance(minutes=10)
        page = store.scheduler.list(created_after=-25 * MINUTE, limit=3)
        assert (len(page), page.cursor) == (2, None)

    def test_of_a_rare_status_has_short_pages_with_cursors(self, store):
        for _ in range(60):
            store.schedule(Ship())
            store.cloud.advance(minutes=1)
        oldest = store.scheduler.list(limit=100).actions[-1]
        store.scheduler.cancel(oldest.id)
        page, pages = store.scheduler.list(status="cancelled", limit=5), 1
        while page.cursor:
            assert page.actions == ()
            page, pages = store.scheduler.list(status="cancelled", limit=5, cursor=page.cursor), pages + 1
        assert [entry.id for entry in page] == [oldest.id]
        assert pages == 3
