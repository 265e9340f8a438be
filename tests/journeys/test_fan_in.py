"""Batches: many members, one completion action, whatever becomes of the members and of the stream."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from unittest.mock import patch

import pytest

from duetime import App, Fatal, Payload, Run
from duetime.actions.order import Order
from duetime.errors import InvalidArgument, InvalidCursor, NotFound, StateConflict
from duetime.model.action import Status
from duetime.model.batch import MISSING_AFTER, BatchState, Counts
from duetime.model.change import Change
from duetime.testing import SimulatedCloud
from duetime.wakeups import count_batch
from duetime.wakeups.assembly import Steps
from duetime.wakeups.count_batch import CountBatch
from duetime.wakeups.follow import Follow, SweepHeld

NOON = datetime(2027, 3, 1, 12, tzinfo=UTC)
NAME = "import-2027-03"
MINUTE = timedelta(minutes=1)


class Line(Payload):
    number: int


class Report(Payload):
    month: str


class Shop:
    def __init__(self):
        self.bad, self.lines, self.reports = set(), [], []
        self.app = App()

        @self.app.action
        def import_line(payload: Line, run: Run) -> None:
            self.import_line(payload)

        @self.app.action
        def send_report(payload: Report, run: Run) -> None:
            self.reports.append((self.cloud.now, len(self.lines)))

        self.cloud = SimulatedCloud(self.app, start=NOON)
        self.scheduler = self.cloud.scheduler

    def import_line(self, payload):
        if payload.number in self.bad:
            raise Fatal("no such article")
        self.lines.append(payload.number)

    def batch(self):
        return self.scheduler.batch(NAME, on_complete=Report(month="2027-03"))

    def fill(self, count, at=timedelta(0)):
        with self.batch() as batch:
            assert batch.schedule_many(orders(count, at)) == count
        return batch

    def progress(self):
        return self.scheduler.batches.get(NAME)


def orders(count, at=timedelta(0), start=0):
    return (Order(Line(number=number), at=at) for number in range(start, start + count))


@pytest.fixture
def shop():
    shop = Shop()
    yield shop
    shop.cloud.check()
    shop.cloud.close()


@pytest.mark.parametrize("count", [0, 1, 100, 101, 2_500])
def test_the_completion_action_runs_once_after_the_last_member(shop, count):
    shop.fill(count, at=10 * MINUTE)
    shop.cloud.advance(minutes=9)
    assert len(shop.reports) == (count == 0)
    shop.cloud.advance(minutes=30)
    assert [lines for _, lines in shop.reports] == [count]
    assert (shop.progress().state, shop.progress().counts) == (BatchState.COMPLETE, Counts(executed=count))


def test_the_completion_action_of_a_small_batch_is_not_held_up_by_the_sweep(shop):
    shop.fill(20, at=10 * MINUTE)
    shop.cloud.advance(minutes=20)
    ((at, _),) = shop.reports
    assert at < NOON + 10 * MINUTE + timedelta(seconds=30)


def test_without_a_record_of_the_stream_the_sweep_counts(shop):
    with patch.object(Follow, "__call__", lambda *_, **__: None):
        shop.fill(500, at=10 * MINUTE)
        shop.cloud.advance(minutes=13)
    assert [lines for _, lines in shop.reports] == [500]


def test_a_batch_that_nobody_closes_is_listed_counted_and_not_complete(shop):
    batch = shop.batch()
    batch.schedule_many(orders(150))
    shop.cloud.advance(minutes=5)
    (found,) = shop.scheduler.batches.list()
    assert (found.state, found.counts.executed, found.left, shop.reports) == (BatchState.OPEN, 150, 0, [])
    shop.scheduler.batches.close(NAME)
    shop.cloud.advance(minutes=2)
    assert [lines for _, lines in shop.reports] == [150]


def test_an_error_in_the_block_leaves_the_batch_open(shop):
    def broken():
        yield from orders(3)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), shop.batch() as batch:
        batch.schedule_many(broken())
    assert shop.progress().state is BatchState.OPEN


def test_a_batch_is_not_closed_twice(shop):
    shop.fill(1)
    with pytest.raises(StateConflict, match=f"cannot close batch {NAME}: it is running; only an open one"):
        shop.scheduler.batches.close(NAME)


def test_a_closed_batch_takes_no_members(shop):
    shop.fill(1)
    for start, state in ((1, "running"), (None, "running"), (None, "complete")):
        with pytest.raises(StateConflict, match=f"cannot add to batch {NAME}: it is {state}; only an open"):
            shop.batch().schedule_many(orders(1), start=start)
        if start is None:
            shop.cloud.advance(minutes=5)
    assert shop.lines == [0]


def test_a_repeated_import_adds_no_member_twice(shop):
    shop.batch().schedule_many(orders(70))
    with shop.batch() as batch:
        with pytest.raises(StateConflict, match="pass start=0 to repeat the same orders, or start=70"):
            batch.schedule_many(orders(100))
        assert batch.schedule_many(orders(100), start=0) == 100
    shop.cloud.advance(minutes=5)
    assert sorted(shop.lines) == list(range(100))
    assert [lines for _, lines in shop.reports] == [100]


def test_several_processes_fill_a_batch(shop):
    first, second = shop.batch(), shop.batch()
    first.schedule_many(orders(40))
    second.open()
    second.schedule_many(orders(40, start=40), start=40)
    first.close()
    shop.cloud.advance(minutes=5)
    assert sorted(shop.lines) == list(range(80))
    assert shop.progress().counts == Counts(executed=80)


def test_failed_cancelled_and_skipped_members_are_final(shop):
    shop.bad = {3}
    with shop.batch() as batch:
        batch.schedule_many(orders(5, at=10 * MINUTE))
        batch.schedule_many([Order(Line(number=5), at=10 * MINUTE, expires_after=timedelta(seconds=1))])
        ids = [batch.member_id(number) for number in range(6)]
    shop.scheduler.cancel(ids[1])
    with patch.object(type(shop.cloud.memory), "has_room", False):
        shop.cloud.advance(minutes=11)
    shop.cloud.advance(minutes=30)
    assert shop.progress().counts == Counts(executed=3, failed=1, cancelled=1, skipped=1)
    assert [lines for _, lines in shop.reports] == [3]


def test_a_batch_waits_for_a_member_redriven_before_the_last_one_ends(shop):
    shop.bad = {0}
    with shop.batch() as batch:
        batch.schedule_many(orders(1))
        batch.schedule_many(orders(1, at=30 * MINUTE, start=1))
    shop.cloud.advance(minutes=5)
    shop.bad = set()
    shop.scheduler.redrive(batch.member_id(0), at=60 * MINUTE)
    shop.cloud.advance(minutes=50)
    assert shop.reports == []
    shop.cloud.advance(minutes=20)
    assert [lines for _, lines in shop.reports] == [2]


def test_a_redrive_after_the_completion_is_counted_and_completes_nothing_again(shop):
    shop.bad = {1, 2}
    shop.fill(3)
    shop.cloud.advance(minutes=5)
    completed_at = shop.progress().completed_at
    shop.bad = set()
    changed = shop.scheduler.batches.redrive(NAME)
    assert ([row.status for row in changed.changed], changed.cursor) == ([Status.PENDING] * 2, None)
    assert shop.progress().state is BatchState.RUNNING
    shop.cloud.advance(minutes=5)
    assert (len(shop.reports), shop.progress().counts) == (1, Counts(executed=3))
    assert (shop.progress().state, shop.progress().completed_at) == (BatchState.COMPLETE, completed_at)


def expire_first_members(shop):
    """Remove the rows of the members that ended in the first minutes, as after the retention."""
    shop.cloud.memory.store.remove_expired(NOON + shop.cloud.memory.settings.retention + 5 * MINUTE)


def fill_in_two_parts(shop, count, bad):
    """Members that are executed at once, and some that fail later, after which the batch is complete."""
    shop.bad = set(range(count, count + bad))
    with shop.batch() as batch:
        batch.schedule_many(orders(count))
        batch.schedule_many(orders(bad, at=30 * MINUTE, start=count))
    shop.cloud.advance(minutes=45)
    assert shop.progress().counts == Counts(executed=count, failed=bad)
    return batch


@pytest.mark.parametrize(("count", "bad"), [(3, 2), (150, 130)])
def test_members_whose_rows_have_expired_keep_their_counts_after_a_redrive(shop, count, bad):
    batch = fill_in_two_parts(shop, count, bad)
    expire_first_members(shop)
    shop.bad = {count}
    shop.scheduler.batches.redrive(NAME, limit=200)
    if count + bad > 200:
        shop.scheduler.batches.redrive(NAME, limit=200, cursor="200")
    shop.cloud.advance(minutes=30)
    assert shop.progress().state is BatchState.COMPLETE
    assert shop.progress().counts == Counts(executed=count + bad - 1, failed=1)
    assert not [row for row in shop.cloud.actions() if row.status is Status.SKIPPED]
    shop.bad = set()
    for _ in range(2):  # within the hour, and after it
        shop.cloud.advance(hours=2)
        if shop.progress().counts.failed:
            shop.scheduler.redrive(batch.member_id(count))
    shop.cloud.advance(minutes=30)
    assert (shop.progress().state, shop.progress().counts) == (
        BatchState.COMPLETE,
        Counts(executed=count + bad),
    )


def test_a_redrive_within_the_hour_of_another_is_counted_too(shop):
    batch = fill_in_two_parts(shop, 3, 2)
    expire_first_members(shop)
    shop.bad = set()
    for number in (3, 4):
        shop.scheduler.redrive(batch.member_id(number))
        shop.cloud.advance(minutes=10)
        assert shop.progress().counts == Counts(executed=number + 1, failed=4 - number)
    assert (shop.progress().state, len(shop.reports)) == (BatchState.COMPLETE, 1)


def test_a_redriven_member_is_not_final_until_it_ends(shop):
    batch = fill_in_two_parts(shop, 3, 2)
    expire_first_members(shop)
    shop.scheduler.redrive(batch.member_id(3), at=20 * MINUTE)
    shop.cloud.advance(minutes=10)
    assert (shop.progress().state, shop.progress().left) == (BatchState.RUNNING, 1)
    assert shop.progress().counts == Counts(executed=3, failed=1)
    shop.scheduler.cancel(batch.member_id(3))
    shop.cloud.advance(minutes=5)
    assert shop.progress().counts == Counts(executed=3, failed=1, cancelled=1)


def test_a_redrive_before_the_end_keeps_the_counts_of_expired_members(shop):
    shop.bad = {3}
    with shop.batch() as batch:
        batch.schedule_many(orders(3))
        batch.schedule_many(orders(1, at=30 * MINUTE, start=3))
        batch.schedule_many(orders(150, at=10 * 60 * MINUTE, start=4))
    with patch("duetime.wakeups.count_batch.WINDOW", 3):
        shop.cloud.advance(minutes=45)
        assert shop.progress().prefix == 3
        expire_first_members(shop)
        shop.bad = set()
        shop.scheduler.redrive(batch.member_id(3))
        shop.cloud.advance(hours=11)
    assert (shop.progress().state, shop.progress().counts) == (BatchState.COMPLETE, Counts(executed=154))


class TickingClock:
    """Each reading takes a second."""

    def __init__(self, now):
        self.at = now

    def now(self):
        self.at += timedelta(seconds=1)
        return self.at


def counter(shop, clock):
    return Steps(replace(shop.cloud.memory.backends, clock=clock)).count_batch


def test_a_count_that_runs_out_of_time_keeps_better_counts_and_is_repeated_soon(shop):
    shop.fill(500, at=10 * MINUTE)
    with patch.object(type(shop.cloud.memory), "has_room", property(lambda _: len(shop.lines) < 300)):
        shop.cloud.advance(minutes=60)
        before, clock = shop.progress(), TickingClock(shop.cloud.now + 60 * MINUTE)
        assert before.counts.executed >= 290
        count = counter(shop, clock)
        with patch("duetime.wakeups.count_batch.WINDOW", 120):
            count.sweep(before.ref, stop_at=clock.at + timedelta(seconds=4.5))
            early = shop.progress()
            assert (early.counts, early.counted_at) == (before.counts, before.counted_at)
            assert before.version != early.version
            assert 0 < early.prefix <= 240
            count.sweep(before.ref, stop_at=clock.at + timedelta(seconds=60))
        later = shop.progress()
    assert (later.counts.executed, later.counted_at > before.counted_at) == (300, True)
    shop.cloud.advance(minutes=60)


def test_a_count_remembers_few_batches_and_none_that_is_complete(shop):
    clock = TickingClock(shop.cloud.now)
    count, late = counter(shop, clock), clock.at + timedelta(days=1)
    shop.fill(1)
    for number in range(4):
        shop.scheduler.batch(f"open-{number}").open()
    with (
        patch("duetime.wakeups.count_batch._MOST_REMEMBERED", 3),
        patch.object(Follow, "__call__", lambda *_, **__: None),
    ):
        for batch in shop.scheduler.batches.list():
            count.sweep(batch.ref, stop_at=late)
        remembered = {ref.name for ref in count._counted_at}
        assert remembered == {"open-1", "open-2", "open-3"}
        for row in shop.cloud.actions():
            shop.cloud.memory.store.cancel(row, by="ops", at=shop.cloud.now, kept_until=late)
        count.sweep(shop.progress().ref, stop_at=late)
    assert shop.progress().state is BatchState.COMPLETE
    assert NAME not in {ref.name for ref in count._counted_at}


def test_a_late_redrive_is_counted_although_another_writer_interferes(shop):
    """The batch was complete before the redrive was written; a follower is added meanwhile."""
    shop.bad, store = {0}, shop.cloud.memory.store
    batch = shop.fill(1)
    shop.cloud.advance(minutes=5)
    with patch.object(type(shop.scheduler._batch_writes), "count_again", lambda *_, **__: None):
        shop.bad = set()
        shop.scheduler.redrive(batch.member_id(0))
    change, losses = store.change_batch, []

    def overtaken(read, changed):
        if changed.restarted_at is not None and read.restarted_at is None and not losses:
            losses.append(True)
            assert change(read, replace(read, version="another"))
        return change(read, changed)

    with patch.object(store, "change_batch", overtaken):
        shop.cloud.advance(minutes=10)
    assert (losses, shop.progress().counts) == ([True], Counts(executed=1))


def test_a_count_between_the_request_and_the_write_of_a_redrive_does_not_stand(shop):
    """The count reads the member as failed, and completes the batch again; the member is due much later."""
    shop.bad, store = {0}, shop.cloud.memory.store
    batch = shop.fill(3)
    shop.cloud.advance(minutes=5)
    redrive, count = store.redrive, counter(shop, shop.cloud.clock)

    def late(*given, **more):
        count.sweep(shop.progress().ref, stop_at=shop.cloud.now + MINUTE)
        assert shop.progress().state is BatchState.COMPLETE
        return redrive(*given, **more)

    with patch.object(store, "redrive", late):
        shop.scheduler.redrive(batch.member_id(0), at=60 * MINUTE)
    assert shop.progress().state is BatchState.RUNNING
    shop.cloud.advance(minutes=30)
    assert (shop.progress().state, shop.progress().left) == (BatchState.RUNNING, 1)
    shop.bad = set()
    shop.cloud.advance(minutes=45)
    assert shop.progress().counts == Counts(executed=3)


@pytest.mark.parametrize(("due_in", "again_at"), [(timedelta(0), None), (timedelta(minutes=90), 95)])
def test_a_late_redrive_is_counted_once_more_though_its_caller_died_and_all_records_are_lost(
    shop, due_in, again_at
):
    """Of one that ends within the hour, and of one that is still pending then."""
    shop.bad, store = {0}, shop.cloud.memory.store
    batch = shop.fill(3)
    shop.cloud.advance(minutes=5)
    redrive, count = store.redrive, counter(shop, shop.cloud.clock)

    def late(*given, **more):
        count.sweep(shop.progress().ref, stop_at=shop.cloud.now + MINUTE)
        redrive(*given, **more)
        raise ConnectionResetError

    with patch.object(CountBatch, "wake", lambda *_, **__: None):
        with patch.object(store, "redrive", late), pytest.raises(ConnectionResetError):
            shop.scheduler.redrive(batch.member_id(0), at=due_in)
        shop.bad = set()
        shop.cloud.advance(minutes=55)
        assert shop.progress().counts == Counts(executed=2, failed=1)
        shop.cloud.advance(minutes=10)
        if again_at:
            assert (shop.progress().state, shop.progress().left) == (BatchState.RUNNING, 1)
            shop.cloud.advance(minutes=again_at)
        assert (shop.progress().state, shop.progress().counts) == (BatchState.COMPLETE, Counts(executed=3))
        shop.cloud.advance(hours=2)
    assert shop.progress().recount_at is None
    assert len(shop.reports) == 1


def test_a_redrive_during_the_last_count_is_waited_for(shop):
    """The count read the member as failed; the redrive comes before the count is written."""
    shop.bad, store = {0}, shop.cloud.memory.store
    batch = shop.fill(1)
    change, redriven = store.change_batch, []

    def late(read, changed):
        if changed.state is BatchState.COMPLETE and not redriven:
            redriven.append(True)
            shop.bad = set()
            shop.scheduler.redrive(batch.member_id(0), at=10 * MINUTE)
        return change(read, changed)

    with patch.object(store, "change_batch", late):
        shop.cloud.advance(minutes=5)
    assert (redriven, shop.reports) == ([True], [])
    shop.cloud.advance(minutes=10)
    assert [lines for _, lines in shop.reports] == [1]


def test_a_count_that_began_just_before_a_redrive_does_not_stand(shop):
    """Its write comes after the redrive has returned; the batch was restarted before the count."""
    shop.bad, store = {0}, shop.cloud.memory.store
    batch = shop.fill(2, at=MINUTE)
    with patch.object(CountBatch, "_count", lambda *_, **__: None):
        shop.cloud.advance(minutes=5)
    redrive, count, writes = store.redrive, counter(shop, shop.cloud.clock), []

    def after_the_reads(*given, **more):
        with patch.object(store, "change_batch", lambda read, changed: writes.append((read, changed))):
            count.sweep(shop.progress().ref, stop_at=shop.cloud.now + MINUTE)
        return redrive(*given, **more)

    with patch.object(store, "redrive", after_the_reads):
        shop.scheduler.redrive(batch.member_id(0), at=60 * MINUTE)
    ((read, changed),) = writes
    assert changed.state is BatchState.COMPLETE
    assert not store.change_batch(read, changed)
    shop.cloud.advance(minutes=30)
    assert (shop.progress().state, shop.progress().left, shop.reports) == (BatchState.RUNNING, 1, [])
    shop.bad = set()
    shop.cloud.advance(minutes=45)
    assert (shop.progress().counts, len(shop.reports)) == (Counts(executed=2), 1)


def test_redrives_in_turn_write_the_batch_once_each(shop):
    shop.bad, store = {0, 1, 2, 3}, shop.cloud.memory.store
    shop.fill(5)
    shop.cloud.advance(minutes=5)
    change, writes = store.change_batch, []

    def counted(read, changed):
        writes.append(changed)
        return change(read, changed)

    with patch.object(store, "change_batch", counted):
        assert len(shop.scheduler.batches.redrive(NAME).changed) == 4
    assert len(writes) == 1 + 4


def test_a_member_that_was_never_written_is_replaced_after_a_while(shop):
    batch = shop.batch()
    with patch.object(shop.cloud.memory.store, "put_many", lambda _rows: None):
        batch.schedule_many(orders(2))
    batch.schedule_many(orders(1, start=2))
    batch.close()
    shop.cloud.advance(MISSING_AFTER - MINUTE)
    assert (shop.progress().left, shop.reports) == (2, [])
    shop.cloud.advance(minutes=4)
    assert (shop.progress().counts, len(shop.reports)) == (Counts(executed=1, skipped=2), 1)
    row = shop.scheduler.get(batch.member_id(0))
    assert row.note.startswith("it was never scheduled")


def test_many_members_that_were_never_written_are_replaced(shop):
    batch = shop.batch()
    with patch.object(shop.cloud.memory.store, "put_many", lambda _rows: None):
        batch.schedule_many(orders(150))
    batch.close()
    shop.cloud.advance(MISSING_AFTER + 30 * MINUTE)
    assert (shop.progress().counts, len(shop.reports)) == (Counts(skipped=150), 1)


def test_a_record_starts_no_count_of_a_very_large_batch(shop):
    with (
        patch.object(Follow, "__call__", lambda *_: None),
        patch.object(SweepHeld, "__call__", lambda *_, **__: 0),
    ):
        batch = shop.fill(200)
        shop.cloud.advance(minutes=1)
    count, stop_at = shop.cloud.memory.steps.count_batch, shop.cloud.now + MINUTE
    with patch.object(count_batch, "_LARGEST_AT_ONCE", 150):
        count.wake(batch.batch.ref, stop_at=stop_at)
    assert (len(shop.lines), shop.progress().state) == (200, BatchState.RUNNING)
    count.wake(batch.batch.ref, stop_at=stop_at)
    assert shop.progress().state is BatchState.COMPLETE


def test_a_member_is_redriven_after_its_batch_has_expired(shop):
    shop.bad = {0}
    batch = shop.fill(1)
    shop.cloud.advance(minutes=1)
    member = shop.scheduler.get(batch.member_id(0))
    shop.bad = set()
    with patch.object(shop.cloud.memory.store, "find_batch", lambda _ref: None):
        shop.scheduler.redrive(member.id)
        stop_at = shop.cloud.now + MINUTE
        count = shop.cloud.memory.steps.count_batch
        count.wake(batch.batch.ref, stop_at=stop_at, redriven=[member])
        count.sweep(batch.batch.ref, stop_at=stop_at)
    shop.cloud.advance(minutes=1)
    assert shop.scheduler.get(member.id).status is Status.EXECUTED


def test_a_batch_is_cancelled_with_its_pending_members(shop):
    batch = shop.batch()
    batch.schedule_many(orders(30, at=60 * MINUTE))
    assert len(shop.scheduler.batches.cancel(NAME, dry_run=True, limit=20).changed) == 20
    assert shop.progress().state is BatchState.OPEN
    first = shop.scheduler.batches.cancel(NAME, limit=20)
    rest = shop.scheduler.batches.cancel(NAME, limit=20, cursor=first.cursor)
    assert (len(first.changed), len(rest.changed), rest.cursor) == (20, 10, None)
    shop.cloud.advance(minutes=2)
    assert (shop.progress().counts, len(shop.reports)) == (Counts(cancelled=30), 1)


def test_members_are_listed_by_number_and_status(shop):
    shop.bad = {1, 250}
    shop.fill(300)
    shop.cloud.advance(minutes=5)
    first = shop.scheduler.batches.members(NAME, status=Status.FAILED, limit=1)
    second = shop.scheduler.batches.members(NAME, status=Status.FAILED, limit=1, cursor=first.cursor)
    assert [row.failure_reason for row in (*first, *second)] == ["Fatal: no such article"] * 2
    assert len(shop.scheduler.batches.members(NAME, limit=200)) == 200


def test_another_tenants_batch_is_not_found(shop):
    shop.fill(1)
    other = shop.cloud.scheduler_for("bolt")
    with pytest.raises(NotFound, match="there is no batch 'import-2027-03'"):
        other.batches.get(NAME)
    assert list(other.batches.list()) == []


@pytest.mark.parametrize(
    "name", ["", "a b", "x" * 101, "-a", "a#b", "01a5d82c-1800-79e3-aeda-66f0e0000000", 7]
)
def test_a_name_that_is_no_batchs_is_rejected(shop, name):
    with pytest.raises(InvalidArgument, match="batch"):
        shop.scheduler.batch(name)
    with pytest.raises(InvalidArgument, match="batch"):
        shop.scheduler.batches.get(name)


@pytest.mark.parametrize("key", ["idempotency_key", "debounce_key"])
def test_a_member_has_no_key_of_its_own(shop, key):
    with pytest.raises(InvalidArgument, match=f"{key}.*its number makes a repeat safe"):
        shop.batch().schedule_many([Order(Line(number=1), at=MINUTE, **{key: "k"})])
    assert shop.progress().size == 0


def test_a_member_waits_for_nothing_so_no_batch_can_wait_for_itself(shop):
    batch = shop.batch()
    batch.open()
    behind = shop.scheduler.schedule(Line(number=5), at=timedelta(0), after=batch)
    for after in ([batch], [behind], behind.id):
        with pytest.raises(InvalidArgument, match=r"after .* a batch could then wait for itself"):
            batch.schedule_many([Order(Line(number=6), at=timedelta(0), after=after)])
    assert shop.progress().size == 0
    batch.close()
    shop.cloud.advance(minutes=5)
    assert (shop.lines, len(shop.reports)) == ([5], 1)


@pytest.mark.parametrize("number", [-1, 10_000_000])
def test_no_member_has_a_number_out_of_range(shop, number):
    with pytest.raises(InvalidArgument, match="members are numbered from 0 to 9,999,999"):
        shop.batch().member_id(number)


@pytest.mark.parametrize("start", [-1, 10_000_000])
def test_numbers_out_of_range_are_rejected(shop, start):
    with pytest.raises(InvalidArgument, match="at most 10,000,000 members, numbered from 0"):
        shop.batch().schedule_many(orders(1), start=start)


def test_a_member_must_be_due_within_the_retention(shop):
    with pytest.raises(InvalidArgument, match="later than the retention allows"):
        shop.batch().schedule_many(orders(1, at=timedelta(days=400)))


@pytest.mark.parametrize("cursor", ["x", "-1", "1" * 20])
def test_a_cursor_of_another_list_is_rejected(shop, cursor):
    shop.fill(1)
    with pytest.raises(InvalidCursor):
        shop.scheduler.batches.members(NAME, cursor=cursor)
    with pytest.raises(InvalidCursor):
        shop.scheduler.batches.list(cursor="a b")


def test_counting_writes_at_most_a_tenth_of_a_unit_a_member(shop):
    store, writes = shop.cloud.memory.store, []
    change = store.change_batch
    with patch.object(store, "change_batch", lambda *args: writes.append(args) or change(*args)):
        shop.fill(2_000, at=MINUTE)
        with patch.object(type(shop.cloud.memory), "has_room", property(lambda _: len(shop.lines) < 1_990)):
            shop.cloud.advance(hours=10)
        shop.cloud.advance(hours=1)
    assert len(shop.reports) == 1
    assert len(writes) < 2_000 * 0.1


def test_after_its_time_arm_leaves_batches_and_releases_to_the_sweep(shop):
    """Follow gets the time that the invocation of arm has left."""
    shop.fill(1)
    store, clock, done = shop.cloud.memory.store, TickingClock(shop.cloud.now), []
    count, release = counter(shop, clock), lambda ref, **_: done.append(ref.id)
    follow = Follow(replace(shop.cloud.memory.backends, clock=clock), count, release)
    row = shop.scheduler.schedule(Line(number=7), at=timedelta(0))
    followers = (
        *(batch.first_id for batch in shop.scheduler.batches.list()),
        row.id,
        shop.progress().on_complete,
    )
    ended = replace(row, status=Status.EXECUTED, is_awaited=True, followers=followers)
    changes = [Change(old=row, new=ended)]
    follow(changes, stop_at=clock.at + timedelta(seconds=3.5))
    assert done == list(followers[:2])
    done.clear()
    follow(changes, stop_at=clock.at + timedelta(days=1))
    assert done == list(followers)
    assert store.find_batch(shop.progress().ref) is not None


def test_a_batch_whose_count_takes_all_the_time_does_not_keep_held_actions_waiting(shop):
    shop.fill(500, at=60 * MINUTE)
    clock, done = TickingClock(shop.cloud.now), []
    count = counter(shop, clock)
    held = shop.scheduler.schedule(Line(number=1), at=timedelta(0), after=shop.progress().on_complete)
    over = replace(shop.cloud.memory.backends, clock=clock)
    sweep = SweepHeld(over, count, lambda ref: done.append(ref.id))
    slow = lambda *_, stop_at: setattr(clock, "at", max(clock.at, stop_at))  # noqa: E731 - a count until its end
    with patch.object(CountBatch, "sweep", slow):
        sweep.check_all(stop_at=clock.at + timedelta(minutes=10))
    assert held.id in done
