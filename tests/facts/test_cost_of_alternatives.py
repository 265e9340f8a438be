"""The price of the same work with other AWS services, and their missing features."""

from dataclasses import replace

import pytest
from hypothesis import given

from duetime.cost.workload import Workload
from tests.facts.workloads import NOTHING, priced, workloads


@given(workloads())
def test_a_bare_schedule_is_always_cheaper(work):
    made = priced(work)
    assert made.alternatives[0].dollars <= made.dollars


@pytest.mark.parametrize(("actions", "is_dearer"), [(1_000, False), (10_000, True)])
def test_step_functions_are_dearer_from_a_few_thousand_actions_a_day(actions, is_dearer):
    made = priced(Workload(actions_per_day=actions))
    assert (made.alternatives[1].dollars > made.dollars) == is_dearer


@pytest.mark.parametrize(("actions", "is_dearer"), [(1_000, False), (20_000, True)])
def test_hops_through_a_queue_are_dearer_from_a_few_thousand_actions_a_day(actions, is_dearer):
    made = priced(Workload(actions_per_day=actions))
    assert (made.alternatives[2].dollars > made.dollars) == is_dearer


def test_hops_through_a_queue_are_cheaper_while_everything_is_due_soon():
    made = priced(Workload(actions_per_day=1_000_000, far_share=0))
    assert made.alternatives[2].dollars < made.dollars


def test_every_alternative_names_its_missing_features():
    made = priced(Workload())
    assert len(made.alternatives) == 3
    assert all(alternative.lacks and "\n" not in alternative.lacks for alternative in made.alternatives)


def test_an_action_takes_one_bare_schedule_and_one_invocation():
    [bare, *_] = priced(replace(NOTHING, actions_per_day=1_000, retries_share=0)).alternatives
    quantities = {line.name: line.quantity for line in bare.lines}
    assert (quantities["timers"], quantities["functions: calls"]) == (30_000, 30_000)


def test_an_execution_takes_three_transitions():
    [_, workflows, _] = priced(replace(NOTHING, actions_per_day=1_000, retries_share=0)).alternatives
    assert {line.name: line.quantity for line in workflows.lines}["transitions"] == 90_000


def test_a_queue_hops_once_a_quarter_of_an_hour():
    work = replace(NOTHING, actions_per_day=1, far_share=1, far_hours=1, retries_share=0)
    [_, _, hops] = priced(work).alternatives
    [requests] = [line for line in hops.lines if line.name == "queues: requests"]
    assert requests.grows == 30 * 3 * 4
