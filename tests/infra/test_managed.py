"""A worker on Lambda Managed Instances; without the option, nothing of it is in the stack."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import aws_cdk as cdk
import pytest
from cfnlint.api import lint
from cfnlint.config import ManualArgs

from duetime.cdk import Deployment, Handlers, ManagedInstances
from duetime.cdk.handlers import HandlersRejected
from duetime.errors import SettingsError
from tests.infra.synthesis import BILLING, stack, synth
from tests.infra.test_handlers import good
from tests.infra.test_rules import NOT_OURS, validated

SUBNETS, GROUPS = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"], ["sg-0123456789abcdef0"]
HOUR = timedelta(hours=1)
EXPORTS = Handlers(
    app="examples.billing:app",
    worker="exports",
    source=BILLING.source,
    managed=ManagedInstances(subnets=SUBNETS, security_groups=GROUPS, timeout=HOUR, most_vcpus=8),
)


@pytest.fixture(scope="module")
def made():
    return synth(handlers=[BILLING, EXPORTS])


def test_the_worker_runs_on_instances_in_the_given_network(made):
    provider = made.one("AWS::Lambda::CapacityProvider")
    assert provider["VpcConfig"] == {"SubnetIds": SUBNETS, "SecurityGroupIds": GROUPS}
    assert provider["InstanceRequirements"] == {"Architectures": ["arm64"]}
    assert provider["CapacityProviderScalingConfig"] == {"MaxVCpuCount": 8, "ScalingMode": "Auto"}
    work = made.functions()["work-exports"]
    assert (work["Timeout"], work["MemorySize"]) == (3_600, 2_048)
    config = work["CapacityProviderConfig"]["LambdaManagedInstancesCapacityProviderConfig"]
    assert config["PerExecutionEnvironmentMaxConcurrency"] == 1
    assert config["CapacityProviderArn"]["Fn::GetAtt"][1] == "Arn"


def test_its_queue_calls_the_published_version_and_waits_longer_than_a_run(made):
    (version,) = (name for name, item in made.resources.items() if item["Type"] == "AWS::Lambda::Version")
    (source,) = (item for item in made.of_type("AWS::Lambda::EventSourceMapping") if version in str(item))
    assert source["FunctionName"]["Fn::Join"][1][-1] == {"Fn::GetAtt": [version, "Version"]}
    queue = made.one("AWS::SQS::Queue", QueueName="duetime-due-exports")
    assert queue["VisibilityTimeout"] > 3_600
    work = made.functions()["work-exports"]
    assert int(work["Environment"]["Variables"]["DUETIME_QUEUE_VISIBILITY"]) == queue["VisibilityTimeout"]
    assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_the_other_workers_and_a_stack_without_the_option_have_nothing_of_it(made, synthesised):
    work = made.functions()["work-default"]
    assert work == synthesised.functions()["work-default"] | {"Environment": work["Environment"]}
    for kind in ("AWS::Lambda::CapacityProvider", "AWS::Lambda::Version"):
        assert not synthesised.of_type(kind)


def test_reserved_executions_are_those_of_other_workers():
    deployment = Deployment(reserved_concurrency=10)
    busy = replace(EXPORTS, concurrency=50)
    made = synth(handlers=[BILLING, busy], deployment=deployment)
    work = made.functions()["work-exports"]
    assert "ReservedConcurrentExecutions" not in work
    assert made.functions()["work-default"]["ReservedConcurrentExecutions"] == 10


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"subnets": []}, r"subnets is \[\]; allowed is a list of 1 to 16 ids"),
        ({"subnets": "subnet-1"}, "subnets is 'subnet-1'; allowed is a list of 1 to 16 ids"),
        ({"security_groups": []}, r"security_groups is \[\]; allowed is a list of 1 to 5 ids"),
        ({"timeout": timedelta(minutes=91)}, "timeout is 1:31:00; allowed are whole seconds up to 1:30:00"),
        ({"timeout": timedelta(seconds=1.5)}, "timeout is 0:00:01.500000; allowed are whole seconds"),
        ({"memory": 512}, "memory is 512; allowed is 2,048 to 32,768"),
        ({"concurrency": 0}, "concurrency is 0; allowed is 1 to 1,600"),
        ({"most_vcpus": 1}, "most_vcpus is 1; allowed is 2 to 15,000"),
    ],
)
def test_values_that_aws_does_not_allow_are_rejected(given, problem):
    with pytest.raises(SettingsError, match=problem):
        ManagedInstances(**{"subnets": SUBNETS, "security_groups": GROUPS, **given})


def test_an_older_python_is_rejected():
    with pytest.raises(SettingsError, match=r"python is 3.12, but worker 'exports' is on managed instances"):
        stack(handlers=[BILLING, EXPORTS], deployment=Deployment(python="3.12"))


def test_a_handlers_timeout_is_bounded_by_its_worker(tmp_path):
    (tmp_path / "mine.py").write_text(good(seconds=3_601))
    plain = Handlers(app="mine:app", source=tmp_path)
    with pytest.raises(HandlersRejected, match=r"worker_timeout is 330 s, .*use Handlers\(managed="):
        plain.manifest(at_most=plain.timeout(Deployment()))
    managed = replace(plain, managed=EXPORTS.managed)
    with pytest.raises(
        HandlersRejected, match=r"ManagedInstances.timeout is 3600 s, but mine.ping has a time-out"
    ):
        managed.manifest(at_most=managed.timeout(Deployment()))
    (tmp_path / "mine.py").write_text(good(seconds=3_600))
    assert managed.manifest(at_most=managed.timeout(Deployment())).types["ping"] == 3


@pytest.mark.long
def test_the_rules_of_aws_solutions_and_of_cloudformation_pass():
    stacked, _ = stack(handlers=[BILLING, EXPORTS], is_validated=True)
    assert validated(stacked) == []
    template = Path(cdk.App.of(stacked).outdir, "test.template.json").read_text()
    found = lint(template, config=ManualArgs(ignore_checks=list(NOT_OURS), regions=["eu-west-1"]))
    assert [str(finding) for finding in found] == []
