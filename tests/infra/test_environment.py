"""The 4 KB of a function's environment: what is larger is refused at synthesis, and nothing that fits."""

import json

import pytest

from duetime.cdk import Deployment, Handlers
from duetime.cdk.functions import LARGEST
from duetime.errors import SettingsError
from duetime.settings import Settings
from tests.infra.synthesis import BILLING, ROOT, stack, synth, text

ARN = "arn:aws:iam::123456789012:role/service-{:04d}"


def identities(count):
    return {ARN.format(number): "acme operators" for number in range(count)}


def workers(count):
    many = [Handlers(app="x:app", worker=f"w{number:03d}", source=ROOT) for number in range(count)]
    return [BILLING, *many]


def deployed(variables):
    """The environment as Lambda measures it, with the longest names of a region."""
    deployed = {
        name: text(value).replace("<AWS::Region>", "ap-southeast-1") for name, value in variables.items()
    }
    return len(json.dumps(deployed, ensure_ascii=False, separators=(",", ":")))


def test_the_usual_environment_is_far_below_lambdas_limit(synthesised):
    for name in synthesised.functions():
        assert deployed(synthesised.environment(name)) < LARGEST / 3


def test_identities_that_no_environment_holds_are_rejected_with_their_size_and_a_remedy():
    with pytest.raises(SettingsError) as refused:
        stack(settings=Settings(identities=identities(80)))
    [problem] = refused.value.problems
    assert problem.startswith("the environment of duetime-deploy is ")
    assert "bytes; Lambda allows 4,096" in problem
    assert "The largest settings in it are identities (" in problem
    assert "share one IAM role" in problem


def test_roles_are_named_first_if_they_are_the_largest():
    roles = {f"team-{number}": "actions:manage jobs:manage" for number in range(90)}
    with pytest.raises(SettingsError, match=r"are roles \(\d,\d{3}\).*at run time"):
        stack(settings=Settings(roles=roles))


def test_the_queues_of_too_many_workers_are_rejected():
    with pytest.raises(SettingsError, match=r"duetime-\w+ is .* are queues \(\d,\d{3}\).*fewer workers"):
        stack(handlers=workers(40))


def test_an_environment_of_the_largest_size_is_accepted():
    for count in range(60, 0, -1):
        try:
            synthesised = synth(
                settings=Settings(identities=identities(count)), deployment=Deployment(api=False)
            )
        except SettingsError:
            continue
        break
    largest = max(deployed(synthesised.environment(name)) for name in synthesised.functions())
    entry = len(json.dumps(identities(1))) + 8
    assert LARGEST - 250 - entry < largest <= LARGEST
