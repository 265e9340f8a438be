"""ministack as a process of the tests' own: on 127.0.0.1 only, on a port chosen by the kernel, gone afterwards."""

import contextlib
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

PROGRAM = Path(__file__).with_name("mended_ministack.py")
ACCOUNT, REGION = "000000000000", "us-east-1"
STARTS_WITHIN, ASK_EVERY = 60, 0.2
"""Seconds."""


@contextlib.contextmanager
def running(directory: Path) -> Iterator[str]:
    """The endpoint of an emulator that is up and empty; its log and its functions' code are in `directory`."""
    port = _free_port()
    with (directory / "ministack.log").open("wb") as log:
        server = subprocess.Popen(  # noqa: S603 - every argument is from this file
            [sys.executable, str(PROGRAM)],
            env=_environment(port, directory),
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            endpoint = f"http://127.0.0.1:{port}"
            _wait_until_it_answers(server, port)
            yield endpoint
        finally:
            server.terminate()
            server.wait(timeout=20)


def _environment(port: int, directory: Path) -> Mapping[str, str]:
    """Nothing of the caller's own: the functions inherit this, and must find what Lambda would give them."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(directory),
        "TMPDIR": str(directory),
        "BIND_HOST": "127.0.0.1",
        "MINISTACK_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "SFTP_ENABLED": "0",
        "IOT_MTLS_ENABLED": "0",
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_it_answers(server: subprocess.Popen, port: int) -> None:
    pause = threading.Event()
    for _ in range(int(STARTS_WITHIN / ASK_EVERY)):
        assert server.poll() is None, "ministack ended; see its log"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        pause.wait(ASK_EVERY)
    raise TimeoutError(f"ministack did not answer within {STARTS_WITHIN} s")
