"""``duetime jobs register``: registers a job of a tenant for a handler of the app."""

from __future__ import annotations

import argparse
from typing import Any

from duetime.cli.arguments import (
    JOBS,
    Commands,
    add_command,
    add_job,
    client_of,
    json_object,
    seconds,
)
from duetime.cli.failures import BadUsage
from duetime.cli.job_changes import add_payload, add_retries, given
from duetime.cli.job_definitions import preview
from duetime.cli.job_text import words
from duetime.cli.output import print_json, print_next
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
    "deadline",
    "within",
    "every_success_within",
    "after",
    "after_timeout",
    "idempotency_key",
    "idempotency_ttl",
)


def add_parsers(verbs: Commands) -> None:
    """Add the command."""
    parser = add_command(
        verbs,
        "register",
        register,
        "register a job of your own",
        'A cadence is a cron expression or words: "0 9 * * *", "daily 09:00 tz=Europe/Paris",'
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
    add = parser.add_argument
    add("--title", help="the name that lists show")
    add("--category", help="the group in lists")
    add("--description", help="its purpose")
    add(
        "--overlap",
        metavar="POLICY",
        help="the policy for a run that is due while another runs:"
        " skip (default), queue_one, allow, cancel_running",
    )
    add("--catch-up", type=int, metavar="N", help="run the latest N missed runs later")
    add("--precision", metavar="P", help="second (default), or minute: it may start a minute late")
    add("--failure-threshold", type=int, metavar="N", help="failures in a row before a notification")
    add("--deadline", metavar="HH:MM", help="report a nominal time that has not succeeded by then")
    add("--within", metavar="SPAN", type=seconds, help="or so long after it: 30m, 2h")
    add("--every-success-within", metavar="SPAN", type=seconds, help="report a longer time without a success")
    add("--after", metavar="JOB", help="wait for that registered job's run of the same nominal day")
    add("--after-timeout", metavar="SPAN", type=seconds, help="skip a run that has waited so long (12h)")
    group = parser.add_argument_group("retries, by default as the handler declares")
    add_retries(group.add_argument)
    group.add_argument(
        "--give-up-after", type=seconds, metavar="SPAN", help="start no further run after this time"
    )
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--replace", action="store_true", help="replace your job of this name")
    parser.add_argument(
        "--dry-run", action="store_true", help="only print its next runs, its cost and what would change"
    )
    choice.add_argument("--trigger", action="store_true", help="also run it at once")
    parser.add_argument("--idempotency-key", metavar="KEY", help="a repeated key changes nothing")
    parser.add_argument(
        "--idempotency-ttl", metavar="SPAN", type=seconds, help="how long the key holds: 1m to 30d"
    )


def register(arguments: argparse.Namespace) -> int:
    """Register the job and print its next run."""
    client, body = client_of(arguments), _body(arguments)
    if arguments.dry_run:
        if arguments.trigger:
            raise BadUsage("--dry-run registers nothing, so nothing runs; leave out --trigger, or --dry-run")
        draft = {**body, "name": arguments.name, "replace": arguments.replace}
        return preview(arguments, client, draft)
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
    options = vars(arguments)
    body: dict[str, Any] = {"type": arguments.type, **given({name: options[name] for name in _FIELDS})}
    if retry := given({name: options[name] for name in _RETRY}):
        body["retry"] = retry
    if arguments.payload is not None:
        body["payload"] = json_object(arguments.payload)
    return body
