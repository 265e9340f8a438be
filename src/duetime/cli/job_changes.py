"""``duetime jobs``: pause, resume, trigger, skip-next, set and unregister."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from duetime.cli.arguments import (
    JOBS,
    Commands,
    Run,
    add_command,
    add_end,
    add_job,
    client_of,
    end_of,
    json_object,
    seconds,
)
from duetime.cli.client import Json
from duetime.cli.job_text import policy
from duetime.cli.output import print_content, print_json, print_next
from duetime.cli.times import both, local
from duetime.cli.watch import add_wait, watch
from duetime.clock import SystemClock


def add_parsers(verbs: Commands) -> None:
    """Add the commands that change a job."""
    parser = _add_one(verbs, "pause", pause, "pause a job: no run of it begins")
    parser.add_argument("--reason", default="", help="the reason, for later readers")
    add_end(parser)
    _add_cadence(parser)
    _add_cadence(_add_one(verbs, "resume", resume, "end a pause"))
    parser = _add_one(verbs, "trigger", trigger, "run it now, paused or not")
    add_payload(parser, "the payload of the run instead of the job's own payload")
    add_wait(parser)
    _add_cadence(_add_one(verbs, "skip-next", skip_next, "skip its next run; the one after it runs"))
    help_text = "set a job's retry policy; omitted options return to the declared one"
    parser = _add_one(verbs, "set", set_retries, help_text)
    add_retries(parser.add_argument)
    _add_cadence(parser)
    _add_one(verbs, "unregister", unregister, "remove a registered job; its history remains")


def add_retries(add: Callable[..., object]) -> None:
    """Add ``--attempts``, ``--backoff`` and ``--jitter`` to a parser or a group."""
    add("--attempts", type=int, metavar="N", help="the number of runs in all: 3 is one run and two retries")
    add("--backoff", type=_spans, metavar="SPAN[,SPAN…]", help="waits between them: 30s,5m,1h")
    add("--jitter", type=float, metavar="X", help="widen a wait by up to this share of it, 0 to 1")


def _add_one(verbs: Commands, name: str, run: Run, help_text: str) -> argparse.ArgumentParser:
    parser = add_command(verbs, name, run, help_text)
    add_job(parser)
    return parser


def _add_cadence(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cadence",
        metavar="C",
        help="only this cadence, by its name in `duetime jobs show`",
    )


def add_payload(parser: argparse.ArgumentParser, help_text: str) -> None:
    """Add ``--payload``."""
    parser.add_argument(
        "--payload", metavar="JSON", help=f"{help_text}: a JSON object, or - for standard input"
    )


def pause(arguments: argparse.Namespace) -> int:
    """Pause one job, or a cadence of it."""
    end = end_of(arguments)
    body = {"reason": arguments.reason, "until": end, "cadence": arguments.cadence}
    client_of(arguments).send("POST", JOBS, arguments.name, "pause", body=given(body))
    until = f" until {local(end, SystemClock().now())}" if end else ""
    return _changed(arguments, f"paused {_named(arguments)}{until}")


def resume(arguments: argparse.Namespace) -> int:
    """End a pause of one job, or of a cadence of it."""
    body = given({"cadence": arguments.cadence})
    client_of(arguments).send("POST", JOBS, arguments.name, "resume", body=body)
    return _changed(arguments, f"resumed {_named(arguments)}")


def trigger(arguments: argparse.Namespace) -> int:
    """Run one job now."""
    body = {} if arguments.payload is None else {"payload": json_object(arguments.payload)}
    client = client_of(arguments)
    run = client.ask("POST", JOBS, arguments.name, "trigger", body=body)
    if not arguments.json:
        print(f"triggered {arguments.name}: {run['id']}")
    if arguments.watch:
        return watch(client, run, SystemClock(), as_json=arguments.json)
    if arguments.json:
        print_json(run)
    else:
        print_next(arguments, "actions", "show", run["id"])
    return 0


def skip_next(arguments: argparse.Namespace) -> int:
    """Skip the next run of one job."""
    body = given({"cadence": arguments.cadence})
    run = client_of(arguments).ask("POST", JOBS, arguments.name, "skip-next", body=body)
    return print_content(arguments, run, _skipped)


def _skipped(run: Json, now: datetime) -> str:
    return f"skipped {run['id']}, due {both(run['nominal_at'], now)}"


def set_retries(arguments: argparse.Namespace) -> int:
    """Set how runs of one job are retried."""
    options = {name: getattr(arguments, name) for name in ("attempts", "backoff", "jitter", "cadence")}
    job = client_of(arguments).ask("PUT", JOBS, arguments.name, "settings", body=given(options))
    tunings = [tuning for tuning in job["tuning"] if tuning["cadence"] == arguments.cadence]
    message = f"set: {policy(tunings[0])}" if tunings else "nothing set; the declared policy applies"
    return print_content(arguments, job, lambda *_: f"{_named(arguments)}: {message}")


def unregister(arguments: argparse.Namespace) -> int:
    """Remove one job that was registered."""
    name = arguments.name
    client_of(arguments).send("DELETE", JOBS, name)
    message = f"unregistered {name}; its runs: duetime jobs history {name}"
    return print_content(arguments, {"name": name}, lambda *_: message)


def _changed(arguments: argparse.Namespace, message: str) -> int:
    """Print the message, or with ``--json`` the job in its current state."""
    if arguments.json:
        print_json(client_of(arguments).ask("GET", JOBS, arguments.name))
    else:
        print(message)
    return 0


def _named(arguments: argparse.Namespace) -> str:
    return f"{arguments.cadence} of {arguments.name}" if arguments.cadence else str(arguments.name)


def given(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that have a value."""
    return {name: value for name, value in body.items() if value is not None}


def _spans(written: str) -> list[float]:
    return [seconds(part) for part in written.split(",")]
