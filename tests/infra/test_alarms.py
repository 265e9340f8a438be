"""The alarms: each reads an existing metric, has a valid bound, and is published."""

from datetime import timedelta

import pytest

from duetime.cdk import Deployment
from duetime.lambdas.metrics_buffer import deployment_of
from duetime.model.metric import NAMESPACE, Metric
from duetime.settings import Settings
from tests.infra.alarms import alarms as alarms  # noqa: PLC0414 - fixtures
from tests.infra.alarms import alarms_of, dimensions, topic_of
from tests.infra.alarms import another as another  # noqa: PLC0414
from tests.infra.alarms import synthesised as synthesised  # noqa: PLC0414
from tests.infra.synthesis import ROOT, made_with

AWS_METRICS = {
    "AWS/Lambda": {"Errors", "Throttles", "Invocations", "IteratorAge"},
    "AWS/SQS": {"ApproximateAgeOfOldestMessage", "ApproximateNumberOfMessagesNotVisible"},
    "AWS/DynamoDB": {"ReadThrottleEvents", "WriteThrottleEvents"},
    "AWS/ApiGateway": {"5XXError"},
}
PERIODS_THAT_CLOUDWATCH_TAKES = 60
HOUR = timedelta(hours=1).total_seconds()
LONGEST_RANGE, LONGEST_OF_HOURS = timedelta(days=1).total_seconds(), timedelta(days=7).total_seconds()
"""The limits of short and long periods: CloudWatch's API reference, PutMetricAlarm, Period."""
MOST_RESOURCES = 500
ROOM_FOR_ONES_OWN = 200


def test_each_alarm_is_published_when_it_begins_and_ends(synthesised, alarms):
    topic = [{"Ref": topic_of(synthesised)}]
    for alarm in alarms.values():
        assert alarm["AlarmActions"] == alarm["OKActions"] == topic


def test_alarms_are_named_by_the_prefix_and_no_two_alike(another):
    named = another.of_type("AWS::CloudWatch::Alarm")
    assert all(alarm["AlarmName"].startswith("billing-") for alarm in named)
    assert len(alarms_of(another)) == len(named)


@pytest.mark.parametrize("template", ["synthesised", "another"])
def test_each_alarm_watches_a_metric_of_something_that_is_there(template, request):
    template = request.getfixturevalue(template)
    there = {
        "FunctionName": {function["FunctionName"] for function in template.of_type("AWS::Lambda::Function")},
        "QueueName": {queue["QueueName"] for queue in template.of_type("AWS::SQS::Queue")},
        "TableName": {table["TableName"] for table in template.of_type("AWS::DynamoDB::Table")},
        "ApiName": {api["Name"] for api in template.of_type("AWS::ApiGateway::RestApi")},
        "Stage": {stage["StageName"] for stage in template.of_type("AWS::ApiGateway::Stage")},
        "GlobalSecondaryIndexName": {
            index["IndexName"]
            for table in template.of_type("AWS::DynamoDB::Table")
            for index in table["GlobalSecondaryIndexes"]
        },
    }
    for name, alarm in alarms_of(template).items():
        assert "Metrics" not in alarm, "no arithmetic"
        if alarm["Namespace"] == NAMESPACE:
            assert alarm["MetricName"] in set(Metric), name
            continue
        assert alarm["MetricName"] in AWS_METRICS[alarm["Namespace"]], name
        for dimension, value in dimensions(alarm).items():
            assert value in there[dimension], name


def test_duetimes_own_metrics_are_watched_as_the_functions_tell_them(another):
    ours = [alarm for alarm in another.of_type("AWS::CloudWatch::Alarm") if alarm["Namespace"] == NAMESPACE]
    assert {our["MetricName"] for our in ours} >= {"failed", "lateness", "oldest_due_age", "undelivered"}
    for alarm in ours:
        assert dimensions(alarm) == {"deployment": deployment_of(Settings(prefix="billing-"))}


def watched(template, namespace, dimension, metric):
    return {
        dimensions(alarm)[dimension]
        for alarm in template.of_type("AWS::CloudWatch::Alarm")
        if (alarm["Namespace"], alarm["MetricName"]) == (namespace, metric)
    }


@pytest.mark.parametrize("template", ["synthesised", "another"])
def test_no_function_queue_table_or_api_goes_unwatched(template, request):
    template = request.getfixturevalue(template)
    functions = {function["FunctionName"] for function in template.of_type("AWS::Lambda::Function")}
    called_by_cloudformation = {function for function in functions if function.endswith("-deploy")}
    for metric in ("Errors", "Throttles"):
        assert watched(template, "AWS/Lambda", "FunctionName", metric) == functions - called_by_cloudformation
    queues = {queue["QueueName"] for queue in template.of_type("AWS::SQS::Queue")}
    assert watched(template, "AWS/SQS", "QueueName", "ApproximateAgeOfOldestMessage") == queues
    tables = {table["TableName"] for table in template.of_type("AWS::DynamoDB::Table")}
    for metric in ("ReadThrottleEvents", "WriteThrottleEvents"):
        assert watched(template, "AWS/DynamoDB", "TableName", metric) == tables
    apis = {api["Name"] for api in template.of_type("AWS::ApiGateway::RestApi")}
    assert watched(template, "AWS/ApiGateway", "ApiName", "5XXError") == apis


def test_each_stream_reader_has_an_alarm_for_lag(synthesised, another):
    assert watched(synthesised, "AWS/Lambda", "FunctionName", "IteratorAge") == {
        "duetime-arm",
        "duetime-publish",
    }
    assert watched(another, "AWS/Lambda", "FunctionName", "IteratorAge") == {"billing-arm"}


def test_each_index_is_watched_for_writes_that_hold_up_its_tables(synthesised):
    there = {
        (table["TableName"], index["IndexName"])
        for table in synthesised.of_type("AWS::DynamoDB::Table")
        for index in table["GlobalSecondaryIndexes"]
    }
    seen = {
        (dimensions(alarm)["TableName"], dimensions(alarm)["GlobalSecondaryIndexName"])
        for alarm in synthesised.of_type("AWS::CloudWatch::Alarm")
        if "GlobalSecondaryIndexName" in dimensions(alarm)
    }
    assert seen == there


def test_bounds_and_spans_are_ones_that_cloudwatch_takes(synthesised, another):
    for template in (synthesised, another):
        for name, alarm in alarms_of(template).items():
            assert alarm["Threshold"] > 0, name
            assert alarm["Period"] % PERIODS_THAT_CLOUDWATCH_TAKES == 0
            longest = LONGEST_RANGE if alarm["Period"] < HOUR else LONGEST_OF_HOURS
            assert alarm["Period"] * alarm["EvaluationPeriods"] <= longest
            assert ("Statistic" in alarm) != ("ExtendedStatistic" in alarm)


def test_missing_data_is_healthy_except_for_the_passes_and_the_canary(alarms):
    silent = {name for name, alarm in alarms.items() if alarm["TreatMissingData"] == "breaching"}
    assert "duetime-canary" in silent
    silent.remove("duetime-canary")
    assert silent == {"duetime-sweep-silent", "duetime-catch-up-silent"}
    for name in silent:
        assert (alarms[name]["ComparisonOperator"], alarms[name]["Threshold"]) == ("LessThanThreshold", 1)
    for name in alarms.keys() - silent - {"duetime-canary"}:
        assert alarms[name]["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"
        assert alarms[name]["TreatMissingData"] == "notBreaching"


def test_a_pass_that_comes_seldom_is_awaited_for_two_of_its_turns(alarms, another):
    assert alarms["duetime-sweep-silent"]["Period"] == timedelta(minutes=5).total_seconds()
    assert alarms_of(another)["billing-sweep-silent"]["Period"] == timedelta(minutes=20).total_seconds()
    assert alarms["duetime-catch-up-silent"]["Period"] == timedelta(hours=12).total_seconds()
    assert alarms_of(another)["billing-catch-up-silent"]["Period"] == timedelta(days=2).total_seconds()


def test_lateness_and_failures_are_bounded_by_the_settings(alarms, another):
    late, others = alarms["duetime-late"], alarms_of(another)
    assert (late["ExtendedStatistic"], late["Threshold"]) == ("p99", 5_000)
    assert others["billing-late"]["Threshold"] == 30_000
    assert (alarms["duetime-failed"]["Threshold"], others["billing-failed"]["Threshold"]) == (1, 20)


def test_a_message_may_wait_for_its_due_time_and_for_a_whole_run_without_an_alarm(synthesised, another):
    longest_delay = timedelta(minutes=15).total_seconds()
    for template in (synthesised, another):
        alarms = alarms_of(template)
        for queue in template.of_type("AWS::SQS::Queue"):
            bound = alarms[f"{queue['QueueName']}-age"]["Threshold"]
            if "RedrivePolicy" in queue:
                assert bound > longest_delay + queue["VisibilityTimeout"]
            else:
                assert bound > queue["VisibilityTimeout"]


def test_the_default_alarms_are_at_most_eight_symptoms():
    named = alarms_of(made_with()).keys()
    assert named == {
        f"duetime-{symptom}"
        for symptom in (
            "canary", "failed", "undelivered", "overdue", "catch-up-silent", "work-default-throttled",
            "api-people-5xx", "api-services-5xx",
        )
    }  # fmt: skip
    assert alarms_of(made_with(alarms=False)) == {}


def test_the_canary_alarm_needs_three_late_canaries_or_none():
    canary = alarms_of(made_with(canary=timedelta(minutes=10), lateness_alarm=timedelta(seconds=8)))[
        "duetime-canary"
    ]
    assert (canary["MetricName"], canary["Statistic"]) == ("canary_lateness", "Minimum")
    assert (canary["Threshold"], canary["ComparisonOperator"]) == (8_000, "GreaterThanOrEqualToThreshold")
    assert (canary["Period"], canary["TreatMissingData"]) == (1_800, "breaching")


def test_the_runbook_has_the_time_until_the_first_canary_has_run():
    settings, deployment = Settings(), Deployment()
    longest = deployment.canary + settings.near_limit + settings.sweep_rate
    text = (ROOT / "docs/runbook.md").read_text()
    assert f"at most {longest // timedelta(minutes=1)} minutes with the defaults" in text


def test_with_a_slow_sweep_the_canary_alarm_waits_for_three_sweeps():
    slow = Settings(sweep_rate=timedelta(minutes=20), job_grace=timedelta(hours=1))
    named = alarms_of(made_with(slow, canary=timedelta(minutes=5)))
    assert named["duetime-canary"]["Period"] == 3_600


@pytest.mark.parametrize(
    ("settings", "canary"), [(Settings(), timedelta(0)), (Settings(enabled=False), timedelta(minutes=5))]
)
def test_without_a_canary_a_silent_sweep_raises_the_alarm(settings, canary):
    named = alarms_of(made_with(settings, canary=canary))
    assert "duetime-canary" not in named
    assert "duetime-sweep-silent" in named


def test_the_sweep_alone_gets_the_canarys_rate():
    made = made_with(canary=timedelta(minutes=7))
    rates = {name: made.environment(name).get("DUETIME_CANARY") for name in made.functions()}
    assert {name: rate for name, rate in rates.items() if rate} == {"sweep": "420"}


@pytest.mark.parametrize("canary", [timedelta(minutes=5), timedelta(0)])
def test_the_sweep_may_put_new_one_shots_of_the_system_alone(canary):
    """Canaries, and the checks of deadlines; with batches, rows in the place of missing members."""
    rights = made_with(canary=canary).rights("sweep")
    putting = [right for right in rights if "dynamodb:PutItem" in right["Action"]]
    keys = {key for right in putting for key in _keys_of(right)}
    assert {key for key in keys if key.endswith("#?")} == {"system#?", "*#?"}
    [counting] = (right for right in putting if "*#?" in _keys_of(right))
    assert "dynamodb:BatchGetItem" in counting["Action"]


def _keys_of(right):
    return right.get("Condition", {}).get("ForAllValues:StringLike", {}).get("dynamodb:LeadingKeys", ())


def test_a_stack_has_room_for_much_of_ones_own(another):
    assert len(another.resources) < MOST_RESOURCES - ROOM_FOR_ONES_OWN
