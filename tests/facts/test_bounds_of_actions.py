"""What the operations on actions decide at their bounds, and what they read and write."""

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest

from duetime import Order, Payload, Scheduler, ids
from duetime.actions.actions import LONGEST_REASON, Actions
from duetime.actions.batch_writes import BatchCallbacks, BatchWrites
from duetime.actions.bulk import bulk_selection
from duetime.actions.cancel import cancel
from duetime.actions.chains import follow, held
from duetime.actions.debounce import _merged
from duetime.actions.hand_overs import LONGEST_RETRY, HandOvers, _reason
from duetime.actions.search import Search
from duetime.actions.usage_quotas import UsageQuotas
from duetime.errors import (
    BackendUnavailable,
    Forbidden,
    HandOverEnded,
    InvalidArgument,
    InvalidCursor,
    NotFound,
    QuotaExceeded,
    StateConflict,
    UnreadableRow,
)
from duetime.jobs.tenant_context import TenantContext
from duetime.memory.store import MemoryStore
from duetime.model.action import Attempt, Status
from duetime.model.batch import HELD_AT, MOST_MEMBERS
from duetime.model.decision import Decision
from duetime.model.hand_over import Approval, HandedOver
from duetime.model.hand_over_token import Token, token_of
from duetime.model.lease import Applied, Rejected, SettleResult
from duetime.model.predecessors import Predecessors
from duetime.model.row_parts import After
from duetime.model.selection import Selection
from duetime.model.usage import Usage
from duetime.ports.actions import DamagedRow, Page
from duetime.settings import Settings
from duetime.testing import TurnedClock
from duetime_contract.batches import opened
from duetime_contract.specimens import (
    ACME,
    EXPIRY,
    HOUR,
    MINUTE,
    NOON,
    SECOND,
    TICK,
    end,
    fresh,
    put,
    running,
    scheduled,
    stored_row,
)
from tests.cases import for_each
from tests.hooked import Hooked


class ApplyPlanChange(Payload):
    subscription_id: int = 42


def both(old, new):
    return Collect(names=sorted({*old.names, *new.names}))


class Collect(Payload, merge=both):
    names: list[str]


class Counted(Hooked):
    """A store that counts the calls of its methods."""

    def __init__(self, store=None):
        super().__init__(store or MemoryStore())
        self.calls = []

    def __getattr__(self, name):
        self.calls.append(name)
        return super().__getattr__(name)


@pytest.fixture
def store():
    return Counted()


def context_of(store, *, sees_system=True, **settings):
    return TenantContext(
        store=store,
        tenant_id=ACME,
        actor="ann",
        clock=TurnedClock(NOON),
        settings=Settings(**settings),
        sees_system=sees_system,
    )


def actions_of(store, counted=None, **context):
    def count_again(row, *, is_redriven):
        counted.append((row.status, is_redriven))

    def region():
        raise AssertionError("nothing is handed over")

    return Actions(context_of(store, **context), None, None, count_again, region)


def failed(store, **more):
    row = put(store, replace(fresh(store), **more))
    return replace(row, status=Status.FAILED, kept_until=EXPIRY)


@for_each("reason", ["", "   ", "x" * (LONGEST_REASON + 1)])
def test_a_reason_of_a_dismissal_has_one_to_five_hundred_characters(reason):
    store = MemoryStore()
    actions, row = actions_of(store), running(store)
    store.settle(row, end(Status.FAILED))
    with pytest.raises(InvalidArgument, match="write 1 to 500"):
        actions.dismiss(row.ref, reason)
    assert actions.dismiss(row.ref, f" {reason.strip() or 'y'}"[:LONGEST_REASON]).dismissed_reason


def test_the_longest_reason_of_a_dismissal_is_stored():
    store = MemoryStore()
    row = running(store)
    store.settle(row, end(Status.FAILED))
    assert actions_of(store).dismiss(row.ref, "x" * LONGEST_REASON).dismissed_reason == "x" * LONGEST_REASON


@for_each(
    ("batch", "status", "counted"),
    [
        ("import", Status.FAILED, [(Status.FAILED, False), (Status.PENDING, True)]),
        (None, Status.FAILED, []),
        ("import", Status.PENDING, []),
    ],
)
def test_only_a_failed_member_has_its_batch_wait_and_a_given_row_is_not_read_again(batch, status, counted):
    store, found = Counted(), []
    row = replace(put(store, fresh(store)), status=status, batch=batch)
    store.hooks["redrive"] = lambda _method, row, **_how: Applied(replace(row, status=Status.PENDING))
    store.calls.clear()
    if status is Status.FAILED:
        actions_of(store, found).redrive(row.ref, NOON, row)
    else:
        with pytest.raises(StateConflict):
            actions_of(store, found).redrive(row.ref, NOON, row)
    assert (found, store.calls) == (counted, ["redrive"])


def test_a_cancel_reads_no_row_that_it_was_given_and_no_region(store):
    row = scheduled(store)
    store.calls.clear()
    assert actions_of(store).cancel(row.ref, row).status is Status.CANCELLED
    assert store.calls == ["cancel"]


def test_the_expiry_of_a_settled_action_is_no_obstacle(store):
    row = replace(running(store), expires_at=NOON + MINUTE)
    store.hooks["get_rows"] = lambda _method, _refs, **_damaged: [row]
    with pytest.raises(StateConflict, match="it is processing"):
        actions_of(store).reschedule(row.ref, NOON + HOUR, None)


def test_a_damaged_row_is_named_before_it_is_changed(store):
    row = scheduled(store)

    def get_rows(_method, _refs, damaged):
        damaged.append(DamagedRow(row.ref, "no type"))
        return []

    def get(_method, ref):
        raise UnreadableRow([*ref], ValueError("no type"))

    store.hooks |= {"get_rows": get_rows, "get": get}
    with pytest.raises(UnreadableRow):
        actions_of(store).cancel(row.ref)


def test_an_id_of_no_action_is_not_read_and_a_one_shot_is_the_tenants_own(store):
    actions, row = actions_of(store), fresh(store)
    store.calls.clear()
    with pytest.raises(NotFound):
        actions.ref("no-id")
    assert actions.ref(row.id) == row.ref
    assert store.calls == []
    run = ids.occurrence_id("billing-nightly", 1, NOON)
    assert (actions.ref(run).tenant_id, actions_of(store, sees_system=False).ref(run).tenant_id) == (
        ids.SYSTEM_TENANT,
        ACME,
    )


def test_a_cancel_gives_up_if_the_action_keeps_changing(store):
    row = scheduled(store)
    store.hooks["cancel"] = lambda _method, row, **_how: Rejected(row)
    with pytest.raises(BackendUnavailable, match="kept changing"):
        cancel(lambda: row, store, None, by="ann", at=NOON, kept_until=EXPIRY)


@for_each(
    ("given", "possible", "expected"),
    [
        ("retrying", {Status.FAILED}, None),
        (["retrying", "failed"], {Status.FAILED}, ({Status.FAILED}, False)),
        ("retrying", {Status.PENDING}, (set(), True)),
        ("failed", {Status.PENDING}, None),
        (["pending", "failed"], {Status.PENDING}, ({Status.PENDING}, False)),
    ],
)
def test_a_change_of_many_takes_the_statuses_that_it_may_change(given, possible, expected):
    if expected is None:
        with pytest.raises(InvalidArgument, match="cannot be changed so"):
            bulk_selection({"status": given}, NOON, "cancel", possible)
    else:
        found = bulk_selection({"status": given}, NOON, "cancel", possible)
        assert (found.statuses, found.retrying) == expected


class TestBatches:
    @pytest.fixture
    def scheduler(self, store):
        return Scheduler(store, tenant_id=ACME, actor="ann", clock=TurnedClock(NOON), settings=Settings())

    def order(self, at=NOON + HOUR):
        return Order(ApplyPlanChange(), at)

    def test_a_repeat_writes_no_batch_and_opens_none(self, store, scheduler):
        batch = scheduler.batch("import")
        first = batch.member_id(0)
        batch.schedule_many([self.order()] * 10)
        version = scheduler.batches.get("import").version
        batch.schedule_many([self.order()] * 10, start=0)
        assert batch.member_id(0) == first == next(iter(scheduler.batches.members("import"))).id
        assert (scheduler.batches.get("import").version, store.calls.count("open_batch")) == (version, 1)
        members = scheduler.batches.members("import")
        shards = {ids.due_shard_of(row.id, Settings().due_shards) == row.due_shard for row in members}
        assert (len(members), shards) == (10, {True})

    def test_a_change_reads_a_batch_once(self, store, scheduler):
        with scheduler.batch("import") as batch:
            store.calls.clear()
            batch.schedule_many([self.order()])
            assert store.calls.count("find_batch") == 1

    @for_each(("start", "fits"), [(MOST_MEMBERS - 1, True), (MOST_MEMBERS, False), (-1, False), (0, True)])
    def test_a_batch_has_its_most_members(self, start, fits):
        scheduler = self.scheduler_of(Counted())
        batch = scheduler.batch("import")
        if fits:
            batch.schedule_many([self.order()], start=start)
            assert scheduler.batches.get("import").size == start + 1
        else:
            with pytest.raises(InvalidArgument, match="out of range"):
                batch.schedule_many([self.order()], start=start)

    def scheduler_of(self, store):
        return Scheduler(store, tenant_id=ACME, actor="ann", clock=TurnedClock(NOON), settings=Settings())

    def test_the_last_member_is_due_by_the_retention(self, scheduler):
        batch, latest = scheduler.batch("import"), NOON + Settings().retention
        assert batch.schedule_many([self.order(latest)]) == 1
        with pytest.raises(InvalidArgument, match="later than the retention"):
            batch.schedule_many([self.order(latest + TICK)])

    @for_each(
        "cursor", ["", "x", "-1", "\N{ARABIC-INDIC DIGIT ONE}", "\N{SUPERSCRIPT TWO}", f"{MOST_MEMBERS}0"]
    )
    def test_a_cursor_of_members_is_a_number(self, cursor):
        scheduler = self.scheduler_of(Counted())
        scheduler.batch("import").schedule_many([self.order()] * 3)
        with pytest.raises(InvalidCursor):
            scheduler.batches.members("import", cursor=cursor)
        page = scheduler.batches.members("import", limit=2)
        assert (len(page), page.cursor) == (2, "2")
        last = scheduler.batches.members("import", limit=2, cursor=page.cursor)
        assert ([ids.member_number(row.id) for row in last], last.cursor) == ([2], None)
        assert not len(scheduler.batches.members("import", cursor=str(MOST_MEMBERS)))

    def test_a_redrive_of_a_member_of_an_earlier_batch_changes_no_other(self, store):
        batch = opened(store, size=3)
        writes = BatchWrites(context_of(store), BatchCallbacks(None, None, None, None))
        row = replace(fresh(store), id=batch.member(1).id, batch=batch.name)
        writes.count_again(replace(row, id=ids.member_id(ids.batch_id(NOON), 1)))
        assert store.find_batch(batch.ref) == batch
        writes.count_again(row)
        counted = store.find_batch(batch.ref)
        assert counted.version != batch.version
        writes.count_again(row)
        assert store.find_batch(batch.ref) == counted


class TestChains:
    @for_each(
        ("status", "rule", "changed"),
        [
            (Status.PENDING, None, {"due_at": HELD_AT, "first_due_at": NOON}),
            (Status.EXECUTED, None, {}),
            (Status.FAILED, "any", {}),
        ],
    )
    def test_a_new_action_is_held_until_its_predecessor_has_ended(self, status, rule, changed):
        store = MemoryStore()
        claimed, action = running(store), fresh(store)
        if status.is_final:
            store.settle(claimed, end(status))
        found = held(action, claimed.id, rule, store, NOON)
        assert found == replace(action, after=After(claimed.id, rule), **changed)

    def test_an_action_whose_predecessor_failed_is_due_to_fail_at_once(self):
        store = MemoryStore()
        claimed, action = running(store), fresh(store, due_at=NOON + HOUR)
        store.settle(claimed, end(Status.FAILED))
        found = held(action, claimed.id, None, store, NOON)
        assert found.unmet
        assert found == replace(action, due_at=NOON, after=After(claimed.id), unmet=found.unmet)

    def test_the_batch_that_an_action_follows_has_another_version(self):
        store = MemoryStore()
        batch = opened(store, size=3)
        predecessors = Predecessors((), (batch.name,)).text()
        follow(replace(fresh(store), due_at=HELD_AT, after=After(predecessors)), store)
        after = store.find_batch(batch.ref)
        assert (len(after.followers), after.version != batch.version) == (1, True)


@for_each(
    ("payload", "stored", "merged"),
    [
        (Collect(names=["b"]), '{"names":["a"]}', ["a", "b"]),
        (Collect(names=["b"]), None, None),
        (ApplyPlanChange(), '{"subscription_id":1}', None),
    ],
)
def test_a_debounced_call_merges_its_payload_if_its_type_does(payload, stored, merged):
    row = replace(fresh(MemoryStore()), type=payload.type_name, payload=stored)
    call = replace(fresh(MemoryStore()), type=payload.type_name, payload="{}")
    found = _merged(row, call, payload, lambda _due_at: EXPIRY)
    written = "{}" if merged is None else Collect(names=merged).model_dump_json()
    assert (found.payload, found.expires_at) == (written, EXPIRY)


class Approvals:
    """An action that was handed over for an hour."""

    def __init__(self, approval=None, store=None):
        self.store, self.clock = Hooked(store or MemoryStore()), TurnedClock(NOON)
        run = running(self.store)
        heartbeat = None if approval else MINUTE
        self.store.hand_over(run, HandedOver(HOUR, heartbeat, approval).by(run, NOON))
        self.row = stored_row(self.store, run.ref)
        self.token = token_of(self.row)
        region = SimpleNamespace(require_active=lambda: None)
        self.hand_overs = HandOvers(
            self.store,
            None,
            clock=self.clock,
            settings=Settings(),
            tenants=None,
            region=region,
            jitter_draw=lambda: 0,
        )


@for_each(
    ("by_another", "is_approved", "is_by_another", "is_allowed"),
    [
        (True, True, False, False),
        (True, True, True, True),
        (True, False, False, True),
        (False, True, False, True),
    ],
)
def test_another_person_must_approve_if_the_approval_requires_it(
    by_another, is_approved, is_by_another, is_allowed
):
    given = Approvals(Approval("Pay?", by_another=by_another))
    decision = Decision(is_approved, "ann", "too much", is_by_another)
    if is_allowed:
        decided = given.hand_overs.decide(given.row.ref, decision)
        assert decided.status is (Status.EXECUTED if is_approved else Status.FAILED)
        with pytest.raises(HandOverEnded, match=f"at .*, {decision.verb[:-1]}.* by ann"):
            given.hand_overs.decide(given.row.ref, decision)
    else:
        with pytest.raises(Forbidden):
            given.hand_overs.decide(given.row.ref, decision)
        assert stored_row(given.store, given.row.ref) == given.row


def test_a_hand_over_ends_at_the_instant_of_its_lease():
    given = Approvals()
    given.clock.wait_until(NOON + MINUTE - TICK)
    given.hand_overs.heartbeat(given.token)
    given.clock.wait_until(NOON + 2 * MINUTE - TICK)
    with pytest.raises(HandOverEnded, match="heartbeat was missed"):
        given.hand_overs.complete(given.token)


def test_a_heartbeat_that_comes_too_late_for_its_write_states_that():
    given = Approvals()
    given.store.hooks["beat"] = lambda *_given, **_more: None
    with pytest.raises(HandOverEnded):
        given.hand_overs.heartbeat(given.token)


def test_a_completed_row_that_is_gone_is_returned_as_it_was():
    given = Approvals()

    def settle(method, *args):
        given.store.hooks["get_rows"] = lambda *_given, **_more: []
        return method(*args)

    given.store.hooks["settle"] = settle
    assert given.hand_overs.complete(given.token) == given.row


def test_a_completion_gives_up_if_the_action_keeps_changing():
    given = Approvals()
    given.hand_overs._settle = lambda *_given, **_more: SettleResult.CANCEL_REQUESTED
    with pytest.raises(BackendUnavailable, match="kept changing"):
        given.hand_overs.complete(given.token)


@for_each(
    ("retry", "is_allowed"),
    [
        (timedelta(0), True),
        (-TICK, False),
        (LONGEST_RETRY, True),
        (LONGEST_RETRY + TICK, False),
        (True, True),
        (False, True),
    ],
)
def test_a_failed_hand_over_is_retried_within_a_year(retry, is_allowed):
    given = Approvals()
    if is_allowed:
        assert given.hand_overs.fail(given.token, "no paper", retry).attempts[-1].message == "no paper"
    else:
        with pytest.raises(InvalidArgument, match="retry is"):
            given.hand_overs.fail(given.token, "no paper", retry)


@for_each(
    ("question", "message", "expected"),
    [
        ("Pay?", "approved by ann", "it was ended at 2030-06-01T12:00:00.000000Z, approved by ann"),
        ("Pay?", None, "it was ended at 2030-06-01T12:00:00.000000Z"),
        (None, "done", "it was ended at 2030-06-01T12:00:00.000000Z"),
    ],
)
def test_a_decision_is_the_reason_why_an_approval_has_ended(question, message, expected):
    given = Approvals(Approval("Pay?"))
    ended = Attempt(queued_at=NOON, started_at=NOON, instance="w", finished_at=NOON, message=message)
    row = replace(
        given.row,
        status=Status.EXECUTED,
        hand_over=replace(given.row.hand_over, question=question),
        attempts=(ended,),
    )
    assert _reason(row, Token.parse(given.token)) == expected


@for_each(
    ("order", "changed", "is_repeat"),
    [
        (Order(ApplyPlanChange(), NOON), {}, True),
        (Order(ApplyPlanChange(), NOON), {"type": "other"}, False),
        (Order(ApplyPlanChange(), NOON), {"payload": None}, False),
        (Order(ApplyPlanChange(subscription_id=1), NOON), {}, False),
    ],
)
def test_a_repeat_has_the_type_and_an_equal_payload(order, changed, is_repeat):
    first = replace(fresh(MemoryStore()), **{"type": ApplyPlanChange.type_name} | changed)
    assert order.is_repeat_of(first) is is_repeat


@for_each(("span", "is_allowed"), [(timedelta(0), False), (-SECOND, False), (SECOND, True), (1, False)])
def test_a_bound_of_debounced_calls_lies_after_the_first(span, is_allowed):
    order = Order(ApplyPlanChange(), SECOND, debounce_key="cart", at_most_after=span)
    if is_allowed:
        assert order._debounce_until(NOON) == NOON + span
    else:
        with pytest.raises(InvalidArgument, match="above 0"):
            order._debounce_until(NOON)


class Listed:
    """A store of rows, read in pages, whose reads are recorded."""

    def __init__(self, rows):
        self.rows, self.reads = rows, []

    def of_tenant(self, _tenant_id, *, limit, cursor):
        self.reads.append(limit)
        start = 0 if cursor is None else [row.id for row in self.rows].index(cursor) + 1
        page = tuple(self.rows[start : start + limit])
        return Page(page, page[-1].id if start + limit < len(self.rows) else None)

    def in_due_order(self, _tenant_id, **_range):
        return Page((), None)

    def get_rows(self, refs):
        self.reads.append("rows")
        return [row for row in self.rows if row.ref in refs]

    def get(self, ref):
        self.reads.append("offloaded")
        return next(row for row in self.rows if row.ref == ref)


def listed(number, **changed):
    rows = [replace(fresh(MemoryStore(), created_at=NOON - n * MINUTE), **changed) for n in range(number)]
    return Listed(rows)


def search(store, *, due_order=False, limit=10, cursor=None, **filters):
    found = Search(store, None, ACME, due_order=due_order)
    return found(Selection.parse(filters, NOON), limit=limit, cursor=cursor)


def test_a_scan_leaves_the_matches_that_do_not_fit_to_the_next_page(monkeypatch):
    monkeypatch.setattr("duetime.actions.search.PAYLOADS_AT_ONCE", 4)
    for number, limit, sizes, found in (
        (4, 4, [4], 4),
        (8, 4, [4], 4),
        (8, 5, [4, 4], 4),
        (3, 2, [4, 2], 2),
        (8, 8, [4, 4], 8),
    ):
        store = listed(number)
        page = search(store, limit=limit, payload={"subscription_id": 42})
        assert ([read for read in store.reads if read != "rows"], len(page)) == (sizes, found)


def test_a_search_for_errors_reads_no_payload_and_one_for_payloads_only_offloaded_ones_alone():
    store = listed(2)
    search(store, error="bank")
    assert "rows" not in store.reads
    for size, reads in ((0, ["rows"]), (9, ["rows", "offloaded"])):
        store = listed(1, payload_size=size)
        search(store, payload={"subscription_id": 42})
        assert store.reads[1:] == reads


@for_each(
    ("due_order", "filters", "is_by_age"),
    [
        (True, {"due_until": NOON + HOUR}, False),
        (False, {"due_until": NOON + HOUR}, True),
        (True, {"type": "apply-plan-change"}, True),
    ],
)
def test_a_due_range_is_read_in_its_order_if_that_is_indexed(due_order, filters, is_by_age):
    store = listed(2)
    assert len(search(store, due_order=due_order, **filters)) == (2 if is_by_age else 0)
    found = Search(store, None, ACME, due_order=due_order)
    row, selection = store.rows[0], Selection.parse(filters, NOON)
    assert found._place(selection, row) == (row.created_at if is_by_age else row.due_at)


def test_a_list_by_age_ends_with_the_page_that_reaches_its_start():
    store = listed(6)
    for after, pages in ((NOON - 2 * MINUTE, 1), (NOON - 2 * MINUTE - TICK, 2), (NOON - HOUR, 2)):
        store.reads.clear()
        page = search(store, limit=3, created_after=after)
        found = list(page)
        while page.cursor is not None:
            page = search(store, limit=3, cursor=page.cursor, created_after=after)
            found += page
        assert len(found) == len([row for row in store.rows if row.created_at > after])
        assert len(store.reads) >= pages


def test_a_page_of_ids_goes_on_after_its_last():
    store = listed(3)
    chosen = sorted(row.id for row in store.rows)
    page = search(store, limit=2, ids=chosen)
    assert ([row.id for row in page], page.cursor) == (chosen[:2], chosen[1])
    assert [row.id for row in search(store, limit=2, ids=chosen, cursor=page.cursor)] == chosen[2:]


class TestQuotas:
    def quotas(self, **limits):
        self.reads, self.clock = [], TurnedClock(NOON)
        counts = SimpleNamespace(read=lambda tenant_id, _now: self.reads.append(tenant_id) or Usage(2, 100))
        return UsageQuotas(counts, self.clock, Settings(tenants="*" if limits else ACME, quotas=limits))

    @for_each(
        ("limits", "added", "reads"),
        [
            ({ACME: "pending=3"}, Usage(1, 0), 1),
            ({ACME: "pending=3"}, Usage(0, 1), 1),
            ({ACME: "pending=3"}, Usage(0, 0), 0),
            ({}, Usage(1, 1), 0),
            ({"globex": "pending=3"}, Usage(1, 1), 1),
        ],
    )
    def test_the_use_is_read_only_for_a_tenant_with_a_quota_that_schedules(self, limits, added, reads):
        self.quotas(**limits).take(ACME, added)
        assert len(self.reads) == reads

    def test_a_quota_may_be_used_up(self):
        quotas = self.quotas(acme="pending=3")
        quotas.take(ACME, Usage(1, 0))
        with pytest.raises(QuotaExceeded):
            quotas.take(ACME, Usage(1, 0))

    def test_a_process_forgets_the_use_of_most_tenants(self, monkeypatch):
        monkeypatch.setattr("duetime.actions.usage_quotas._MOST", 2)
        quotas = self.quotas()
        for tenant in ("a", "b", "a", "c", "a"):
            quotas.used(tenant)
        assert self.reads == ["a", "b", "c", "a"]
