"""The pages about deploying, held against the template and the settings."""

import json
import re
import subprocess
import sys
from functools import cache
from shutil import copytree, ignore_patterns

import pytest

from duetime.cdk import Duetime, WebhookTarget
from duetime.cdk.settings_doc import page
from tests.infra.synthesis import PAGE, PLAIN, ROOT, Synthesised, caller, listed, named, stack


def test_the_page_of_settings_equals_their_texts():
    assert (ROOT / "docs/settings.md").read_text() == page(), (
        "python -m duetime.cdk.settings_doc docs/settings.md"
    )


LOGS = {"logs:CreateLogStream", "logs:PutLogEvents"}


def documented():
    """Return (action, resource, keys) of each role on the page."""
    sections = re.split(r"^### (\S+)$", (ROOT / "docs/security.md").read_text(), flags=re.MULTILINE)[1:]
    listed_rights = {}
    for name, section in zip(sections[::2], sections[1::2], strict=True):
        rows = re.findall(r"^(\w+):([^|\n]+)\|([^|\n]+)(?:\|([^|\n]*))?", section, re.MULTILINE)
        listed_rights[name] = {
            (f"{service}:{action}", resource, key)
            for service, actions, resources, keys in rows
            for action in actions.split()
            for resource in resources.split()
            for key in keys.split() or [""]
        }
    return listed_rights


def given(synthesised, statements):
    return {
        (action, named(synthesised, resource), keys)
        for statement in statements
        for action in listed(statement["Action"])
        if action not in LOGS
        for resource in listed(statement["Resource"])
        for keys in statement.get("Condition", {})
        .get("ForAllValues:StringLike", {})
        .get("dynamodb:LeadingKeys", [""])
    }


CALLERS = {
    "caller": (Duetime.grant_schedule, ["acme"]),
    "operator": (Duetime.grant_manage_jobs, None),
    "tenants-operator": (Duetime.grant_manage_jobs, ["acme"]),
    "redriver": (lambda scheduler, function, **_all: scheduler.grant_redrive(function), None),
}


def granted(grant, tenants):
    made, scheduler = stack(deployment=PLAIN)
    grant(scheduler, caller(made), tenants=tenants)
    synthesised = Synthesised.from_stack(made)
    [policy] = synthesised.of_type("AWS::IAM::Policy")
    return given(synthesised, policy["PolicyDocument"]["Statement"])


def test_the_page_of_rights_equals_the_template(synthesised):
    template = {name: given(synthesised, synthesised.rights(name)) for name in synthesised.functions()}
    for role in synthesised.of_type("AWS::IAM::Role"):
        if "scheduler.amazonaws.com" in str(role["AssumeRolePolicyDocument"]):
            group = "passes" if role["Description"].endswith("-passes") else "wakes"
            template[group] = given(synthesised, synthesised.role_statements(role))
    template |= {name: granted(grant, tenants) for name, (grant, tenants) in CALLERS.items()}
    template["work-targets"] = given(with_a_target(), with_a_target().rights("work-targets"))
    assert documented() == template


@cache
def with_a_target():
    """Return a stack with a target whose grant adds no right: a webhook without a secret."""
    made, scheduler = stack()
    scheduler.grant_target(WebhookTarget(host="hooks.acme.example"))
    return Synthesised.from_stack(made)


def test_the_page_names_the_functions_that_may_wake_the_worker_of_targets(synthesised):
    made = with_a_target()
    senders = {
        name
        for name in made.functions()
        if ("sqs:SendMessage", "due-targets", "") in given(made, made.rights(name))
    }
    waking = {
        name
        for name in synthesised.functions()
        if ("sqs:SendMessage", "due-default", "") in given(synthesised, synthesised.rights(name))
    }
    assert senders - {"work-targets"} == waking


def test_the_policy_to_copy_equals_a_callers_grant():
    written = re.search(
        r"^```json\n(.*?)^```", (ROOT / "docs/security.md").read_text(), re.MULTILINE | re.DOTALL
    )
    statements = json.loads(written[1])["Statement"]
    copied = {
        (action, resource.partition("table/duetime-")[2].replace("/index", ""), keys)
        for statement in statements
        for action in listed(statement["Action"])
        for resource in listed(statement["Resource"])
        for keys in statement["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
    }
    assert copied == granted(*CALLERS["caller"])
    assert all(
        statement["Condition"]["Null"] == {"dynamodb:LeadingKeys": "false"} for statement in statements
    )


@pytest.fixture(scope="module")
def site_packages(tmp_path_factory):
    """Return a directory with the package as its wheel installs it, with a built page of the console."""
    installed = tmp_path_factory.mktemp("site-packages")
    not_code = ignore_patterns("built", "__pycache__")
    copytree(ROOT / "src/duetime", installed / "duetime", ignore=not_code)
    copytree(ROOT / "functions", installed / "duetime/functions", ignore=not_code)
    copytree(PAGE, installed / "duetime/console/built")
    return installed


@pytest.fixture
def user_project(tmp_path):
    """A project with handlers of its own, as the page has it."""
    (tmp_path / "src/billing").mkdir(parents=True)
    (tmp_path / "src/billing/handlers.py").write_text((ROOT / "examples/billing.py").read_text())
    (tmp_path / "src/checkout").mkdir()
    (tmp_path / "src/checkout/checkout.py").write_text("def handler(event, context): ...\n")
    return tmp_path


@pytest.mark.long
def test_the_app_of_the_page_on_deploying_synthesises_in_a_project_of_ones_own(
    user_project, site_packages, monkeypatch
):
    template = synthesised("own-app", user_project, site_packages, monkeypatch, stack="Billing")

    assert '"billing-work-default"' in template


def synthesised(mark, project, site_packages, monkeypatch, *, stack):
    """The template of the app that the page has behind a mark."""
    marked = (ROOT / "docs/deploy.md").read_text().partition(f"<!-- {mark} -->\n```py\n")[2]
    (project / "app.py").write_text(marked.partition("```")[0])
    monkeypatch.setenv("CDK_OUTDIR", "out")
    monkeypatch.setenv("CDK_VALIDATION", "false")  # which only warns, and costs ten seconds
    monkeypatch.setenv("PYTHONPATH", str(site_packages))
    done = subprocess.run(
        [sys.executable, "app.py"], cwd=project, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    return (project / "out" / f"{stack}.template.json").read_text()


def test_the_recipes_for_a_stack_change_its_functions_and_add_a_dashboard_and_a_budget():
    page_text = (ROOT / "docs/recipes/aws.md").read_text().partition("## More in your stack")[2]
    recipes = {}
    exec(re.search(r"```py\n(.+?)```", page_text, re.DOTALL)[1], recipes)  # noqa: S102 - our own page
    made, scheduler = stack()
    recipes["call_fips_endpoints"](scheduler)
    recipes["sign_code"](scheduler, "arn:aws:lambda:eu-west-1:123456789012:code-signing-config:csc-1")
    recipes["show_metrics"](scheduler)
    recipes["limit_costs"](scheduler, 20)
    changed = Synthesised.from_stack(made)
    for function in changed.functions().values():
        assert function["Environment"]["Variables"]["AWS_USE_FIPS_ENDPOINT"] == "true"
        assert function["CodeSigningConfigArn"].endswith("csc-1")
    assert '"deployment","duetime"' in str(changed.one("AWS::CloudWatch::Dashboard")["DashboardBody"])
    budget = changed.one("AWS::Budgets::Budget")["Budget"]
    assert budget["CostFilters"] == {"TagKeyValue": ["aws:cloudformation:stack-name$test"]}
