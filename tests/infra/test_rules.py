import json
from pathlib import Path

import aws_cdk as cdk
import cdk_nag
import pytest

from duetime.cdk import BatchJobTarget, Deployment, DurableFunctionTarget, Handlers, WebhookTarget
from duetime.settings import Settings
from tests.infra.synthesis import BILLING, ROOT, caller, stack

REPORTS = Handlers(app="tests.infra.apps.reports:app", worker="reports", source=ROOT)

SECRET = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:signing-AbCdEf"
NOT_OURS = {
    "W3005": "CDK's own Function names the role that it refers to among what it waits for as well",
}


@pytest.fixture(params=["eventbridge", "wheel"])
def synthesised_twice(request):
    made, scheduler = stack(
        settings=Settings(timers=request.param, console_url="https://console.example.com"),
        deployment=Deployment(sign_in="acme-duetime", alarm_email="ops@example.com", budget=20),
        handlers=[BILLING, REPORTS],
        is_validated=True,
    )
    if request.param == "wheel":
        definition = "arn:aws:batch:eu-west-1:123456789012:job-definition/import:1"
        night = "arn:aws:batch:eu-west-1:123456789012:job-queue/night"
        job = BatchJobTarget(
            job_definition=cdk.aws_batch.EcsJobDefinition.from_job_definition_arn(made, "Job", definition),
            job_queue=cdk.aws_batch.JobQueue.from_job_queue_arn(made, "Night", night),
        )
        secret = cdk.aws_secretsmanager.Secret.from_secret_complete_arn(made, "Secret", SECRET)
        orders = cdk.aws_sqs.Queue.from_queue_arn(made, "Orders", "arn:aws:sqs:eu-west-1:123456789012:orders")
        resize = cdk.aws_lambda.Function.from_function_name(made, "Resize", "resize")
        bus = cdk.aws_events.EventBus.from_event_bus_name(made, "Bus", "default")
        machine = cdk.aws_stepfunctions.StateMachine.from_state_machine_name(made, "Machine", "settle")
        hooks, durable = (
            WebhookTarget(host="hooks.acme.example", secret=secret),
            DurableFunctionTarget(function=resize),
        )
        for target in (orders, resize, bus, hooks, machine, durable, job):
            scheduler.grant_target(target)
    return made, scheduler


def validated(made):
    """The findings of AWS Solutions' rules, those that are accepted left out."""
    app = cdk.App.of(made)
    cdk.Validations.of(app).add_plugins(cdk_nag.AwsSolutionsChecks(app))
    app.synth()
    reports = json.loads(Path(app.outdir, "validation-report.json").read_text())["pluginReports"]
    return [violation["ruleName"] for report in reports for violation in report["violations"]]


def test_aws_solutions_rules_pass(synthesised_twice):
    made, _ = synthesised_twice
    assert validated(made) == []


def test_the_rules_are_evaluated():
    made, _ = stack(is_validated=True)
    cdk.aws_sqs.Queue(made, "Open")
    with pytest.raises(RuntimeError, match="AwsSolutions-SQS4"):
        validated(made)


@pytest.mark.long
def test_cloudformations_own_rules_pass(synthesised_twice):
    made, scheduler = synthesised_twice
    for grant in (scheduler.grant_schedule, scheduler.grant_manage_jobs):
        grant(caller(made, grant.__name__), tenants=["acme"])
    scheduler.grant_call_api(caller(made, "Calling"))
    template = Path(cdk.App.of(made).synth().directory, "test.template.json").read_text()
    from cfnlint.api import lint  # noqa: PLC0415 - its import takes a second, and one worker needs it
    from cfnlint.config import ManualArgs  # noqa: PLC0415 - as above

    found = lint(template, config=ManualArgs(ignore_checks=list(NOT_OURS), regions=["eu-west-1"]))
    assert [str(finding) for finding in found] == []
