"""ministack as a process, on 127.0.0.1 only; it ends with its block."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from duetime.errors import OperationFailed

PROGRAM = ("-m", "duetime.rehearsal.corrections")
ACCOUNT, REGION = "000000000000", "us-east-1"
LOG = "ministack.log"
_STARTS_WITHIN, _LOOK_EVERY = 60, 0.2
"""Seconds."""


@contextlib.contextmanager
def running(directory: Path, port: int = 0) -> Iterator[str]:
    """Yield the endpoint of an empty emulator, with its log and its functions' code in `directory`.

    Raises:
        OperationFailed: the port is taken, or the emulator ended.
    """
    port = free_port(port)
    with serving(PROGRAM, port, env=_environment(port, directory), log=directory / LOG) as endpoint:
        yield endpoint


def environment_of(endpoint: str) -> dict[str, str]:
    """Return the environment of a process that knows the emulator, and nothing else of AWS."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


@contextlib.contextmanager
def serving(words: Sequence[str], port: int, *, env: Mapping[str, str], log: Path) -> Iterator[str]:
    """Run a Python program with these words, and yield the endpoint at which it responds.

    Raises:
        OperationFailed: it ended, or did not respond in time.
    """
    with log.open("wb") as output:
        server = subprocess.Popen(  # noqa: S603 - its words are constants
            [sys.executable, *words], env=env, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            _wait_until_it_responds(server, port, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            _end(server)


def free_port(port: int = 0) -> int:
    """Return this port, or any free one for 0.

    Raises:
        OperationFailed: another program has the port.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise OperationFailed(
                f"port {port} cannot be used ({error.strerror}): choose another, or 0"
            ) from None
        return int(probe.getsockname()[1])


def _end(server: subprocess.Popen[bytes]) -> None:
    """End it; kill one that waits for its callers for too long."""
    server.terminate()
    try:
        server.wait(timeout=20)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def _environment(port: int, directory: Path) -> Mapping[str, str]:
    """Return an environment without the caller's: functions inherit it, and must find what Lambda gives."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(directory),
        "TMPDIR": str(directory),
        "STATE_DIR": str(directory / "state"),
        "BIND_HOST": "127.0.0.1",
        "MINISTACK_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "SFTP_ENABLED": "0",
        "IOT_MTLS_ENABLED": "0",
    }


def _wait_until_it_responds(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    pause = threading.Event()
    for _ in range(int(_STARTS_WITHIN / _LOOK_EVERY)):
        if server.poll() is not None:
            raise OperationFailed(f"the emulator ended: {log.read_text()[-2_000:]}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        pause.wait(_LOOK_EVERY)
    raise OperationFailed(f"the emulator did not respond within {_STARTS_WITHIN} s; its log is {log}")
