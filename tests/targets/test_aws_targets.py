"""Messages, events and invocations reach what is granted, over moto, and nothing else."""

import json
from datetime import timedelta
from io import BytesIO

import boto3
import pytest
from botocore.response import StreamingBody
from botocore.stub import Stubber

from duetime import App, Payload, Scheduler
from duetime.aws import clients
from duetime.aws.target_calls import AwsTargetCalls
from duetime.clock import SystemClock
from duetime.errors import (
    BackendMisconfigured,
    BackendUnavailable,
    DeclarationError,
    InvalidPayload,
    UnknownType,
)
from duetime.lambdas.deploy import Rollout
from duetime.model.built_in import TARGETS
from duetime.settings import Settings
from duetime.targets import (
    EventBridgeEvent,
    LambdaInvocation,
    SnsMessage,
    SqsMessage,
    TargetGrant,
    with_targets,
)
from duetime.targets.grants import Grants
from duetime.targets.handlers import target_app
from duetime.testing import SimulatedCloud, create_tables

ACCOUNT = "arn:aws:{}:eu-west-1:123456789012:{}"


def queue(name, **attributes):
    url = boto3.client("sqs").create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
    return url, ACCOUNT.format("sqs", name)


def received(url):
    answer = boto3.client("sqs").receive_message(
        QueueUrl=url, MessageAttributeNames=["All"], AttributeNames=["All"], MaxNumberOfMessages=10
    )
    return answer.get("Messages", [])


def cloud_with(*targets):
    return SimulatedCloud(with_targets(App(), targets))


def ended(cloud, payload):
    """Schedule a payload, let an hour pass, and return its action."""
    action = cloud.scheduler.schedule(payload, at=timedelta(0))
    cloud.advance(hours=1)
    return cloud.scheduler.get(action.id)


@pytest.mark.parametrize("named_by", ["name", "url", "arn"])
def test_a_message_reaches_its_queue_with_the_id_of_the_action(mocked_aws, named_by):
    url, arn = queue("orders")
    cloud = cloud_with(arn)
    names = {"name": "orders", "url": url, "arn": arn}
    message = SqsMessage(queue=names[named_by], body={"order": 17}, attributes={"kind": "reminder"})
    action = cloud.scheduler.schedule(message, at=timedelta(days=3))
    assert not received(url)
    cloud.advance(days=3)
    [found] = received(url)
    assert json.loads(found["Body"]) == {"order": 17}
    attributes = {name: value["StringValue"] for name, value in found["MessageAttributes"].items()}
    assert attributes == {"kind": "reminder", "duetime-action": action.id}
    assert cloud.scheduler.get(action.id).status == "executed"


def test_a_fifo_queue_drops_a_message_that_is_sent_again(mocked_aws):
    url, arn = queue("orders.fifo", FifoQueue="true")
    for _ in range(2):  # as by a run that another one took over
        AwsTargetCalls().send_message(arn, "remind", {}, "order-17", "the-action")
    [found] = received(url)
    assert found["Attributes"]["MessageDeduplicationId"] == "the-action"
    assert found["Attributes"]["MessageGroupId"] == "order-17"


def test_a_topic_publishes_to_its_subscribers(mocked_aws):
    url, queue_arn = queue("inbox")
    sns = boto3.client("sns")
    topic = sns.create_topic(Name="news")["TopicArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=queue_arn)
    assert (
        ended(cloud_with(topic), SnsMessage(topic="news", message="hello", subject="news")).status
        == "executed"
    )
    [found] = received(url)
    assert json.loads(found["Body"])["Message"] == "hello"


def test_an_event_reaches_the_rules_of_its_bus_with_its_action_and_depth(mocked_aws):
    events, (url, queue_arn) = boto3.client("events"), queue("inbox")
    bus = events.create_event_bus(Name="shop")["EventBusArn"]
    events.put_rule(Name="all", EventBusName="shop", EventPattern=json.dumps({"source": ["acme.shop"]}))
    events.put_targets(Rule="all", EventBusName="shop", Targets=[{"Id": "1", "Arn": queue_arn}])
    event = EventBridgeEvent(bus="shop", source="acme.shop", detail_type="order.due", detail={"order": 17})
    action = ended(cloud_with(bus), event)
    [found] = received(url)
    body = json.loads(found["Body"])
    assert body["detail-type"] == "order.due"
    assert body["detail"] == {"order": 17, "duetime_action": action.id, "duetime_depth": 0}


FUNCTION = ACCOUNT.format("lambda", "function:resize")


@pytest.fixture
def stubbed_lambda(mocked_aws, monkeypatch):
    """The client of Lambda; requests and responses are held against the SDK's model of the service."""
    client = boto3.client("lambda")
    monkeypatch.setattr(clients, "functions", lambda *_: client)
    with Stubber(client) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


def response(**fields):
    payload = StreamingBody(BytesIO(json.dumps(fields).encode()), None)
    return {"StatusCode": 200, "Payload": payload, **({"FunctionError": "Unhandled"} if fields else {})}


def test_a_function_is_invoked_asynchronously(stubbed_lambda):
    expected = {"FunctionName": FUNCTION, "InvocationType": "Event", "Payload": b'{"image": 3}'}
    stubbed_lambda.add_response("invoke", {"StatusCode": 202}, expected)
    action = ended(cloud_with(FUNCTION), LambdaInvocation(function="resize", payload={"image": 3}))
    assert action.status == "executed"


def test_an_error_that_is_waited_for_fails_the_attempt_and_the_next_one_succeeds(stubbed_lambda):
    expected = {"FunctionName": FUNCTION, "InvocationType": "RequestResponse", "Payload": b"null"}
    failure = response(errorType="KeyError", errorMessage="'image'")
    stubbed_lambda.add_response("invoke", failure, expected)
    stubbed_lambda.add_response("invoke", response(), expected)
    action = ended(cloud_with(FUNCTION), LambdaInvocation(function="resize", wait=True))
    assert (action.status, action.attempt) == ("executed", 2)
    assert action.attempts[0].message == "TargetFailed: KeyError: 'image'"


def test_an_attempt_at_a_missing_resource_is_final(mocked_aws):
    cloud = cloud_with(ACCOUNT.format("sqs", "gone"))
    action = ended(cloud, SqsMessage(queue="gone", body=""))
    assert (action.status, action.attempt) == ("failed", 1)
    assert "NonExistentQueue" in action.attempts[-1].message


@pytest.mark.parametrize(
    ("code", "status", "raised"),
    [
        ("InvalidMessageContents", 400, BackendMisconfigured),
        ("AccessDenied", 403, BackendUnavailable),  # IAM may still distribute a new right
        ("RequestThrottled", 400, BackendUnavailable),
        ("TooManyRequestsException", 429, BackendUnavailable),
        ("ServiceUnavailable", 503, BackendUnavailable),
    ],
)
def test_only_what_a_repeat_can_change_is_repeated(mocked_aws, monkeypatch, code, status, raised):
    _, arn = queue("orders")
    client = boto3.client("sqs")
    monkeypatch.setattr(clients, "sqs", lambda: client)
    with Stubber(client) as stubber:
        stubber.add_response("get_queue_url", {"QueueUrl": "https://queue"})
        stubber.add_client_error("send_message", code, http_status_code=status)
        with pytest.raises(raised):
            AwsTargetCalls().send_message(arn, "", {}, None, "key")


def test_what_is_not_granted_is_never_reached(mocked_aws):
    url, _ = queue("salaries")
    _, granted = queue("orders")
    action = ended(cloud_with(granted), SqsMessage(queue="salaries", body="x"))
    assert (action.status, action.attempt) == ("failed", 1)
    assert "granted are: " + granted in action.attempts[-1].message
    assert not received(url)


def test_a_target_of_one_tenant_is_not_reached_by_another(mocked_aws):
    url, arn = queue("orders")
    cloud = cloud_with(TargetGrant(arn=arn, tenants=("acme",)))
    theirs = cloud.scheduler_for("globex").schedule(SqsMessage(queue="orders", body="x"), at=timedelta(0))
    ours = cloud.scheduler_for("acme").schedule(SqsMessage(queue="orders", body="y"), at=timedelta(0))
    cloud.advance(hours=1)
    assert cloud.scheduler_for("globex").get(theirs.id).status == "failed"
    assert cloud.scheduler_for("acme").get(ours.id).status == "executed"
    assert [message["Body"] for message in received(url)] == ["y"]


def test_a_name_of_two_granted_resources_needs_the_arn(mocked_aws):
    _, here = queue("orders")
    cloud = cloud_with(here, here.replace("eu-west-1", "us-east-1"))
    action = ended(cloud, SqsMessage(queue="orders", body=""))
    assert "names 2 granted targets; use an ARN" in action.attempts[-1].message
    assert ended(cloud, SqsMessage(queue=here, body="")).status == "executed"


@pytest.mark.parametrize(
    "granted", ["orders", "arn:aws:s3:::bucket", "http://hooks.acme.example", "arn:aws:sqs"]
)
def test_a_grant_of_anything_else_is_rejected(granted):
    with pytest.raises(DeclarationError, match="allowed is the ARN of a queue, a topic, an event bus"):
        with_targets(App(), [granted])


@pytest.mark.parametrize(
    ("payload", "values", "problem"),
    [
        (
            SqsMessage,
            {"queue": "q", "body": "", "attributes": {"duetime-action": "x"}},
            "choose another name",
        ),
        (SqsMessage, {"queue": "q", "body": "", "attributes": dict.fromkeys("abcdefghij", "x")}, "at most 9"),
        (EventBridgeEvent, {"source": "aws.ec2", "detail_type": "x"}, "choose another source"),
    ],
)
def test_a_bad_payload_is_rejected_when_it_is_scheduled(payload, values, problem):
    with pytest.raises(InvalidPayload, match=problem):
        payload.from_json(json.dumps(values))


def test_the_apps_own_handlers_stay_and_the_app_itself_is_unchanged():
    app = App()
    hosting = with_targets(app, [ACCOUNT.format("sqs", "orders")])
    assert not app.handlers
    assert set(hosting.handlers) == {"target-sqs-message"}
    assert with_targets(app, []) is app


class Payment(Payload):
    order: int


def pay(payload: Payment) -> None: ...


class OwnWebhook(Payload, name="target-webhook"):
    url: str


def test_an_app_has_no_type_of_a_targets_name():
    def mine(payload: OwnWebhook) -> None: ...

    with pytest.raises(DeclarationError, match="which is a target's; choose another name"):
        App().action(mine)
    assert {handler.name for handler in target_app(Grants()).handlers.values()} == TARGETS


def test_a_kind_that_no_stack_grants_is_rejected_when_it_is_scheduled(mocked_aws):
    client = boto3.client("dynamodb")
    create_tables(client)
    settings = Settings()
    app = App()
    app.action(pay)
    Rollout(settings, SystemClock()).publish(app.manifest)
    scheduler = Scheduler.from_env()
    with pytest.raises(UnknownType, match=r"grant the target in the stack: scheduler.grant_target"):
        scheduler.schedule(SqsMessage(queue="orders", body=""), at=timedelta(0))


def test_the_worker_of_a_stack_hosts_the_granted_kinds_alone():
    grants = Grants.of_all([ACCOUNT.format("sns", "news")])
    assert set(target_app(Grants.from_json(grants.to_json())).handlers) == {"target-sns-message"}
    assert set(target_app(Grants()).handlers) == TARGETS
