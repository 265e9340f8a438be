import json
from datetime import timedelta

import pytest

from duetime.cdk import Deployment, Handlers
from duetime.errors import SettingsError
from duetime.lambdas.arm import FILTERS
from duetime.lambdas.publish import action_filters, job_filters
from duetime.settings import Settings
from tests.infra.synthesis import BILLING, ROOT, Synthesised, stack, text

ALL = (
    "deploy", "dispatch", "arm", "sweep", "catch-up", "salvage", "publish", "notify", "work-default", "api",
    "console",
)  # fmt: skip

MOST_FILTERS = 5
"""Of an event source, unless AWS is asked for more."""


def test_there_is_one_function_for_each_step_and_each_has_a_role_of_its_own(synthesised):
    functions = synthesised.functions()
    assert sorted(functions) == sorted(ALL)
    assert len({text(each["Role"]) for each in functions.values()}) == len(ALL)


@pytest.mark.parametrize("name", ALL)
def test_a_function_runs_on_arm64_and_its_log_is_kept_for_a_month(synthesised, name):
    function = synthesised.functions()[name]
    assert function["Architectures"] == ["arm64"]
    assert function["Runtime"] == "python3.13"
    log = synthesised.resources[function["LoggingConfig"]["LogGroup"]["Ref"]]["Properties"]
    assert log["LogGroupName"] == f"/aws/lambda/duetime-{name}"
    assert log["RetentionInDays"] == 30


def test_machines_python_memory_and_logs_are_settings():
    made, _ = stack(
        deployment=Deployment(architecture="x86_64", python="3.12", worker_memory=1024, log_days=7)
    )
    chosen = Synthesised.of(made)
    work = chosen.functions()["work-default"]
    assert (work["Architectures"], work["Runtime"], work["MemorySize"]) == (["x86_64"], "python3.12", 1024)
    assert {each["RetentionInDays"] for each in chosen.of_type("AWS::Logs::LogGroup")} == {7}


def test_the_functions_read_the_settings_that_the_deployment_was_given():
    settings = Settings(prefix="x-", lease=timedelta(minutes=2), enabled=False, due_shards=32)
    made, _ = stack(settings=settings)
    chosen = Synthesised.of(made)
    for name in {each["FunctionName"] for each in chosen.of_type("AWS::Lambda::Function")} - {"x-console"}:
        told = chosen.one("AWS::Lambda::Function", FunctionName=name)["Environment"]["Variables"]
        assert told["DUETIME_PREFIX"] == "x-"
        assert told["DUETIME_LEASE"] == "120"
        assert told["DUETIME_ENABLED"] == "false"
        assert told["DUETIME_DUE_SHARDS"] == "32"


@pytest.mark.parametrize("name", ["dispatch", "arm", "sweep", "catch-up", "salvage"])
def test_each_step_knows_every_workers_queue(name):
    other = Handlers(app="tests.infra.apps.reports:app", worker="reports", source=ROOT, concurrency=2)
    made, _ = stack(handlers=[BILLING, other])
    told = text(Synthesised.of(made).environment(name)["DUETIME_QUEUES"])
    assert json.loads(told).keys() == {"default", "reports", "system"}


@pytest.mark.parametrize("name", ["arm", "sweep", "catch-up", "deploy", "salvage"])
def test_whoever_sets_wakes_knows_what_they_call_and_how(synthesised, name):
    told = synthesised.environment(name)
    assert text(told["DUETIME_DISPATCH_ARN"]).endswith(":function:duetime-dispatch")
    assert text(told["DUETIME_TIMER_DLQ_ARN"]).endswith(":duetime-failures")
    role = synthesised.resources[told["DUETIME_TIMER_ROLE_ARN"]["Fn::GetAtt"][0]]["Properties"]
    assert role["AssumeRolePolicyDocument"]["Statement"][0]["Principal"] == {
        "Service": "scheduler.amazonaws.com"
    }


def test_another_worker_has_a_queue_a_role_and_a_concurrency_of_its_own():
    other = Handlers(app="tests.infra.apps.reports:app", worker="reports", source=ROOT, concurrency=2)
    made, scheduler = stack(handlers=[BILLING, other])
    two = Synthesised.of(made)
    bounds = {
        two.function_names[each["FunctionName"]["Ref"]]: each["ScalingConfig"]["MaximumConcurrency"]
        for each in two.of_type("AWS::Lambda::EventSourceMapping")
        if "ScalingConfig" in each
    }
    assert bounds == {
        "duetime-work-default": 10, "duetime-work-reports": 2, "duetime-catch-up": 2, "duetime-salvage": 2,
        "duetime-notify": 2,
    }  # fmt: skip
    assert two.one("AWS::SQS::Queue", QueueName="duetime-due-reports")
    assert two.environment("work-reports")["DUETIME_APP"] == "tests.infra.apps.reports:app"
    assert two.functions()["work-reports"]["Role"] != two.functions()["work-default"]["Role"]
    assert scheduler.worker("reports").role is not scheduler.worker("default").role


def test_whoever_is_fed_by_a_queue_takes_one_message_at_a_time_and_answers_for_each(synthesised):
    sources = [
        each for each in synthesised.of_type("AWS::Lambda::EventSourceMapping") if "ScalingConfig" in each
    ]
    assert len(sources) == 7
    for source in sources:
        assert source["BatchSize"] == 1
        assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_salvage_is_fed_by_every_queue_in_which_something_was_given_up(synthesised):
    fed = [
        synthesised.resources[each["EventSourceArn"]["Fn::GetAtt"][0]]["Properties"]
        for each in synthesised.of_type("AWS::Lambda::EventSourceMapping")
        if synthesised.function_names[each["FunctionName"]["Ref"]] == "duetime-salvage"
    ]
    given_up = {
        "duetime-failures",
        "duetime-due-default-dead",
        "duetime-due-system-dead",
        "duetime-notifications-dead",
    }
    assert {each["QueueName"] for each in fed} == given_up
    assert len(fed) == len(given_up)
    timeout = synthesised.functions()["salvage"]["Timeout"]
    assert all(each["VisibilityTimeout"] > timeout for each in fed)
    assert not any("RedrivePolicy" in each for each in fed)
    assert "DUETIME_FAILURE_QUEUE" in synthesised.environment("salvage")


def test_the_catch_up_serves_the_queue_of_triggered_passes(synthesised):
    [queue] = [
        synthesised.resources[each["EventSourceArn"]["Fn::GetAtt"][0]]["Properties"]
        for each in synthesised.of_type("AWS::Lambda::EventSourceMapping")
        if synthesised.function_names[each["FunctionName"]["Ref"]] == "duetime-catch-up"
    ]
    assert queue["QueueName"] == "duetime-due-system"
    assert queue["VisibilityTimeout"] > synthesised.functions()["catch-up"]["Timeout"]
    told = synthesised.environment("catch-up")["DUETIME_QUEUE_VISIBILITY"]
    assert told == str(queue["VisibilityTimeout"])


@pytest.mark.parametrize("name", ["work-default", "catch-up"])
def test_a_worker_may_put_off_a_message_more_often_than_lambda_takes_for_a_loop(synthesised, name):
    assert synthesised.functions()[name]["RecursiveLoop"] == "Allow"


def test_a_deploy_is_given_up_only_when_its_function_cannot_answer_any_more(synthesised):
    timeout = synthesised.functions()["deploy"]["Timeout"]
    for kind in ("Custom::DuetimeFormat", "Custom::DuetimeManifest"):
        for each in synthesised.of_type(kind):
            assert int(each["ServiceTimeout"]) > timeout


def let_send(synthesised):
    """Who may send to a queue besides roles: the statement of each queue's own policy."""
    return {
        synthesised.resources[queue["Ref"]]["Properties"]["QueueName"]: statement
        for policy in synthesised.of_type("AWS::SQS::QueuePolicy")
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow"
        for queue in policy["Queues"]
    }


def test_only_the_bus_sends_to_failures_and_notifications_by_their_policies(synthesised):
    assert let_send(synthesised).keys() == {"duetime-failures", "duetime-notifications"}
    statement = let_send(synthesised)["duetime-notifications"]
    assert statement["Principal"] == {"Service": "events.amazonaws.com"}
    rule = synthesised.resources[statement["Condition"]["ArnEquals"]["aws:SourceArn"]["Fn::GetAtt"][0]]
    assert rule["Type"] == "AWS::Events::Rule"


def test_people_are_told_of_this_deployments_failures_alone(synthesised):
    rule = synthesised.one("AWS::Events::Rule")
    assert rule["EventPattern"].pop("account") == [{"Ref": "AWS::AccountId"}]
    assert rule["EventPattern"] == {
        "source": ["duetime"],
        "detail-type": ["action.failed", "run.failed", "job.failing", "job.succeeding", "undelivered.kept"],
        "detail": {"deployment": ["duetime-"]},
    }
    [target] = rule["Targets"]
    queue = synthesised.resources[target["Arn"]["Fn::GetAtt"][0]]["Properties"]
    assert queue["QueueName"] == "duetime-notifications"


def test_rules_of_jobs_may_call_dispatch_and_leave_what_fails_in_the_failure_queue(synthesised):
    permission = synthesised.one("AWS::Lambda::Permission", Principal="events.amazonaws.com")
    called = permission["FunctionName"]["Fn::GetAtt"][0]
    assert synthesised.function_names[called] == "duetime-dispatch"
    assert text(permission["SourceArn"]).endswith(":rule/duetime-*")
    statement = let_send(synthesised)["duetime-failures"]
    assert statement["Principal"] == {"Service": "events.amazonaws.com"}
    assert statement["Action"] == "sqs:SendMessage"
    assert statement["Condition"] == {"ArnLike": {"aws:SourceArn": permission["SourceArn"]}}


def test_rules_of_another_bus_are_named_with_it():
    made, _ = stack(settings=Settings(event_bus="orders"))
    there = Synthesised.of(made)
    assert text(there.one("AWS::Lambda::Permission", Principal="events.amazonaws.com")["SourceArn"]).endswith(
        ":rule/orders/duetime-*"
    )
    put = [each for each in there.rights("deploy") if "events:PutRule" in each["Action"]]
    assert [text(each["Resource"]).rpartition(":")[2] for each in put] == ["rule/orders/duetime-*"]


def readers(synthesised, name):
    """The event sources between a stream and a function."""
    return [
        each
        for each in synthesised.of_type("AWS::Lambda::EventSourceMapping")
        if "FilterCriteria" in each
        and synthesised.function_names[each["FunctionName"]["Ref"]] == f"duetime-{name}"
    ]


@pytest.mark.parametrize(("events", "audits"), [("standard", False), ("all", True)])
def test_publish_reads_both_tables_for_six_hours_and_then_leaves_a_batch_to_salvage(events, audits):
    settings = Settings(events=events, audit_events=audits)
    made, _ = stack(settings=settings)
    synthesised = Synthesised.of(made)
    sources = readers(synthesised, "publish")
    filters = [[json.loads(each["Pattern"]) for each in one["FilterCriteria"]["Filters"]] for one in sources]
    assert sorted(filters, key=str) == sorted(
        [list(action_filters(settings)), list(job_filters(settings))], key=str
    )
    for source in sources:
        assert len(source["FilterCriteria"]["Filters"]) <= MOST_FILTERS
        assert source["MaximumRecordAgeInSeconds"] == 6 * 3_600
        assert source.get("MaximumRetryAttempts", -1) == -1
        assert source["BisectBatchOnFunctionError"]
        assert "Destination" in source["DestinationConfig"]["OnFailure"]


def test_with_events_off_nothing_is_published_and_nobody_told():
    made, scheduler = stack(settings=Settings(events="off"))
    assert not {"publish", "notify"} & Synthesised.of(made).functions().keys()
    assert scheduler.notifications is None


def test_a_bus_of_its_own_is_made_where_that_is_chosen():
    made, _ = stack(settings=Settings(event_bus="orders"), deployment=Deployment(own_bus=True))
    assert Synthesised.of(made).one("AWS::Events::EventBus")["Name"] == "orders"
    with pytest.raises(SettingsError, match="own_bus"):
        stack(deployment=Deployment(own_bus=True))


def test_mails_are_sent_from_one_address_and_by_this_deployments_templates_alone():
    made, _ = stack(settings=Settings(mail_from="duetime@example.com"))
    synthesised = Synthesised.of(made)
    [mails] = [each for each in synthesised.rights("notify") if "ses:SendTemplatedEmail" in each["Action"]]
    assert [text(each).rpartition(":")[2] for each in mails["Resource"]] == [
        "identity/*",
        "template/duetime-*",
    ]
    assert mails["Condition"] == {"StringEquals": {"ses:FromAddress": "duetime@example.com"}}
    assert len(synthesised.of_type("AWS::SES::Template")) == 20


def test_the_api_knows_the_topic_that_is_made(synthesised):
    told = [text(synthesised.environment(name)["DUETIME_TOPIC_ARN"]) for name in ("api", "notify")]
    assert told[0] == told[1]


def test_a_mail_service_that_is_away_for_hours_needs_no_redrive(synthesised):
    queue = synthesised.one("AWS::SQS::Queue", QueueName="duetime-notifications")
    tries = queue["RedrivePolicy"]["maxReceiveCount"]
    assert queue["VisibilityTimeout"] * tries >= 23 * 3_600
    assert queue["VisibilityTimeout"] > synthesised.functions()["notify"]["Timeout"]


def test_a_topic_of_somebody_elses_is_not_made():
    arn = "arn:aws:sns:eu-west-1:123456789012:ops"
    made, _ = stack(settings=Settings(topic_arn=arn))
    synthesised = Synthesised.of(made)
    assert [each["TopicName"] for each in synthesised.of_type("AWS::SNS::Topic")] == ["duetime-alarms"]
    [publish] = [each for each in synthesised.rights("notify") if "sns:Publish" in each["Action"]]
    assert publish["Resource"] == arn


def test_arm_gets_only_the_changes_it_needs_and_a_bad_batch_does_not_stop_it(synthesised):
    [source] = readers(synthesised, "arm")
    assert [json.loads(each["Pattern"]) for each in source["FilterCriteria"]["Filters"]] == list(FILTERS)
    assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert source["BisectBatchOnFunctionError"]
    assert 0 < source["MaximumRetryAttempts"] <= 10
    assert 0 < source["MaximumRecordAgeInSeconds"] <= 3_600
    failures = synthesised.resources[source["DestinationConfig"]["OnFailure"]["Destination"]["Fn::GetAtt"][0]]
    assert failures["Properties"]["QueueName"] == "duetime-failures"


def test_what_is_called_asynchronously_is_retried_within_bounds_and_then_told_of(synthesised):
    bounded = synthesised.of_type("AWS::Lambda::EventInvokeConfig")
    names = {synthesised.function_names[each["FunctionName"]["Ref"]] for each in bounded}
    assert names == {"duetime-dispatch", "duetime-sweep", "duetime-catch-up"}
    for each in bounded:
        assert each["MaximumRetryAttempts"] <= 2
        assert each["MaximumEventAgeInSeconds"] <= 3_600
        assert "Destination" in each["DestinationConfig"]["OnFailure"]


def test_the_sweep_comes_each_minute_and_the_catch_up_every_six_hours(synthesised):
    passes = {each["Name"]: each for each in synthesised.of_type("AWS::Scheduler::Schedule")}
    assert passes["sweep"]["ScheduleExpression"] == "rate(1 minute)"
    assert passes["catch-up"]["ScheduleExpression"] == "rate(6 hours)"
    for name, each in passes.items():
        woken = synthesised.resources[each["Target"]["Arn"]["Fn::GetAtt"][0]]["Properties"]
        assert woken["FunctionName"] == f"duetime-{name}"
        assert each["GroupName"] == "duetime-passes"
        assert each["FlexibleTimeWindow"] == {"Mode": "OFF"}
        assert "DeadLetterConfig" in each["Target"]


def test_the_rates_of_the_passes_are_settings():
    made, _ = stack(deployment=Deployment(sweep_rate=timedelta(minutes=2), catch_up_rate=timedelta(days=1)))
    expressions = {
        each["ScheduleExpression"] for each in Synthesised.of(made).of_type("AWS::Scheduler::Schedule")
    }
    assert expressions == {"rate(2 minutes)", "rate(1 day)"}


def test_a_sweep_has_ended_before_the_next_one(synthesised):
    assert synthesised.functions()["sweep"]["Timeout"] < 60
