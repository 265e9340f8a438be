"""The steps over moto, unmodified, for handlers with tables, queues and topics of their own.

moto serves one call at a time, for it checks a condition and writes in two steps. The steps follow the
tables' streams, as on AWS; messages and timers are in memory.
"""

from __future__ import annotations

import json
import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import datetime
from http.client import HTTPConnection
from threading import Thread
from typing import Any
from urllib.request import Request, urlopen

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request as Sent
from werkzeug.wrappers import Response

from duetime.aws import clients, tables
from duetime.aws.backends import AwsBackends
from duetime.local.environment import HOST
from duetime.local.steps import LocalSteps
from duetime.settings import Settings
from duetime.sqlite.cloud import StreamedCloud

log = logging.getLogger(__name__)

_LOOK = 0.05
"""Seconds between two reads of the streams."""


class _Quiet(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002 - werkzeug's own name
        """Log no requests: the terminal shows the runs."""


@contextmanager
def moto_server() -> Iterator[str]:
    """Serve moto within the block; return its URL."""
    server = make_server(
        HOST,
        0,
        DomainDispatcherApplication(create_backend_app),
        request_handler=_Quiet,  # one thread
    )
    thread = Thread(target=server.serve_forever, args=(0.1,), name="duetime-moto", daemon=True)
    thread.start()
    url = f"http://{HOST}:{server.server_port}"
    try:
        _post(url, "config", {service: {"use_docker": False} for service in ("lambda", "batch")})
        yield url
    finally:
        _post(url, "reset", {})
        server.shutdown()
        thread.join()
        server.server_close()


def forwarder(url: str) -> Callable[[Sent], Response]:
    """Return a function that has moto answer a request of another process."""

    def forward(sent: Sent) -> Response:
        connection = HTTPConnection(url.removeprefix("http://"))
        with closing(connection):
            connection.request(sent.method, sent.full_path, sent.get_data(), dict(sent.headers))
            answer = connection.getresponse()
            return Response(answer.read(), answer.status, dict(answer.getheaders()))

    return forward


def _post(url: str, operation: str, body: Mapping[str, Any]) -> None:
    request = Request(  # noqa: S310 - it is this process's
        f"{url}/moto-api/{operation}", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    urlopen(request).close()  # noqa: S310 - as above


class MotoSteps(LocalSteps, StreamedCloud):
    """The steps over the tables on moto."""

    def open_tables(self, settings: Settings) -> None:
        """See `InProcessCloud`, here and below."""
        shapes = (
            (tables.actions_shape(due_order=settings.due_order), settings.made.actions_table),
            (tables.JOBS, settings.made.jobs_table),
        )
        for shape, name in shapes:
            clients.dynamodb().create_table(**tables.create_table_request(shape, name))
        backends = AwsBackends(settings, self.clock)
        self.store, self.job_store, self.items = backends.store, backends.jobs, backends.items
        self._changes = deque[Mapping[str, Any]]()
        for _, name in shapes:
            self.watch(_Stream(name, self._changes), _LOOK)

    def take_changes(self) -> Iterator[Mapping[str, Any]]:
        """See `StreamedCloud`."""
        while self._changes:
            yield self._changes.popleft()

    def remove_expired(self, now: datetime) -> None:
        """Leave what has expired to moto, which keeps it."""


class _Stream:
    """The stream of a table, from its beginning, into `changes`."""

    def __init__(self, table: str, changes: deque[Mapping[str, Any]]) -> None:
        self._client, self._changes = clients.dynamodb_streams(), changes
        arn = self._client.list_streams(TableName=table)["Streams"][0]["StreamArn"]
        shard = self._client.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
        self._iterator = self._client.get_shard_iterator(
            StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]

    def __call__(self) -> bool:
        """Read on; return whether there was something."""
        page = self._client.get_records(ShardIterator=self._iterator)
        self._iterator = page["NextShardIterator"]
        found = [record["dynamodb"] for record in page["Records"]]
        # moto creates an item in two steps, and the record of the first has the keys alone.
        self._changes.extend(
            images for images in found if images["Keys"].keys() != images.get("NewImage", {}).keys()
        )
        return bool(found)
