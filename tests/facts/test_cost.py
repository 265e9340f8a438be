"""The estimate of a workload: more of anything never costs less, and the lines add up."""

import math
import re
from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.cdk.deployment import Deployment
from duetime.cdk.steps import ARM_MEMORY_SHARE, DISPATCH_MEMORY_SHARE
from duetime.cost import quantities, units
from duetime.cost.estimate import estimate
from duetime.cost.quantities import worker_calls
from duetime.cost.workload import Volume, Workload
from duetime.errors import InvalidArgument
from duetime.model.new_action import IN_ROW_LIMIT
from duetime.settings import DUE_SHARDS, Settings
from duetime.wakeups.arm import MOST_TIMERS, PERIOD
from duetime.wakeups.due_messages import CALLS_OF_A_PHASE, GROUP, WHEEL_SLEEPS
from duetime.wakeups.sweep import bands
from tests.facts.workloads import NOTHING, NUMBERS, PRICES, line_of, priced, workloads

PAGE = (Path(__file__).parents[2] / "docs/performance.md").read_text()
SPECIAL = {"payload_bytes", "worker_batch", "worker_pollers", "far_share"}
"""Fields with properties of their own.

More far actions may cost less: the wheel sends ten in one request, where arm sends few together. In phase,
dispatch sleeps with less memory than arm, and the wheel fills a worker's calls.
"""
GROWING = [number.name for number in NUMBERS if number.name not in SPECIAL]
TWO_SHARES = st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted)


def test_runs_longer_than_the_grace_let_the_sweep_read_each_band():
    short = Workload(handler_ms=Settings().grace / timedelta(milliseconds=1))
    long = replace(short, handler_ms=short.handler_ms + 1)
    more = quantities.reads(long, Volume.from_workload(long)) - quantities.reads(
        short, Volume.from_workload(short)
    )
    assert more == pytest.approx(units.DUE_SHARDS * units.BANDS / 2 * units.SWEEPS * units.DAYS)


@given(workloads(), st.sampled_from(GROWING), st.data())
def test_more_of_anything_never_costs_less(work, name, data):
    [field] = [number for number in NUMBERS if number.name == name]
    more = data.draw(st.floats(getattr(work, name), field.metadata["high"]))
    less, grown = priced(work).dollars, priced(replace(work, **{name: more})).dollars
    assert grown >= less * (1 - 1e-9)


def with_far_shares(work, shares, *, may_sleep=False):
    return [estimate(replace(work, far_share=share), PRICES, may_sleep=may_sleep) for share in shares]


def falling(less, more):
    """Return the names of the lines that fall from one estimate to the other."""
    pairs = zip(less.lines, more.lines, strict=True)
    return {was.name for was, now in pairs if now.dollars < was.dollars * (1 - 1e-9)}


def by_timers(work):
    """Return the workload with at most as many far actions as may have timers."""
    few = min(work.actions_per_day, units.MOST_TIMERS / units.DAYS)
    return replace(work, timers="eventbridge", actions_per_day=few, jobs=0)


@given(workloads(), TWO_SHARES)
def test_more_far_actions_by_timers_lower_no_line_if_no_function_sleeps(work, shares):
    assert falling(*with_far_shares(by_timers(work), shares)) == set()


@given(workloads(), TWO_SHARES)
def test_more_far_actions_by_timers_lower_only_the_line_of_waiting_if_each_message_has_a_call(work, shares):
    """In phase, calls of several messages are fuller, and with more far actions a phase may begin to pay."""
    work = replace(by_timers(work), worker_batch=1)
    assert falling(*with_far_shares(work, shares, may_sleep=True)) <= {"functions: waiting"}


@given(workloads(), TWO_SHARES)
def test_a_far_action_by_a_timer_saves_at_most_the_memory_that_arm_sleeps_with_beyond_dispatch(work, shares):
    work = replace(by_timers(work), worker_batch=1)
    less, more = with_far_shares(work, shares, may_sleep=True)
    gigabytes = (
        quantities.small_memory(work, units.ARM_SHARE) - quantities.small_memory(work, units.DISPATCH_SHARE)
    ) / 1_024
    slept = more_far(work, shares) * units.SLEEP_MS / 1_000 * gigabytes
    saved = PRICES[f"lambda-{work.architecture}"].dollars_for(slept)
    assert more.dollars >= (less.dollars - saved) * (1 - 1e-9)


@given(workloads(), TWO_SHARES)
def test_more_far_actions_in_the_wheel_lower_only_the_lines_of_sends(work, shares):
    less, more = with_far_shares(replace(work, timers="wheel"), shares)
    assert falling(less, more) <= {"queues: requests", "queues: groups"}


@given(workloads(), TWO_SHARES)
def test_a_far_action_saves_at_most_its_send_if_no_function_sleeps(work, shares):
    less, more = with_far_shares(work, shares)
    sends = more_far(work, shares)
    saved = PRICES["queue-requests"].dollars_for(sends) + PRICES["fair-requests"].dollars_for(sends)
    assert more.dollars >= (less.dollars - saved) * (1 - 1e-9)


@given(workloads(), TWO_SHARES)
def test_more_far_actions_never_lower_the_lines_of_the_tables(work, shares):
    less, more = with_far_shares(work, shares, may_sleep=True)
    assert not [name for name in falling(less, more) if name.startswith("tables")]


def more_far(work, shares):
    """Return by how many the far actions of a month grow."""
    return (shares[1] - shares[0]) * work.actions_per_day * units.DAYS


@given(workloads(), st.floats(1, 200), st.floats(1, 200))
def test_more_provisioned_pollers_never_cost_less(work, one, other):
    few, many = (priced(replace(work, worker_pollers=count)).dollars for count in sorted((one, other)))
    assert many >= few * (1 - 1e-9)


@given(st.integers(0, 399 * 1024), st.integers(0, 399 * 1024))
def test_a_larger_payload_never_costs_less_while_it_is_stored_the_same_way(one, other):
    small, large = sorted((one, other))
    if (small > IN_ROW_LIMIT) == (large > IN_ROW_LIMIT):
        dollars = [priced(Workload(payload_bytes=size)).dollars for size in (small, large)]
        assert dollars == sorted(dollars)


@given(workloads())
def test_the_lines_add_up_to_the_total(work):
    made = priced(work)
    assert math.isclose(made.dollars, sum(line.dollars for line in made.lines))
    assert math.isclose(made.dollars, made.growing_dollars + made.fixed_dollars)
    for line in made.lines:
        assert math.isclose(line.dollars, line.price.dollars_for(line.quantity))
        assert line.grows >= 0
        assert line.fixed >= 0
    for alternative in made.alternatives:
        assert math.isclose(alternative.dollars, sum(line.dollars for line in alternative.lines))


@given(workloads())
def test_the_fixed_part_is_independent_of_the_scheduled_work(work):
    idle = replace(work, actions_per_day=0, jobs=0)
    assert priced(idle).fixed_dollars == priced(work).fixed_dollars


def test_no_work_costs_the_fixed_part_and_nothing_else():
    made = priced(NOTHING)
    assert made.growing_dollars == 0
    assert made.dollars == made.fixed_dollars > 1
    assert made.per_million is None


def test_twice_the_actions_take_twice_the_write_units():
    once = line_of(replace(NOTHING, actions_per_day=1_000), "tables: writes")
    twice = line_of(replace(NOTHING, actions_per_day=2_000), "tables: writes")
    assert math.isclose(twice.grows, 2 * once.grows)


def test_a_metric_costs_by_the_hours_with_a_value():
    quiet = replace(NOTHING, canaries_per_hour=0, retries_share=0, failed_share=0)
    assert line_of(quiet, "metrics").quantity == 0
    one_an_hour = replace(quiet, actions_per_day=24)
    assert line_of(one_an_hour, "metrics").quantity == 1
    one_an_hour = replace(one_an_hour, metrics="all")
    assert line_of(one_an_hour, "metrics").quantity == 4
    assert line_of(replace(one_an_hour, actions_per_day=12), "metrics").quantity == 2
    assert line_of(replace(one_an_hour, metric_types=2), "metrics").quantity == 8
    assert line_of(replace(one_an_hour, actions_per_day=4_800, metric_types=2), "metrics").quantity == 12


@given(workloads())
def test_free_tiers_cover_what_is_used_up_to_their_amount(work):
    made = priced(work)
    used, covered = {}, 0
    for line in made.lines:
        used.setdefault(line.price, []).append(line.quantity)
    for price, amounts_used in used.items():
        covered += min(sum(amounts_used), price.free) * price.dollars / price.per
    assert math.isclose(made.free_dollars, covered)
    assert made.free_dollars <= made.dollars * (1 + 1e-9)


def test_free_tiers_are_those_of_the_account_not_of_each_line():
    busy = priced(near())
    [price] = {
        line.price for line in busy.lines if line.name.startswith("functions: ") and "calls" not in line.name
    }
    assert price.free == 400_000
    lambda_free = 400_000 * price.dollars + 0.20
    others = 0.40 + 25 * 0.25 + 5 * 0.50 + min(10, line_of(near(), "metrics").quantity) * 0.30
    timers = line_of(near(), "timers").dollars
    assert math.isclose(busy.free_dollars, lambda_free + others + timers)


def test_a_batch_shares_its_wait_and_its_line_of_metrics():
    one, ten = near(), near(worker_batch=10)
    for name in ("functions: waiting", "logs: ingestion"):
        assert line_of(ten, name).grows < line_of(one, name).grows * 0.7


def test_provisioned_pollers_poll_while_nothing_is_due():
    own, provisioned = NOTHING, replace(NOTHING, worker_pollers=200)
    more = line_of(provisioned, "queues: requests").fixed - line_of(own, "queues: requests").fixed
    assert more == (200 - units.BOUNDED_POLLERS) * units.POLLS * 30


def test_the_timers_of_a_month_are_those_of_arms_processes():
    assert MOST_TIMERS * units.STREAM_SHARDS * timedelta(days=units.DAYS) / PERIOD == units.MOST_TIMERS


def test_the_units_of_a_phase_are_those_of_the_code():
    assert units.WHEEL_PHASE == CALLS_OF_A_PHASE * GROUP
    assert WHEEL_SLEEPS.total_seconds() == units.WHEEL_SLEEPS


def test_small_action_takes_five_write_units_and_three_queue_requests():
    work = replace(NOTHING, actions_per_day=1_000, retries_share=0, failed_share=0)
    assert line_of(work, "tables: writes").grows == 1_000 * 30 * 5
    assert line_of(work, "queues: requests").grows == 1_000 * 30 * 3


def near(**options):
    return replace(NOTHING, **{"actions_per_day": 10_000_000, "far_share": 0, "retries_share": 0} | options)


def test_many_messages_share_the_requests_that_send_them_and_the_sleeps_of_arm():
    actions = 10_000_000 * 30
    assert 2 * actions < line_of(near(), "queues: requests").grows < 2.15 * actions
    halves = actions * units.WAIT_MS / 1_000 * 512 / 1_024
    work = near(handler_memory=512)
    assert line_of(work, "functions: waiting").grows < halves / 4


@pytest.mark.parametrize("memory", [128, 256, 512, 1_024, 10_240])
@pytest.mark.parametrize("actions", [1_000, 1_000_000, 100_000_000])
def test_no_deployment_waits_for_more_than_half_a_second_in_each_worker(memory, actions):
    work = replace(near(), actions_per_day=actions, handler_memory=memory)
    half = actions * 30 * units.WAIT_MS / 1_000 * memory / 1_024
    assert line_of(work, "functions: waiting").grows <= half * 1.000001


def test_a_start_within_a_second_takes_no_waiting():
    assert line_of(near(start="second"), "functions: waiting").grows == 0
    assert priced(near(start="second")).dollars < priced(near()).dollars


@given(workloads())
def test_no_function_sleeps_for_starts_within_a_second(work):
    late = replace(work, start="second")
    assert priced(late).lines == estimate(late, PRICES, may_sleep=False).lines


@given(workloads(), st.floats(1, 10))
def test_a_larger_batch_never_costs_more(work, size):
    small, large = sorted((work.worker_batch, size))
    less, more = (priced(replace(work, worker_batch=batch)).dollars for batch in (large, small))
    assert less <= more * (1 + 1e-9)


@pytest.mark.parametrize(
    ("actions", "fill"), [(1_000, 1), (400_000, 1), (10_000_000, 7.2), (30_000_000, 8.85)]
)
def test_calls_fill_only_where_more_messages_come_at_once_than_pollers_wait(actions, fill):
    work = near(worker_batch=10, actions_per_day=actions)
    volume = Volume.from_workload(work)
    assert math.isclose(volume.messages / worker_calls(work, volume, in_phase=True), fill, rel_tol=0.01)
    assert worker_calls(work, volume, in_phase=False) == volume.messages


@pytest.mark.parametrize("line", ["queues: requests", "functions: calls", "functions: starts"])
def test_messages_of_one_call_share_its_requests_and_its_start(line):
    alone, together = (line_of(near(worker_batch=size), line).grows for size in (1, 10))
    assert together < alone / 4


def test_batches_leave_the_work_on_the_tables_as_it_is():
    for line in ("tables: writes", "tables: reads"):
        assert line_of(near(worker_batch=10), line) == line_of(near(), line)


@pytest.mark.parametrize(
    ("field", "value", "more"),
    [
        ("correlation_share", 1, units.CORRELATION_WRITES),
        ("failed_share", 1, units.FAILURE_WRITES + units.TRACEBACK_WRITES),
        ("retries_share", 1, units.RETRY_WRITES + units.TRACEBACK_WRITES),
        ("keyed_share", 1, 7 - units.LIFE_WRITES),
        ("rated_share", 1, units.START_WRITES),
    ],
)
def test_a_share_adds_its_own_write_units(field, value, more):
    plain = replace(NOTHING, actions_per_day=1_000, retries_share=0, failed_share=0)
    before, after = (
        line_of(work, "tables: writes").grows for work in (plain, replace(plain, **{field: value}))
    )
    assert after - before == 1_000 * 30 * more


def test_a_deferral_takes_its_units_one_more_message_and_no_more_run():
    plain = replace(NOTHING, actions_per_day=1_000, far_share=0, retries_share=0, rated_share=1)
    deferred = replace(plain, deferred_share=1)
    more = line_of(deferred, "tables: writes").grows - line_of(plain, "tables: writes").grows
    assert more == 1_000 * 30 * units.DEFERRAL_WRITES
    assert line_of(deferred, "queues: requests").grows == 2 * line_of(plain, "queues: requests").grows
    slow = [replace(work, handler_ms=800_000) for work in (plain, deferred)]
    computed = [line_of(work, "functions: compute").grows for work in slow]
    assert computed[1] < 1.01 * computed[0]


def test_a_high_queue_adds_polls_and_no_work():
    plain = Workload(workers=2)
    high = replace(plain, high_queues=1)
    three = replace(plain, workers=3)
    assert line_of(high, "queues: requests").fixed == line_of(three, "queues: requests").fixed
    assert line_of(high, "queues: requests").grows == line_of(plain, "queues: requests").grows


def test_a_retry_takes_one_more_message_and_one_more_run():
    plain = replace(NOTHING, actions_per_day=1_000, far_share=0, retries_share=0)
    again = replace(plain, retries_share=1)
    assert line_of(again, "queues: requests").grows == 2 * line_of(plain, "queues: requests").grows
    assert line_of(again, "functions: waiting").grows == 2 * line_of(plain, "functions: waiting").grows


def test_the_wheel_needs_timers_only_for_wakes_of_jobs():
    work = Workload(actions_per_day=1_000, timers="wheel", jobs=2, runs_per_day=10)
    assert line_of(work, "timers").grows == 2 * 10 * 30
    timers = replace(work, timers="eventbridge")
    assert line_of(work, "tables: reads").quantity > line_of(timers, "tables: reads").quantity


def test_many_far_actions_cost_hardly_more_than_with_the_wheel_alone():
    far = Workload(actions_per_day=10_000_000, far_share=1)
    wheel = priced(replace(far, timers="wheel")).dollars
    assert wheel < priced(far).dollars < wheel * 1.001


def test_few_far_actions_turn_no_wheel():
    rates = [
        replace(NOTHING, actions_per_day=units.MOST_TIMERS / 30 * share, far_share=1) for share in (1, 1.01)
    ]
    few, many = (line_of(work, "tables: writes").grows for work in rates)
    turns = (units.WHEEL_WRITES + units.STAND_IN_WRITES) * units.SWEEPS * 30
    assert many - few == pytest.approx(turns + units.MOST_TIMERS * 0.01 * 5.04, rel=0.01)
    assert [line_of(work, "timers").grows for work in rates] == [units.MOST_TIMERS, 0]


@pytest.mark.parametrize(("events", "published"), [("off", 0), ("standard", 3), ("all", 6)])
def test_the_chosen_events_are_published(events, published):
    work = replace(NOTHING, actions_per_day=1, jobs=1, runs_per_day=1, failed_share=0, events=events)
    assert line_of(work, "events").grows == published * 30


def test_standard_events_include_failures():
    work = replace(NOTHING, actions_per_day=100, failed_share=0.5)
    assert line_of(work, "events").grows == 50 * 30


def test_a_start_is_billed_for_one_call_in_a_hundred():
    line = line_of(replace(NOTHING, actions_per_day=10_000_000, handler_memory=1_024), "functions: starts")
    gigabytes = units.INIT_CPU_MS * units.MEMORY_OF_A_CPU / 1_000 / 1_024  # at each size of memory
    seconds = 10_010_000 * 30 / 100 * gigabytes  # with retries
    assert seconds < line.grows < 2 * seconds


def test_a_function_starts_at_most_once_a_call():
    work = replace(NOTHING, actions_per_day=1 / 30, far_share=0, retries_share=0, events="off")
    once = 2 * units.INIT_CPU_MS * units.MEMORY_OF_A_CPU / 1_000 / 1_024  # arm and work
    assert math.isclose(line_of(work, "functions: starts").grows, once)


def test_a_deployment_without_work_starts_the_passes_alone():
    line = line_of(NOTHING, "functions: starts")
    assert (line.grows, line.fixed > 0) == (0, True)


def test_events_that_are_off_cost_nothing():
    off = replace(Workload(), events="off")
    assert line_of(off, "events").quantity == 0
    assert priced(off).dollars < priced(Workload(events="all")).dollars


def test_logs_stored_half_as_long_cost_half():
    month, half = (line_of(Workload(log_days=days), "logs: storage").dollars for days in (30, 15))
    assert math.isclose(month, 2 * half)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"far_share": 1.1}, "far_share is 1.1; allowed is a number from 0 to 1"),
        ({"actions_per_day": -1}, "actions_per_day is -1; allowed is a number from 0 to 1,000,000,000,000"),
        ({"jobs": math.nan}, "jobs is nan; allowed is"),
        ({"handler_ms": math.inf}, "handler_ms is inf; allowed is a number from 0 to 900,000"),
        ({"handler_memory": 64}, "handler_memory is 64; allowed is a number from 128 to 10,240"),
        ({"alarms": True}, "alarms is True; allowed is"),
        ({"metric_types": "ten"}, "metric_types is 'ten'; allowed is"),
        ({"events": "some"}, "events is 'some'; allowed is standard, all, off"),
    ],
)
def test_an_invalid_workload_is_rejected(given, message):
    with pytest.raises(InvalidArgument, match=re.escape(message)):
        Workload(**given)


def test_every_problem_is_named_at_once():
    with pytest.raises(InvalidArgument) as rejected:
        Workload(far_share=2, jobs=-1)
    assert len(rejected.value.problems) == 2


def test_each_field_has_a_description():
    assert all(field.metadata["about"] for field in fields(Workload))


def test_the_units_are_those_of_the_code():
    chosen = Settings()
    assert units.IN_ROW_LIMIT == IN_ROW_LIMIT
    assert units.DUE_SHARDS == DUE_SHARDS
    assert len(bands(chosen)) == units.BANDS
    assert chosen.heartbeat.total_seconds() * 1_000 == quantities.RENEWED_MS
    assert chosen.cancel_poll.total_seconds() * 1_000 == quantities.CANCEL_POLL_MS
    assert Workload().retention_days == chosen.retention.days
    assert Workload().timers == chosen.timers
    assert Workload().handler_memory == Deployment().worker_memory
    assert Workload().function_memory == Deployment().function_memory
    assert (units.DISPATCH_SHARE, units.ARM_SHARE) == (DISPATCH_MEMORY_SHARE, ARM_MEMORY_SHARE)
    assert Workload().log_days == Deployment().log_days


@pytest.mark.parametrize(
    "row",
    [
        f"0.6 KB: write units {units.LIFE_WRITES} units",
        f"0.6 KB and a correlation id: write units {units.LIFE_WRITES + units.CORRELATION_WRITES} units",
        f"an occurrence's run under its job's lock: write units {units.RUN_WRITES} units",
    ],
)
def test_the_units_are_those_of_the_page_on_performance(row):
    assert f" {row} " in " ".join(PAGE.split())


def test_a_kms_key_and_a_web_acl_cost_nothing_until_they_are_set():
    names = ("KMS: keys", "KMS: requests", "web ACL", "web ACL: rules", "web ACL: requests")
    assert {line_of(Workload(), name).dollars for name in names} == {0}
    work = replace(NOTHING, kms_keys=1, web_acls=1, canaries_per_hour=0, api_requests_per_day=100_000)
    dollars = {name: round(line_of(work, name).dollars, 2) for name in names}
    # 8,640 times in a month: 7 roles at 2 tables, 3 requests of each of 3 queues; and some starts.
    assert dollars.pop("KMS: requests") == pytest.approx(8_640 * (14 + 9) * 0.03 / 10_000, rel=0.3)
    assert dollars == {"KMS: keys": 1, "web ACL": 5, "web ACL: rules": 2, "web ACL: requests": 1.8}


def test_each_start_of_a_function_decrypts_its_variables():
    less = replace(NOTHING, kms_keys=1, api_requests_per_day=1_000_000)
    more = replace(less, api_requests_per_day=2_000_000)
    added = line_of(more, "KMS: requests").grows - line_of(less, "KMS: requests").grows
    assert added == pytest.approx(30_000_000 * units.INIT_SHARE)
