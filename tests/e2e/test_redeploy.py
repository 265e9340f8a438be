"""What remains of a failed first deploy and of a destroyed deployment, and the deploy that takes it back."""

import json
from datetime import timedelta

import boto3
import pytest

from duetime import Scheduler, Status
from duetime.cli import main
from tests.e2e.conftest import Bench
from tests.e2e.deployment import Deployment
from tests.e2e.handlers.errands import RunErrand

pytestmark = [pytest.mark.e2e, pytest.mark.drill]

PREFIX = "again-"
KEPT = {"prefix": PREFIX, "keep_data": "true"}
DEPLOY = ("deploy", "--require-approval", "never")
ADOPT = (*DEPLOY, "--import-existing-resources")
RUNS_WITHIN = 240
"""Seconds: only the sweep of each minute finds a row whose timer is gone."""


class Operator:
    """Deploys, destroys and deploys again."""

    def __init__(self, directory):
        self.directory = directory
        self.deployment = Deployment(directory)

    def run(self, *words, **settings):
        if words[0] == "deploy":
            words = (*words, "--outputs-file", str(self.directory / "outputs.json"))
        return self.deployment.attempt(*words, **KEPT, **settings)

    def succeed(self, *words, **settings):
        status, output = self.run(*words, **settings)
        assert status == 0, output[-6_000:]

    def preflight(self, capsys):
        """What `duetime deployment preflight` finds for the last synthesis: check to findings."""
        capsys.readouterr()
        main(["deployment", "preflight", "--assembly", str(self.directory / "cdk.out"), "--json"])
        found = {}
        for finding in json.loads(capsys.readouterr().out)["findings"]:
            found.setdefault(finding["about"], []).append(finding)
        return found

    @property
    def outputs(self):
        return json.loads((self.directory / "outputs.json").read_text())[f"{PREFIX}scheduler"]


@pytest.fixture
def operator(directory, tmp_path):
    operator = Operator(tmp_path)
    operator.deployment.bootstrap()
    yield operator
    operator.run("destroy", "--force")
    for table in tables():
        boto3.client("dynamodb").update_table(TableName=table, DeletionProtectionEnabled=False)
        boto3.client("dynamodb").delete_table(TableName=table)
    for pool in pools():
        boto3.client("cognito-idp").delete_user_pool(UserPoolId=pool)


@pytest.fixture
def schedule_with(monkeypatch):
    def schedule(outputs, at):
        monkeypatch.setenv("DUETIME_ACTIONS_TABLE", outputs["ActionsTable"])
        monkeypatch.setenv("DUETIME_JOBS_TABLE", outputs["JobsTable"])
        scheduler = Scheduler.from_env(tenant_id="acme", actor="e2e")
        return scheduler, scheduler.schedule(RunErrand(what="kept"), at=at)

    return schedule


def tables():
    return [name for name in boto3.client("dynamodb").list_tables()["TableNames"] if name.startswith(PREFIX)]


def pools():
    listed = boto3.client("cognito-idp").list_user_pools(MaxResults=10)["UserPools"]
    return [pool["Id"] for pool in listed if pool["Name"].startswith(PREFIX)]


def final(scheduler, action):
    found = scheduler.get(action.id)
    return found if found.status.is_final else None


def test_a_first_deploy_that_fails_after_its_tables_exist_is_repeated(operator, schedule_with, capsys):
    operator.succeed("synth", "--quiet")
    before = operator.preflight(capsys)
    assert [before[about][0]["state"] for about in ("permissions", "names", "log role")] == ["ok"] * 3

    status, output = operator.run(*DEPLOY, event_bus="shop")
    assert status == 1
    assert "needs the event bus shop, which does not exist" in " ".join(output.split())
    assert sorted(tables()) == [f"{PREFIX}actions", f"{PREFIX}jobs"]

    status, output = operator.run(*DEPLOY)
    assert status == 1
    assert f"'{PREFIX}actions' already exists" in output or f"'{PREFIX}jobs' already exists" in output

    [names] = operator.preflight(capsys)["names"]
    assert names["remedy"] == "npx cdk deploy --import-existing-resources"
    operator.succeed(*ADOPT)
    scheduler, action = schedule_with(operator.outputs, timedelta(seconds=5))
    ran = Bench.eventually(lambda: final(scheduler, action), within=RUNS_WITHIN)
    assert ran.status is Status.EXECUTED


def test_a_deploy_after_a_destroy_finds_its_rows_and_its_users(operator, schedule_with, capsys):
    operator.succeed(*DEPLOY)
    outputs = operator.outputs
    cognito, pool = boto3.client("cognito-idp"), outputs["UserPool"]
    cognito.admin_create_user(UserPoolId=pool, Username="ada@acme.example")
    cognito.admin_add_user_to_group(UserPoolId=pool, Username="ada@acme.example", GroupName="admins")
    scheduler, action = schedule_with(outputs, timedelta(seconds=200))

    operator.succeed("destroy", "--force")
    assert sorted(tables()) == [f"{PREFIX}actions", f"{PREFIX}jobs"]
    assert pools() == [pool]

    [users] = operator.preflight(capsys)["user pool"]
    assert users["remedy"] == (
        "npx cdk deploy --import-existing-resources"
        f" -c duetime:user_pool_id={pool} -c duetime:sign_in={outputs['SignIn']}"
    )
    operator.succeed(*ADOPT, user_pool_id=pool, sign_in=outputs["SignIn"])
    assert operator.outputs["UserPool"] == pool
    assert operator.outputs["SignIn"] == outputs["SignIn"]
    groups = cognito.admin_list_groups_for_user(UserPoolId=pool, Username="ada@acme.example")["Groups"]
    assert [group["GroupName"] for group in groups] == ["admins"]
    domain = outputs["SignIn"].removeprefix("https://").partition(".")[0]
    described = cognito.describe_user_pool_domain(Domain=domain)["DomainDescription"]
    assert described["UserPoolId"] == pool
    assert pools() == [pool]

    ran = Bench.eventually(lambda: final(scheduler, action), within=RUNS_WITHIN)
    assert ran.status is Status.EXECUTED
    assert [attempt.started_at >= ran.due_at for attempt in ran.attempts] == [True]
