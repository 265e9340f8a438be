"""The API knows where the deployment has its runbook, for `duetime doctor`, where somebody has said so."""

import pytest

from duetime.cdk import Deployment
from duetime.environment import runbook_place
from tests.infra.synthesis import Synthesised, stack

THERE = "https://wiki.example.com/duetime"


@pytest.fixture(scope="module")
def told():
    made, _ = stack(deployment=Deployment(runbook=THERE))
    synthesised = Synthesised.from_stack(made)
    return {name: synthesised.environment(name) for name in synthesised.functions()}


def test_the_api_is_told_and_no_other_function(told):
    assert runbook_place(told["api"]) == THERE
    assert [name for name, environment in told.items() if runbook_place(environment)] == ["api"]


def test_nothing_is_told_where_nobody_has_said(synthesised):
    assert runbook_place(synthesised.environment("api")) is None
