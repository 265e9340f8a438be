"""What an action's life costs, as Amazon's own engine meters it.

Single writes only, which it meters rightly.
"""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from bench import jobs as bench_of_jobs
from bench.meter import metered as metered_by_rule
from bench.units import item_size
from duetime.aws.keys import row_key
from duetime.cost import quantities, units
from duetime.ids import SHARDS, SYSTEM_TENANT, job_name, occurrence_id
from duetime.model.action import ActionRef, Status
from duetime.model.attempt_traceback import AttemptTraceback
from duetime.model.job import JobRef
from duetime.model.lease import Applied, Claimed
from duetime.model.rate_limit import RateBucket, RateLimit
from duetime.model.slots import MOST_WAITING, tail_position
from duetime.model.transition import settled
from duetime.telemetry.tracebacks import traceback_of
from duetime.wakeups.assembly import Steps
from duetime.wakeups.due_messages import message_of
from duetime.worker.claim_results import ClaimWon
from duetime.worker.pass_slots import PassSlots
from duetime_contract.scheduling import LARGE
from duetime_contract.specimens import (
    ACME,
    CALLER,
    HOUR,
    NOON,
    SECOND,
    claim,
    end,
    fresh,
    scheduled,
    stored_row,
    terms,
)
from tests.backends import backends
from tests.contract.rules.debounce import KEY as DEBOUNCED
from tests.contract.rules.debounce import call, first_call, further_call
from tests.contract.rules.idempotency import placed
from tests.contract.rules.slots import holding, keyed, move_of, slots_of, waiting
from tests.slots import NoQueues, claim_of

pytestmark = pytest.mark.dynamodb_local
PAYLOAD = '{"text":"' + "x" * 589 + '"}'


@dataclass
class Bill:
    """What was asked of DynamoDB, and what it took for it."""

    calls: int = 0
    units: float = 0.0


@contextmanager
def metered(client) -> Iterator[Bill]:
    """Ask for the consumed capacity of each call, and add it up."""
    bill = Bill()

    def ask(params, **_rest):
        return {**params, "ReturnConsumedCapacity": "TOTAL"}

    def read(parsed, **_rest):
        bill.calls += 1
        consumed = parsed.get("ConsumedCapacity", {})
        parts = consumed if isinstance(consumed, list) else [consumed]
        bill.units += sum(one.get("CapacityUnits", 0.0) for one in parts)

    events = client.meta.events
    events.register("provide-client-params.dynamodb.*", ask)
    events.register("after-call.dynamodb.*", read)
    try:
        yield bill
    finally:
        events.unregister("provide-client-params.dynamodb.*", ask)
        events.unregister("after-call.dynamodb.*", read)


@pytest.fixture
def store(local_table):
    return local_table.store()


@pytest.fixture
def bill(local_table):
    with metered(local_table.client) as bill:
        yield bill


@pytest.fixture
def town(local_client):
    """A job that is due each minute, in tables of its own."""
    town = bench_of_jobs.JobTables(local_client, "cost")
    town.reconcile(bench_of_jobs.app.manifest.jobs)
    yield town
    for table in ("actions-cost", "jobs-cost"):
        local_client.delete_table(TableName=table)


def live(store, status=Status.EXECUTED, **given):
    action = fresh(store, payload=PAYLOAD, **given)
    store.put(action)
    store.settle(claim(store, action), end(status))
    return action


def test_a_life_costs_five_write_units_and_three_calls(store, bill):
    live(store)
    assert (bill.calls, bill.units) == (3, units.LIFE_WRITES)


def test_a_life_with_a_correlation_id_costs_six_write_units_and_three_calls(store, bill):
    live(store, correlation_id="subscription:42")
    assert (bill.calls, bill.units) == (3, units.LIFE_WRITES + units.CORRELATION_WRITES)


def test_a_failure_costs_one_write_unit_more_than_a_success(store, bill):
    live(store)
    success = bill.units
    live(store, status=Status.FAILED)
    assert (bill.calls, bill.units) == (6, success + success + units.FAILURE_WRITES)


def test_a_sweep_without_overdue_rows_makes_one_query_of_each_due_shard(store, bill):
    Steps(backends(store, queues=NoQueues())).sweep(stop_at=NOON + HOUR)
    assert bill.calls == units.DUE_SHARDS  # AWS charges half a unit for each, DynamoDB Local none


def test_the_traceback_of_a_failed_attempt_costs_one_write_unit_and_one_call(store, bill):
    try:
        try:
            urllib.request.urlopen("nothing://such")  # noqa: S310 - an unknown scheme
        except urllib.error.URLError:
            json.loads("{")
    except ValueError as error:
        text = traceback_of(error)
    store.put_traceback(fresh(store).ref, AttemptTraceback(NOON, text), NOON + HOUR)
    assert (bill.calls, bill.units) == (1, units.TRACEBACK_WRITES)
    assert text.count("  File ") > 8


def test_a_redrive_costs_three_write_units_one_of_which_is_the_failed_index(store, bill):
    action = fresh(store)
    store.put(action)
    store.settle(claim(store, action), end(Status.FAILED))
    failed, before = stored_row(store, action.ref), bill.units
    store.redrive(failed, NOON + HOUR, by=CALLER, at=NOON + HOUR)
    assert bill.units - before == 3


def test_a_dismissal_costs_two_write_units_one_of_which_is_the_failed_index(store, bill):
    action = fresh(store)
    store.put(action)
    store.settle(claim(store, action), end(Status.FAILED))
    failed, before = stored_row(store, action.ref), bill.units
    store.dismiss(failed, "done by hand", by=CALLER, at=NOON + HOUR)
    assert bill.units - before == 2


def test_scheduling_is_one_call(store, bill):
    store.put(fresh(store, payload=PAYLOAD))
    assert (bill.calls, bill.units) == (1, units.PUT_WRITES)


def test_a_claim_pays_for_no_index(store, bill):
    action = fresh(store, payload=PAYLOAD)
    store.put(action)
    before = bill.units
    claim(store, action)
    assert bill.units - before == units.CLAIM_WRITES


def test_a_claim_checks_the_epoch_of_the_active_region_at_no_additional_write_unit(store, bill):
    action = fresh(store, payload=PAYLOAD)
    store.put(action)
    before = bill.units
    assert isinstance(store.claim(action, replace(terms(), epoch=7)), Claimed)
    assert bill.units - before == units.CLAIM_WRITES


def test_a_further_attempt_costs_four_write_units(store, bill):
    live(store)
    alone = bill.units
    action = fresh(store)
    store.put(action)
    claimed = claim(store, action)
    store.settle(claimed, end(Status.PENDING))
    retried = settled(claimed, end(Status.PENDING))
    store.settle(claim(store, retried, NOON + 2 * HOUR), end(Status.EXECUTED, NOON + 2 * HOUR + SECOND))
    assert bill.units - alone == units.LIFE_WRITES + units.RETRY_WRITES


@pytest.mark.parametrize("size", [11, 700, 860, 1_200, 1_800, units.IN_ROW_LIMIT, 3_000, 10_000])
def test_an_action_costs_its_estimate_for_each_size_of_payload(local_table, store, size):
    action = fresh(
        store, payload='{"t":"' + "x" * (size - 8) + '"}', payload_offloaded=size > units.IN_ROW_LIMIT
    )
    with metered_by_rule(local_table.client) as bill:
        store.put(action)
        store.settle(claim(store, action), end(Status.EXECUTED))
    removal = quantities.life_writes(size) - bill.write_units
    apart = quantities.kilobytes(size + units.OFFLOADED_BYTES) if action.payload_size else 0
    assert removal == apart, "what a payload set apart costs when it goes with its row"


def test_a_row_beside_its_payload_is_no_larger_than_the_estimate_goes_by(local_table, store):
    action = fresh(store)

    def beside():
        row = local_table.client.get_item(TableName=local_table.name, Key=row_key(action.ref))["Item"]
        return item_size(row) - len(action.payload)

    store.put(action)
    assert beside() <= units.PENDING_BYTES
    store.settle(claim(store, action), end(Status.EXECUTED))
    assert beside() <= units.RUN_BYTES


def test_claim_and_settle_do_not_pay_for_a_payload_set_apart(store, bill):
    action = fresh(store, payload=LARGE, payload_offloaded=True)
    store.put(action)
    before, read = bill.units, 2  # a consistent read of 5 KB: one unit for each 4 KB
    store.settle(claim(store, action), end(Status.EXECUTED))
    assert bill.units - before == 3 + read


def test_a_cancel_is_one_call(store, bill):
    action = fresh(store, payload=PAYLOAD)
    store.put(action)
    before = bill.calls
    store.cancel(action, by=CALLER, at=NOON, kept_until=NOON + HOUR)
    assert bill.calls - before == 1


def test_the_cost_of_a_due_page_depends_on_its_rows_alone(store, bill):
    shard = store.due_shards[0]
    store.put_many([fresh(store, due_at=NOON + HOUR) for _ in range(200)])
    before = bill.units
    store.due(shard, after=None, until=NOON, limit=100, cursor=None)
    assert bill.units - before <= 0.5


def test_the_wheel_reads_a_far_action_at_the_cost_of_the_estimate(store, bill):
    rows = [fresh(store, due_at=NOON + HOUR, payload=PAYLOAD) for _ in range(400)]
    store.put_many(rows)
    before = bill.units
    for shard in store.due_shards:
        page = store.due(shard, after=NOON, until=NOON + 2 * HOUR, limit=100, cursor=None)
        store.get_rows([entry.ref for entry in page.entries])
    shared = units.WHEEL_READS - 1
    assert bill.units - before <= shared + len(rows) * units.WHEEL_READS_OF_ONE


def test_a_page_of_a_correlation_id_is_two_calls(store, bill):
    store.put_many([fresh(store, correlation_id="subscription:42") for _ in range(5)])
    before = bill.calls
    assert len(store.by_correlation(ACME, "subscription:42", limit=50, cursor=None)) == 5
    assert bill.calls - before == 2


@pytest.mark.parametrize("failures", [0, 40, 160])
def test_the_cost_of_a_page_of_failed_actions_depends_on_its_rows_alone(store, bill, failures):
    for second in range(failures):
        action = fresh(store)
        store.put(action)
        store.settle(claim(store, action), end(Status.FAILED, NOON + second * SECOND))
    calls, units = bill.calls, bill.units
    shown = len(store.failed([ACME], limit=20, cursor=None))
    assert shown == min(20, failures)
    assert bill.calls - calls <= len(SHARDS) + 20 // 4 + 1
    assert bill.units - units <= (len(SHARDS) + 20 // 4) * 0.5 + shown


@pytest.fixture
def ordered(local_ordered_table):
    return local_ordered_table.store()


def test_the_due_order_costs_one_write_unit_a_life(ordered, bill):
    live(ordered)
    assert (bill.calls, bill.units) == (3, 6)


@pytest.mark.parametrize("name", ["reschedule", "retry"])
def test_a_move_in_the_due_order_costs_two_write_units(store, ordered, bill, name):
    moves = {
        "reschedule": lambda where, action: where.reschedule(action, NOON + HOUR, by=CALLER, at=NOON),
        "retry": lambda where, action: where.settle(claim(where, action), end(Status.PENDING)),
    }
    units = []
    for where in (store, ordered):
        action = fresh(where, payload=PAYLOAD)
        where.put(action)
        before = bill.units
        moves[name](where, action)
        units.append(bill.units - before)
    assert units[1] - units[0] == 2


@pytest.mark.parametrize("rows", [0, 40, 160])
def test_the_cost_of_a_page_in_due_order_depends_on_its_rows_alone(ordered, bill, rows):
    ordered.put_many([fresh(ordered, due_at=NOON + second * SECOND) for second in range(rows)])
    calls, units = bill.calls, bill.units
    shown = len(ordered.in_due_order(ACME, after=NOON - HOUR, until=None, limit=20, cursor=None))
    assert shown == min(20, rows)
    assert bill.calls - calls <= len(SHARDS) + 20 // 4 + 1
    assert bill.units - units <= (len(SHARDS) + 20 // 4) * 0.5 + shown


def test_a_hundred_in_bulk_cost_what_a_hundred_alone_do(store, bill):
    store.put(fresh(store))
    alone = bill.units
    store.put_many([fresh(store) for _ in range(100)])
    assert (bill.calls, bill.units) == (101, 101 * alone)


@pytest.fixture
def queues():
    return NoQueues()


def with_slot(store, action, queues):
    """Claim an action as a worker does."""
    return claim_of(store, queues=queues)(message_of(action), terms())


def free(store, won, queues):
    PassSlots(backends(store, sends=queues)).free(won.action, won.token)


def test_a_claim_with_a_slot_is_two_small_reads_and_two_writes(local_table, store, queues):
    action = keyed(store)
    with metered_by_rule(local_table.client) as bill:
        assert isinstance(with_slot(store, action, queues), ClaimWon)
    assert (bill.read_units, bill.write_units) == (units.KEYED_READS - 1, units.KEYED_CLAIM_WRITES)
    assert bill.calls == units.KEYED_READS - 1 + units.KEYED_CLAIM_WRITES


def test_a_settle_with_a_slot_is_a_settle_and_a_small_read_and_write(local_table, store, queues):
    won = with_slot(store, keyed(store), queues)
    with metered_by_rule(local_table.client) as bill:
        store.settle(won.action, end(Status.EXECUTED))
        free(store, won, queues)
    assert (bill.calls, bill.read_units, bill.write_units) == (3, 1, units.KEYED_SETTLE_WRITES)


def test_a_start_under_a_rate_limit_is_a_small_read_and_write(local_table, store):
    bucket, pace = RateBucket(ACME, "mail", "ada", 0), RateLimit.parse(1, "hour").pace
    with metered_by_rule(local_table.client) as bill:
        assert store.start_within_rate(bucket, pace, NOON, is_reserved=False) is None
    assert (bill.read_units, bill.write_units) == (units.START_READS, units.START_WRITES)


def test_a_deferral_is_small_reads_a_reservation_and_a_move_of_the_row(local_table, store):
    bucket, pace = RateBucket(ACME, "mail", "ada", 0), RateLimit.parse(1, "hour").pace
    store.start_within_rate(bucket, pace, NOON, is_reserved=False)
    row = scheduled(store)
    with metered_by_rule(local_table.client) as bill:
        store.get_rows([row.ref])
        assert store.start_within_rate(bucket, pace, NOON, is_reserved=False) is not None
        store.next_start(bucket, pace, NOON)
        store.defer(row, store.reserve_start(bucket, pace, NOON))
    assert (bill.read_units, bill.write_units) == (units.DEFERRAL_READS, units.DEFERRAL_WRITES)


def test_a_life_under_a_concurrency_key_costs_seven_write_units(store, queues, bill):
    lived(store, queues)
    assert bill.units == 7 + units.KEYED_READS
    assert units.PUT_WRITES + units.KEYED_CLAIM_WRITES + units.KEYED_SETTLE_WRITES == 7


@pytest.mark.parametrize(
    ("others", "most"), [(1, 7), (20, 7), (MOST_WAITING - 1, 7)], ids=["one more", "twenty more", "the most"]
)
def test_a_life_that_has_waited_costs_seven_write_units(local_table, store, queues, others, most):
    """It joins the line behind the others, and as many wait behind it when it ends."""
    holder = with_slot(store, keyed(store), queues)
    line = waiting(store, others)
    action = keyed(store)
    with metered_by_rule(local_table.client) as bill:
        with_slot(store, action, queues)
    spent = units.PUT_WRITES + bill.write_units
    for row in (holder.action, *line):
        assert store.move_slots(move_of(store, row, *rows_of(store, slots_of(store).waiting[:1])))
        waiting(store)
    assert slots_of(store).waiting[0] != action.id
    with metered_by_rule(local_table.client) as bill:
        won = with_slot(store, action, queues)
        store.settle(won.action, end(Status.EXECUTED))
        free(store, won, queues)
    assert spent + bill.write_units == most
    assert len(slots_of(store).waiting) == others


def rows_of(store, ids):
    return store.get_rows([ActionRef(ACME, action_id) for action_id in ids])


def lived(store, queues):
    action = keyed(store)
    won = with_slot(store, action, queues)
    store.settle(won.action, end(Status.EXECUTED))
    free(store, won, queues)


def test_lives_in_the_tail_of_a_line_cost_eight_write_units_each(local_table, store, queues):
    """Two hundred join the tail behind a full line, and each is passed the slot."""
    run, line = with_slot(store, keyed(store), queues), waiting(store, MOST_WAITING)
    with metered_by_rule(local_table.client) as bill:
        tail = [keyed(store) for _ in range(200)]
        for row in tail:
            with_slot(store, row, queues)
        for row in [*line, *sorted(tail, key=tail_position)]:
            store.settle(run.action, end(Status.EXECUTED))
            free(store, run, queues)
            run = with_slot(store, row, queues)
            assert isinstance(run, ClaimWon)
    of_the_line = len(line) * (7 - units.PUT_WRITES - 1)
    assert (bill.write_units - of_the_line) / 200 == pytest.approx(8, abs=0.1)


def test_a_check_in_the_line_writes_nothing_and_costs_three_small_reads(local_table, store, queues):
    holding(store)
    action = keyed(store)
    with_slot(store, action, queues)
    with metered_by_rule(local_table.client) as bill:
        with_slot(store, action, queues)
    assert (bill.calls, bill.read_units, bill.write_units) == (3, 3, 0)


def test_a_first_debounced_call_costs_a_key_more_and_a_further_one_a_reschedule(local_table, store):
    with metered_by_rule(local_table.client) as keyed:
        action = placed(store)
    with metered_by_rule(local_table.client) as moved:
        store.reschedule(action, NOON + HOUR, by=CALLER, at=NOON)
    with metered_by_rule(local_table.client) as taking:
        assert store.find_debounced(ACME, DEBOUNCED) is None
        first_call(store)
    with metered_by_rule(local_table.client) as further:
        assert isinstance(further_call(store, call(store, due_at=NOON + HOUR)), Applied)
    assert (taking.calls, taking.writes, taking.write_units) == (2, 1, keyed.write_units)
    assert (further.calls, further.writes, further.write_units) == (3, 1, moved.write_units)


def test_a_run_of_a_job_and_the_plan_of_its_next_cost_the_estimate(town):
    job = JobRef(SYSTEM_TENANT, job_name("bench-each-minute"))
    due_at = bench_of_jobs.START.replace(second=0) + timedelta(minutes=1)
    town.clock.wait_until(due_at)
    row = town.stand.store.get(ActionRef(SYSTEM_TENANT, occurrence_id(job.name, 1, due_at)))
    with metered_by_rule(town.stand.client) as run:
        town.stand.run(row)
    with metered_by_rule(town.stand.client) as plan:
        assert town.plan(job).made == 1
    assert (run.write_units, run.read_units) == (units.RUN_WRITES, units.RUN_READS)
    assert (plan.write_units, plan.read_units) == (units.PLAN_WRITES, units.PLAN_READS)
