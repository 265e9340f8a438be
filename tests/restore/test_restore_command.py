"""``duetime deployment restore`` with AWS credentials: the drill by the command line alone."""

import io
import json
import zipfile

import boto3
import pytest

from duetime import Status
from duetime.cli import main
from tests.restore.story import Story

pytestmark = pytest.mark.usefixtures("wide_terminal")


@pytest.fixture
def duetime(capsys):
    def run(*words):
        status = main(["deployment", "restore", *words])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


def deploy_arm(settings):
    """Create the function whose environment has the deployment's settings."""
    role = boto3.client("iam").create_role(RoleName="arm", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as bundle:
        bundle.writestr("index.py", "")
    boto3.client("lambda").create_function(
        FunctionName="duetime-arm",
        Runtime="python3.13",
        Role=role,
        Handler="index.handler",
        Code={"ZipFile": code.getvalue()},
        Environment={"Variables": settings.to_env()},
    )


@pytest.fixture
def story(drill):
    made = Story(drill, "actions")
    deploy_arm(made.settings)
    return made


def options(story):
    return ("--actions", story.restored["actions"], "--restored-to", story.point.isoformat())


def test_the_report_and_the_adoption_print_what_may_double_and_what_to_do_next(story, duetime):
    _, report, _ = duetime("report", *options(story))
    assert "rows that may double: 8" in report
    assert "actions that are not in the table: 2; without a sign that they ended: 1" in report
    assert "put these lines into cdk.json" not in report
    status, adopted, _ = duetime("adopt", *options(story))
    assert status == 0
    assert story.actions["ran-after"].id in adopted
    assert "actions: enabled" in adopted
    assert '  "duetime:actions_stream": "arn:aws:dynamodb:eu-west-1:' in adopted


@pytest.mark.long
def test_the_json_has_the_same_facts(story, duetime):
    report = json.loads(duetime("adopt", *options(story), "--json")[1])
    held = {row["id"] for row in report["doubtful"] if row["held"]}
    assert story.actions["ran-after"].id in held
    assert report["sources"]["previous actions table"] == story.settings.made.actions_table
    listed = json.loads(duetime("list", *options(story)[:2], "--json")[1])["rows"]
    assert {row["id"] for row in listed} == held


@pytest.mark.long
def test_an_operator_decides_by_id_by_verdict_and_for_all(story, duetime):
    duetime("adopt", *options(story))
    table, one = options(story)[:2], story.actions["ran-after"].id
    _, planned, _ = duetime("run", one, *table, "--dry-run")
    assert one in planned
    _, printed, _ = duetime("run", one, *table)
    assert printed.startswith("1 run again, ")
    assert duetime("done", "--verdict", "ended", *table)[0] == 0
    assert json.loads(duetime("list", "--verdict", "ended", *table, "--json")[1])["rows"] == []
    duetime("done", "--all", *table)
    assert duetime("list", *table)[1] == "no row is held\n"
    story.deploy(enabled=False)
    statuses = {name: story.drill.scheduler.get(row.id).status for name, row in story.actions.items()}
    assert statuses["ran-after"] is Status.PENDING
    assert statuses["cancelled"] is statuses["moved"] is Status.SKIPPED


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("run",), "no row is named; name ids, or use --verdict, --job or --all"),
        (("done", "nonsense"), "nonsense is no held row; `duetime deployment restore list` shows them"),
    ],
)
def test_a_decision_without_a_held_row_is_rejected(story, duetime, words, problem):
    status, _, error = duetime(*words, *options(story)[:2])
    assert (status, error) == (2, f"duetime: {problem}\n")


@pytest.mark.long
def test_a_wrong_prefix_is_reported_with_its_remedy(story, duetime):
    status, _, error = duetime("report", *options(story), "--prefix", "other-")
    assert status == 1
    assert "the function other-arm does not exist" in error
    assert "--prefix" in error
