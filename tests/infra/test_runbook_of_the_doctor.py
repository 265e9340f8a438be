"""The environment of the API has the address of a chosen runbook, and the workers' concurrency."""

import pytest

from duetime.cdk import Deployment
from duetime.environment import runbook_place, worker_concurrency
from tests.infra.synthesis import synth

THERE = "https://wiki.example.com/duetime"


@pytest.fixture(scope="module")
def environments():
    synthesised = synth(deployment=Deployment(runbook=THERE, worker_concurrency=25))
    return {name: synthesised.environment(name) for name in synthesised.functions()}


def test_only_the_api_and_the_console_have_the_runbooks_address(environments):
    assert runbook_place(environments["api"]) == THERE
    named = [name for name, environment in environments.items() if runbook_place(environment)]
    assert named == ["api", "console"]


def test_the_default_runbook_is_no_variable(synthesised):
    assert runbook_place(synthesised.environment("api")) is None


def test_the_api_has_the_concurrency_of_the_workers(environments, synthesised):
    assert worker_concurrency(environments["api"]) == 25
    assert worker_concurrency(synthesised.environment("api")) == 10
