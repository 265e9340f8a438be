"""A deployment over restored tables: the setting is what `duetime deployment restore adopt` prints."""

import json

import pytest

from duetime.cdk import Deployment
from duetime.errors import SettingsError
from duetime.lambdas.deploy import MANIFEST_RESOURCE
from duetime.settings import Settings
from tests.infra.synthesis import Synthesised, caller, stack, synth

ARN = "arn:aws:dynamodb:eu-west-1:123456789012:table/{}/stream/2027-06-01T09:00:00.000"
LOST = ("duetime-actions", "duetime-jobs")


def deployed(**streams):
    made, scheduler = stack(deployment=Deployment(**streams))
    scheduler.grant_schedule(caller(made))
    return Synthesised.from_stack(made)


def sources(synthesised):
    return {
        source["EventSourceArn"]
        for source in synthesised.of_type("AWS::Lambda::EventSourceMapping")
        if isinstance(source["EventSourceArn"], str)
    }


@pytest.fixture(scope="module")
def beside():
    return deployed(actions_stream=ARN.format("duetime-actions-2"))


def test_functions_and_callers_use_a_table_that_was_restored_under_another_name(beside):
    names = {
        function.get("Environment", {}).get("Variables", {}).get("DUETIME_ACTIONS_TABLE")
        for function in beside.of_type("AWS::Lambda::Function")
    }
    assert "duetime-actions-2" in names
    assert "duetime-actions" not in names
    policies = json.dumps(beside.of_type("AWS::IAM::Policy"))
    assert ":table/duetime-actions-2" in policies
    assert ':table/duetime-actions"' not in policies


def test_arm_and_publish_read_the_stream_of_the_restored_table(beside):
    assert sources(beside) == {ARN.format("duetime-actions-2")}


def test_the_stack_leaves_the_lost_table_and_owns_no_restored_one(beside):
    tables = [table["TableName"] for table in beside.of_type("AWS::DynamoDB::Table")]
    assert tables == ["duetime-jobs"]


def test_a_table_restored_under_its_own_name_stays_the_stacks_and_has_the_new_stream():
    synthesised = deployed(actions_stream=ARN.format("duetime-actions"))
    tables = {table["TableName"] for table in synthesised.of_type("AWS::DynamoDB::Table")}
    assert tables == set(LOST)
    assert sources(synthesised) == {ARN.format("duetime-actions")}


def test_a_deploy_over_a_restored_jobs_table_publishes_all_jobs_again():
    before, after = deployed(), deployed(jobs_stream=ARN.format("duetime-jobs-2"))
    assert not any("JobsStream" in manifest for manifest in before.of_type(MANIFEST_RESOURCE))
    published = after.of_type(MANIFEST_RESOURCE)
    assert published
    assert {manifest["JobsStream"] for manifest in published} == {ARN.format("duetime-jobs-2")}


def test_a_deployment_without_restored_tables_has_the_same_template_as_before():
    assert "stream/2027" not in json.dumps(deployed().resources)


@pytest.mark.parametrize("wrong", ["duetime-actions-2", "arn:aws:dynamodb:eu-west-1:123456789012:table/x-y"])
def test_anything_but_the_arn_of_a_stream_is_rejected(wrong):
    with pytest.raises(SettingsError, match=r"actions_stream is .* allowed is the ARN of a table's stream"):
        Deployment(actions_stream=wrong)


def test_a_stack_over_replicas_owns_no_table_and_reads_which_region_is_active():
    streams = {f"{kind}_stream": ARN.format(f"duetime-{kind}") for kind in ("actions", "jobs")}
    synthesised = synth(
        settings=Settings(regions_table="duetime-regions"), deployment=Deployment(replica=True, **streams)
    )
    assert not synthesised.of_type("AWS::DynamoDB::Table")
    assert sources(synthesised) == set(streams.values())
    roles = [json.dumps(role) for role in synthesised.of_type("AWS::IAM::Role")]
    readers = [role for role in roles if "duetime-regions" in role and "system#region" in role]
    assert len(readers) > 5
    assert not any("duetime-regions" in json.dumps(role) for role in deployed().of_type("AWS::IAM::Role"))


def test_replicas_need_their_streams_and_the_table_of_the_active_region():
    with pytest.raises(SettingsError, match="replica is True, but actions_stream or jobs_stream is empty"):
        Deployment(replica=True)
    streams = {f"{kind}_stream": ARN.format(f"duetime-{kind}") for kind in ("actions", "jobs")}
    with pytest.raises(SettingsError, match=r"replica is True, but regions_table is empty"):
        stack(deployment=Deployment(replica=True, **streams))
