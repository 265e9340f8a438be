"""The dashboard: its graphs are of what there is, and nothing lies over anything else."""

import json
import re

import pytest

from duetime.cdk import Handlers
from duetime.model.metric import NAMESPACE, Metric
from duetime.settings import Settings
from tests.infra.alarms import synthesised as synthesised  # noqa: PLC0414 - a fixture
from tests.infra.synthesis import BILLING, ROOT, made_with, text

REPORTS = Handlers(app="tests.infra.apps.reports:app", worker="reports", source=ROOT)
AWS_METRICS = {
    "AWS/Lambda": {"Errors", "Throttles", "Invocations", "IteratorAge", "Duration"},
    "AWS/SQS": {f"ApproximateNumberOfMessages{name}" for name in ("Visible", "NotVisible", "Delayed")},
    "AWS/DynamoDB": {
        "ReadThrottleEvents",
        "WriteThrottleEvents",
        "ConsumedReadCapacityUnits",
        "ConsumedWriteCapacityUnits",
    },
    "AWS/ApiGateway": {"Count", "4XXError", "5XXError", "Latency"},
}
WIDTH, MOST_ALARMS = 24, 100


def widgets(template):
    return json.loads(text(template.one("AWS::CloudWatch::Dashboard")["DashboardBody"]))["widgets"]


def titled(template):
    return {widget["properties"].get("title", ""): widget["properties"] for widget in widgets(template)}


def lines(template):
    """(namespace, metric, dimensions) of each line that is drawn."""
    for widget in widgets(template):
        for namespace, *rest in widget["properties"].get("metrics", []):
            if isinstance(namespace, str):
                metric, *dimensions, _shown = rest
                yield namespace, metric, dict(zip(dimensions[::2], dimensions[1::2], strict=True))


@pytest.fixture(scope="module")
def another():
    settings = Settings(prefix="billing-", actions_table="restored", events="off")
    return made_with(settings, handlers=[BILLING, REPORTS], api=False, dashboard=True)


def test_the_dashboard_is_named_by_the_prefix(another):
    assert another.one("AWS::CloudWatch::Dashboard")["DashboardName"] == "billing-scheduler"


@pytest.mark.parametrize("template", ["synthesised", "another"])
def test_each_line_is_of_a_metric_of_something_that_is_there(template, request):
    template = request.getfixturevalue(template)
    there = {
        "FunctionName": {function["FunctionName"] for function in template.of_type("AWS::Lambda::Function")},
        "QueueName": {queue["QueueName"] for queue in template.of_type("AWS::SQS::Queue")},
        "TableName": {table["TableName"] for table in template.of_type("AWS::DynamoDB::Table")},
        "ApiName": {api["Name"] for api in template.of_type("AWS::ApiGateway::RestApi")},
        "Stage": {stage["StageName"] for stage in template.of_type("AWS::ApiGateway::Stage")},
    }
    drawn = list(lines(template))
    assert drawn
    for namespace, metric, dimensions in drawn:
        if namespace == NAMESPACE:
            assert metric in set(Metric)
            assert dimensions in ({"deployment": "duetime"}, {"deployment": "billing"})
            continue
        assert metric in AWS_METRICS[namespace]
        for name, value in dimensions.items():
            assert value in there[name]


def test_all_functions_and_queues_are_drawn(synthesised):
    def drawn(namespace, dimension):
        return {dimensions[dimension] for space, _, dimensions in lines(synthesised) if space == namespace}

    functions = {function["FunctionName"] for function in synthesised.of_type("AWS::Lambda::Function")}
    assert drawn("AWS/Lambda", "FunctionName") == functions - {"duetime-deploy"}
    queues = {queue["QueueName"] for queue in synthesised.of_type("AWS::SQS::Queue")}
    assert drawn("AWS/SQS", "QueueName") == queues


def test_types_are_searched_for_among_this_deployments():
    found = [
        metric["expression"]
        for widget in widgets(made_with(Settings(metric_types="*"), alarms=False, dashboard=True))
        for metric, *_ in widget["properties"].get("metrics", [])
        if isinstance(metric, dict)
    ]
    for search in found:
        [(schema, metric, deployment)] = re.findall(
            r"SEARCH\('\{(.+)\} MetricName=\"(\w+)\" deployment=\"(.+)\"'", search
        )
        assert (schema, deployment) == (f"{NAMESPACE},deployment,type", "duetime")
        assert metric in set(Metric)
    assert {re.findall(r'MetricName="(\w+)"', search)[0] for search in found} == {
        "executed",
        "failed",
        "lateness",
    }


def test_without_metrics_of_types_no_graph_shows_types(synthesised):
    assert "type" not in " ".join(titled(synthesised))


@pytest.mark.parametrize("template", ["synthesised", "another"])
def test_widgets_fill_the_width_and_none_lies_over_another(template, request):
    taken = set()
    for widget in widgets(request.getfixturevalue(template)):
        place = {
            (x, y)
            for x in range(widget["x"], widget["x"] + widget["width"])
            for y in range(widget["y"], widget["y"] + widget["height"])
        }
        assert not place & taken
        taken |= place
    heights = {y for _, y in taken}
    assert taken == {(x, y) for x in range(WIDTH) for y in heights}
    assert heights == set(range(len(heights)))


def test_each_graph_has_a_question_as_its_title(synthesised):
    for widget in widgets(synthesised):
        if widget["type"] != "text":
            assert "?" in widget["properties"]["title"]


def test_the_text_at_the_top_explains_it_and_links_to_the_runbook(synthesised):
    [text_widget] = [widget for widget in widgets(synthesised) if widget["type"] == "text"]
    assert text_widget["y"] == 0
    assert "`duetime deployment runbook` prints the section" in text_widget["properties"]["markdown"]


def test_the_alarms_that_are_there_stand_above_all_graphs(synthesised):
    [status] = [widget for widget in widgets(synthesised) if widget["type"] == "alarm"]
    assert status["y"] < min(widget["y"] for widget in widgets(synthesised) if widget["type"] == "metric")
    shown = {arn.rpartition(":")[2] for arn in status["properties"]["alarms"]}
    assert shown == {alarm["AlarmName"] for alarm in synthesised.of_type("AWS::CloudWatch::Alarm")}
    assert len(shown) <= MOST_ALARMS


def test_without_alarms_or_an_api_there_is_nothing_of_them(another):
    template = made_with(alarms=False, dashboard=True)
    assert not [widget for widget in widgets(template) if widget["type"] == "alarm"]
    assert not [title for title in titled(another) if "API" in title]


def test_the_line_across_lateness_is_the_alarms_bound(synthesised):
    [late] = [
        widget for title, widget in titled(synthesised).items() if title.startswith("Do runs begin on time?")
    ]
    [across] = late["annotations"]["horizontal"]
    alarm = synthesised.one("AWS::CloudWatch::Alarm", AlarmName="duetime-late")
    assert across["value"] == alarm["Threshold"]


def test_the_default_deployment_has_no_dashboard():
    assert not made_with().of_type("AWS::CloudWatch::Dashboard")
