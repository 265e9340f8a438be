"""What AWS refuses reaches the caller in duetime's words: whether to try again, and what would cure it."""

import json
import socket
from datetime import UTC, datetime

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from moto.core.botocore_stubber import MockRawResponse

from duetime import Scheduler
from duetime.aws.keyed_items import DynamoItems
from duetime.aws.queues import SqsQueues
from duetime.aws.store import DynamoStore
from duetime.aws.timers import EventBridgeTimers
from duetime.errors import BackendMisconfigured, BackendUnavailable
from duetime.memory.store import MemoryStore
from duetime.model.action import Status
from duetime.ports.wakeups import Bookmarks, Send
from duetime.settings import DUE_SHARDS, Made, Settings
from duetime_contract.specimens import (
    ACME,
    CALLER,
    EXPIRY,
    NOON,
    end,
    fresh,
    running,
    scheduled,
    terms,
)
from duetime_contract.wakes import message
from tests.cases import for_each
from tests.contract.rules.tracebacks import FIRST
from tests.dynamodb_local import CREDENTIALS

ONCE = Config(retries={"total_max_attempts": 1}, connect_timeout=1)
PASSING = [
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ThrottlingException",
    "InternalServerError",
    "TransactionConflictException",
]
LASTING = {
    "AccessDeniedException": "Give this role",
    "ExpiredTokenException": "Renew the credentials",
    "ResourceNotFoundException": "DUETIME_PREFIX",
    "UnrecognizedClientException": "Check the credentials",
    "ValidationException": "a repeat does not help",
}
CALLS = {
    "put": lambda store, action: store.put(action),
    "put_many": lambda store, action: store.put_many([action, fresh(store)]),
    "get": lambda store, action: store.get(action.ref),
    "get_rows": lambda store, action: store.get_rows([action.ref]),
    "claim": lambda store, action: store.claim(action, terms()),
    "cancel": lambda store, action: store.cancel(action, by=CALLER, at=NOON, kept_until=EXPIRY),
    "of_tenant": lambda store, _action: store.of_tenant(ACME, limit=5, cursor=None),
    "by_correlation": lambda store, _action: store.by_correlation(ACME, "x", limit=5, cursor=None),
    "failed": lambda store, _action: store.failed([ACME], limit=5, cursor=None),
    "in_due_order": lambda store, _action: store.in_due_order(
        ACME, after=None, until=None, limit=5, cursor=None
    ),
    "due": lambda store, _action: store.due("0", after=None, until=NOON, limit=5, cursor=None),
    "put_traceback": lambda store, action: store.put_traceback(action.ref, FIRST, EXPIRY),
    "tracebacks": lambda store, action: store.tracebacks(action.ref),
    "remove_payload": lambda store, action: store.remove_payload(action.ref),
}


def refusing(service, code):
    """A real client to which the service answers every request with that error."""
    client = boto3.client(service, config=ONCE, **CREDENTIALS)
    body = {"__type": f"com.amazonaws#{code}", "message": "said the service"}
    headers = {"content-type": "application/x-amz-json-1.0", "x-amzn-errortype": code}

    def answer(request, **_rest):
        return AWSResponse(request.url, 400, headers, MockRawResponse(json.dumps(body)))

    client.meta.events.register("before-send", answer)
    return client


def over(client):
    return DynamoStore(client, "duetime-actions", due_shards=DUE_SHARDS)


@for_each("call", CALLS.values())
@for_each("code", PASSING)
def test_a_temporary_fault_is_unavailable(code, call):
    store = over(refusing("dynamodb", code))
    with pytest.raises(BackendUnavailable, match=f"DynamoDB is not available: .*{code}.*said the service"):
        call(store, fresh(store))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(("code", "cure"), LASTING.items(), ids=LASTING)
def test_a_permanent_fault_has_a_remedy(code, cure, call):
    store = over(refusing("dynamodb", code))
    with pytest.raises(BackendMisconfigured, match=f"DynamoDB refuses: .*{code}.*{cure}"):
        call(store, fresh(store))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_error_of_a_missing_table_names_the_settings_to_check(table, call):
    store = DynamoStore(table.client, "no-such-table", due_shards=DUE_SHARDS)
    with pytest.raises(BackendMisconfigured, match="DUETIME_PREFIX"):
        call(store, fresh(store))


def test_a_throttled_heartbeat_or_settle_is_unavailable():
    claimed = running(MemoryStore())
    throttled = over(refusing("dynamodb", "ThrottlingException"))
    with pytest.raises(BackendUnavailable):
        throttled.renew(claimed, NOON)
    with pytest.raises(BackendUnavailable):
        throttled.settle(claimed, end(Status.EXECUTED))


def test_a_service_that_is_not_there_is_unavailable():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{closed.getsockname()[1]}"
        store = over(boto3.client("dynamodb", endpoint_url=endpoint, config=ONCE, **CREDENTIALS))
        with pytest.raises(BackendUnavailable, match="Could not connect"):
            store.put(fresh(store))


def test_an_error_names_missing_credentials(monkeypatch, tmp_path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    store = over(boto3.Session(region_name="eu-west-1").client("dynamodb", config=ONCE))
    with pytest.raises(BackendMisconfigured, match="Give the process credentials"):
        store.put(fresh(store))


def test_a_scheduler_without_a_region_fails_when_it_is_made(monkeypatch, tmp_path):
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    with pytest.raises(BackendMisconfigured, match="Give the process AWS_DEFAULT_REGION"):
        Scheduler.from_env(tenant_id="acme", actor="checkout")


@pytest.mark.parametrize("code", ["ThrottlingException", "ResourceNotFoundException", "ValidationException"])
def test_a_timer_that_cannot_be_set_is_unavailable_whatever_the_reason(code):
    timers = EventBridgeTimers(
        refusing("scheduler", code), Settings(made=Made(dispatch_arn="arn:x", timer_role_arn="arn:y"))
    )
    with pytest.raises(BackendUnavailable, match="EventBridge Scheduler"):
        timers.set(message(), datetime(2030, 1, 1, tzinfo=UTC))


def test_a_throttled_queue_is_unavailable():
    queues = SqsQueues(refusing("sqs", "ThrottlingException"), {"default": "https://sqs/default"})
    with pytest.raises(BackendUnavailable, match="SQS"):
        queues.send([Send("default", message(), 0)])


def test_the_error_of_bookmarks_in_a_missing_table_names_the_settings_to_check(table):
    with pytest.raises(BackendMisconfigured, match="DUETIME_PREFIX"):
        Bookmarks(DynamoItems(table.client, "no-such-table")).read("sweep")


def test_a_condition_that_did_not_hold_is_no_fault(table):
    action = scheduled(table.store())
    table.store().put(action)
    assert table.store().get(action.ref) == action
