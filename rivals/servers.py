"""Redis and PostgreSQL for the contenders: each on a free loopback port, with a temporary directory."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

_STARTS_WITHIN = 30.0
_ENDS_WITHIN = 10.0
"""Seconds."""
_OWNER = "postgres"
"""PostgreSQL refuses to run as root; Debian's package makes this user."""

NewStore = Callable[[], str]
"""Makes an empty database, and returns its URL."""


class NotHere(Exception):
    """A requirement is not installed; the message names the installation command."""


@contextlib.contextmanager
def redis() -> Iterator[NewStore]:
    """Yield a Redis with an append-only file, which it flushes once a second by default."""
    server = shutil.which("redis-server")
    if server is None:
        raise NotHere("redis-server is not here; apt-get install redis-server")
    port, numbers = _free_port(), count()
    with tempfile.TemporaryDirectory() as place:
        command = [
            server, "--bind", "127.0.0.1", "--port", str(port), "--dir", place,
            "--appendonly", "yes", "--databases", "64",
        ]  # fmt: skip
        with _running(command, port):
            yield lambda: f"redis://127.0.0.1:{port}/{next(numbers)}"


@contextlib.contextmanager
def postgres() -> Iterator[NewStore]:
    """Yield a PostgreSQL with its defaults: each commit waits for the disk."""
    initdb, server, createdb = (_binary(name) for name in ("initdb", "postgres", "createdb"))
    as_owner = _as_owner()
    port, numbers = _free_port(), count()
    with tempfile.TemporaryDirectory() as place:
        if as_owner:
            shutil.chown(place, _OWNER, _OWNER)
        data = str(Path(place, "data"))
        quietly: Mapping[str, Any] = {
            "cwd": place,
            "stdout": subprocess.DEVNULL,
            "stderr": subprocess.DEVNULL,
        }
        subprocess.run(  # noqa: S603 - every argument is from this file
            [initdb, "-D", data, "-U", "bench", "--auth=trust", "--encoding=UTF8", "--locale=C"],
            check=True, **quietly, **as_owner,
        )  # fmt: skip
        command = [
            server, "-D", data, "-p", str(port),
            "-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={place}",
        ]  # fmt: skip

        def new() -> str:
            name = f"rival{next(numbers)}"
            subprocess.run(  # noqa: S603 - as above
                [createdb, "-h", "127.0.0.1", "-p", str(port), "-U", "bench", name], check=True, **quietly
            )
            return f"postgresql://bench@127.0.0.1:{port}/{name}"

        with _running(command, port, cwd=place, **as_owner):
            yield _once_it_answers(new)


def _as_owner() -> dict[str, Any]:
    """Return the arguments of Popen for a user other than root."""
    if os.geteuid() != 0:
        return {}
    try:
        pwd.getpwnam(_OWNER)
    except KeyError:
        raise NotHere(f"there is no user {_OWNER}; apt-get install postgresql") from None
    return {"user": _OWNER, "group": _OWNER, "extra_groups": []}


def _binary(name: str) -> str:
    """Return a program of PostgreSQL's newest version; Debian keeps these off the path."""
    versions = sorted(
        Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: path.parts[-3].zfill(3)
    )
    found = shutil.which(name) or (str(versions[-1]) if versions else None)
    if found is None:
        raise NotHere(f"PostgreSQL's {name} is not here; apt-get install postgresql")
    return found


def _once_it_answers(new: NewStore) -> NewStore:
    """Retry, because PostgreSQL listens a moment before it accepts connections."""

    def patient() -> str:
        end = time.monotonic() + _STARTS_WITHIN
        while True:
            try:
                return new()
            except subprocess.CalledProcessError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)

    return patient


@contextlib.contextmanager
def _running(command: list[str], port: int, **how: Any) -> Iterator[None]:
    """Run a server that listens, and stop it afterwards."""
    server = subprocess.Popen(  # noqa: S603 - as above
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, **how
    )
    try:
        _wait_until_it_listens(server, port)
        yield
    finally:
        server.send_signal(signal.SIGINT)  # PostgreSQL then ends at once, despite open connections
        server.wait(_ENDS_WITHIN)


def _wait_until_it_listens(server: subprocess.Popen[bytes], port: int) -> None:
    end = time.monotonic() + _STARTS_WITHIN
    while server.poll() is None and time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise RuntimeError(f"the server for port {port} did not start")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
