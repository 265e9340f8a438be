"""What a stack of one's own gets from the construct alone: outputs and tags."""

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from duetime.cdk import Deployment, Duetime
from duetime.settings import Settings
from tests.infra.synthesis import BILLING, PAGE, Synthesised, stack, synth, text

ALWAYS = {"ActionsTable", "JobsTable", "Failures"}
ALARMS = {"Alarms", "Notifications"}
PEOPLE = {"Api", "UserPool", "UserPoolClient", "Console", "SignIn"}


def outputs_of(made):
    return {
        name: text(output["Value"]) for name, output in Template.from_stack(made).to_json()["Outputs"].items()
    }


@pytest.mark.parametrize(
    ("deployment", "names"),
    [
        ({}, ALWAYS | ALARMS | PEOPLE | {"SignedApi"}),
        ({"api": "people"}, ALWAYS | ALARMS | {"Api", "SignedApi", "UserPool", "UserPoolClient"}),
        ({"api": "services"}, ALWAYS | ALARMS | {"SignedApi"}),
        ({"api": False, "alarms": False}, ALWAYS | {"Notifications"}),
    ],
)
def test_each_part_of_the_deployment_has_its_outputs(deployment, names):
    made, _ = stack(deployment=Deployment(**deployment))
    assert outputs_of(made).keys() == names


def test_the_outputs_are_the_names_and_addresses_of_the_resources():
    made, _ = stack()
    outputs, resources = outputs_of(made), Synthesised.from_stack(made).resources
    kinds = {"ActionsTable": "AWS::DynamoDB::Table", "UserPool": "AWS::Cognito::UserPool"}
    for name, kind in kinds.items():
        assert resources[outputs[name].strip("<>")]["Type"] == kind
    assert outputs["Console"].endswith("/prod/")
    assert outputs["Api"].endswith("/api/v1")


def test_an_output_of_the_app_keeps_its_name_and_the_constructs_has_the_path_before_it():
    made, _ = stack()
    cdk.CfnOutput(made, "Api", value="the app's own")
    outputs = outputs_of(made)
    assert outputs["Api"] == "the app's own"
    assert [name for name in outputs if name.startswith("DuetimeOutputsApi")]
    assert "JobsTable" in outputs


def test_two_schedulers_in_a_stack_have_different_outputs():
    made, _ = stack()
    green = Settings(prefix="green-")
    Duetime(made, "Green", handlers=[BILLING], settings=green, console_page=PAGE)
    outputs = outputs_of(made)
    tables = {
        name: value for name, value in outputs.items() if name.endswith("JobsTable") or "JobsTable" in name
    }
    assert len(tables) == len(set(tables.values())) == 2
    assert tables.keys() & {"JobsTable"}


def test_resources_have_the_deployments_tag():
    synthesised = synth(settings=Settings(prefix="green-"))
    for kind in ("AWS::DynamoDB::Table", "AWS::Lambda::Function", "AWS::SQS::Queue"):
        for properties in synthesised.of_type(kind):
            assert {"Key": "duetime", "Value": "green"} in properties["Tags"], kind
