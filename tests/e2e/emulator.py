"""ministack as a process of the tests' own.

On 127.0.0.1 only, on a port chosen by the kernel, gone afterwards.
"""

import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

PROGRAM = Path(__file__).with_name("corrected_ministack.py")
ACCOUNT, REGION = "000000000000", "us-east-1"
STARTS_WITHIN, ASK_EVERY = 60, 0.2
"""Seconds."""


@contextlib.contextmanager
def running(directory: Path) -> Iterator[str]:
    """The endpoint of an emulator that is up and empty.

    Its log and its functions' code are in `directory`.
    """
    port = free_port()
    log = directory / "ministack.log"
    with serving([str(PROGRAM)], port, env=_environment(port, directory), log=log) as endpoint:
        yield endpoint


def environment_of(endpoint: str) -> dict[str, str]:
    """With this in its environment a process knows the emulator, and nothing else of AWS."""
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
    """Run a Python program with these words; the endpoint at which it answers. It ends with the block."""
    with log.open("wb") as report:
        server = subprocess.Popen(  # noqa: S603 - every word is from these tests
            [sys.executable, *words], env=env, stdout=report, stderr=subprocess.STDOUT
        )
        try:
            _wait_until_it_answers(server, port, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            _end(server)


def _end(server: subprocess.Popen) -> None:
    """Politely; one that waits for its callers for too long is killed."""
    server.terminate()
    try:
        server.wait(timeout=20)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def _environment(port: int, directory: Path) -> Mapping[str, str]:
    """Nothing of the caller's own: the functions inherit this, and must find what Lambda would give them."""
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


def free_port() -> int:
    """Return a free port of this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_it_answers(server: subprocess.Popen, port: int, log: Path) -> None:
    pause = threading.Event()
    for _ in range(int(STARTS_WITHIN / ASK_EVERY)):
        assert server.poll() is None, f"it ended: {log.read_text()[-2_000:]}"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        pause.wait(ASK_EVERY)
    raise TimeoutError(f"{log.stem} did not answer within {STARTS_WITHIN} s")
