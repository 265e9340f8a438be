"""The functions: one for each step, its event sources, and its settings."""

import json
from datetime import timedelta

import pytest

from duetime.cdk import Deployment, Handlers
from duetime.cli.preflight import KEPT_FREE, NEW_ACCOUNT, SynthesisedStack
from duetime.settings import Settings
from tests.infra.synthesis import BILLING, ROOT, Synthesised, made_with, stack, synth, text

ALL = (
    "deploy", "dispatch", "arm", "sweep", "catch-up", "undelivered", "publish", "notify", "work-default",
    "api", "console",
)  # fmt: skip


def test_there_is_one_function_for_each_step_and_each_has_a_role_of_its_own(synthesised):
    functions = synthesised.functions()
    assert sorted(functions) == sorted(ALL)
    assert len({text(function["Role"]) for function in functions.values()}) == len(ALL)


@pytest.mark.parametrize("name", ALL)
def test_a_function_runs_on_arm64_and_its_log_is_retained_for_a_month(synthesised, name):
    function = synthesised.functions()[name]
    assert function["Architectures"] == ["arm64"]
    assert function["Runtime"] == "python3.13"
    assert function["LoggingConfig"]["LogFormat"] == "JSON"
    assert function["LoggingConfig"]["SystemLogLevel"] == "WARN"
    log = synthesised.resources[function["LoggingConfig"]["LogGroup"]["Ref"]]["Properties"]
    assert log["LogGroupName"] == f"/aws/lambda/duetime-{name}"
    assert log["RetentionInDays"] == 30


def test_machines_python_memory_and_logs_are_settings():
    chosen = synth(
        deployment=Deployment(architecture="x86_64", python="3.12", worker_memory=1024, log_days=7)
    )
    work = chosen.functions()["work-default"]
    assert (work["Architectures"], work["Runtime"], work["MemorySize"]) == (["x86_64"], "python3.12", 1024)
    assert {group["RetentionInDays"] for group in chosen.of_type("AWS::Logs::LogGroup")} == {7}


def test_the_functions_read_the_settings_that_the_deployment_was_given():
    settings = Settings(prefix="x-", lease=timedelta(minutes=2), enabled=False, due_shards=32, start="second")
    chosen = synth(settings=settings, deployment=Deployment(worker_memory=200))
    for name in {function["FunctionName"] for function in chosen.of_type("AWS::Lambda::Function")} - {
        "x-console"
    }:
        variables = chosen.one("AWS::Lambda::Function", FunctionName=name)["Environment"]["Variables"]
        assert variables["DUETIME_PREFIX"] == "x-"
        assert variables["DUETIME_LEASE"] == "120"
        assert variables["DUETIME_ENABLED"] == "false"
        assert variables["DUETIME_DUE_SHARDS"] == "32"
        assert variables["DUETIME_START"] == "second"
        sleeps = dict.fromkeys(("x-sweep", "x-catch-up"), "6") | {"x-arm": "3", "x-dispatch": "1"}
        assert variables.get("DUETIME_SLEEPS_FROM", "1") == sleeps.get(name, "1")


@pytest.mark.parametrize(
    ("function_memory", "sleeps"), [(128, {"sweep": 2, "arm": 2}), (10_240, {"sweep": 160, "arm": 80})]
)
def test_a_sleep_is_weighed_by_the_memory_that_the_function_has(function_memory, sleeps):
    chosen = synth(deployment=Deployment(function_memory=function_memory, worker_memory=128))
    assert {name: int(chosen.environment(name)["DUETIME_SLEEPS_FROM"]) for name in sleeps} == sleeps


@pytest.mark.parametrize("name", ["dispatch", "arm", "sweep", "catch-up", "undelivered"])
def test_each_step_knows_every_workers_queue(name):
    other = Handlers(app="tests.infra.apps.reports:app", worker="reports", source=ROOT, concurrency=2)
    queues = text(synth(handlers=[BILLING, other]).environment(name)["DUETIME_QUEUES"])
    assert json.loads(queues).keys() == {"default", "reports", "system"}


@pytest.mark.parametrize("name", ["arm", "sweep", "catch-up", "deploy", "undelivered"])
def test_functions_that_set_wakes_have_their_target_and_role(synthesised, name):
    variables = synthesised.environment(name)
    assert text(variables["DUETIME_DISPATCH_ARN"]).endswith(":function:duetime-dispatch")
    assert text(variables["DUETIME_TIMER_DLQ_ARN"]).endswith(":duetime-failures")
    role = synthesised.resources[variables["DUETIME_TIMER_ROLE_ARN"]["Fn::GetAtt"][0]]["Properties"]
    assert role["AssumeRolePolicyDocument"]["Statement"][0]["Principal"] == {
        "Service": "scheduler.amazonaws.com"
    }


def test_another_worker_has_a_queue_a_role_and_a_concurrency_of_its_own():
    other = Handlers(app="tests.infra.apps.reports:app", worker="reports", source=ROOT, concurrency=2)
    made, scheduler = stack(handlers=[BILLING, other])
    two = Synthesised.from_stack(made)
    bounds = {
        two.function_names[source["FunctionName"]["Ref"]]: source["ScalingConfig"]["MaximumConcurrency"]
        for source in two.of_type("AWS::Lambda::EventSourceMapping")
        if "ScalingConfig" in source
    }
    assert bounds == {"duetime-work-default": 10, "duetime-work-reports": 2}
    assert two.one("AWS::SQS::Queue", QueueName="duetime-due-reports")
    assert two.environment("work-reports")["DUETIME_APP"] == "tests.infra.apps.reports:app"
    assert two.functions()["work-reports"]["Role"] != two.functions()["work-default"]["Role"]
    assert scheduler.worker("reports").role is not scheduler.worker("default").role


def test_functions_fed_by_a_queue_get_single_messages_and_report_each(synthesised):
    sources = [
        source
        for source in synthesised.of_type("AWS::Lambda::EventSourceMapping")
        if "BatchSize" in source and "StartingPosition" not in source
    ]
    assert len(sources) == 4
    for source in sources:
        assert source["BatchSize"] == 1
        assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_workers_alone_get_as_many_messages_in_a_call_as_the_setting_allows_and_none_waits_for_another():
    synthesised = synth(settings=Settings(worker_batch=10))
    batches = {
        synthesised.function_names[source["FunctionName"]["Ref"]]: source
        for source in synthesised.of_type("AWS::Lambda::EventSourceMapping")
        if "StartingPosition" not in source
    }
    assert batches["duetime-work-default"]["BatchSize"] == 10
    assert {source["BatchSize"] for name, source in batches.items() if "work" not in name} == {1}
    assert not any("MaximumBatchingWindowInSeconds" in source for source in batches.values())
    assert synthesised.environment("work-default")["DUETIME_WORKER_BATCH"] == "10"


def test_provisioned_pollers_replace_the_bound_of_a_workers_calls_and_of_no_other_function():
    synthesised = synth(deployment=Deployment(worker_pollers=200))
    sources = synthesised.of_type("AWS::Lambda::EventSourceMapping")
    [worker] = [source for source in sources if "ProvisionedPollerConfig" in source]
    assert synthesised.function_names[worker["FunctionName"]["Ref"]] == "duetime-work-default"
    assert worker["ProvisionedPollerConfig"] == {"MinimumPollers": 200, "MaximumPollers": 200}
    assert "ScalingConfig" not in worker


def test_dispatch_and_arm_have_a_part_of_the_memory_and_never_less_than_lambda_allows():
    for memory, *parts in ((1_024, 256, 512), (256, 128, 128), (128, 128, 128)):
        functions = synth(deployment=Deployment(function_memory=memory)).functions()
        assert [functions[name]["MemorySize"] for name in ("dispatch", "arm", "sweep")] == [*parts, memory]


def test_the_failure_queue_alone_feeds_the_undelivered_handler(synthesised):
    [queue] = [
        synthesised.resources[source["EventSourceArn"]["Fn::GetAtt"][0]]["Properties"]
        for source in synthesised.of_type("AWS::Lambda::EventSourceMapping")
        if synthesised.function_names[source["FunctionName"]["Ref"]] == "duetime-undelivered"
    ]
    assert queue["QueueName"] == "duetime-failures"
    assert queue["VisibilityTimeout"] > synthesised.functions()["undelivered"]["Timeout"]
    assert "RedrivePolicy" not in queue
    assert "DUETIME_FAILURE_QUEUE" in synthesised.environment("undelivered")


def test_the_catch_up_serves_the_queue_of_triggered_passes(synthesised):
    [queue] = [
        synthesised.resources[source["EventSourceArn"]["Fn::GetAtt"][0]]["Properties"]
        for source in synthesised.of_type("AWS::Lambda::EventSourceMapping")
        if synthesised.function_names[source["FunctionName"]["Ref"]] == "duetime-catch-up"
    ]
    assert queue["QueueName"] == "duetime-due-system"
    assert queue["VisibilityTimeout"] > synthesised.functions()["catch-up"]["Timeout"]
    visibility = synthesised.environment("catch-up")["DUETIME_QUEUE_VISIBILITY"]
    assert visibility == str(queue["VisibilityTimeout"])


@pytest.mark.parametrize("name", ["work-default", "catch-up"])
def test_a_worker_may_put_off_a_message_more_often_than_lambda_takes_for_a_loop(synthesised, name):
    assert synthesised.functions()[name]["RecursiveLoop"] == "Allow"


def test_a_deploy_is_abandoned_only_after_the_time_of_its_function(synthesised):
    timeout = synthesised.functions()["deploy"]["Timeout"]
    for kind in ("Custom::DuetimeFormat", "Custom::DuetimeManifest"):
        for call in synthesised.of_type(kind):
            assert int(call["ServiceTimeout"]) > timeout


def test_asynchronous_calls_have_limited_retries_and_then_go_to_the_failures(synthesised):
    bounded = synthesised.of_type("AWS::Lambda::EventInvokeConfig")
    names = {synthesised.function_names[config["FunctionName"]["Ref"]] for config in bounded}
    assert names == {"duetime-dispatch", "duetime-sweep", "duetime-catch-up"}
    for config in bounded:
        assert config["MaximumRetryAttempts"] <= 2
        assert config["MaximumEventAgeInSeconds"] <= 3_600
        assert "Destination" in config["DestinationConfig"]["OnFailure"]


def test_the_sweep_comes_each_minute_and_the_catch_up_every_six_hours(synthesised):
    passes = {schedule["Name"]: schedule for schedule in synthesised.of_type("AWS::Scheduler::Schedule")}
    assert passes["sweep"]["ScheduleExpression"] == "rate(1 minute)"
    assert passes["catch-up"]["ScheduleExpression"] == "rate(6 hours)"
    for name, schedule in passes.items():
        woken = synthesised.resources[schedule["Target"]["Arn"]["Fn::GetAtt"][0]]["Properties"]
        assert woken["FunctionName"] == f"duetime-{name}"
        assert schedule["GroupName"] == "duetime-passes"
        assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
        assert "DeadLetterConfig" in schedule["Target"]


def test_the_rates_of_the_passes_are_settings():
    expressions = {
        schedule["ScheduleExpression"]
        for schedule in synth(
            settings=Settings(sweep_rate=timedelta(minutes=2), catch_up_rate=timedelta(days=1))
        ).of_type("AWS::Scheduler::Schedule")
    }
    assert expressions == {"rate(2 minutes)", "rate(1 day)"}


def test_a_sweep_has_ended_before_the_next_one(synthesised):
    assert synthesised.functions()["sweep"]["Timeout"] < 60


def test_the_settings_for_a_new_account_fit_its_ten_executions_at_once():
    fitting = Handlers(app="examples.billing:app", source=ROOT, concurrency=2)
    made = made_with(Settings(events="off"), [fitting])
    assert SynthesisedStack("fitting", {}, made.resources).concurrency + KEPT_FREE <= NEW_ACCOUNT
    default = SynthesisedStack("default", {}, made_with().resources)
    assert default.concurrency + KEPT_FREE > NEW_ACCOUNT
