"""A scheduler rejects a type that no worker hosts, with a read that is cached, and never fails for it."""

from datetime import timedelta

import pytest

from duetime.actions.hosted_types import HostedTypes
from duetime.errors import BackendMisconfigured, OtherFormat, SettingsError, UnknownType
from duetime.model.deployed_shards import Hosted
from duetime.testing import TurnedClock
from duetime_contract.specimens import NOON


class Manifests:
    """Counts the reads of what it holds."""

    def __init__(self, *types, most_due_shards=None):
        self.types, self.most_due_shards, self.reads = types, most_due_shards, 0

    def __call__(self):
        self.reads += 1
        if self.types is None:
            raise BackendMisconfigured("DynamoDB", "not authorized", "Grant it")
        return Hosted(self.types, self.most_due_shards)


@pytest.fixture
def clock():
    return TurnedClock(NOON)


def test_a_type_that_no_worker_hosts_is_rejected_with_the_closest_name(clock):
    hosted = HostedTypes(Manifests("send-receipt", "bill"), clock)
    hosted.check("send-receipt")
    with pytest.raises(UnknownType, match="did you mean 'send-receipt'") as raised:
        hosted.check("send-reciept")
    assert raised.value.known == ("bill", "send-receipt")


def test_a_deployment_whose_tables_have_another_format_is_refused_each_time(clock):
    def read():
        raise OtherFormat("duetime-jobs", 99, 1)

    hosted = HostedTypes(read, clock)
    for _ in range(2):
        with pytest.raises(OtherFormat, match="format 99; this version of duetime reads format 1"):
            hosted.check("bill")


def test_many_checks_cost_one_read_in_ten_minutes(clock):
    manifests = Manifests("bill")
    hosted = HostedTypes(manifests, clock)
    for _ in range(100):
        hosted.check("bill")
    assert manifests.reads == 1
    clock.wait_until(NOON + timedelta(minutes=10))
    hosted.check("bill")
    assert manifests.reads == 2


def test_a_type_that_a_deploy_adds_is_accepted_within_seconds(clock):
    manifests = Manifests("bill")
    hosted = HostedTypes(manifests, clock)
    hosted.check("bill")
    manifests.types = ("bill", "refund")
    with pytest.raises(UnknownType, match="deploy"):
        hosted.check("refund")
    clock.wait_until(NOON + timedelta(seconds=5))
    hosted.check("refund")


@pytest.mark.parametrize("types", [None, (), ("duetime-sweep",)])
def test_without_the_right_or_an_app_every_type_passes_and_the_read_is_not_repeated(clock, types):
    manifests = Manifests()
    manifests.types = types
    hosted = HostedTypes(manifests, clock)
    hosted.check("bill")
    hosted.check("refund")
    assert manifests.reads == 1


def test_a_type_of_duetimes_own_needs_no_manifest(clock):
    manifests = Manifests("bill")
    HostedTypes(manifests, clock).check("duetime-probe")
    assert manifests.reads == 0


def test_a_caller_with_more_due_shards_than_the_stack_is_rejected_until_a_deploy_raises_them(clock):
    manifests = Manifests("bill", most_due_shards=16)
    HostedTypes(manifests, clock, 16).check("bill")
    hosted = HostedTypes(manifests, clock, 32)
    with pytest.raises(SettingsError, match="due_shards=32, the deployed stack reads 16: set DUETIME_DUE"):
        hosted.check("bill")
    manifests.most_due_shards = 64
    clock.wait_until(NOON + timedelta(seconds=5))
    hosted.check("bill")
