"""Who reads the tables' streams: what passes its filters, and what becomes of a batch that fails."""

import json

import pytest

from duetime.cost import units
from duetime.lambdas.arm import FILTERS
from duetime.lambdas.publish import action_filters, job_filters
from duetime.settings import Settings
from duetime.wakeups.arm import FULL_BATCH
from tests.infra.synthesis import synth

MOST_FILTERS = 5
"""The default of an event source."""


def readers(synthesised, name):
    """The event sources between a stream and a function."""
    return [
        source
        for source in synthesised.of_type("AWS::Lambda::EventSourceMapping")
        if "FilterCriteria" in source
        and synthesised.function_names[source["FunctionName"]["Ref"]] == f"duetime-{name}"
    ]


def test_arm_knows_a_full_batch(synthesised):
    [source] = readers(synthesised, "arm")
    assert source["BatchSize"] == FULL_BATCH == units.BATCH


@pytest.mark.parametrize(("events", "tenants"), [("standard", "acme globex"), ("all", "")])
def test_publish_reads_both_tables_for_six_hours_and_then_leaves_a_batch_to_the_undelivered_handler(
    events, tenants
):
    settings = Settings(events=events, tenants=tenants)
    synthesised = synth(settings=settings)
    sources = readers(synthesised, "publish")
    filters = [
        [json.loads(pattern["Pattern"]) for pattern in one["FilterCriteria"]["Filters"]] for one in sources
    ]
    assert sorted(filters, key=str) == sorted(
        [list(action_filters(settings)), list(job_filters(settings))], key=str
    )
    for source in sources:
        assert len(source["FilterCriteria"]["Filters"]) <= MOST_FILTERS
        assert source["MaximumRecordAgeInSeconds"] == 6 * 3_600
        assert source.get("MaximumRetryAttempts", -1) == -1
        assert source["BisectBatchOnFunctionError"]
        assert "Destination" in source["DestinationConfig"]["OnFailure"]


def test_arm_gets_only_the_changes_it_needs_and_a_bad_batch_does_not_stop_it(synthesised):
    [source] = readers(synthesised, "arm")
    assert [json.loads(pattern["Pattern"]) for pattern in source["FilterCriteria"]["Filters"]] == list(
        FILTERS
    )
    assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert source["BisectBatchOnFunctionError"]
    assert 0 < source["MaximumRetryAttempts"] <= 10
    assert 0 < source["MaximumRecordAgeInSeconds"] <= 3_600
    failures = synthesised.resources[source["DestinationConfig"]["OnFailure"]["Destination"]["Fn::GetAtt"][0]]
    assert failures["Properties"]["QueueName"] == "duetime-failures"
