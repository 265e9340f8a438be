"""`duetime deployment rehearse`: what is missing is named with its remedy, before anything starts."""

import json
import socket

import boto3
import pytest
from moto.server import ThreadedMotoServer

from duetime.cli import main
from duetime.cli.rehearse import _instructions
from duetime.errors import OperationFailed
from duetime.rehearsal.emulator import free_port
from duetime.rehearsal.rehearse import CdkApp

ENDPOINT = "http://127.0.0.1:4566"
OUTPUTS = {"ActionsTable": "duetime-actions", "JobsTable": "duetime-jobs"}
SIGNED = "https://a1b2.execute-api.us-east-1.amazonaws.com/prod/api/v1"


@pytest.fixture
def project(tmp_path):
    """A CDK app; `cdk` is a program that writes the outputs in `outputs`, or fails with its status."""
    (tmp_path / "cdk.json").write_text("{}")
    programs = tmp_path / "node_modules/.bin"
    programs.mkdir(parents=True)
    cdk = programs / "cdk"
    cdk.write_text(
        '#!/bin/sh\necho "$@" >> calls\nenv > variables\n'
        f'while [ $# -gt 0 ]; do [ "$1" = --outputs-file ] && cp {tmp_path}/outputs "$2"; shift; done\n'
        f"exit $(cat {tmp_path}/status)\n"
    )
    cdk.chmod(0o755)
    (tmp_path / "status").write_text("0")
    (tmp_path / "outputs").write_text("{}")
    (tmp_path / "working").mkdir()
    return tmp_path


def deploy(project, **options):
    return CdkApp(project, **options).deploy(ENDPOINT, project / "working")


def test_a_deployment_without_an_api_is_called_by_its_tables(project):
    (project / "outputs").write_text(json.dumps({"Other": {"X": "y"}, "Nightly": OUTPUTS}))
    rehearsal = deploy(project)
    assert rehearsal.outputs == OUTPUTS
    assert rehearsal.environment["DUETIME_ACTIONS_TABLE"] == "duetime-actions"
    assert "DUETIME_URL" not in rehearsal.environment


def test_an_api_for_services_alone_is_called_with_the_signature_of_a_new_user(project):
    (project / "outputs").write_text(json.dumps({"Nightly": {**OUTPUTS, "SignedApi": SIGNED}}))
    aws = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    aws.start()
    try:
        host, port = aws.get_host_and_port()
        rehearsal = CdkApp(project).deploy(f"http://{host}:{port}", project / "working")
        key = {
            "aws_access_key_id": rehearsal.environment["AWS_ACCESS_KEY_ID"],
            "aws_secret_access_key": rehearsal.environment["AWS_SECRET_ACCESS_KEY"],
        }
        sts = boto3.client("sts", endpoint_url=f"http://{host}:{port}", region_name="us-east-1", **key)
        assert sts.get_caller_identity()["Arn"] == rehearsal.signer
    finally:
        aws.stop()
    assert rehearsal.signer.endswith(":user/rehearsal")
    assert rehearsal.environment["DUETIME_URL"] == f"http://{host}:{port}/_aws/execute-api/a1b2/prod/api/v1"
    assert rehearsal.environment["DUETIME_SIGN"] == "1"
    assert rehearsal.signer in _instructions(rehearsal, project, project)


def test_app_stack_and_context_are_passed_to_cdk_with_this_machines_settings(project):
    (project / "outputs").write_text(json.dumps({"Nightly": OUTPUTS}))
    deploy(project, command="python other.py", stack="Nightly", context=["duetime:lease=60"])
    called = (project / "calls").read_text()
    assert "deploy Nightly --require-approval never" in called
    assert "--app python other.py" in called
    assert "--context duetime:architecture=" in called
    assert "--context duetime:lease=60" in called


def test_cdk_does_not_warn_of_nodes_age(project):
    (project / "outputs").write_text(json.dumps({"Nightly": OUTPUTS}))
    deploy(project)
    assert "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=18,20" in (project / "variables").read_text()


def test_a_directory_without_an_app_is_rejected(project):
    (project / "cdk.json").unlink()
    with pytest.raises(OperationFailed, match=r'has no cdk.json: .* --cdk-app "python app.py"'):
        deploy(project)


def test_an_app_without_a_scheduler_is_rejected(project):
    (project / "outputs").write_text(json.dumps({"Other": {"X": "y"}}))
    with pytest.raises(OperationFailed, match=r"none of the deployed stacks \(Other\) has the construct"):
        deploy(project)


def test_a_failure_of_cdk_is_reported_with_its_status(project):
    (project / "status").write_text("3")
    with pytest.raises(OperationFailed, match="`cdk bootstrap` failed with status 3"):
        deploy(project)


def test_without_cdk_the_command_that_installs_it_is_named(project, monkeypatch):
    (project / "node_modules/.bin/cdk").unlink()
    monkeypatch.setenv("PATH", str(project))
    with pytest.raises(OperationFailed, match="npm install aws-cdk@2"):
        deploy(project)


def test_without_node_its_installation_is_named(project, monkeypatch):
    monkeypatch.setenv("PATH", str(project))
    with pytest.raises(
        OperationFailed, match=r"Node is missing, which runs .*/cdk: install Node 22 or later"
    ):
        deploy(project)


def test_a_taken_port_is_reported(capsys):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(OperationFailed, match=f"port {port} cannot be used"):
            free_port(port)
        assert main(["deployment", "rehearse", "--port", str(port)]) == 1
    assert f"port {port} cannot be used" in capsys.readouterr().err
