import json
import logging
import sys
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import import_module
from pathlib import Path

import boto3
import pytest

from duetime import Scheduler
from tests.quick_moto import fast_path

EVENTS = Path(__file__).parents[2] / "events"


def sample(name):
    """Return a sample event of `events/`."""
    return json.loads((EVENTS / f"{name}.json").read_text())


class Context:
    """The context that Lambda passes with an event."""

    function_name = "test"
    aws_request_id = "9b1f"

    @staticmethod
    def get_remaining_time_in_millis():
        return 900_000


@pytest.fixture(autouse=True)
def quick_tables():
    """Answer DynamoDB's requests without moto's own road: a deploy makes hundreds."""
    with fast_path():
        yield


@pytest.fixture
def function(deployed):
    """Load an entry point as a fresh module, because Lambda loads it in a fresh process."""
    loaded = []

    def load(name):
        module = f"functions.{name}"
        sys.modules.pop(module, None)
        loaded.append(module)
        return import_module(module).handler

    yield load
    for module in loaded:
        sys.modules.pop(module, None)
    _reset_logs()


def _reset_logs():
    """Reset the logs that an entry point set up, for the next test."""
    root = logging.getLogger("duetime")
    root.handlers, root.propagate = [], True
    root.setLevel(logging.NOTSET)


@pytest.fixture
def answers():
    """Return a response URL of CloudFormation, and the bodies that were put to it."""
    caught = []

    class Catch(BaseHTTPRequestHandler):
        def do_PUT(self):
            caught.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_about):
            """Write no log."""

    server = HTTPServer(("127.0.0.1", 0), Catch)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/answer", caught
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def with_jobs(deployed, monkeypatch):
    """Return the deployment with the resources that jobs and notifications need beside the tables."""
    sqs, scheduler = boto3.client("sqs"), boto3.client("scheduler")
    scheduler.create_schedule_group(Name=deployed.made.job_group)
    system = sqs.create_queue(QueueName="duetime-due-system")["QueueUrl"]
    settings = replace(
        deployed,
        made=replace(
            deployed.made,
            queues={**deployed.made.queues, "system": system},
            notification_queue=sqs.create_queue(QueueName="duetime-notifications")["QueueUrl"],
        ),
        topic_arn=boto3.client("sns").create_topic(Name="duetime-notifications")["TopicArn"],
    )
    for name, value in settings.to_env().items():
        monkeypatch.setenv(name, value)
    return settings


@pytest.fixture
def deploy(function, with_jobs, answers):
    """Call the deploy function as CloudFormation does; return its answer."""
    address, caught = answers

    def call(request="Update", sampled="deploy-jobs", **about):
        event = sample(sampled) | {"RequestType": request, "ResponseURL": address}
        event["ResourceProperties"] |= about
        function("deploy")(event, Context())
        answer = caught.pop()
        assert len(answer) <= 4_096
        return json.loads(answer)

    return call


@pytest.fixture
def jobs(with_jobs):
    """Return the jobs as an operator sees them."""
    return Scheduler.from_env(tenant_id="acme", actor="ann").jobs


@pytest.fixture
def queued(deployed):
    """Return the bodies of the messages that are visible now."""

    def bodies():
        queue = {"QueueUrl": deployed.made.queues["default"], "MaxNumberOfMessages": 10}
        return [
            json.loads(message["Body"])
            for message in boto3.client("sqs").receive_message(**queue).get("Messages", [])
        ]

    return bodies
