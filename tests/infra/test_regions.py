"""What differs in the partitions of GovCloud and China."""

import pytest

from duetime.cdk import Deployment
from duetime.errors import SettingsError
from duetime.settings import Settings
from tests.infra.synthesis import Synthesised, stack, synth, text


def sign_in_of(region):
    return text(synth(region=region).environment("console")["DUETIME_SIGN_IN_URL"])


def test_the_sign_in_pages_in_govcloud_are_at_the_fips_endpoint():
    assert sign_in_of("us-gov-west-1").endswith(".auth-fips.us-gov-west-1.amazoncognito.com")
    assert sign_in_of("eu-west-1").endswith(".auth.eu-west-1.amazoncognito.com")


def test_a_stack_without_a_region_decides_when_it_is_deployed():
    assert text(synth().environment("console")["DUETIME_SIGN_IN_URL"]).startswith("<InGovCloud ? https://")


REMEDY = r"the region cn-north-1 has no Cognito user pools; set api=services"


def test_a_region_without_cognito_rejects_the_api_for_people():
    with pytest.raises(SettingsError, match=REMEDY) as rejected:
        stack(region="cn-north-1")
    assert len(rejected.value.problems) == 1


def test_the_region_of_cdks_command_line_counts_for_a_stack_without_one(monkeypatch):
    monkeypatch.setenv("CDK_DEFAULT_REGION", "cn-north-1")
    with pytest.raises(SettingsError, match=REMEDY):
        stack()


@pytest.mark.parametrize("deployment", [{"api": "services"}, {"api": False}])
def test_a_deployment_without_people_needs_no_cognito(deployment):
    synthesised = synth(region="cn-north-1", deployment=Deployment(**deployment))
    assert not [part for part in synthesised.resources.values() if "Cognito" in part["Type"]]
    assert "console" not in synthesised.functions()
    assert "DUETIME_CONSOLE_URL" not in synthesised.environment("notify")


def test_an_api_for_services_alone_admits_signed_requests_and_its_public_paths():
    made, scheduler = stack(deployment=Deployment(api="services"))
    methods = Synthesised.from_stack(made).of_type("AWS::ApiGateway::Method")
    assert {method["AuthorizationType"] for method in methods} == {"AWS_IAM", "NONE"}
    assert scheduler.api.services.url
    assert scheduler.api.people is None


@pytest.mark.parametrize(
    "chosen",
    [
        {"user_pool_id": "eu-west-1_AbCdEfGhI"},
        {"sign_in": "acme-duetime"},
        {"sign_in": "https://acme.auth.eu-west-1.amazoncognito.com"},
    ],
)
def test_without_people_a_setting_of_their_sign_in_is_rejected(chosen):
    [name] = chosen
    with pytest.raises(SettingsError, match=f"{name} is .* but api is 'services'.* remove {name}"):
        stack(settings=Settings(), deployment=Deployment(api="services", **chosen))
