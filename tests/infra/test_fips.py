"""The setting `fips`: boto3 then calls FIPS endpoints, which only some regions have for every service."""

import boto3
import pytest
from botocore.endpoint_provider import EndpointProvider
from botocore.session import get_session

from duetime.aws import clients
from duetime.cdk import Deployment
from duetime.cdk.region import FIPS_ENVIRONMENT, FIPS_REGIONS
from duetime.errors import SettingsError
from duetime.settings import Settings
from tests.infra.synthesis import Synthesised, stack, synth

FIPS = Deployment(fips=True)

CALLED = {
    "dynamodb": clients.dynamodb,
    "sqs": clients.sqs,
    "events": clients.events,
    "email": clients.ses,
    "sns": clients.sns,
    "streams.dynamodb": clients.dynamodb_streams,
    "scheduler": clients.scheduler,
    "logs": clients.logs,
}
"""What the functions call, by the names in the SDK's list of endpoints."""

ONLY_DOCUMENTED = {"streams.dynamodb", "scheduler"}
"""The SDK's list lacks their FIPS endpoints. AWS announced the first in December 2024; the General Reference
lists ``scheduler-fips`` in the four regions of the United States."""

RIGHTS_WITHOUT_CALLS = {"iam", "lambda"}
"""To pass a role, and to be woken: AWS' services do this themselves."""

SERVICE_OF_RIGHTS = {"ses": "email"}
REGION = FIPS_REGIONS[0]
LOADER = get_session().get_component("data_loader")
PARTITIONS = {part["partition"]: part for part in LOADER.load_data("endpoints")["partitions"]}


def partition_of(region):
    return PARTITIONS["aws-us-gov" if region.startswith("us-gov-") else "aws"]


def listed(service, region):
    """Return the FIPS hosts of a service that the SDK's list has in a region."""
    partition = partition_of(region)
    known = partition["services"][service]
    entries = (known["endpoints"].get(region, {}), known.get("defaults", {}))
    return {
        variant["hostname"].format(region=region, dnsSuffix=partition["dnsSuffix"], service=service)
        for entry in entries
        for variant in entry.get("variants", [])
        if variant["tags"] == ["fips"]
    }


@pytest.fixture
def in_a_function(monkeypatch):
    """The environment of the functions in one region."""
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    for name, value in {**FIPS_ENVIRONMENT, "AWS_DEFAULT_REGION": REGION}.items():
        monkeypatch.setenv(name, value)


def test_by_default_no_function_has_a_variable_of_fips():
    assert "FIPS" not in str(synth(region="us-east-1").resources)


def test_with_the_setting_each_function_calls_fips_endpoints():
    functions = synth(region="us-east-1", deployment=FIPS).functions()
    for name, function in functions.items():
        assert function["Environment"]["Variables"].items() >= FIPS_ENVIRONMENT.items(), name


def test_the_table_of_calls_has_each_service_that_the_functions_have_rights_on():
    rights = set()
    for statement in synth(
        settings=Settings(mail_from="duetime@acme.example"), deployment=FIPS
    ).all_statements():
        actions = statement["Action"]
        rights |= {right.partition(":")[0] for right in ([actions] if isinstance(actions, str) else actions)}
    called = {SERVICE_OF_RIGHTS.get(service, service) for service in rights - RIGHTS_WITHOUT_CALLS}
    assert called == CALLED.keys() - {"streams.dynamodb"}


@pytest.mark.parametrize("service", CALLED)
def test_each_service_is_called_at_a_fips_host_in_each_allowed_region(in_a_function, service):
    client = CALLED[service]()
    rules = LOADER.load_service_model(client.meta.service_model.service_name, "endpoint-rule-set-1")
    provider = EndpointProvider(rules, LOADER.load_data("partitions"))
    for region in FIPS_REGIONS:
        url = provider.resolve_endpoint(Region=region, UseFIPS=True, UseDualStack=False).url
        documented = {f"{service}-fips.{region}.amazonaws.com"} if service in ONLY_DOCUMENTED else set()
        assert url.removeprefix("https://") in listed(service, region) | documented
        if region == REGION:
            assert client.meta.endpoint_url == url


def test_the_allowed_regions_are_those_in_which_the_sdk_lists_a_fips_host_of_each_service():
    regions = [*PARTITIONS["aws"]["regions"], *PARTITIONS["aws-us-gov"]["regions"]]
    complete = [
        region
        for region in regions
        if all(listed(service, region) for service in CALLED.keys() - ONLY_DOCUMENTED)
    ]
    assert sorted(complete) == sorted(FIPS_REGIONS)


@pytest.mark.parametrize("region", ["ca-central-1", "eu-west-1", "cn-north-1", "us-iso-east-1"])
def test_a_region_without_each_endpoint_is_rejected_with_those_that_are_allowed(region):
    with pytest.raises(SettingsError) as rejected:
        stack(region=region, deployment=Deployment(fips=True, people_api=False))
    [problem] = rejected.value.problems
    assert problem.startswith(f"fips is True, but in the region {region} a service")
    assert "allowed are us-east-1," in problem
    assert problem.endswith("or set fips=false")


def test_a_stack_without_a_region_is_accepted():
    assert stack(deployment=FIPS)


def test_the_context_of_a_rehearsal_turns_it_off_for_an_app_with_a_deployment_of_its_own():
    made, scheduler = stack(deployment=FIPS, context={"duetime:fips": "false"})
    assert scheduler.deployment.fips is False
    assert "FIPS" not in str(Synthesised.from_stack(made).resources)


def test_a_value_of_the_context_that_is_no_switch_is_rejected():
    with pytest.raises(SettingsError, match="fips is 'maybe'; allowed is true or false"):
        stack(context={"duetime:fips": "maybe"})
