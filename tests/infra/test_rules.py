import json
from pathlib import Path

import aws_cdk as cdk
import cdk_nag
import pytest
from cfnlint.api import lint
from cfnlint.config import ManualArgs

from duetime.cdk import Deployment, Handlers
from duetime.settings import Settings
from tests.infra.synthesis import BILLING, ROOT, caller, stack

REPORTS = Handlers(app="tests.infra.apps.reports:app", worker="reports", source=ROOT)

NOT_OURS = {
    "W3005": "CDK's own Function names the role that it refers to among what it waits for as well",
}


@pytest.fixture(params=["eventbridge", "wheel"])
def synthesised_twice(request):
    return stack(
        settings=Settings(timers=request.param, console_url="https://console.example.com"),
        deployment=Deployment(
            sign_in_domain="acme-duetime", alarm_email="ops@example.com", budget=20, budget_by_tag=True
        ),
        handlers=[BILLING, REPORTS],
        is_validated=True,
    )


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


def test_cloudformations_own_rules_pass(synthesised_twice):
    made, scheduler = synthesised_twice
    for grant in (scheduler.grant_schedule, scheduler.grant_manage_jobs):
        grant(caller(made, grant.__name__), tenants=["acme"])
    scheduler.grant_call_api(caller(made, "Calling"))
    template = Path(cdk.App.of(made).synth().directory, "test.template.json").read_text()
    found = lint(template, config=ManualArgs(ignore_checks=list(NOT_OURS), regions=["eu-west-1"]))
    assert [str(finding) for finding in found] == []
