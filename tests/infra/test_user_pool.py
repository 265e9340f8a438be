import re

import pytest

from duetime.settings import Settings
from tests.infra.synthesis import made_with, text

CONSOLE = "https://console.example.com"
PAGES = "https://acme.auth.eu-west-1.amazoncognito.com"
PLACE = "execute-api.<AWS::Region>.<AWS::URLSuffix>"
STACK_ID = {"Fn::Split": ["/", {"Ref": "AWS::StackId"}]}


@pytest.fixture(scope="module")
def with_console():
    return made_with(Settings(console_url=CONSOLE), sign_in="acme-duetime")


def test_users_cannot_sign_up_and_sign_in_by_e_mail(synthesised):
    pool = synthesised.one("AWS::Cognito::UserPool")
    assert pool["UserPoolName"] == "duetime-users"
    assert pool["AdminCreateUserConfig"]["AllowAdminCreateUserOnly"]
    assert pool["UsernameAttributes"] == ["email"]
    assert pool["AutoVerifiedAttributes"] == ["email"]
    assert pool["UserAttributeUpdateSettings"]["AttributesRequireVerificationBeforeUpdate"] == ["email"]


def test_passwords_are_long_and_a_second_factor_is_a_users_choice(synthesised):
    pool = synthesised.one("AWS::Cognito::UserPool")
    password = pool["Policies"]["PasswordPolicy"]
    assert password["MinimumLength"] >= 12
    assert all(password[f"Require{name}"] for name in ("Lowercase", "Uppercase", "Numbers", "Symbols"))
    assert (pool["MfaConfiguration"], pool["EnabledMfas"]) == ("OPTIONAL", ["SOFTWARE_TOKEN_MFA"])


def test_a_user_reads_the_own_tenant_and_cannot_change_it(synthesised):
    pool, client = synthesised.one("AWS::Cognito::UserPool"), synthesised.one("AWS::Cognito::UserPoolClient")
    [tenant] = [attribute for attribute in pool["Schema"] if attribute["Name"] == "tenant_id"]
    assert (tenant["AttributeDataType"], tenant["StringAttributeConstraints"]["MaxLength"]) == (
        "String",
        "64",
    )
    assert "custom:tenant_id" in client["ReadAttributes"]
    assert client["WriteAttributes"] == ["email"]


def test_the_groups_are_the_roles_of_the_settings():
    own = made_with(Settings(roles={"staff": "admin", "everyone": "actions:read"}, required_role="duetime"))
    assert {group["GroupName"] for group in own.of_type("AWS::Cognito::UserPoolGroup")} == {
        "staff",
        "duetime",
    }


def test_the_usual_groups_are_viewers_members_operators_and_admins(synthesised):
    groups = {group["GroupName"] for group in synthesised.of_type("AWS::Cognito::UserPoolGroup")}
    assert groups == {"viewers", "members", "operators", "admins"}


def test_the_client_has_no_secret_and_redeems_codes_at_the_console_alone(with_console):
    client = with_console.one("AWS::Cognito::UserPoolClient")
    assert client["GenerateSecret"] is False
    assert client["AllowedOAuthFlows"] == ["code"]
    addresses = [text(url) for url in client["CallbackURLs"]]
    assert re.sub(r"<\w+Api\w+>", "<Api>", addresses[0]) == f"https://<Api>.{PLACE}/prod/"
    assert addresses[1:] == [f"{CONSOLE}/"]
    assert client["LogoutURLs"] == client["CallbackURLs"]


def test_a_token_has_all_attributes_that_the_client_reads(synthesised):
    assert synthesised.one("AWS::Cognito::UserPoolClient")["AllowedOAuthScopes"] == ["openid"]


def test_without_a_console_there_are_no_codes_to_redeem():
    there = made_with(api="people")
    client = there.one("AWS::Cognito::UserPoolClient")
    assert client["AllowedOAuthFlowsUserPoolClient"] is False
    assert "CallbackURLs" not in client
    assert not there.of_type("AWS::Cognito::UserPoolDomain")


def test_a_console_elsewhere_has_sign_in_pages_if_a_domain_is_set():
    there = made_with(Settings(console_url=f"{CONSOLE}/ops"), api="people", sign_in="acme-duetime")
    assert there.one("AWS::Cognito::UserPoolClient")["CallbackURLs"] == [f"{CONSOLE}/ops/"]
    assert there.one("AWS::Cognito::UserPoolDomain")["Domain"] == "acme-duetime"


def test_a_password_never_goes_over_the_wire_but_from_an_admins_hand(synthesised):
    assert sorted(synthesised.one("AWS::Cognito::UserPoolClient")["ExplicitAuthFlows"]) == [
        "ALLOW_ADMIN_USER_PASSWORD_AUTH",
        "ALLOW_REFRESH_TOKEN_AUTH",
        "ALLOW_USER_SRP_AUTH",
    ]


def test_tokens_are_short_lived_and_can_be_revoked(synthesised):
    client = synthesised.one("AWS::Cognito::UserPoolClient")
    assert set(client["TokenValidityUnits"].values()) == {"minutes"}
    assert (client["IdTokenValidity"], client["AccessTokenValidity"]) == (60, 60)
    assert client["RefreshTokenValidity"] == 12 * 60
    assert client["EnableTokenRevocation"]
    assert client["PreventUserExistenceErrors"] == "ENABLED"


def test_the_sign_in_pages_are_at_the_domain_that_is_set(with_console):
    assert with_console.one("AWS::Cognito::UserPoolDomain")["Domain"] == "acme-duetime"


def test_the_default_domain_comes_from_the_stacks_unique_id(synthesised):
    domain = synthesised.one("AWS::Cognito::UserPoolDomain")["Domain"]
    assert domain == {"Fn::Join": ["", ["duetime-", {"Fn::Select": [2, STACK_ID]}]]}


@pytest.mark.parametrize("console", [{"sign_in": PAGES}, {"api": "people"}])
def test_a_pool_that_is_given_gets_a_client_and_nothing_else(console):
    given = made_with(user_pool_id="eu-west-1_AbCdEfGhI", **console)
    kinds = [resource["Type"] for resource in given.resources.values() if "Cognito" in resource["Type"]]
    assert kinds == ["AWS::Cognito::UserPoolClient"]
    assert given.one("AWS::Cognito::UserPoolClient")["UserPoolId"] == "eu-west-1_AbCdEfGhI"


@pytest.mark.parametrize("kind", ["AWS::Cognito::UserPoolGroup", "AWS::Cognito::UserPoolDomain"])
def test_groups_and_sign_in_pages_stay_with_the_pool_unless_the_deploy_that_creates_them_fails(
    synthesised, kind
):
    def policies(there):
        return {
            resource.get("DeletionPolicy", "Delete")
            for resource in there.resources.values()
            if resource["Type"] == kind
        }

    assert policies(synthesised) == {"RetainExceptOnCreate"}
    assert policies(made_with(keep_data=False)) == {"Delete"}


def test_the_pool_outlives_the_stack_if_the_tables_do(synthesised):
    def retention(there):
        [pool] = [
            resource for resource in there.resources.values() if resource["Type"] == "AWS::Cognito::UserPool"
        ]
        return pool["DeletionPolicy"], pool["Properties"]["DeletionProtection"]

    assert retention(synthesised) == ("Retain", "ACTIVE")
    assert retention(made_with(keep_data=False)) == ("Delete", "INACTIVE")
