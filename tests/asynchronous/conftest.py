"""An emulator of DynamoDB that serves HTTP, since moto's own interception does not know asyncio."""

import threading

import boto3
import pytest
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

from duetime.aws.tables import ACTIONS, JOBS, create_table_request
from tests.dynamodb_local import CREDENTIALS

TABLES = {"duetime-actions": ACTIONS, "duetime-jobs": JOBS}


class Silent(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay open, as AWS keeps them

    def log_request(self, *_about):
        pass


@pytest.fixture(scope="session")
def endpoint():
    """The URL of moto as a server. It answers one request at a time, since its writes are not atomic."""
    application, lock = DomainDispatcherApplication(create_backend_app), threading.Lock()

    def one_at_a_time(environ, start_response):
        with lock:
            return list(application(environ, start_response))

    server = make_server("127.0.0.1", 0, one_at_a_time, threaded=True, request_handler=Silent)
    serving = threading.Thread(target=server.serve_forever, daemon=True)
    serving.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    serving.join()


@pytest.fixture(scope="session")
def session_client(endpoint):
    return boto3.client("dynamodb", endpoint_url=endpoint, **CREDENTIALS)


@pytest.fixture
def dynamodb(endpoint, session_client, monkeypatch):
    """A synchronous client of empty tables; the environment leads to them."""
    for name, value in {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",
    }.items():
        monkeypatch.setenv(name, value)
    for name, shape in TABLES.items():
        session_client.create_table(**create_table_request(shape, name))
    yield session_client
    for name in TABLES:
        session_client.delete_table(TableName=name)
