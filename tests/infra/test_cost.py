"""The estimate goes by the stack as it is synthesised."""

import pytest

from duetime.cdk import Deployment, Handlers
from duetime.cost.units import CAPACITIES, queues_of
from duetime.cost.workload import Workload
from tests.infra.synthesis import BILLING, ROOT, Synthesised, stack

REPORTS = Handlers(app="tests.infra.apps.reports:app", worker="reports", source=ROOT)


@pytest.mark.parametrize("handlers", [[BILLING], [BILLING, REPORTS]], ids=["one worker", "two workers"])
def test_the_queues_that_are_polled_are_those_of_the_stack(handlers):
    made, _ = stack(handlers=handlers)
    sources = Synthesised.from_stack(made).of_type("AWS::Lambda::EventSourceMapping")
    polled = [source for source in sources if "BatchSize" in source and "StartingPosition" not in source]
    assert len(polled) == queues_of(len(handlers))


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


def test_the_alarms_and_dashboards_that_are_assumed_are_those_of_the_stack(synthesised):
    assert Workload().alarms == len(synthesised.of_type("AWS::CloudWatch::Alarm"))
    assert Workload().dashboards == len(synthesised.of_type("AWS::CloudWatch::Dashboard"))
