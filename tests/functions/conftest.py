import json
import logging
import sys
from importlib import import_module
from pathlib import Path

import boto3
import pytest

EVENTS = Path(__file__).parents[2] / "events"


def sample(name):
    """One of the events that the documentation shows."""
    return json.loads((EVENTS / f"{name}.json").read_text())


class Context:
    """What Lambda hands a function besides its event."""

    function_name = "test"
    aws_request_id = "9b1f"

    @staticmethod
    def get_remaining_time_in_millis():
        return 60_000


@pytest.fixture
def function(deployed):
    """Load an entry point as Lambda does: in a fresh process, so here as a fresh module."""
    loaded = []

    def load(name):
        module = f"functions.{name}"
        sys.modules.pop(module, None)
        loaded.append(module)
        return import_module(module).handler

    yield load
    for module in loaded:
        sys.modules.pop(module, None)
    _quiet_again()


def _quiet_again():
    """An entry point sets up its process' logs; the next test must not inherit them."""
    root = logging.getLogger("duetime")
    root.handlers, root.propagate = [], True
    root.setLevel(logging.NOTSET)


@pytest.fixture
def queued(deployed):
    """The bodies of the messages that may be received now."""

    def bodies():
        queue = {"QueueUrl": deployed.queues["default"], "MaxNumberOfMessages": 10}
        return [
            json.loads(each["Body"])
            for each in boto3.client("sqs").receive_message(**queue).get("Messages", [])
        ]

    return bodies
