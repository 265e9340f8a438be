"""Clients without boto3, and models that are loaded without a list of all services."""

import subprocess
import sys

import boto3
import pytest
from botocore.exceptions import UnknownServiceError
from botocore.loaders import Loader

from duetime.aws import clients

_WITHOUT_BOTO3 = """
import sys
from duetime.aws import clients
client = clients.dynamodb()
assert clients.dynamodb() is client
assert "boto3" not in sys.modules
print(client.meta.region_name, client.meta.config.retries["total_max_attempts"])
import boto3
boto3.setup_default_session(region_name="eu-central-1")
print(clients.dynamodb().meta.region_name)
"""


def test_without_boto3_a_client_is_botocores_and_later_one_of_boto3s_default_session(monkeypatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    run = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", _WITHOUT_BOTO3], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["eu-west-1", "5", "eu-central-1"]


@pytest.fixture
def session(monkeypatch):
    """Return boto3's default session as duetime makes it."""
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    return clients.default_session()


def test_a_client_is_made_without_a_list_of_all_services(session, deployed, monkeypatch):
    listed = []
    monkeypatch.setattr(Loader, "list_available_services", lambda _, kind: listed.append(kind))
    assert clients.of("dynamodb").meta.service_model.operation_names
    assert listed == []


def test_the_models_are_those_that_botocore_loads(session, monkeypatch, tmp_path):
    plain, quick = Loader(), session._session.get_component("data_loader")
    for kind in ("service-2", "endpoint-rule-set-1", "paginators-1"):
        assert quick.load_service_model("sqs", kind) == plain.load_service_model("sqs", kind)
    assert session.get_available_services() == plain.list_available_services("service-2")


def test_a_service_without_a_model_is_named_beside_the_known_ones(session):
    with pytest.raises(UnknownServiceError, match=r"'no-such-service'.*dynamodb"):
        session.client("no-such-service", region_name="eu-west-1")


def test_models_of_the_user_are_found(monkeypatch, tmp_path):
    model = tmp_path / "mine" / "2020-01-01" / "service-2.json"
    model.parent.mkdir(parents=True)
    model.write_text('{"metadata": {"serviceId": "Mine"}}')
    monkeypatch.setenv("AWS_DATA_PATH", str(tmp_path))
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    loader = clients.default_session()._session.get_component("data_loader")
    assert loader.load_service_model("mine", "service-2")["metadata"] == {"serviceId": "Mine"}
