"""The console in a deployment: its function, its environment and its address."""

import json

import pytest

from duetime.cdk import Deployment
from duetime.environment import ConsoleEnvironment
from duetime.errors import OperationFailed
from duetime.settings import Settings
from tests.infra.synthesis import Synthesised, made_with, stack, text

CONSOLE = "https://console.example.com"
PLACE = "execute-api.<AWS::Region>.<AWS::URLSuffix>"


def resource_of(there, kind, **properties):
    """The logical id of a resource."""
    expected = there.one(kind, **properties)
    return next(name for name, resource in there.resources.items() if resource["Properties"] is expected)


def people_of(there):
    return resource_of(there, "AWS::ApiGateway::RestApi", Name="duetime-api-people")


def test_it_may_write_its_log_and_nothing_else(synthesised):
    [only] = synthesised.rights("console")
    assert sorted(only["Action"]) == ["logs:CreateLogStream", "logs:PutLogEvents"]


def test_its_configuration_has_the_addresses_of_the_api_and_the_sign_in_alone(synthesised):
    variables = {name: text(value) for name, value in synthesised.environment("console").items()}
    environment = ConsoleEnvironment.from_env(variables)
    assert environment.to_env().keys() == variables.keys()
    assert environment.api_prefix == "/api/v1"
    domain = resource_of(synthesised, "AWS::Cognito::UserPoolDomain")
    client = resource_of(synthesised, "AWS::Cognito::UserPoolClient")
    pages = f"https://<{domain}>.auth.<AWS::Region>.amazoncognito.com"
    fips_pages = pages.replace(".auth.", ".auth-fips.")
    assert environment.sign_in_url == f"<InGovCloud ? {fips_pages} : {pages}>"
    assert environment.sign_in_client == f"<{client}>"
    pool = resource_of(synthesised, "AWS::Cognito::UserPool")
    assert environment.sign_in_issuer == f"https://cognito-idp.<AWS::Region>.amazonaws.com/<{pool}>"


def test_with_an_existing_pool_it_links_to_that_pools_pages():
    pages = "https://acme.auth.eu-west-1.amazoncognito.com"
    there = made_with(user_pool_id="eu-west-1_AbCdEfGhI", sign_in=pages)
    assert there.environment("console")["DUETIME_SIGN_IN_URL"] == pages


def test_mails_lead_to_the_apis_own_address(synthesised):
    address = text(synthesised.environment("notify")["DUETIME_CONSOLE_URL"])
    assert address == f"https://<{people_of(synthesised)}>.{PLACE}/prod"


def test_mails_link_to_the_consoles_configured_address():
    there = made_with(Settings(console_url=f"{CONSOLE}/ops"))
    assert there.environment("notify")["DUETIME_CONSOLE_URL"] == f"{CONSOLE}/ops"


def test_pages_of_the_origin_may_call_whatever_the_path_at_which_it_is():
    there = made_with(Settings(console_url=f"{CONSOLE}/ops"))
    methods = json.dumps(there.of_type("AWS::ApiGateway::Method"))
    assert f"'{CONSOLE}'" in methods
    assert "/ops" not in methods


def test_responses_of_both_apis_are_compressed(synthesised):
    sizes = {
        api["Name"]: api.get("MinimumCompressionSize")
        for api in synthesised.of_type("AWS::ApiGateway::RestApi")
    }
    assert sizes == {"duetime-api-people": 1_024, "duetime-api-services": 1_024}


def test_a_page_that_is_not_built_fails_the_synthesis_with_each_remedy(tmp_path):
    with pytest.raises(OperationFailed) as failed:
        stack(is_bundled=True, console_page=tmp_path)
    for part in (str(tmp_path), "`make setup`", "the wheel", 'Deployment(api="people")'):
        assert part in str(failed.value)


def test_without_the_console_nothing_is_to_be_built_and_mails_have_no_links(tmp_path):
    made, _ = stack(deployment=Deployment(api="people"), console_page=tmp_path, is_bundled=True)
    there = Synthesised.from_stack(made)
    assert "console" not in there.functions()
    assert "DUETIME_CONSOLE_URL" not in there.environment("notify")
