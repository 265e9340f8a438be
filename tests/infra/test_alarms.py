"""The alarms: each watches something that is there, is told, and has its page in the runbook."""

import re
import shlex
from datetime import timedelta

import botocore.session
import pytest
from botocore import xform_name

from duetime.cdk import Deployment, Handlers
from duetime.cli.main import parser
from duetime.lambdas.gathering import deployment_of
from duetime.metric import NAMESPACE, Metric
from duetime.settings import Settings
from tests.infra.synthesis import BILLING, ROOT, Synthesised, stack, text

RUNBOOK = (ROOT / "docs/runbook.md").read_text()
REPORTS = Handlers(app="tests.infra.apps.reports:app", worker="reports", source=ROOT)
AWS_METRICS = {
    "AWS/Lambda": {"Errors", "Throttles", "Invocations", "IteratorAge"},
    "AWS/SQS": {"ApproximateAgeOfOldestMessage", "ApproximateNumberOfMessagesNotVisible"},
    "AWS/DynamoDB": {"ReadThrottleEvents", "WriteThrottleEvents"},
    "AWS/ApiGateway": {"5XXError"},
}
PERIODS_THAT_CLOUDWATCH_TAKES = 60
LONGEST_RANGE = timedelta(days=1).total_seconds()
MOST_RESOURCES = 500
ROOM_FOR_ONES_OWN = 200


def made_with(settings=None, handlers=(BILLING,), **deployment):
    made, _ = stack(settings=settings, deployment=Deployment(**deployment), handlers=handlers)
    return Synthesised.of(made)


def alarms_of(template):
    return {each["AlarmName"]: each for each in template.of_type("AWS::CloudWatch::Alarm")}


def dimensions(alarm):
    return {each["Name"]: each["Value"] for each in alarm["Dimensions"]}


def topic_of(template):
    """The resource's name of the topic that operators are told at, if there is one."""
    return next(
        (
            name
            for name, each in template.resources.items()
            if each["Properties"].get("TopicName", "").endswith("-alarms")
        ),
        None,
    )


def statements_of_the_topic(template):
    [policy] = [
        each
        for each in template.of_type("AWS::SNS::TopicPolicy")
        if each["Topics"] == [{"Ref": topic_of(template)}]
    ]
    return policy["PolicyDocument"]["Statement"]


@pytest.fixture(scope="module")
def alarms(synthesised):
    return alarms_of(synthesised)


@pytest.fixture(scope="module")
def another():
    """A deployment in which all is named and chosen otherwise."""
    return made_with(
        Settings(prefix="billing-", actions_table="restored", events="off"),
        handlers=[BILLING, REPORTS],
        sweep_rate=timedelta(minutes=10),
        lateness_alarm=timedelta(seconds=30),
        failed_alarm=20,
        worker_timeout=timedelta(minutes=15),
    )


def headings(page):
    return {
        re.sub(r"[^\w\- ]", "", each).strip().lower().replace(" ", "-")
        for each in re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    }


def test_each_alarm_names_its_section_of_the_runbook(alarms):
    for name, alarm in alarms.items():
        told = text(alarm["AlarmDescription"])
        [anchor] = re.findall(r"^docs/runbook\.md#([\w-]+): \S", told)
        assert anchor in headings(RUNBOOK), name
        assert len(told) <= 1_024
        assert "\n" not in told


def test_each_alarm_ends_with_where_the_console_is(alarms):
    for alarm in alarms.values():
        assert re.search(r" \(console: https://\S+/prod/\)$", text(alarm["AlarmDescription"]))


def test_without_a_console_an_alarm_names_none():
    for alarm in alarms_of(made_with(console=False)).values():
        assert "console:" not in alarm["AlarmDescription"]


def test_alarms_and_the_dashboard_say_where_the_deployment_has_its_runbook():
    there = "https://wiki.example.com/duetime"
    made = made_with(console=False, runbook=there)
    for alarm in alarms_of(made).values():
        assert alarm["AlarmDescription"].startswith(f"{there}#")
    assert f"is in {there}, in the section" in text(made.one("AWS::CloudWatch::Dashboard")["DashboardBody"])


def test_each_section_that_an_alarm_names_is_in_the_runbooks_list_of_alarms(alarms):
    listed = RUNBOOK.partition("## The alarms\n")[2].partition("\n## ")[0]
    linked = set(re.findall(r"\]\(#([\w-]+)\) \|$", listed, re.MULTILINE))
    assert linked == {
        re.findall(r"#([\w-]+):", text(alarm["AlarmDescription"]))[0] for alarm in alarms.values()
    }


def test_the_runbook_names_each_alarm_by_its_ending(alarms):
    listed = RUNBOOK.partition("## The alarms\n")[2].partition("\n## ")[0]
    named = [each.rpartition("…")[2].rpartition(">")[2] for each in re.findall(r"`([\w…<>-]+)`", listed)]
    for name in alarms:
        assert any(each and name.endswith(each) for each in named), name


def commands():
    blocks = re.findall(r"^```sh\n(.*?)^```", RUNBOOK, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("duetime ")]
    spans = re.findall(r"`(duetime (?:actions|jobs|dead-letters|undelivered|doctor)[^`]*)`", RUNBOOK)
    return sorted({*lines, *spans})


@pytest.mark.parametrize("command", commands())
def test_each_command_of_the_runbook_is_one(command):
    parser().parse_args(shlex.split(command.replace("NAME", "billing-nightly"))[1:])


OF_THE_COMMAND_LINE_ALONE = {"logs tail": {"since", "filter-pattern"}}
EVERYWHERE = {"query", "output", "max-items"}


def calls_of_aws():
    """(service, operation, options) of each command of AWS' own command line."""
    for called in re.findall(r"\baws ([a-z][^\n`]*)", RUNBOOK.replace("\\\n", " ")):
        service, operation, *rest = called.split()
        yield service, operation, {each[2:] for each in rest if re.fullmatch(r"--[a-z-]+", each)}


def test_each_call_of_aws_in_the_runbook_is_one_with_these_options():
    session = botocore.session.get_session()
    calls = list(calls_of_aws())
    assert len(calls) > len(OF_THE_COMMAND_LINE_ALONE)
    for service, operation, options in calls:
        known = OF_THE_COMMAND_LINE_ALONE.get(f"{service} {operation}")
        if known is None:
            model = session.get_service_model(service)
            [name] = [each for each in model.operation_names if xform_name(each, "-") == operation]
            shape = model.operation_model(name).input_shape
            known = {xform_name(each, "-") for each in (shape.members if shape else ())}
        assert options <= known | EVERYWHERE, (service, operation)


def test_the_runbook_says_of_each_function_what_waits_while_it_fails(synthesised):
    section = RUNBOOK.partition("## A function fails\n")[2].partition("\n## ")[0]
    told = set(re.findall(r"^\| `([\w-]+)(?:-…)?` \|", section, re.MULTILINE))
    there = {name.partition("-default")[0] for name in synthesised.functions()}
    assert there - told == {"deploy"}


def test_each_alarm_is_told_when_it_begins_and_when_it_is_over(synthesised, alarms):
    told = [{"Ref": topic_of(synthesised)}]
    for alarm in alarms.values():
        assert alarm["AlarmActions"] == alarm["OKActions"] == told


def test_alarms_are_named_by_the_prefix_and_no_two_alike(another):
    named = another.of_type("AWS::CloudWatch::Alarm")
    assert all(each["AlarmName"].startswith("billing-") for each in named)
    assert len(alarms_of(another)) == len(named)


@pytest.mark.parametrize("template", ["synthesised", "another"])
def test_each_alarm_watches_a_metric_of_something_that_is_there(template, request):
    template = request.getfixturevalue(template)
    there = {
        "FunctionName": {each["FunctionName"] for each in template.of_type("AWS::Lambda::Function")},
        "QueueName": {each["QueueName"] for each in template.of_type("AWS::SQS::Queue")},
        "TableName": {each["TableName"] for each in template.of_type("AWS::DynamoDB::Table")},
        "ApiName": {each["Name"] for each in template.of_type("AWS::ApiGateway::RestApi")},
        "Stage": {each["StageName"] for each in template.of_type("AWS::ApiGateway::Stage")},
        "GlobalSecondaryIndexName": {
            index["IndexName"]
            for each in template.of_type("AWS::DynamoDB::Table")
            for index in each["GlobalSecondaryIndexes"]
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
    ours = [each for each in another.of_type("AWS::CloudWatch::Alarm") if each["Namespace"] == NAMESPACE]
    assert {each["MetricName"] for each in ours} >= {"failed", "lateness", "oldest_due_age", "undelivered"}
    for each in ours:
        assert dimensions(each) == {"deployment": deployment_of(Settings(prefix="billing-"))}


def watched(template, namespace, dimension, metric):
    return {
        dimensions(each)[dimension]
        for each in template.of_type("AWS::CloudWatch::Alarm")
        if (each["Namespace"], each["MetricName"]) == (namespace, metric)
    }


@pytest.mark.parametrize("template", ["synthesised", "another"])
def test_no_function_queue_table_or_api_goes_unwatched(template, request):
    template = request.getfixturevalue(template)
    functions = {each["FunctionName"] for each in template.of_type("AWS::Lambda::Function")}
    called_by_cloudformation = {each for each in functions if each.endswith("-deploy")}
    for metric in ("Errors", "Throttles"):
        assert watched(template, "AWS/Lambda", "FunctionName", metric) == functions - called_by_cloudformation
    queues = {each["QueueName"] for each in template.of_type("AWS::SQS::Queue")}
    assert watched(template, "AWS/SQS", "QueueName", "ApproximateAgeOfOldestMessage") == queues
    tables = {each["TableName"] for each in template.of_type("AWS::DynamoDB::Table")}
    for metric in ("ReadThrottleEvents", "WriteThrottleEvents"):
        assert watched(template, "AWS/DynamoDB", "TableName", metric) == tables
    apis = {each["Name"] for each in template.of_type("AWS::ApiGateway::RestApi")}
    assert watched(template, "AWS/ApiGateway", "ApiName", "5XXError") == apis


def test_who_reads_a_stream_is_watched_for_lag(synthesised, another):
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
        (dimensions(each)["TableName"], dimensions(each)["GlobalSecondaryIndexName"])
        for each in synthesised.of_type("AWS::CloudWatch::Alarm")
        if "GlobalSecondaryIndexName" in dimensions(each)
    }
    assert seen == there


def test_bounds_and_spans_are_ones_that_cloudwatch_takes(synthesised, another):
    for template in (synthesised, another):
        for name, alarm in alarms_of(template).items():
            assert alarm["Threshold"] > 0, name
            assert alarm["Period"] % PERIODS_THAT_CLOUDWATCH_TAKES == 0
            assert alarm["Period"] * alarm["EvaluationPeriods"] <= LONGEST_RANGE
            assert ("Statistic" in alarm) != ("ExtendedStatistic" in alarm)


def test_nothing_is_wrong_while_nothing_is_told_but_of_the_sweep(alarms):
    silent = {name for name, each in alarms.items() if each["TreatMissingData"] == "breaching"}
    assert silent == {"duetime-sweep-silent"}
    sweep = alarms["duetime-sweep-silent"]
    assert (sweep["ComparisonOperator"], sweep["Threshold"]) == ("LessThanThreshold", 1)
    for name in alarms.keys() - silent:
        assert alarms[name]["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"
        assert alarms[name]["TreatMissingData"] == "notBreaching"


def test_a_sweep_that_comes_seldom_is_awaited_for_two_of_its_turns(alarms, another):
    assert alarms["duetime-sweep-silent"]["Period"] == timedelta(minutes=5).total_seconds()
    assert alarms_of(another)["billing-sweep-silent"]["Period"] == timedelta(minutes=20).total_seconds()


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


def test_a_deployment_without_alarms_has_no_topic_either():
    template = made_with(alarms=False)
    assert not template.of_type("AWS::CloudWatch::Alarm")
    assert topic_of(template) is None
    assert template.of_type("AWS::CloudWatch::Dashboard")


def test_only_this_accounts_alarms_of_this_prefix_may_publish_and_nobody_without_tls(synthesised):
    denied, allowed = statements_of_the_topic(synthesised)
    assert (denied["Effect"], denied["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})
    assert allowed["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert allowed["Action"] == "sns:Publish"
    source = text(allowed["Condition"]["ArnLike"]["aws:SourceArn"])
    assert source.endswith(":<AWS::AccountId>:alarm:duetime-*")
    assert text(allowed["Condition"]["StringEquals"]["aws:SourceAccount"]) == "<AWS::AccountId>"


def test_one_address_gets_a_mail_of_each_alarm(synthesised):
    assert not synthesised.of_type("AWS::SNS::Subscription")
    mail = made_with(alarm_email="ops@example.com").one("AWS::SNS::Subscription")
    assert (mail["Protocol"], mail["Endpoint"]) == ("email", "ops@example.com")


def test_without_a_budget_there_is_none(synthesised):
    assert not synthesised.of_type("AWS::Budgets::Budget")


def test_a_budget_of_a_day_is_told_at_the_topic_even_without_alarms():
    template = made_with(alarms=False, budget=20)
    budget = template.one("AWS::Budgets::Budget")
    assert budget["Budget"] == {
        "BudgetName": "duetime-daily",
        "BudgetType": "COST",
        "TimeUnit": "DAILY",
        "BudgetLimit": {"Amount": 20, "Unit": "USD"},
    }
    [told] = budget["NotificationsWithSubscribers"]
    assert told["Notification"] == {
        "NotificationType": "ACTUAL",
        "ComparisonOperator": "GREATER_THAN",
        "Threshold": 100,
        "ThresholdType": "PERCENTAGE",
    }
    assert told["Subscribers"] == [{"SubscriptionType": "SNS", "Address": {"Ref": topic_of(template)}}]
    services = [each["Principal"] for each in statements_of_the_topic(template)]
    assert {"Service": "budgets.amazonaws.com"} in services


def test_a_budget_may_count_this_stack_alone_by_its_tag():
    budget = made_with(budget=20, budget_by_tag=True).one("AWS::Budgets::Budget")["Budget"]
    assert budget["CostFilters"] == {"TagKeyValue": ["aws:cloudformation:stack-name$test"]}


def test_a_stack_has_room_for_much_of_ones_own(another):
    assert len(another.resources) < MOST_RESOURCES - ROOM_FOR_ONES_OWN
