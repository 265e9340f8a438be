"""A process shares its clients; two sessions, regions or processes share none."""

import os
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import boto3
import pytest

from duetime import Scheduler
from duetime.aws import clients
from duetime.aws.backends import AwsBackends
from duetime.clock import SystemClock
from duetime.settings import Settings
from duetime.wakeups.pass_parts import LONGEST_CALL
from duetime_faults.calls import TIME_OUTS
from examples.shop import ChargeCard


def test_threads_share_one_client(deployed):
    assert clients.dynamodb() is clients.dynamodb()
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: clients.sqs(), range(16)))
    assert len(set(map(id, made))) == 1


def test_another_configuration_has_another_client(deployed):
    patient, brief = clients.scheduler(), clients.scheduler(clients.BRIEF)
    assert patient is not brief
    assert [client.meta.config.retries["total_max_attempts"] for client in (patient, brief)] == [5, 2]


def longest_call(client):
    """The seconds after which a hanging call of a client fails: all attempts and the pauses between them."""
    config = client.meta.config
    attempts = config.retries["total_max_attempts"]
    pauses = sum(min(2**number, 20) for number in range(attempts - 1))
    return attempts * (config.connect_timeout + config.read_timeout) + pauses


def test_a_pass_that_hangs_in_each_part_ends_in_the_time_of_its_function(deployed):
    passes = AwsBackends(Settings(), SystemClock(), calls=clients.PROMPT)
    longest = longest_call(passes._dynamodb)
    assert longest_call(clients.sqs(clients.PROMPT)) == longest <= LONGEST_CALL.total_seconds()
    assert longest_call(clients.dynamodb()) > TIME_OUTS["sweep"].total_seconds() / 2  # why it has its own


def test_a_publish_whose_counts_hang_ends_before_its_events_are_published_again(deployed):
    counts = 2 * longest_call(clients.dynamodb(clients.PROMPT))
    assert longest_call(clients.events(clients.BRIEF)) + counts < TIME_OUTS["publish"].total_seconds()


def test_a_second_scheduler_makes_no_client(deployed, monkeypatch):
    Scheduler.from_env(tenant_id="acme").schedule(ChargeCard(order="o-17"), at=timedelta(hours=1))
    made = []
    monkeypatch.setattr(boto3.Session, "client", lambda *given, **_: made.append(given))
    found = Scheduler.from_env(tenant_id="acme").list()
    assert len(found.actions) == 1
    assert made == []


@pytest.mark.parametrize("change", ["session", "region", "endpoint", "process"])
def test_a_changed_session_region_endpoint_or_process_has_new_clients(deployed, monkeypatch, change):
    before = clients.dynamodb()
    if change == "session":
        monkeypatch.setattr(boto3, "DEFAULT_SESSION", boto3.Session(region_name="eu-central-1"))
    elif change == "region":
        monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    elif change == "endpoint":
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:4566")
    else:
        monkeypatch.setattr(os, "getpid", lambda: -1)
    after = clients.dynamodb()
    assert after is not before
    is_moved = change in {"session", "region"}
    assert after.meta.region_name == ("eu-central-1" if is_moved else "eu-west-1")
    assert (after.meta.endpoint_url == "http://127.0.0.1:4566") is (change == "endpoint")


def test_without_a_default_session_boto3s_default_is_created(deployed, monkeypatch):
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    made = clients.events()
    assert boto3.DEFAULT_SESSION is not None
    assert clients.events() is made
