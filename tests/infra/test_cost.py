"""The estimate goes by the stack as it is synthesised."""

import pytest

from duetime.cdk import Deployment, Handlers
from duetime.cost.estimate import estimate
from duetime.cost.prices import usual_prices
from duetime.cost.units import CAPACITIES, pollers_of
from duetime.cost.workload import Workload
from duetime.settings import Settings
from tests.infra.synthesis import BILLING, ROOT, Synthesised, made_with, stack, synth

REPORTS = Handlers(app="tests.infra.apps.reports:app", worker="reports", source=ROOT)


@pytest.mark.parametrize("handlers", [[BILLING], [BILLING, REPORTS]], ids=["one worker", "two workers"])
def test_the_queues_that_are_polled_are_those_of_the_stack(handlers):
    sources = synth(handlers=handlers).of_type("AWS::Lambda::EventSourceMapping")
    polled = [source for source in sources if "BatchSize" in source and "StartingPosition" not in source]
    assert len(polled) == Workload(workers=len(handlers)).queues


def test_the_tables_and_indexes_with_a_capacity_are_those_of_the_stack(synthesised):
    tables = synthesised.of_type("AWS::DynamoDB::Table")
    assert {table["BillingMode"] for table in tables} == {"PAY_PER_REQUEST"}
    assert sum(1 + len(table["GlobalSecondaryIndexes"]) for table in tables) == CAPACITIES


def test_the_default_workload_equals_the_default_deployment():
    deployment, work = Deployment(), Workload()
    assert work.handler_memory == deployment.worker_memory
    assert work.function_memory == deployment.function_memory
    assert work.architecture == deployment.architecture
    assert work.log_days == deployment.log_days
    assert work.worker_batch == Settings().worker_batch


def test_the_alarms_that_are_assumed_are_those_of_the_stack(synthesised):
    assert Workload().alarms == len(synthesised.of_type("AWS::CloudWatch::Alarm"))
    assert Workload().canaries_per_hour == canaries_per_hour(synthesised)


@pytest.mark.parametrize("handlers", [[BILLING], [BILLING, REPORTS]], ids=["one worker", "two workers"])
def test_the_pollers_are_those_of_the_stacks_event_sources(handlers):
    sources = synth(handlers=handlers).of_type("AWS::Lambda::EventSourceMapping")
    work = Workload(workers=len(handlers))
    assert sum(map(pollers, sources)) == pollers_of(len(handlers), work.queues - len(handlers))


def test_the_small_profile_has_the_queues_alarms_and_metrics_of_its_row_of_costs():
    made, scheduler = stack(handlers=[BILLING], profile="small")
    synthesised = Synthesised.from_stack(made)
    small = Workload(tenants="one", events="off", alarms=3)
    assert len(synthesised.of_type("AWS::SQS::Queue")) == small.queues
    assert len(synthesised.of_type("AWS::CloudWatch::Alarm")) == small.alarms
    assert scheduler.settings.metrics == small.metrics


def canaries_per_hour(template):
    return 3_600 / float(template.environment("sweep")["DUETIME_CANARY"])


def pollers(source):
    """Return the pollers of an idle event source: five with a bound, two without."""
    if "StartingPosition" in source:
        return 0  # reads of a table's stream are free
    return 5 if "ScalingConfig" in source else 2


def test_the_default_stack_costs_at_most_three_dollars_a_month_at_rest(synthesised):
    """Every count comes from the template; the prices are list prices without free tiers."""
    polls = sum(map(pollers, synthesised.of_type("AWS::Lambda::EventSourceMapping"))) * 3 * 60 * 24 * 30
    alarms = sum(len(alarm.get("Metrics", [0])) for alarm in synthesised.of_type("AWS::CloudWatch::Alarm"))
    per_month = {"rate(1 minute)": 60 * 24 * 30, "rate(6 hours)": 4 * 30}
    schedules = synthesised.of_type("AWS::Scheduler::Schedule")
    called = sum(per_month[schedule["ScheduleExpression"]] for schedule in schedules)
    at_rest = Workload(
        actions_per_day=0,
        jobs=0,
        api_requests_per_day=0,
        alarms=alarms,
        canaries_per_hour=canaries_per_hour(synthesised),
    )
    lines = {line.name: line for line in estimate(at_rest, usual_prices()).lines}
    assert lines["queues: requests"].quantity == polls + at_rest.canaries * 3
    assert lines["timers"].quantity == called + at_rest.canaries
    assert sum(line.dollars for line in lines.values()) <= 3


def test_the_managed_web_acl_has_the_rules_that_are_assumed():
    acl = made_with(web_acl="managed").one("AWS::WAFv2::WebACL")
    assert len(acl["Rules"]) == Workload().web_acl_rules
