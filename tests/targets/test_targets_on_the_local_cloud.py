"""Targets on the local cloud and embedded, in real time; one cloud for all kinds that moto emulates."""

import json
from datetime import timedelta
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import boto3
import pytest

from duetime import App
from duetime.cli import main
from duetime.clock import SystemClock
from duetime.local import LocalCloud, LocalOptions
from duetime.targets import (
    EventBridgeEvent,
    LambdaInvocation,
    SnsMessage,
    SqsMessage,
    Webhook,
    WebhookHost,
    with_targets,
)

ARN = "arn:aws:{}:us-east-1:123456789012:{}"
NOW = timedelta(0)


def make_resources():
    sqs, sns, events = boto3.client("sqs"), boto3.client("sns"), boto3.client("events")
    sqs.create_queue(QueueName="orders")
    topic = sns.create_topic(Name="news")["TopicArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=ARN.format("sqs", "orders"))
    events.create_event_bus(Name="shop")
    events.put_rule(Name="all", EventBusName="shop", EventPattern=json.dumps({"source": ["acme"]}))
    events.put_targets(
        Rule="all", EventBusName="shop", Targets=[{"Id": "1", "Arn": ARN.format("sqs", "orders")}]
    )
    role = boto3.client("iam").create_role(RoleName="resize", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    boto3.client("lambda").create_function(
        FunctionName="resize", Runtime="python3.13", Role=role, Handler="a.b", Code={"ZipFile": b"-"}
    )


def ended(scheduler, actions):
    """Wait until all actions are final; return their statuses."""
    clock, left = SystemClock(), 600
    while left and any(scheduler.get(action.id).status in {"pending", "processing"} for action in actions):
        clock.wait_until(clock.now() + timedelta(seconds=0.05))
        left -= 1
    return [str(scheduler.get(action.id).status.value) for action in actions]


def test_all_kinds_reach_the_local_cloud(receiver):
    granted = [
        ARN.format("sqs", "orders"),
        ARN.format("sns", "news"),
        ARN.format("events", "event-bus/shop"),
        ARN.format("lambda", "function:resize"),
        WebhookHost(host="hooks.acme.example", deliver_to=receiver.url),
    ]
    payloads = [
        SqsMessage(queue="orders", body="plain"),
        SnsMessage(topic="news", message="news"),
        EventBridgeEvent(bus="shop", source="acme", detail_type="due"),
        LambdaInvocation(function="resize", payload={}),
        Webhook(url="https://hooks.acme.example/in", body={"order": 17}),
    ]
    with LocalCloud(with_targets(App(), granted), LocalOptions(setup=make_resources)) as cloud:
        scheduler = cloud.scheduler()
        actions = [scheduler.schedule(payload, at=NOW) for payload in payloads]
        assert ended(scheduler, actions) == ["executed"] * 5
        refused = rejected(cloud.url, "https://169.254.169.254/latest/meta-data")
        sqs = boto3.client("sqs")
        url = sqs.get_queue_url(QueueName="orders")["QueueUrl"]
        found = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    bodies = {message["Body"] for message in found}
    assert "plain" in bodies
    others = [json.loads(body) for body in bodies - {"plain"}]
    assert {body.get("Message", body.get("detail-type")) for body in others} == {"news", "due"}
    assert receiver.bodies == [{"order": 17}]
    assert "allowed is a public host name" in refused


def rejected(url, target):
    """Return the API's problem with a webhook."""
    body = {"type": "target-webhook", "payload": {"url": target, "body": 1}, "in": 60}
    request = Request(  # noqa: S310 - of this machine
        f"{url}/api/v1/actions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with pytest.raises(HTTPError) as error:
        urlopen(request)  # noqa: S310 - as above
    assert error.value.code in {400, 422}
    return error.value.read().decode()


def test_a_webhook_is_sent_by_an_embedded_scheduler(receiver):
    app = with_targets(App(), [f"https://hooks.acme.example,deliver_to={receiver.url}"])
    with app.embedded() as scheduler:
        action = scheduler.schedule(Webhook(url="https://hooks.acme.example/", body=1), at=NOW)
        assert ended(scheduler, [action]) == ["executed"]
    assert receiver.bodies == [1]


def test_the_command_rejects_a_target_that_is_none(capsys):
    assert main(["local", "--app", "examples.billing:app", "--target", "https://localhost"]) == 2
    assert "cannot be granted" in capsys.readouterr().err
