"""What the steps that wake actions decide at their bounds, one step at a time."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from duetime import ids, instant
from duetime.ids import SYSTEM_TENANT
from duetime.memory.notes import MemoryBookmarks
from duetime.memory.store import MemoryStore
from duetime.model.action import Status
from duetime.model.batch import HELD_AT
from duetime.model.change import Change
from duetime.model.predecessors import Predecessors
from duetime.model.row_parts import After
from duetime.ports.wakeups import LONGEST_DELAY
from duetime.settings import DUE_SHARDS, Settings
from duetime.testing import TurnedClock
from duetime.wakeups.arm import LATEST, TOO_MANY, Arm, TimerBudget
from duetime.wakeups.dispatch import _id_of, _tenant_of
from duetime.wakeups.due_messages import (
    CALLS_OF_A_PHASE,
    PhaseSleep,
    SetAside,
    _has_phase,
    calls_at_once,
    message_of,
    send_wakes,
    sum_of,
)
from duetime.wakeups.due_scanner import SURPLUS_BOOKMARK, DueScanner, DueShards, DueWindow
from duetime.wakeups.follow import Follow, SweepHeld
from duetime.wakeups.sweep import Sweep, bands
from duetime.wakeups.wheel import WheelTurns
from duetime_contract.batches import held
from duetime_contract.specimens import (
    HOUR,
    MINUTE,
    NOON,
    SECOND,
    SKEW,
    TICK,
    fresh,
    put,
    scheduled,
)
from tests.backends import backends
from tests.cases import for_each
from tests.facts.claim_decisions import job
from tests.slots import NoQueues

SETTINGS = Settings(clock_skew=SKEW)
GRACE = SETTINGS.grace


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def clock():
    return TurnedClock(NOON)


class TestDueMessages:
    def test_a_sleep_ends_at_its_bound_and_a_full_second_takes_no_more_calls(self, clock):
        sleep = PhaseSleep(clock)
        assert sleep.reserve(NOON + SECOND, CALLS_OF_A_PHASE + 1) == NOON + SECOND
        assert sleep.reserve(NOON + SECOND, 1) is None
        assert sleep.reserve(NOON + SECOND + TICK, 1) is None
        assert sleep.reserve(NOON, 1) == NOON

    @for_each(
        ("ahead", "expected"),
        [
            (5 * SECOND, True),
            (5 * SECOND - TICK, False),
            (LONGEST_DELAY * SECOND, True),
            (LONGEST_DELAY * SECOND + TICK, False),
        ],
    )
    def test_a_sleep_is_of_use_from_five_seconds_to_the_longest_delay(self, store, clock, ahead, expected):
        message = message_of(fresh(store, due_at=NOON + ahead))
        assert _has_phase(message, NOON, PhaseSleep(clock)) is expected

    def test_what_is_set_aside_is_added_up_by_queue(self):
        one, other = SetAside("a", 2, "denied"), SetAside("b", 1, "denied")
        assert sum_of([one, other, one]) == (SetAside("a", 4, "denied"), other)

    def test_with_the_start_second_nothing_sleeps_and_only_several_calls_are_made_side_by_side(
        self, store, clock
    ):
        queues, maps = NoQueues(), []

        def side_by_side(function, calls):
            maps.append(len(calls))
            return map(function, calls)

        for number in (1, 11):
            messages = [message_of(fresh(store, due_at=NOON + MINUTE + 0.5 * SECOND))] * number
            for start, sleep in (("second", PhaseSleep(clock)), ("instant", None)):
                send_wakes(messages, queues, queues, clock, start=start, sleep=sleep, map_=side_by_side)
        assert (clock.now(), maps, len(queues.sent)) == (NOON, [2, 2], 24)
        assert [len(call.messages) for call in calls_at_once("a", messages)] == [10, 1]


class TestArm:
    @for_each(
        ("ahead", "waited", "expected"),
        [
            (2 * HOUR, 0 * HOUR, True),
            (SETTINGS.wake_early, HOUR, False),
            (SETTINGS.wake_early + TICK, HOUR, True),
            (HOUR, SETTINGS.near_limit - HOUR, False),
            (HOUR, SETTINGS.near_limit - HOUR + TICK, True),
        ],
    )
    def test_a_timer_is_cleared_only_if_one_may_be_set(self, store, ahead, waited, expected):
        row = fresh(store, due_at=NOON + ahead, created_at=NOON - max(waited, HOUR))
        row = replace(row, id=ids.new_action_id(row.due_at - ahead - waited))
        gone = SimpleNamespace(due_at=NOON + ahead, pending_since=NOON - waited)
        assert Arm(backends(store))._may_have_timer(gone, NOON) is expected

    def test_at_the_near_limit_an_action_is_near_and_at_two_seconds_it_is_not_soon(self, store, clock):
        arm = Arm(backends(store, clock=clock), in_phase=True)
        near, far = (fresh(store, due_at=NOON + SETTINGS.near_limit + more) for more in (0 * TICK, TICK))
        assert arm._near_and_far([far, near]) == ([near], [far])
        assert arm._may_sleep([replace(fresh(store, created_at=NOON), due_at=NOON + 2 * SECOND)], NOON)
        assert not arm._may_sleep([fresh(store, created_at=NOON, due_at=NOON + 2 * SECOND - TICK)], NOON)

    def test_another_process_that_had_too_many_counts_if_it_was_later(self, clock):
        marks = MemoryBookmarks()
        budget = TimerBudget(1, marks, clock)
        assert budget.allows(1)
        marks.write(TOO_MANY, {LATEST: instant.text(NOON + HOUR)})
        budget._read()
        assert budget.too_many_at == NOON + HOUR
        marks.write(TOO_MANY, {LATEST: instant.text(NOON)})
        budget._read()
        assert budget.too_many_at == NOON + HOUR


class TestScan:
    """One window of a shard."""

    @pytest.fixture
    def scanner(self, store, clock):
        return DueScanner(backends(store, clock=clock, settings=SETTINGS))

    @for_each(
        ("changed", "expected"),
        [
            ({}, True),
            ({"lease_until": instant.LATEST}, True),
            ({"status": Status.EXECUTED}, False),
            ({"status": Status.PROCESSING}, False),
            ({"status": Status.PROCESSING, "lease_until": NOON - SKEW}, False),
            ({"status": Status.PROCESSING, "lease_until": NOON - SKEW - TICK}, True),
        ],
    )
    def test_a_pending_row_may_run_and_one_whose_lease_is_over(self, store, scanner, changed, expected):
        assert scanner._may_run(replace(fresh(store), **changed), NOON) is expected

    @for_each(
        ("late", "changed", "look", "expected"),
        [
            (GRACE - TICK, {}, (False, True), "due"),
            (GRACE, {}, (False, True), "first of default"),
            (GRACE, {"attempt": 1}, (False, True), "later of default"),
            (GRACE, {"type": "print"}, (False, True), "first of press"),
            (GRACE, {}, (False, False), "first of default"),
            (TICK, {}, (True, False), "never"),
            (TICK, {}, (True, True), "first of default"),
            (GRACE, {}, (True, False), "never"),
        ],
    )
    def test_the_pauses_decide_on_overdue_rows_and_on_those_of_a_look(
        self, store, late, changed, look, expected
    ):
        is_look, covers = look
        row, questions = replace(fresh(store, due_at=NOON - late), **changed), []

        def ready_at(work, *, late, is_first):
            questions.append(f"{'first' if is_first else 'later'} of {work.worker}")
            return NOON + late

        pauses = SimpleNamespace(may_cover=lambda _work: covers, ready_at=ready_at)
        routes = SimpleNamespace(queue_for={"print": "press"}.get)
        scanner = DueScanner(backends(store, routes=routes), pauses=pauses)
        found = scanner._ready_at(row, NOON, DueWindow("w", "0", None, NOON, is_look))
        ready = {"due": row.due_at, "never": instant.LATEST}
        assert (found, questions) == (
            ready.get(expected, NOON + GRACE),
            [] if expected in ready else [expected],
        )

    @for_each(
        ("marks", "stop_in", "expected"),
        [
            ((NOON - HOUR,), SECOND, True),
            ((NOON - HOUR,), 0 * SECOND, False),
            ((NOON - HOUR, None), SECOND, False),
            ((NOON - HOUR, "cursor x"), SECOND, False),
        ],
    )
    def test_an_empty_shard_is_known_by_one_read_of_marked_windows_of_whole_passes(
        self, scanner, marks, stop_in, expected
    ):
        starts = [instant.text(mark) if mark and mark != "cursor x" else mark for mark in marks]
        windows = [DueWindow(f"{n}", "0", start, NOON) for n, start in enumerate(starts)]
        assert (scanner.empty_shards(windows, stop_at=NOON + stop_in) == {"0"}) is expected

    def test_a_shard_with_a_further_page_is_not_empty(self, store, clock):
        pages = SimpleNamespace(due=lambda *_given, **_more: SimpleNamespace(entries=(), cursor="next"))
        scanner = DueScanner(replace(backends(store, clock=clock), store=pages))
        pages.due_shards = store.due_shards
        window = DueWindow("w", "0", instant.text(NOON), NOON + HOUR)
        assert not scanner.empty_shards([window], stop_at=NOON + HOUR)


class TestDueShards:
    @pytest.fixture
    def marks(self):
        return MemoryBookmarks()

    @pytest.fixture
    def shards(self, store, clock, marks):
        return DueShards(store, marks, clock)

    def test_another_reader_than_a_pass_writes_nothing(self, store, shards, marks):
        before = {"number": "20"}
        marks.write(SURPLUS_BOOKMARK, before)
        assert tuple(shards.known()) == store.due_shards
        assert marks.read(SURPLUS_BOOKMARK) == before
        assert len(shards.known([])) == 20
        assert marks.read(SURPLUS_BOOKMARK)["number"] == str(DUE_SHARDS)

    def test_a_shard_of_the_setting_is_read_once_though_it_was_a_surplus_one(self, store, shards, marks):
        marks.write(SURPLUS_BOOKMARK, {"1": "holds rows", "17": "holds rows"})
        assert list(shards.known(["1", "17"])) == [*store.due_shards, "17"]

    def test_a_former_shard_is_read_until_the_end_of_its_day(self, store, clock, shards, marks):
        marks.write(SURPLUS_BOOKMARK, {"17": instant.text(NOON + TICK)})
        assert list(shards.probe()) == [*store.due_shards, "17"]
        clock.wait_until(NOON + TICK)
        assert list(shards.probe()) == list(store.due_shards)


class TestSweep:
    def test_the_bands_double_up_to_the_rate_of_the_catch_up(self):
        exact = Settings(grace=45 * MINUTE, job_grace=HOUR, catch_up_rate=3 * HOUR)
        assert bands(exact) == (45 * MINUTE, 90 * MINUTE)

    @for_each(("own", "is_active", "expected"), [("a", True, True), ("a", False, False), ("", True, False)])
    def test_only_the_active_region_marks_that_it_is_fenced(self, store, own, is_active, expected):
        given = backends(store)
        region = SimpleNamespace(own=own, is_active=lambda: is_active)
        assert bool(Sweep(given, DueScanner(given), region=region)._fenced(NOON)) is expected
        assert not Sweep(given, DueScanner(given))._fenced(NOON)

    @for_each(
        ("results", "turns"),
        [
            ([(True, ())], 1),
            ([(False, ())], 2),
            ([(False, ("3",))], 1),
            ([], 0),
        ],
    )
    def test_the_wheel_goes_on_after_a_turn_that_was_only_cut_short(self, results, turns):
        wheel = WheelTurns(lambda stop_at: made.append(stop_at) or result(True, ()))
        made = [NOON] * len(results)

        def result(is_complete, failed):
            return SimpleNamespace(sent=1, is_complete=is_complete, failed_shards=failed)

        wheel._results = [result(*given) for given in results]
        assert (wheel.rest(NOON), len(made)) == (turns, turns)


class TestFollow:
    @for_each("last", [Status.FAILED, Status.EXECUTED])
    def test_one_success_among_those_that_an_action_follows_is_a_success(self, store, last):
        first, second = (scheduled(store) for _ in range(2))
        questions = []
        follow = Follow(backends(store), None, lambda ref, has_success: questions.append((ref, has_success)))
        row = put(store, held(store, Predecessors((first.id, second.id), ()).text()))
        statuses = sorted([Status.EXECUTED, last], key=lambda status: status is last)
        wakes = [
            Change(one, replace(one, status=status, is_awaited=True, followers=(row.id,)))
            for one, status in zip((first, second), statuses, strict=True)
        ]
        follow(wakes)
        assert questions == [(row.ref, True)]

    @for_each("changed", [{"is_awaited": False}, {"status": Status.PENDING}])
    def test_no_other_change_releases_anything(self, store, changed):
        row = scheduled(store)
        after = replace(
            row, **{"status": Status.EXECUTED, "is_awaited": True, "followers": (row.id,)} | changed
        )
        follow = Follow(backends(store), None, lambda *_given, **_more: pytest.fail("it releases"))
        follow([Change(row, after)])

    def test_the_sweep_checks_so_many_and_the_deep_sweep_all_pages(self, store):
        shard = store.due_shards[0]
        for _ in range(101):
            put(store, replace(fresh(store), due_at=HELD_AT, due_shard=shard, after=After("x")))
        checked = []
        sweep = SweepHeld(backends(store), None, checked.append)
        assert sweep._check(shard, NOON + HOUR, 100) == 100
        assert (len(checked), sweep.check_all(stop_at=NOON + HOUR)) == (100, 101)


OWN = {"source": ids.EVENT_SOURCE, "id": "event", "detail": {"id": "transition"}}


@for_each(
    ("event", "expected"),
    [
        (OWN, "transition"),
        (OWN | {"source": "shop"}, "event"),
        (OWN | {"detail": {}}, "event"),
        (OWN | {"detail": "id"}, "event"),
    ],
)
def test_an_own_event_is_known_by_its_transition(event, expected):
    assert _id_of(event) == expected


@for_each(
    ("cadence", "tenant", "expected"),
    [
        ("on_event kb Uploaded tenant=detail.tenant", SYSTEM_TENANT, "globex"),
        ("on_event kb Uploaded tenant=detail.tenant", "acme", "acme"),
        ("on_event kb Uploaded", SYSTEM_TENANT, SYSTEM_TENANT),
    ],
)
def test_a_tenants_own_job_runs_for_that_tenant(cadence, tenant, expected):
    its_job = job()
    its_job = replace(
        its_job,
        ref=replace(its_job.ref, tenant_id=tenant),
        definition=replace(its_job.definition, cadences=(cadence,)),
    )
    (trigger,) = its_job.cadence_set.triggers
    event = {"detail": {"tenant": "globex"}}
    assert _tenant_of(its_job, trigger.name, event) == (expected, None)
