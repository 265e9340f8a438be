"""Direct puts: DynamoDB gets the requests of the client, and the client makes every put that fails."""

from collections import Counter
from contextlib import contextmanager
from datetime import UTC, datetime

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.client import BaseClient
from botocore.config import Config
from botocore.credentials import RefreshableCredentials
from botocore.exceptions import ReadTimeoutError
from botocore.session import Session
from moto.core.botocore_stubber import MockRawResponse

from duetime.aws.direct_puts import direct_puts
from duetime.aws.keys import row_key
from duetime.aws.store import DynamoStore
from duetime.errors import BackendMisconfigured
from duetime.model.action import Status
from duetime.settings import DUE_SHARDS
from duetime_contract.scheduling import LARGE, PayloadContract, SchedulingContract
from duetime_contract.specimens import claim, end, fresh
from tests.dynamodb_local import CREDENTIALS
from tests.emulated.call_lock import CallLock
from tests.emulated.fast_path.requests import FastPath, activate

TWICE = Config(retries={"mode": "standard", "total_max_attempts": 2}, connect_timeout=2)


def direct_store(client, table="duetime-actions"):
    return DynamoStore(client, table, due_shards=DUE_SHARDS, direct=direct_puts(client))


def learned(store):
    """Return the store after a put, now removed, by which the client showed how it signs."""
    first = fresh(store)
    store.put(first)
    store._table.delete(row_key(first.ref))
    return store


@contextmanager
def puts_of(client):
    """Count the puts that the client made, and those that were sent; yield the requests too."""
    counts, requests = Counter(), []

    def made(**_):
        counts["by the client"] += 1

    def sent(request, **_):
        counts["sent"] += 1
        requests.append(request)

    hooks = {"before-parameter-build.dynamodb.PutItem": made, "before-send.dynamodb.PutItem": sent}
    for event, hook in hooks.items():
        client.meta.events.register_first(event, hook)
    yield counts, requests
    for event, hook in hooks.items():
        client.meta.events.unregister(event, hook)


@pytest.fixture(params=["plain_table", pytest.param("local_table", marks=pytest.mark.dynamodb_local)])
def client(request):
    """Return a new client of a table in moto or DynamoDB Local."""
    endpoint = request.getfixturevalue(request.param).client.meta.endpoint_url
    return boto3.client("dynamodb", endpoint_url=endpoint, config=TWICE, **CREDENTIALS)


@pytest.fixture
def patient(plain_table):
    """Return a client of moto that sends a request twice, as a deployment's does up to five times."""
    return boto3.client("dynamodb", config=TWICE, **CREDENTIALS)


@pytest.mark.usefixtures("plain_table")
class TestADirectStore(SchedulingContract, PayloadContract):
    @pytest.fixture
    def store(self, moto_clients):
        return learned(direct_store(moto_clients["dynamodb"]))


def test_a_direct_put_writes_the_row_of_the_client(client):
    store = direct_store(client)
    plain = DynamoStore(client, "duetime-actions", due_shards=DUE_SHARDS)
    first, second, third = (fresh(store, correlation_id="order:7 – ü") for _ in range(3))
    with puts_of(client) as (counts, _):
        store.put(first)
        store.put(second)
        assert counts["by the client"] == 1
        plain.put(third)
        assert counts["by the client"] == 2
    rows = [
        client.get_item(TableName="duetime-actions", Key=row_key(row.ref))["Item"] for row in (second, third)
    ]
    assert [row["sk"]["S"] for row in rows] == [second.id, third.id]
    alike = [{name: row[name] for name in row.keys() - {"pk", "sk", "due_shard"}} for row in rows]
    assert alike[0] == alike[1]
    assert len(alike[0]) == len(rows[0]) - 3


def test_the_service_receives_the_headers_of_the_client(client):
    store = direct_store(client)
    with puts_of(client) as (counts, requests):
        store.put(fresh(store))
        store.put(fresh(store))
    by_client, direct = requests
    assert counts["by the client"] == 1
    assert direct.url == by_client.url
    for name in ("X-Amz-Target", "Content-Type"):
        assert text(direct.headers[name]) == text(by_client.headers[name])
    assert text(by_client.headers["User-Agent"]).startswith(
        text(direct.headers["User-Agent"])
    )  # hooks add to it
    scope = [text(request.headers["Authorization"]).split("Signature")[0] for request in (direct, by_client)]
    assert scope[0].split(",")[0] == scope[1].split(",")[0]


def text(header):
    return header.decode() if isinstance(header, bytes) else header


def test_a_large_payload_is_put_by_the_client_and_its_row_directly(client):
    store = learned(direct_store(client))
    action = fresh(store, payload=LARGE, payload_offloaded=True)
    with puts_of(client) as (counts, _):
        store.put(action)
    assert (counts["by the client"], counts["sent"]) == (1, 2)
    assert store.get(action.ref).payload == LARGE


def test_a_direct_put_that_is_repeated_leaves_a_row_that_ran(client):
    store = learned(direct_store(client))
    action = fresh(store)
    store.put(action)
    run = claim(store, action.ref)
    store.settle(run, end(Status.EXECUTED))
    store.put(action)
    assert store.get(action.ref).status is Status.EXECUTED


@pytest.mark.parametrize("arrives", [False, True], ids=["lost request", "lost response"])
def test_the_client_repeats_a_direct_put_without_a_response(client, arrives):
    store = learned(direct_store(client))
    action, lost = fresh(store), []

    def lose(request, **_):
        if lost:
            return
        lost.append(request)
        if arrives:
            DynamoStore(client, "duetime-actions", due_shards=DUE_SHARDS).put(action)
        raise ReadTimeoutError(endpoint_url=request.url)

    client.meta.events.register_first("before-send.dynamodb.PutItem", lose)
    try:
        store.put(action)
    finally:
        client.meta.events.unregister("before-send.dynamodb.PutItem", lose)
    assert len(lost) == 1
    assert store.get(action.ref) == action


@pytest.mark.parametrize(("code", "status"), [("ThrottlingException", 400), ("InternalServerError", 500)])
def test_the_client_repeats_a_direct_put_that_was_refused_for_a_moment(patient, code, status):
    store = learned(direct_store(patient))
    action = fresh(store)
    with refusing(patient, code, status, times=2) as refused:
        store.put(action)
    assert len(refused) == 2
    assert store.get(action.ref) == action


def test_a_direct_put_that_is_denied_raises_the_error_of_the_client(patient):
    store = learned(direct_store(patient))
    with (
        refusing(patient, "AccessDeniedException", 400, times=5),
        pytest.raises(BackendMisconfigured, match="Give this role"),
    ):
        store.put(fresh(store))


@contextmanager
def refusing(client, code, status, *, times):
    """Answer the next puts with an error of the service."""
    refused = []
    body = f'{{"__type": "com.amazonaws#{code}", "message": "said the service"}}'
    headers = {"content-type": "application/x-amz-json-1.0", "x-amzn-errortype": code}

    def answer(request, **_):
        if len(refused) == times:
            return None
        refused.append(request)
        return AWSResponse(request.url, status, headers, MockRawResponse(body))

    client.meta.events.register_first("before-send.dynamodb.PutItem", answer)
    yield refused
    client.meta.events.unregister("before-send.dynamodb.PutItem", answer)


def test_a_direct_put_has_the_session_token_and_refreshed_credentials(plain_table):
    keys = iter(["first", "second"])

    def refresh():
        key = next(keys)
        return {
            "access_key": key,
            "secret_key": f"secret of {key}",
            "token": f"token of {key}",
            "expiry_time": "2199-01-01T00:00:00Z",
        }

    session = Session()
    session._credentials = RefreshableCredentials.create_from_metadata(refresh(), refresh, "a test")
    client = boto3.Session(botocore_session=session, region_name="us-east-1").client("dynamodb")
    store = learned(direct_store(client))
    with puts_of(client) as (counts, requests):
        store.put(fresh(store))
        session._credentials._expiry_time = datetime(2020, 1, 1, tzinfo=UTC)
        store.put(fresh(store))
    assert counts["by the client"] == 0
    for request, key in zip(requests, ["first", "second"], strict=True):
        assert text(request.headers["X-Amz-Security-Token"]) == f"token of {key}"
        assert f"Credential={key}/" in text(request.headers["Authorization"])


def test_a_tracer_that_replaces_the_client_s_calls_sees_each_put(client, monkeypatch):
    store, seen, call = learned(direct_store(client)), [], BaseClient._make_api_call

    def traced(client, operation, request):
        seen.append(operation)
        return call(client, operation, request)

    store.put(fresh(store))
    monkeypatch.setattr(BaseClient, "_make_api_call", traced)
    store.put(fresh(store))
    store.put(fresh(store))
    assert seen == ["PutItem", "PutItem"]


def test_hooks_around_a_call_see_each_direct_put(client):
    store, seen = learned(direct_store(client)), []

    def before(params, model, **_):
        seen.append((model.name, params["url"], b"duetime-actions" in params["body"]))

    def after(parsed, model, **_):
        seen.append((model.name, parsed["ResponseMetadata"]["HTTPStatusCode"]))

    client.meta.events.register("before-call.dynamodb", before)
    client.meta.events.register("after-call.dynamodb", after)
    try:
        store.put(fresh(store))
    finally:
        client.meta.events.unregister("before-call.dynamodb", before)
        client.meta.events.unregister("after-call.dynamodb", after)
    assert seen == [("PutItem", f"{client.meta.endpoint_url}/", True), ("PutItem", 200)]


def test_stores_over_one_client_share_what_it_has_shown(client):
    learned(direct_store(client))
    store = direct_store(client)
    with puts_of(client) as (counts, _):
        store.put(fresh(store))
    assert (counts["by the client"], counts["sent"]) == (0, 1)


def test_a_client_that_signs_in_another_way_makes_each_put(patient):
    patient.meta.events.register("choose-signer.dynamodb.PutItem", lambda **_: "s3v4")
    store = direct_store(patient)
    with puts_of(patient) as (counts, _):
        store.put(fresh(store))
        store.put(fresh(store))
    assert counts["by the client"] == 2


def test_the_local_cloud_s_fast_path_answers_direct_puts(patient):
    store = learned(direct_store(patient))
    actions = [fresh(store), fresh(store)]
    with activate(FastPath(CallLock())), puts_of(patient) as (counts, requests):
        for action in actions:
            store.put(action)
    assert (counts["by the client"], len(requests)) == (0, 1)  # moto answers the first of a form
    assert [store.get(action.ref) for action in actions] == actions
