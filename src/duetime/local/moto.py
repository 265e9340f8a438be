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
from threading import Event, Thread
from typing import Any
from urllib.request import Request, urlopen

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request as Sent
from werkzeug.wrappers import Response

from duetime.aws import clients, tables
from duetime.aws.backends import AwsBackends
from duetime.aws.keys import is_batch, ref_of
from duetime.aws.streams import subject_of
from duetime.errors import UnreadableRow
from duetime.local.addresses import HOST
from duetime.local.steps import LocalSteps
from duetime.model.batch import BatchRef
from duetime.model.change import Change
from duetime.ports.wakeups import Delivery
from duetime.settings import Settings

log = logging.getLogger(__name__)

_LOOK = 0.05
"""Seconds between two reads of the streams."""


class _Quiet(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002 - werkzeug's own name
        """Log nothing: the runs are what counts."""


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


class MotoSteps(LocalSteps):
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
        self._written, self._is_closed = deque[Mapping[str, Any]](), Event()
        for _, name in shapes:
            Thread(target=self._follow, args=(name,), name="duetime-stream", daemon=True).start()

    def _follow(self, table: str) -> None:
        streams = clients.dynamodb_streams()
        arn = streams.list_streams(TableName=table)["Streams"][0]["StreamArn"]
        shard = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
        mark = streams.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON")
        iterator = mark["ShardIterator"]
        while not self._is_closed.wait(_LOOK):
            try:
                page = streams.get_records(ShardIterator=iterator)
            except Exception:  # the next look may succeed
                log.debug("the stream of %s was not read", table, exc_info=True)
                continue
            iterator = page["NextShardIterator"]
            if page["Records"]:
                self._written.extend(record["dynamodb"] for record in page["Records"])
                self._wake()

    def turn(self) -> Delivery | None:
        """Read first what the streams have brought."""
        while self._written:
            self._take(self._written.popleft())
        return super().turn()

    def _take(self, images: Mapping[str, Any]) -> None:
        new = images.get("NewImage", {})
        if new and is_batch(new):
            ref = ref_of(new)
            self._batch_written(BatchRef(ref.tenant_id, ref.id))
            return
        try:
            fact = subject_of(images)
        except UnreadableRow:
            log.debug("an item is unreadable", exc_info=True)  # moto's record of a new item's keys
            return
        if isinstance(fact, Change):
            self._changed(fact)
        elif fact is not None:
            self._record_fact(fact)

    def use_due_shards(self, number: int) -> None:
        """Do nothing: the tables' number stays."""

    def remove_expired(self, now: datetime) -> None:
        """Leave what has expired to moto, which keeps it."""

    def next_sweep_at(self) -> datetime | None:
        """Leave none out: another process may have written."""
        return self.sweep_at

    def close(self) -> None:
        """End the reads of the streams."""
        self._is_closed.set()
        super().close()
