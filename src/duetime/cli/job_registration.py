"""``duetime jobs register``: registers a job of a tenant for a handler of the app."""

from __future__ import annotations

import argparse
from typing import Any

from duetime.cli.arguments import (
    JOBS,
    Commands,
    add_connection,
    add_job,
    client_of,
    json_object,
    print_json,
    print_next,
    seconds,
)
from duetime.cli.job_changes import add_payload, spans
from duetime.cli.job_text import words
from duetime.cli.times import local
from duetime.clock import SystemClock

_RETRY = ("attempts", "backoff", "jitter", "give_up_after")
_FIELDS = (
    "cadences",
    "overlap",
    "catch_up",
    "precision",
    "title",
    "category",
    "description",
    "failure_threshold",
    "idempotency_key",
    "idempotency_ttl",
)


def add_parsers(verbs: Commands) -> None:
    """Add the command."""
    parser = verbs.add_parser(
        "register",
        help="register a job of your own",
        description='A cadence is a cron expression or words: "0 9 * * *", "daily 09:00 tz=Europe/Paris",'
        ' "every 10m".'
        " Without one the job runs when it is triggered.",
    )
    add_job(parser)
    parser.add_argument(
        "--type", required=True, metavar="T", help="a payload type of the app: its handler runs"
    )
    add_payload(parser, "the payload of each run")
    parser.add_argument(
        "--cadence",
        dest="cadences",
        action="append",
        metavar="TEXT",
        help="when it runs; may be repeated",
    )
    _add_rules(parser)
    _add_retry(parser)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--replace", action="store_true", help="take the place of your job of this name")
    choice.add_argument("--trigger", action="store_true", help="run it at once, too")
    parser.add_argument(
        "--idempotency-key", metavar="KEY", help="the same key again changes nothing, while it holds"
    )
    parser.add_argument(
        "--idempotency-ttl", metavar="SPAN", type=seconds, help="how long the key holds: 1m to 30d"
    )
    add_connection(parser)
    parser.set_defaults(run=register)


def _add_rules(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--title", help="what lists show")
    parser.add_argument("--category", help="what lists are grouped by")
    parser.add_argument("--description", help="what it is for")
    parser.add_argument(
        "--overlap",
        metavar="POLICY",
        help="the policy for a run that is due while another runs:"
        " skip (default), queue_one, allow, cancel_running",
    )
    parser.add_argument("--catch-up", type=int, metavar="N", help="make up for the latest N missed runs")
    parser.add_argument("--precision", metavar="P", help="second (default), or minute if it may be that late")
    parser.add_argument(
        "--failure-threshold", type=int, metavar="N", help="failures in a row that are worth an alarm"
    )


def _add_retry(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("retries, by default as the handler declares")
    group.add_argument("--attempts", type=int, metavar="N", help="runs in all: 3 is one and two more")
    group.add_argument("--backoff", type=spans, metavar="SPAN[,SPAN…]", help="waits between them: 30s,5m,1h")
    group.add_argument(
        "--jitter", type=float, metavar="X", help="widen a wait by up to this share of it, 0 to 1"
    )
    group.add_argument(
        "--give-up-after", type=seconds, metavar="SPAN", help="start no further run after that"
    )


def register(arguments: argparse.Namespace) -> int:
    """Register the job and print its next run."""
    client, body = client_of(arguments), _body(arguments)
    if arguments.replace:
        job = client.ask("PUT", JOBS, arguments.name, body=body)
    else:
        job = client.ask("POST", JOBS, body={**body, "name": arguments.name, "trigger": arguments.trigger})
    if arguments.json:
        print_json(job)
        return 0
    print(
        f"registered {job['name']}: {words(job)}; next run {local(job['next_due_at'], SystemClock().now())}"
    )
    if job["run_id"]:
        print(f"triggered {job['run_id']}")
    print_next(arguments, "jobs", "show", job["name"])
    return 0


def _body(arguments: argparse.Namespace) -> dict[str, Any]:
    body: dict[str, Any] = {"type": arguments.type, **_given(arguments, _FIELDS)}
    if retry := _given(arguments, _RETRY):
        body["retry"] = retry
    if arguments.payload is not None:
        body["payload"] = json_object(arguments.payload)
    return body


def _given(arguments: argparse.Namespace, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(arguments, name)) is not None}
