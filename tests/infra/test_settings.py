import json
from dataclasses import fields
from datetime import timedelta
from pathlib import Path

import aws_cdk as cdk
import pytest

from duetime.cdk import Deployment, Handlers, from_context
from duetime.cdk.settings_doc import groups
from duetime.errors import SettingsError
from duetime.lambdas.loading import load_app
from duetime.settings import Settings
from tests.cases import for_each
from tests.infra.synthesis import BILLING, ROOT, stack


def read(**context):
    return from_context(cdk.App(context={f"duetime:{name}": value for name, value in context.items()}).node)


def test_without_any_setting_the_defaults_hold():
    assert read() == (Settings(), Deployment())


def test_the_default_deployment_has_one_action_and_runs_nothing_by_itself():
    context = json.loads((ROOT / "cdk.json").read_text())["context"]
    _, deployment = from_context(cdk.App(context=context).node)
    app = load_app(context["duetime:app"])
    assert Path(deployment.handlers) == Path()
    assert (list(app.handlers), list(app.jobs)) == (["send-greeting"], [])


def test_settings_are_read_as_cdk_json_and_as_a_command_line_give_them():
    as_json = read(
        lease=60, heartbeat=20, enabled=False, due_shards=32, architecture="x86_64", sweep_rate=120
    )
    as_text = read(
        lease="60", heartbeat="20", enabled="false", due_shards="32", architecture="x86_64", sweep_rate="120"
    )
    settings, deployment = as_json
    assert as_json == as_text
    assert settings == Settings(
        lease=timedelta(minutes=1),
        heartbeat=timedelta(seconds=20),
        enabled=False,
        due_shards=32,
        sweep_rate=timedelta(minutes=2),
    )
    assert deployment == Deployment(architecture="x86_64")


def test_each_setting_is_in_one_of_three_groups():
    names = {group: [field.name for _, field in pairs] for group, pairs in groups().items()}
    assert list(names) == ["Begin", "Operate", "Advanced"]
    every = sorted(name for group in names.values() for name in group)
    own = {field.name for field in fields(Settings)} - {"made"}
    assert every == sorted([*own, *(field.name for field in fields(Deployment))])


def test_each_setting_of_a_deployment_can_be_chosen():
    assert read(canary=600) == (Settings(), Deployment(canary=timedelta(minutes=10)))
    assert read(audit_retention=2 * 86_400)[0] == Settings(audit_retention=timedelta(days=2))


@for_each(
    ("context", "problem"),
    [
        ({"lease": "soon"}, r"lease is 'soon'; allowed is 2 s to 43000 s"),
        ({"enabled": "perhaps"}, r"enabled is 'perhaps'; allowed is true or false"),
        ({"near_limit": 3_600}, r"near_limit is 3600 s; allowed is 1 s to 900 s"),
        ({"worker_concurrency": 1}, r"worker_concurrency is 1; allowed is 2 to 1000"),
        ({"worker_batch": 0}, r"worker_batch is 0; allowed is 1 to 10"),
        ({"worker_batch": 11}, r"worker_batch is 11; allowed is 1 to 10"),
        ({"worker_batch": "ten"}, r"worker_batch is 'ten'; allowed is 1 to 10"),
        ({"worker_pollers": 1}, r"worker_pollers is 1; allowed is 0, for Lambda's own, or 2 to 200"),
        ({"worker_timeout": 901}, r"worker_timeout is 901 s; allowed is 1 s to 900 s"),
        ({"worker_timeout": 1.5}, r"worker_timeout is 1.5 s; allowed are whole multiples of 1 s"),
        ({"sweep_rate": 90}, r"sweep_rate is 90 s; allowed are whole multiples of 60 s"),
        ({"log_days": 31}, r"log_days is 31; allowed is 1, 3, 5,"),
        ({"python": "3.9"}, r"python is '3.9'; allowed is '3.11', '3.12', '3.13', '3.14'"),
        ({"architecture": "riscv"}, r"architecture is 'riscv'; allowed is 'arm64', 'x86_64'"),
        ({"worker_memory": "1 GB"}, r"worker_memory is '1 GB'; allowed is 128 to 10240"),
        ({"prefix": "a.b"}, r"prefix is 'a.b'; allowed are letters, digits, - and _"),
        ({"prefix": "9-"}, r"prefix is '9-'; allowed are letters, digits, - and _, a letter first"),
        (
            {"laese": 60},
            r"duetime:laese is 60, but is not a setting; did you mean lease\? docs/settings.md lists all",
        ),
        (
            {"colour": "red"},
            r"is not a setting; the first settings are profile, app, handlers, requirements,",
        ),
        ({"job_group": "mine"}, r"duetime:job_group is 'mine', but the stack sets it itself"),
        (
            {"event_bus": "arn:aws:events:eu-west-1:1:event-bus/x"},
            r"event_bus is 'arn:.*the name \(no ARN\) of a bus",
        ),
        ({"made": "{}"}, r"duetime:made is '{}', but is not a setting"),
        ({"queues": "{}"}, r"duetime:queues is '{}', but the stack sets it itself"),
        (
            {"sweep_rate": 3_600, "catch_up_rate": 1_800},
            r"sweep_rate \(3600 s\) must not exceed catch_up_rate \(1800 s\)",
        ),
        (
            {"timers": "wheel", "sweep_rate": 600},
            r"sweep_rate \(600 s\) must be at most half of near_limit \(900 s\) with timers='wheel'",
        ),
        (
            {"roles": {"clerks": "actions:read jobs:run"}},
            r"roles gives 'clerks' unknown permissions: jobs:run; allowed are",
        ),
        ({"roles": "clerks"}, r"roles is 'clerks'; allowed is a JSON object"),
        ({"identities": {"me": "acme"}}, r"identities maps 'me' to 'acme'; allowed is an ARN"),
        (
            {"identities": {"arn:aws:iam::1:role/x": "system admins"}},
            r"its first word, the tenant, is reserved",
        ),
        ({"authorization": "allow-all"}, r"'allow-all', which is for development"),
        ({"lateness_alarm": 0}, r"lateness_alarm is 0 s; allowed is 0.1 s to 86400 s"),
        ({"failed_alarm": 0}, r"failed_alarm is 0; allowed is 1 to"),
        ({"alarm_email": "ops"}, r"alarm_email is 'ops'; allowed is one address"),
        ({"alarm_email": "a@b.example,c@b.example"}, r"allowed is one address"),
        ({"alarm_email": "a@b.example", "alarms": False}, r"alarms is False and budget is 0"),
        ({"runbook": "our wiki"}, r"runbook is 'our wiki'; allowed is an address of at most 400"),
        ({"budget": -1}, r"budget is -1; allowed is 0 to 1000000"),
        ({"wake_early": 840, "near_limit": 800}, r"wake_early \(840 s\) must be below near_limit \(800 s\)"),
    ],
)
def test_contradictions_are_rejected_with_the_names_values_and_the_allowed_ones(context, problem):
    with pytest.raises(SettingsError, match=problem):
        read(**context)


def test_every_problem_of_both_kinds_is_named_at_once():
    with pytest.raises(SettingsError) as caught:
        read(lease="soon", log_days=31, laese=1)
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize(
    ("handlers", "problem"),
    [
        ([], r"workers are \[\]; one must be 'default'"),
        ([Handlers(app="a:app", worker="reports")], r"workers are \['reports'\]; one must be 'default'"),
        ([BILLING, BILLING], r"worker 'default' is declared 2 times"),
        (
            [BILLING, Handlers(app="a:app", worker="system")],
            r"worker 'system' is reserved for duetime's own jobs",
        ),
        (
            [BILLING, Handlers(app="a:app", worker="Re ports")],
            r"worker is 'Re ports'; allowed are lower-case",
        ),
        ([BILLING, Handlers(app="a:app", worker="r" * 60)], r"worker is 'r+', which makes .* allowed are 64"),
        (
            [Handlers(app="a:app", concurrency=1)],
            r"concurrency of worker 'default' is 1; allowed is 2 to 1000",
        ),
    ],
)
def test_workers_that_contradict_each_other_or_aws_are_rejected(handlers, problem):
    with pytest.raises(SettingsError, match=problem):
        stack(handlers=handlers)
