"""The price of the same work with other AWS services, and their missing features."""

import math
from dataclasses import replace

import pytest
from hypothesis import given

from duetime.cost import units
from duetime.cost.workload import Workload
from tests.facts.workloads import NOTHING, line_of, priced, workloads

BARE, WORKFLOWS = "EventBridge Scheduler, bare", "Step Functions, a wait each"
QSTASH = "QStash, pay as you go"
DURABLE, HOPS = "Lambda durable functions", "SQS hops and a table"
PROVISIONED = "duetime, provisioned capacity"
SINGLE = replace(NOTHING, actions_per_day=1_000, retries_share=0)


def alternative(work, name):
    [found] = [found for found in priced(work).alternatives if found.name == name]
    return found


def quantities(work, name):
    return {line.name: line.quantity for line in alternative(work, name).lines}


def is_dearer(name, actions):
    work = Workload(actions_per_day=actions)
    return alternative(work, name).dollars > priced(work).dollars


@given(workloads())
def test_a_bare_schedule_is_cheaper_unless_runs_share_a_call(work):
    alone = replace(work, worker_batch=1)
    assert alternative(alone, BARE).dollars <= priced(alone).dollars


@pytest.mark.parametrize(
    ("name", "few", "many"),
    [(WORKFLOWS, 1_000, 10_000), (HOPS, 1_000, 20_000), (DURABLE, 1_000, 50_000)],
)
def test_the_others_are_cheaper_for_few_actions_and_dearer_for_many(name, few, many):
    assert not is_dearer(name, few)
    assert is_dearer(name, many)


def test_hops_through_a_queue_are_cheaper_while_everything_is_due_soon():
    work = Workload(actions_per_day=1_000_000, far_share=0)
    assert alternative(work, HOPS).dollars < priced(work).dollars


def test_every_alternative_names_its_missing_features():
    made = priced(Workload())
    names = {found.name for found in made.alternatives}
    assert names == {BARE, QSTASH, WORKFLOWS, DURABLE, HOPS, PROVISIONED}
    assert all(found.lacks and "\n" not in found.lacks for found in made.alternatives)


def test_an_action_takes_one_bare_schedule_and_one_invocation():
    taken = quantities(SINGLE, BARE)
    assert (taken["timers"], taken["functions: calls"]) == (30_000, 30_000)


def test_an_action_takes_one_message_of_qstash_and_one_invocation():
    taken = quantities(replace(SINGLE, retries_share=1), QSTASH)
    assert (taken["messages"], taken["functions: calls"]) == (30_000, 60_000)


def test_an_execution_takes_three_transitions():
    assert quantities(SINGLE, WORKFLOWS)["transitions"] == 90_000


def test_a_durable_execution_takes_three_operations_and_two_invocations():
    taken = quantities(SINGLE, DURABLE)
    assert (taken["operations"], taken["functions: calls"]) == (90_000, 60_000)


def test_a_retry_of_a_durable_step_is_an_operation_and_an_invocation():
    once, again = quantities(SINGLE, DURABLE), quantities(replace(SINGLE, retries_share=1), DURABLE)
    for name in ("operations", "functions: calls"):
        assert again[name] - once[name] == 30_000


def test_a_durable_execution_writes_and_retains_its_payload():
    taken = quantities(replace(SINGLE, payload_bytes=1_000, far_share=0, retention_days=45), DURABLE)
    assert math.isclose(taken["operations: data"], 0.03)
    assert math.isclose(taken["operations: storage"], 0.03 * 45 / 30)


def test_a_durable_execution_is_retained_for_ninety_days_at_most():
    years, days = (
        quantities(replace(SINGLE, retention_days=days), DURABLE)["operations: storage"]
        for days in (3_650, 90)
    )
    assert years == days


def test_a_queue_hops_once_a_quarter_of_an_hour():
    work = replace(NOTHING, actions_per_day=1, far_share=1, far_hours=1, retries_share=0)
    [requests] = [line for line in alternative(work, HOPS).lines if line.name == "queues: requests"]
    assert requests.grows == 30 * 3 * 4


def test_fair_queues_add_a_tenth_of_a_dollar_for_a_million_requests_with_a_group():
    work = replace(SINGLE, actions_per_day=1_000_000)
    added = priced(replace(work, tenants="several")).growing_dollars - priced(work).growing_dollars
    requests = line_of(work, "queues: requests").grows
    assert 30 * 2_000_000 < requests <= 30 * units.MESSAGE_REQUESTS * 1_000_000
    assert math.isclose(added, requests / 1_000_000 * 0.10)


def test_provisioned_capacity_changes_the_units_of_the_tables_alone():
    work = Workload()
    changed = {
        line.name
        for line, other in zip(priced(work).lines, alternative(work, PROVISIONED).lines, strict=True)
        if line != other
    }
    assert changed == {"tables: writes", "tables: reads"}


def test_a_capacity_unit_writes_one_unit_a_second():
    few, many = (
        quantities(replace(SINGLE, failed_share=0, far_share=0, actions_per_day=actions), PROVISIONED)[
            "tables: writes"
        ]
        for actions in (0, 86_400)
    )
    assert math.isclose(many - few, units.LIFE_WRITES * 30 * 24 / units.CAPACITY_USE)


@pytest.mark.parametrize(("actions", "saves"), [(1_000, False), (10_000_000, True)])
def test_provisioned_capacity_saves_with_many_actions_alone(actions, saves):
    assert is_dearer(PROVISIONED, actions) == (not saves)
