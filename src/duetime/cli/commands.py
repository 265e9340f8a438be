"""The table of all commands: their names, their arguments, and what each calls or runs.

A command of the API is an `Operation` or a `Listing`. One with work of its own names a function, whose module
is imported when the command runs: `duetime --help` must be quick.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Any

from duetime.cli import views
from duetime.cli.arguments import (
    ACTION_FILTERS,
    DEAD_LETTER_FILTERS,
    DRY_RUN,
    END,
    EXPIRY,
    ID,
    IDS,
    JOB,
    JSON,
    PAGE,
    PREFIX,
    TENANT,
    WAIT,
    YES,
    Argument,
    FieldOptions,
    OneOf,
    Section,
    argument,
    between,
    channels_of,
    due_time,
    flag,
    instant,
    json_value,
    mail_address,
    moment,
    not_empty,
    seconds,
    setting,
    spans,
    statuses,
)
from duetime.cli.failures import BadUsage, did_you_mean
from duetime.cli.output import Listing, Operation, last_word
from duetime.cli.parser import Command, Group, Run
from duetime.cli.tables import duration
from duetime.cost.workload import Workload
from duetime.environment import USUAL_CONCURRENCY
from duetime.profiles import PROFILES, STANDARD

_APP = argument("--app", required=True, metavar="MODULE:NAME", help="the app, such as examples.billing:app")
_AS_TABLES = flag("--json", "one JSON object instead of tables")
_WHY = "why, in at most 500 characters"
_TIME = (
    "A TIME is 2027-06-01T09:00 on this machine's clock, or 2027-06-01T07:00Z,"
    " or a span from now, such as -2h."
)


def _from_and_until(start: str, end: str) -> Sequence[Argument]:
    return (
        argument("--from", metavar="TIME", type=moment, help=start),
        argument("--until", metavar="TIME", type=moment, help=end),
    )


# Develop.

_LOCAL = Command(
    "local",
    "run an app on a local cloud, with the API on one port",
    "local.run",
    (
        _APP,
        argument(
            "--setup",
            metavar="MODULE:NAME",
            help="a function that creates the handlers' tables, queues and topics",
        ),
        argument(
            "--port",
            type=between(0, 65_535, "must be a number from 0 to 65535"),
            default=8080,
            help="the port to listen on; 0 takes any free port (default: 8080)",
        ),
        argument(
            "--data",
            type=Path,
            metavar="DIR",
            help="keep actions and jobs in this folder: a restart continues with them",
        ),
        argument(
            "--concurrency",
            type=between(1, 1_000, "must be a number from 1 to 1000"),
            default=20,
            metavar="N",
            help="handlers at once (default: 20)",
        ),
        argument(
            "--profile",
            choices=tuple(PROFILES),
            default=STANDARD,
            help="the defaults of the settings (default: standard)",
        ),
        argument(
            "--set",
            dest="given",
            action="append",
            default=[],
            type=setting,
            metavar="NAME=VALUE",
            help="a setting, such as enabled=false, near_limit=10m or roles=roles.json; may be repeated",
        ),
        argument(
            "--target",
            action="append",
            default=[],
            metavar="TARGET",
            help="grant a target: an ARN, or"
            " https://HOST[,secret=env:NAME][,deliver_to=http://127.0.0.1:PORT]",
        ),
        flag("--unreliable", "some messages come twice, as on AWS"),
        argument(
            "--mail-to",
            type=mail_address,
            metavar="ADDRESS",
            help="send every notification to this address",
        ),
        flag("--verbose", "show all log lines"),
    ),
    "Run an app in this process, with the API, the console and an outbox on 127.0.0.1.",
    calls=False,
)


_OUTBOX = Command(
    "outbox",
    "show what a local cloud has sent",
    "outbox.run",
    (
        argument(
            "kind",
            choices=("events", "mails", "messages", "metrics"),
            help="lifecycle events on the bus, mails, messages of the topic, or the present metrics",
        ),
        argument("number", metavar="N", type=int, nargs="?", help="print the mail of this number as text"),
        argument(
            "--limit",
            type=int,
            metavar="N",
            help="how many: 1 to 1,000 (default: the newest 20, and all metrics)",
        ),
        argument(
            "--type",
            metavar="TYPE",
            help="only events such as action.failed, notifications such as scheduling.action_failed, or the"
            " metric of this name",
        ),
    ),
    redraws=True,
)

_PREVIEW = Command(
    "preview",
    "show when a cadence is due, and the effect of clock changes",
    "preview.run",
    (
        argument(
            "cadence", metavar="EXPR", nargs="+", help="a cron expression, or a cadence in words, in quotes"
        ),
        argument("--tz", metavar="ZONE", help="the IANA zone of a cadence that names none (default: UTC)"),
        argument(
            "--from",
            dest="start",
            metavar="WHEN",
            help="the start: a date, a local time or an instant (default: now)",
        ),
        argument("--until", metavar="WHEN", help="the end"),
        argument(
            "--count",
            type=int,
            metavar="N",
            help="the maximum number (default: 10, or with --until 10000)",
        ),
        argument("--day-rule", choices=("and", "or"), help="how a cron combines two restricted day fields"),
        argument("--dst", choices=("cronos", "vixie", "eventbridge"), help="the rule for clock changes"),
        argument(
            "--in",
            dest="read_as",
            choices=("rrule", "systemd"),
            help="the language of EXPR, instead of duetime's",
        ),
        argument(
            "--as",
            dest="written_as",
            choices=("rrule", "systemd"),
            help="print the cadence in this language, and nothing else; an RRULE begins at --from",
        ),
        flag("--json", "one JSON object instead of a table"),
    ),
    'A cron expression, or another cadence in words: "30 2 * * *", "daily 09:00",'
    ' "every 10m window=09:00-17:00". With --in,'
    " an RRULE or a calendar event of systemd.",
    calls=False,
)


_WORKLOAD = {field.name: field for field in fields(Workload)}


def _of_workload(written: str) -> tuple[str, str | float]:
    """Parse a value of the workload, such as ``actions_per_day=1000``."""
    name, _, value = written.partition("=")
    if name not in _WORKLOAD:
        meant = did_you_mean(name, _WORKLOAD)
        raise ValueError(f"{name!r} is no value of a workload{meant}; `duetime app cost --help` lists all")
    return name, value if "choices" in _WORKLOAD[name].metadata else _number(name, value)


def _number(name: str, written: str) -> float:
    try:
        return float(written)
    except ValueError:
        raise ValueError(f"{name} is {written!r}; use a number, as in {name}=10") from None


def _workload_help() -> Iterator[str]:
    for name, field in _WORKLOAD.items():
        choices = field.metadata.get("choices")
        shown = "|".join(choices) if choices else f"{field.default:.12g}"
        yield f"{name}={shown} ({field.metadata['about']})"


_APP_COMMANDS = Group(
    "app",
    "check an app, simulate and compare its jobs, estimate its cost, import a crontab",
    (
        Command(
            "check",
            "check an app's jobs, cadences and payloads for mistakes",
            "apps.run",
            (
                _APP,
                argument(
                    "--storm",
                    nargs="?",
                    type=int,
                    const=USUAL_CONCURRENCY,
                    metavar="N",
                    help="also list the minutes of the next week in which more than N jobs begin, and times"
                    " that spread them; N is the worker's worker_concurrency"
                    f" (default: {USUAL_CONCURRENCY})",
                ),
                _AS_TABLES,
            ),
            "Import an app and check what it declares: names, cadences, payloads, functions."
            " Exit status 1 if there is a problem. The same as a test: assert not"
            " duetime.check.problems(app).",
            calls=False,
        ),
        Command(
            "simulate",
            "count the runs that an app's jobs would have",
            "apps.run_simulation",
            (
                _APP,
                argument(
                    "--from", dest="start", metavar="TIME", type=instant, help="the start (default: now)"
                ),
                argument("--until", metavar="TIME", type=instant, help="the end (default: 365 days later)"),
                flag("--runs", "print a line for each run instead of the table"),
                flag("--json", "one JSON object instead of tables; with --runs each of them"),
            ),
            "Import an app and walk through its jobs' cadences, as if it were deployed at --from."
            " Nothing is run. CLOCKS counts the changes of the clocks that affect a job.",
            calls=False,
        ),
        Command(
            "diff",
            "show what a deploy of an app would change: jobs and runs",
            "apps.run_diff",
            (
                argument(
                    "--app",
                    required=True,
                    metavar="MODULE:NAME",
                    help="the new app, such as examples.billing:app",
                ),
                argument(
                    "--against",
                    metavar="URL or MODULE:NAME",
                    help="the deployment or the app to compare with (default: the scheduler of --url or"
                    " --profile)",
                ),
                argument(
                    "--tzdata",
                    nargs=2,
                    metavar=("OLD", "NEW"),
                    help="compare the app with itself under two releases of the time zone database, each a"
                    " directory of zones such as /usr/share/zoneinfo",
                ),
                argument(
                    "--for",
                    dest="length",
                    type=duration,
                    default=timedelta(days=90),
                    metavar="SPAN",
                    help="how long (default: 90d)",
                ),
                argument(
                    "--from", dest="start", metavar="TIME", type=instant, help="the start (default: now)"
                ),
                argument(
                    "--as",
                    dest="written_as",
                    choices=("markdown",),
                    help="print it in this language, as for a pull request",
                ),
            ),
            "Compare an app's jobs with those of a deployment, or of another app: which are added,"
            " removed and changed, and which runs are gained, lost or moved, with clock changes and"
            " calendars.",
        ),
        Command(
            "cost",
            "print the monthly cost of a deployment and of its alternatives",
            "cost.run",
            (
                argument(
                    "workload",
                    metavar="NAME=VALUE",
                    nargs="*",
                    type=_of_workload,
                    help=f"the workload, by default: {', '.join(_workload_help())}",
                ),
                argument(
                    "--app",
                    metavar="MODULE:NAME",
                    help="read the jobs of this app, in place of jobs and runs_per_day",
                ),
                argument(
                    "--prices",
                    metavar="FILE",
                    type=Path,
                    help="a price list of your own, with the names of prices.toml",
                ),
                _AS_TABLES,
            ),
            "Dollars a month of 30 days for a workload, by a dated list of AWS' prices, without free tiers."
            " Actions are spread evenly; a share is 0 to 1.",
            calls=False,
        ),
        Command(
            "import-crontab",
            "write a module of jobs from a crontab",
            "import_crontab.run",
            (
                argument("file", metavar="FILE", help="the crontab; -: standard input, as from crontab -l"),
                argument(
                    "--tz",
                    default="UTC",
                    metavar="ZONE",
                    help="the zone of the crontab's machine (default: UTC)",
                ),
                flag("--system", "each command follows a user, as in /etc/crontab"),
                argument(
                    "--day-rule",
                    choices=("cron", "and", "or"),
                    help="how two restricted day fields combine; cron: as cron does",
                ),
                flag("--skip", "leave out the lines that cannot become jobs"),
            ),
            "Read a crontab and print a module with a job for each entry. The first runs of each,"
            " beside those that cron would start, go to standard error. If a line cannot become a job, print"
            " no module.",
            calls=False,
        ),
    ),
)

# Use: actions.

_SCHEDULE = Command(
    "schedule",
    "schedule an action",
    "actions.schedule",
    (
        argument("type", metavar="TYPE", help="a payload type of the app, such as apply-plan-change"),
        argument(
            "--payload",
            metavar="JSON",
            default="{}",
            help="a JSON object, or - to read it from standard input",
        ),
        *due_time(is_required=False),
        FieldOptions(
            "scheduleAction",
            but=("type", "payload", "at", "in", "tz", "precision", "expires_at", "expires_after"),
        ),
        EXPIRY,
        WAIT,
    ),
    "Schedule an action: now, if no time is given.",
)

_SCOPES = (
    argument(
        "--type", metavar="NAME", help="actions and jobs' runs of this type; of a job in code, the job's name"
    ),
    argument("--concurrency-key", metavar="NAME", help="actions with this concurrency key"),
    argument("--rate-key", metavar="NAME", help="actions with this rate key"),
    argument("--worker", metavar="NAME", help="the runs of this worker"),
)
_OF_TENANT = argument(
    "--of", dest="of_tenant", metavar="TENANT", help="only of this tenant; alone, all its work; for operators"
)
_TERMS = (
    argument("--reason", required=True, help="why, for others"),
    END,
    argument(
        "--spread",
        metavar="SPAN",
        type=seconds,
        help="begin what waits within this time after the end (default: as long as the pause, at most 10m)",
    ),
    argument("--skip", action="store_const", const=True, help="skip what becomes due under it"),
)
_STAGED = argument(
    "--staged",
    nargs="?",
    type=seconds,
    const=600.0,
    metavar="SPAN",
    help="redrive one, then ten, then all; stop when the same error comes back. A stage waits so long for its"
    " actions (default: 10m)",
)
_TOKEN = argument("token", metavar="TOKEN", help="what run.token returned to the handler")


def scope_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the scope and the name of a pause.

    Raises:
        BadUsage: none is given.
    """
    from duetime.model.work_pause import PauseScope  # noqa: PLC0415 - `duetime --help` reads no pauses

    given = {**vars(arguments), "tenant": arguments.of_tenant}
    for scope in reversed(PauseScope):
        if (name := given[scope.replace("-", "_")]) is not None:
            return {"scope": scope, "name": name}
    raise BadUsage(
        f"choose what to {last_word(arguments)}: --type, --concurrency-key, --rate-key, --worker or --of"
    )


def _decision(verb: str, *, is_required: bool) -> Command:
    reason = {"required": True} if is_required else {"default": ""}
    return Command(
        verb,
        f"{verb} one that waits for an approval",
        Operation(f"{verb}Action", views.DECIDED),
        (ID, argument("--reason", help=_WHY, **reason)),
    )


_ACTIONS = Group(
    "actions",
    "list, cancel and reschedule actions",
    (
        Command(
            "list",
            "list them: newest first, or those of a correlation id, oldest first",
            Listing("listActions", views.ACTIONS),
            (ACTION_FILTERS, *PAGE),
            redraws=True,
        ),
        Command(
            "show",
            "show all details of an action, with the traceback of its last attempt",
            "actions.show",
            (ID, argument("--attempt", metavar="N", type=int, help="the traceback of this one instead")),
            redraws=True,
        ),
        Command(
            "cancel",
            "cancel pending ones, and request running ones to stop",
            "many.change",
            (IDS, ACTION_FILTERS, DRY_RUN, YES),
            "Cancel pending ones, and request running ones to stop: by id, or all that match the filters.",
        ),
        Command(
            "why",
            "print why an action has not run, and when it will",
            Operation("explainAction", views.REASON),
            (ID,),
        ),
        Command(
            "log",
            "print what the worker logged about one attempt",
            Operation("readLog", views.log),
            (ID, argument("--attempt", metavar="N", type=int, help="its number; by default the latest")),
        ),
        Command(
            "pause",
            "begin no run of some work from now on; it waits",
            Operation("pauseWork", views.paused, (scope_of,)),
            (
                OneOf(_SCOPES),
                _OF_TENANT,
                *_TERMS,
            ),
        ),
        Command(
            "resume",
            "end the pauses of some work",
            "actions.resume",
            (
                OneOf(
                    (
                        *_SCOPES,
                        argument(
                            "id", metavar="ID", nargs="?", help="one pause, by its id in `duetime pauses`"
                        ),
                    ),
                ),
                _OF_TENANT,
            ),
        ),
        Command(
            "pauses",
            "list the pauses, also ended ones while waiting work is spread",
            Operation("listPauses", views.PAUSES),
        ),
        Command(
            "limits",
            "list the rate limits of types; set or reset one without a deploy",
            "actions.limits",
            (
                argument(
                    "type",
                    metavar="TYPE",
                    nargs="?",
                    help="a payload type that declares a rate, such as send-mail",
                ),
                argument(
                    "count",
                    metavar="N",
                    nargs="?",
                    type=lambda text: text if text == "reset" else int(text),
                    help="the most starts in a period, or reset: the limit in code holds again",
                ),
                argument(
                    "--per",
                    metavar="PERIOD",
                    type=lambda text: text if text in views.PERIODS.values() else seconds(text),
                    default="minute",
                    help="second, minute (default), hour or day, or a span such as 10s",
                ),
                argument(
                    "--burst",
                    metavar="N",
                    type=int,
                    help="how many may start at once after a rest (default: a second's)",
                ),
            ),
        ),
        Command(
            "check-in",
            "report that work elsewhere ran, and when it must report again",
            Operation("checkIn", "{name} has checked in; the next one is due {due_at:when}"),
            (
                argument("name", metavar="NAME", help="what ran, such as backup"),
                argument(
                    "--within",
                    metavar="SPAN",
                    type=seconds,
                    required=True,
                    help="how soon the next check-in must come: 1m to 366d; without it, an action fails",
                ),
            ),
        ),
        Command(
            "complete",
            "end a handed-over action as executed, by its token",
            Operation("completeHandOver", "{id} is {status}"),
            (
                _TOKEN,
                argument("--result", type=json_value, metavar="JSON", help="stored with it, at most 2 KB"),
            ),
        ),
        Command(
            "fail",
            "end a handed-over action as failed, by its token",
            Operation("failHandOver", "{id} is {status}"),
            (
                _TOKEN,
                argument("--reason", required=True, help=_WHY),
                argument(
                    "--no-retry",
                    dest="retry",
                    action="store_false",
                    help="never again, whatever the retry policy",
                ),
            ),
        ),
        Command(
            "heartbeat",
            "keep a handed-over action alive, by its token",
            Operation(
                "heartbeatHandOver",
                "waits until {waits_until:when}"
                "{cancel_requested:?; a cancel was requested: stop, then run `duetime actions fail`}",
            ),
            (
                _TOKEN,
                argument("--progress", type=float, metavar="SHARE", help="from 0 to 1"),
                argument("--note", help="stored with the progress, such as '12,000 of 30,000'"),
            ),
        ),
        _decision("approve", is_required=False),
        _decision("reject", is_required=True),
        Command(
            "batches",
            "list batches by name, or show the progress of one; close, cancel or redrive it",
            "many.batches",
            (
                argument(
                    "name", metavar="NAME", nargs="?", help="the batch's name; without it, all are listed"
                ),
                argument(
                    "verb",
                    nargs="?",
                    choices=("close", "cancel", "redrive"),
                    help="close an open one: it is complete when all members are final; close it and cancel"
                    " its members that are not final; or run its failed members again",
                ),
                DRY_RUN,
                YES,
                flag(
                    "--watch",
                    "refresh the progress every 2 s until interrupted; of a cancel or redrive, print it until"
                    " the batch is complete, and exit with 0 if all members were executed",
                ),
                *PAGE,
            ),
        ),
        Command(
            "reschedule",
            "give a pending one another due time",
            Operation("rescheduleAction", "rescheduled {id}, due {due_at:when}"),
            (ID, *due_time(is_required=True), EXPIRY),
        ),
    ),
)

_DEAD_LETTERS = Group(
    "dead-letters",
    "list failed actions, and run them again",
    (
        Command(
            "list",
            "list what failed, runs of jobs too: the latest failure first",
            "actions.list_failed",
            (
                DEAD_LETTER_FILTERS,
                *PAGE,
                argument(
                    "--group-by", choices=("error",), help="count them by type and error, with one id of each"
                ),
            ),
            redraws=True,
        ),
        Command(
            "redrive",
            "run failed ones again, at once",
            "staged.redrive",
            (
                IDS,
                DEAD_LETTER_FILTERS,
                DRY_RUN,
                YES,
                flag("--all", "every dead letter, without a filter"),
                WAIT,
                _STAGED,
            ),
            "Run failed ones again, at once: by id, or all that match the filters.",
        ),
        Command(
            "dismiss",
            "remove some from the list, with a reason; they stay failed",
            "many.change",
            (
                Argument(IDS.names, {**IDS.settings, "nargs": "+"}),
                argument(
                    "--reason", required=True, help="why none needs a redrive, in at most 500 characters"
                ),
            ),
        ),
    ),
)

# Use: jobs.

_OF_CADENCE = argument("--cadence", metavar="C", help="only this cadence, by its name in `duetime jobs show`")
_RETRIES = (
    argument(
        "--attempts", type=int, metavar="N", help="the number of runs in all: 3 is one run and two retries"
    ),
    argument("--backoff", type=spans, metavar="SPAN[,SPAN…]", help="waits between them: 30s,5m,1h"),
    argument("--jitter", type=float, metavar="X", help="widen a wait by up to this share of it, 0 to 1"),
)


def _payload(help_text: str) -> Argument:
    return argument("--payload", metavar="JSON", help=f"{help_text}: a JSON object, or - for standard input")


_FEW_SET = (
    *("title", "category", "description", "overlap", "catch_up", "failure_threshold", "deadline"),
    *("every_success_within", "after_timeout", "give_up_after"),
)

_JOBS = Group(
    "jobs",
    "list, pause and trigger jobs, and register your own",
    (
        Command(
            "list",
            "list them by name: code's, then the tenant's own",
            Listing("listJobs", views.JOBS, ({"runs": 1},)),
            PAGE,
            redraws=True,
        ),
        Command(
            "show",
            "show all details of a job; with --from or --until, the status of each nominal time",
            "actions.show_job",
            (
                JOB,
                *_from_and_until(
                    "list its occurrences from then on (default: 24 h ago)",
                    "and up to then (default: in 24 h)",
                ),
            ),
            _TIME,
            redraws=True,
        ),
        Command(
            "history",
            "list its runs, newest first",
            "actions.history",
            (
                JOB,
                argument(
                    "--status",
                    type=statuses,
                    help="only executed, failed, skipped, cancelled, pending or processing runs",
                ),
                *_from_and_until(
                    "only those whose nominal time is later",
                    "and not later than this (default, without --status: now, which leaves out what is to"
                    " come)",
                ),
                *PAGE,
            ),
            _TIME,
        ),
        Command(
            "load",
            "list in which minutes of the next week the most jobs begin",
            Operation("forecastLoad", views.LOAD),
            (
                argument(
                    "--capacity",
                    metavar="N",
                    type=int,
                    help="how many jobs may begin in a minute (default: the deployment's worker_concurrency)",
                ),
            ),
        ),
        Command(
            "pause",
            "pause a job: no run of it begins",
            Operation("pauseJob", "paused {cadence:?@@ of }{name}{until:? until @local}", then="getJob"),
            (JOB, argument("--reason", default="", help="the reason, for later readers"), END, _OF_CADENCE),
        ),
        Command(
            "resume",
            "end a pause",
            Operation("resumeJob", "resumed {cadence:?@@ of }{name}", then="getJob"),
            (JOB, _OF_CADENCE),
        ),
        Command(
            "trigger",
            "run it now, paused or not",
            "actions.trigger",
            (JOB, _payload("the payload of the run instead of the job's own payload"), WAIT),
        ),
        Command(
            "skip-next",
            "skip its next run; the one after it runs",
            Operation("skipNextRun", "skipped {id}, due {nominal_at:when}"),
            (JOB, _OF_CADENCE),
        ),
        Command(
            "set",
            "set a job's retry policy; omitted options return to the declared one",
            Operation("setJobSettings", views.retries_set),
            (JOB, *_RETRIES, _OF_CADENCE),
        ),
        Command(
            "unregister",
            "remove a registered job; its history remains",
            Operation("unregisterJob", "unregistered {name}; its runs: duetime jobs history {name}", then=""),
            (JOB,),
        ),
        Command(
            "register",
            "register a job of your own",
            "actions.register",
            (
                JOB,
                argument(
                    "--type", required=True, metavar="T", help="a payload type of the app: its handler runs"
                ),
                _payload("the payload of each run"),
                argument(
                    "--cadence",
                    dest="cadences",
                    action="append",
                    metavar="TEXT",
                    help="when it runs; may be repeated",
                ),
                FieldOptions(
                    "registerJob",
                    but=("name", "type", "payload", "cadences", "retry", "trigger"),
                    rare=_FEW_SET,
                ),
                Section("retries, by default as the handler declares", _RETRIES),
                flag("--dry-run", "only print its next runs, its cost and what would change"),
                OneOf(
                    (
                        flag("--replace", "replace your job of this name"),
                        flag("--trigger", "also run it at once"),
                    )
                ),
            ),
            'A cadence is a cron expression or words: "0 9 * * *", "daily 09:00 tz=Europe/Paris",'
            ' "every 10m".'
            " Without one the job runs when it is triggered.",
        ),
        Command(
            "versions",
            "list its definitions, the present one first, with what each changed; or roll back to one",
            "actions.versions",
            (
                JOB,
                argument("id", metavar="ID", nargs="?", help="show only this one, such as 3"),
                argument(
                    "verb",
                    nargs="?",
                    choices=("roll-back",),
                    help="let this definition of your job come into force again",
                ),
                argument("--against", metavar="ID", help="with ID: what differs from this definition"),
            ),
        ),
        Command(
            "backfill",
            "run past nominal times beside the current runs; list backfills; pause, resume or cancel one",
            "actions.backfill",
            (
                JOB,
                argument(
                    "verb",
                    nargs="?",
                    choices=("pause", "resume", "cancel"),
                    help="pause one: no further run begins; resume it; or cancel it, with its open runs",
                ),
                argument(
                    "id",
                    metavar="ID",
                    nargs="?",
                    help="the backfill's id; needed if the job has several unfinished ones",
                ),
                *_from_and_until(
                    "begin one at this first instant; times that already ran are left out",
                    "the end, excluded (default: the present)",
                ),
                argument(
                    "--at-once",
                    type=between(1, 100, "is out of range; use 1 to 100"),
                    default=4,
                    metavar="N",
                    help="the most open runs, 1 to 100 (default: 4)",
                ),
                argument(
                    "--order",
                    choices=("oldest", "newest"),
                    default="oldest",
                    help="the times that come first (default: oldest)",
                ),
                flag("--again", "run times that already ran, too"),
                flag("--dry-run", "only print the times, and those left out"),
                flag("--watch", "refresh the list every 2 s until interrupted"),
            ),
            f"Without --from, list its backfills with their progress. {_TIME}",
        ),
    ),
)

# Look after.

_ONE = argument("id", metavar="ID", nargs="?", help="show this one")


def _or_one(listing: Listing, of_one: Operation) -> Run:
    return lambda arguments: (of_one if arguments.id else listing)(arguments)


_UNDELIVERED = Group(
    "undelivered",
    "list and redrive inputs that a queue, a stream or EventBridge gave up",
    (
        Command(
            "list",
            "list them, newest first, or show all details of one",
            _or_one(
                Listing("listUndelivered", views.UNDELIVERED),
                Operation("getUndelivered", views.UNDELIVERED_IN_FULL),
            ),
            (_ONE, *PAGE),
        ),
        Command(
            "redrive",
            "process some again, or all",
            "many.redrive_undelivered",
            (
                argument("ids", metavar="ID", nargs="*", help="their ids"),
                flag("--all", "all of them, the newest first"),
                argument(
                    "--kind", choices=views.UNDELIVERED_KINDS, help="with --all: only those of this kind"
                ),
                argument(
                    "--limit", type=int, metavar="N", help="with --all: how many, 1 to 1,000 (default: 100)"
                ),
                flag("--dry-run", "only list them"),
                flag("--watch", "wait until each is gone or came back; exit with 0 if all are gone"),
            ),
        ),
    ),
)

_SYSTEM = argument(
    "--system",
    dest="scope",
    action="store_const",
    const="system",
    help="those of the deployment, for operators",
)


def _kind(help_text: str) -> Argument:
    return argument(
        "--kind",
        choices=views.NOTIFICATION_KINDS,
        metavar="KIND",
        help=f"{help_text}, such as {views.NOTIFICATION_KINDS[3]}",
    )


def _language(help_text: str) -> Argument:
    return argument("--language", metavar="TAG", help=f"{help_text}: en, fr, …")


def _addresses(name: str, of: str) -> Argument:
    help_text = (
        f"the recipients of mails{of}, replacing the previous ones; may be repeated; `none` removes all"
    )
    return argument(name, metavar="ADDRESS", action="append", help=help_text)


_NOTIFICATIONS = Group(
    "notifications",
    "list notifications, and choose recipients and channels",
    (
        Command(
            "list",
            "list them, newest first, or show one in full",
            _or_one(
                Listing(
                    "listNotifications", views.NOTIFICATIONS, flags={"unread": "unread", "system": "scope"}
                ),
                Operation("getNotification", views.NOTIFICATION),
            ),
            (
                _ONE,
                argument("--unread", action="store_const", const="true", help="only unread ones"),
                _kind("only those of this kind"),
                _language("the language of the texts (default: that of the preferences)"),
                _SYSTEM,
                *PAGE,
            ),
            redraws=True,
        ),
        Command(
            "read",
            "mark some as read, or all",
            "many.read",
            (
                argument("ids", metavar="ID", nargs="*", help="their ids"),
                flag("--all", "all unread ones"),
                _kind("with --all: only those of this kind"),
                _SYSTEM,
            ),
        ),
        Command(
            "preferences",
            "show recipients and channels, or change some; the others stay as they are",
            "many.choose",
            (
                _SYSTEM,
                _language("the language of notifications"),
                _addresses("--email", ""),
                _addresses("--admin-email", " for admins"),
                argument(
                    "--channel",
                    metavar="KIND=CHANNEL[,CHANNEL…]",
                    action="append",
                    type=channels_of(views.NOTIFICATION_KINDS),
                    help="the channels of a kind: email, sns, in_app; or `none`, or `default`; may be"
                    " repeated",
                ),
            ),
        ),
    ),
)

_DOCTOR = Command(
    "doctor",
    "check the deployment: what lags, what is wrong, what to do",
    "doctor.run",
    description="Check the deployment. It needs the permission `system`. Exit status 1: a part is ill.",
)


_TENANTS = Group(
    "tenants",
    "the quotas of tenants; export and erase them, for operators of the deployment",
    (
        Command(
            "quotas",
            "list your tenant's quotas, or another one's, and what it uses",
            Operation("listQuotas", views.QUOTAS),
            (argument("of_tenant", metavar="TENANT", nargs="?", help="such as acme (default: yours)"),),
        ),
        Command(
            "export",
            "write all that is stored of a tenant to a directory",
            "deployment.export",
            (
                TENANT,
                PREFIX,
                JSON,
                argument(
                    "--to",
                    required=True,
                    type=Path,
                    metavar="DIR",
                    help="a new directory, or an unfinished export",
                ),
            ),
            calls=False,
        ),
        Command(
            "erase",
            "stop a tenant's work, and delete all that is stored of it",
            "deployment.erase",
            (
                TENANT,
                PREFIX,
                JSON,
                argument("--reason", required=True, help="why, for the audit entry"),
                flag("--yes", "erase; nothing brings it back"),
                flag("--keep-audit", "leave the tenant's audit trail until its retention ends"),
                argument(
                    "--wait",
                    type=seconds,
                    default=60.0,
                    metavar="SPAN",
                    help="how long to wait for running actions (default: 60s)",
                ),
            ),
            "Without --yes, print what would be erased. With it, remove the jobs, cancel the actions"
            " and delete the items of the tenant; exit status 1: a repeat is needed.",
            calls=False,
        ),
    ),
)

# Operate.

_DEPLOYMENT = Group(
    "deployment",
    "rehearse, check, test, restore and fail over a deployment, and its runbook",
    (
        Command(
            "preflight",
            "compare a stack with the account before a deploy: names, rights, quotas",
            "preflight.run",
            (
                argument(
                    "--assembly",
                    metavar="DIRECTORY",
                    type=Path,
                    default=Path("cdk.out"),
                    help="the output of `npx cdk synth` (default: cdk.out)",
                ),
                flag("--json", "one JSON object instead of a table"),
            ),
            "Compare a synthesised stack with the account, before `cdk deploy`. It uses your AWS"
            " credentials and changes nothing. Exit status 1: the deploy would fail.",
            calls=False,
        ),
        Command(
            "rehearse",
            "deploy a CDK app onto an emulator of AWS on this machine",
            "rehearse.run",
            (
                argument(
                    "--cdk-app",
                    metavar="COMMAND",
                    help='runs the CDK app, such as "python app.py" (default: cdk.json)',
                ),
                argument("--stack", metavar="NAME", help="the stack to deploy (default: all)"),
                argument(
                    "--port",
                    type=int,
                    default=0,
                    metavar="N",
                    help="the emulator's port; 0 takes any (default: 0)",
                ),
                argument(
                    "-c",
                    dest="context",
                    action="append",
                    default=[],
                    metavar="KEY=VALUE",
                    help="a value of the CDK context, such as duetime:lease=60; may be repeated",
                ),
            ),
            "Deploy the CDK app of this directory onto an emulator of AWS (ministack) on 127.0.0.1,"
            " print how to call it, and keep it up until Ctrl-C. No account is used. It needs Node and CDK's"
            " command line (npm install aws-cdk@2), but no Docker. The emulator checks no rights.",
            calls=False,
        ),
        Command(
            "verify",
            "test the deployment end to end with probes, and measure it",
            "verify.run",
            (
                flag("--far", "also a probe with a timer: a quarter of an hour"),
                flag("--chaos", "also end a worker's process; its other runs are repeated"),
                flag("--yes", "with --chaos: without confirmation"),
                flag("--notify", "also send a failure and an alarm to their recipients"),
                argument(
                    "--prefix",
                    metavar="PREFIX",
                    help="with --notify: the deployment's prefix, whose alarms are checked with your AWS"
                    " credentials (default: duetime-; none on this machine's cloud)",
                ),
                argument(
                    "--console",
                    metavar="URL",
                    help="the console's address (default: the API's, if it has a console)",
                ),
            ),
            "Schedule probes, which every worker runs beside the app's actions, and compare their runs with"
            " duetime's promises: about half a minute. It needs the permissions actions:read, actions:manage"
            " and system. Metrics, alarms and events leave probes out; their rows are removed after an hour,"
            " one that is cancelled before its run after the retention. Exit status 1: a check failed.",
        ),
        Command(
            "restore",
            "adopt a restored table, and decide what runs again",
            "deployment.restore",
            (
                argument(
                    "verb",
                    metavar="report|adopt|list|run|done",
                    choices=("report", "adopt", "list", "run", "done"),
                    help="compare a restored table with all evidence about the time since its restore point;"
                    " adopt the restored tables; list the held rows, each with its evidence; let held rows"
                    " run, at their nominal times, or now if these have passed; or mark them as done, so that"
                    " they never run",
                ),
                PREFIX,
                argument("--actions", default="", metavar="TABLE", help="the restored actions table"),
                flag("--dry-run", "of adopt, run and done: change nothing; print the report, or the rows"),
                JSON,
                Section(
                    "report and adopt",
                    (
                        argument("--jobs", default="", metavar="TABLE", help="the restored jobs table"),
                        argument(
                            "--restored-to",
                            type=instant,
                            metavar="TIME",
                            help="the time of their rows (default: DynamoDB's record)",
                        ),
                        flag("--no-logs", "do not read the functions' logs as evidence"),
                    ),
                ),
                Section(
                    "list, run and done",
                    (
                        argument(
                            "ids",
                            nargs="*",
                            metavar="ID",
                            help="ids of held rows, or TENANT/ID where two tenants share an id",
                        ),
                        argument(
                            "--verdict",
                            choices=("ended", "changed", "due"),
                            help="held rows with this verdict",
                        ),
                        argument("--job", metavar="NAME", help="held runs of this job"),
                        flag("--all", "all held rows"),
                    ),
                ),
            ),
            "Adopt tables while the global switch is off: hold rows that may have run since the restore"
            " point, reconcile jobs, timers and schedules with the rows, and enable stream, time to live,"
            " point-in-time recovery and protection. It prints the report; a repeat is safe.",
            calls=False,
        ),
        Command(
            "failover",
            "make a standby region active, or compare both regions",
            "deployment.fail_over",
            (
                argument(
                    "--to",
                    required=True,
                    metavar="REGION",
                    help="the region that becomes active, such as eu-west-1",
                ),
                OneOf(
                    (
                        flag("--dry-run", "check the target, and change nothing"),
                        flag("--reconcile", "the region is active: only make its wakes again"),
                        argument(
                            "--compare",
                            metavar="REGION",
                            help="list what only this former region has, and what ran in both",
                        ),
                    )
                ),
                YES,
                argument(
                    "--regions-table",
                    default="",
                    metavar="TABLE",
                    help="the table of the active region, before a deploy sets regions_table",
                ),
                PREFIX,
                JSON,
            ),
            "Move the epoch, so that no region claims; wait until no lease of the former region can"
            " be live; activate the target; then make schedules, timers and messages from its rows.",
            calls=False,
        ),
        Command(
            "runbook",
            "print a section of the runbook, such as one that an alarm names",
            "doctor.print_runbook",
            (
                argument(
                    "section",
                    nargs="?",
                    metavar="SECTION",
                    help="such as dead-letters, or the heading; without it, the sections are listed",
                ),
                flag("--json", "one JSON object instead of text"),
            ),
            "Print a section of the runbook: what to check, and what to do. It calls no scheduler.",
            calls=False,
        ),
    ),
)

_ROLE = argument(
    "role",
    metavar="ROLE",
    type=not_empty("`duetime access grants` shows the roles"),
    help="the role: a group of the user pool",
)
_ACCESS = Group(
    "access",
    "your identity, granted permissions and the audit trail",
    (
        Command(
            "audit",
            "which caller requested which change, the latest first; or verify that no entry was changed",
            "audit.audit",
            (
                argument(
                    "verb",
                    nargs="?",
                    metavar="verify|runs",
                    choices=["verify", "runs"],
                    help="verify the trail; or print the last recount of the runs",
                ),
                OneOf(
                    (
                        argument("--action", metavar="ID", help="only changes of this action"),
                        argument("--job", metavar="NAME", help="only changes of this job"),
                    )
                ),
                argument(
                    "--heads",
                    metavar="FILE",
                    action="append",
                    default=[],
                    help="of verify: saved heads, of an earlier verify --json, of the API's log or of events",
                ),
                flag(
                    "--system",
                    "the deployment's own trail, of exports and erases of tenants; with your AWS credentials",
                ),
                argument("--prefix", default="duetime-", help="the prefix, for --system (default: duetime-)"),
                *PAGE,
            ),
            "Lists requested changes. `verify` reads the tenant's complete trail and recomputes its hashes."
            " It finds entries that were changed, removed, replaced or inserted, and exits with 1. The end of"
            " a chain can only be verified against saved heads. `runs` prints the last recount of all nominal"
            " times; it needs the permission `system`, and exits with 1 if something was found.",
        ),
        Command(
            "grants",
            "list what roles may do beside the settings, or grant permissions to one",
            "actions.grants",
            (
                argument(
                    _ROLE.names[0],
                    **{**_ROLE.settings, "nargs": "?"},
                ),
                argument(
                    "permissions",
                    metavar="PERMISSION",
                    nargs="*",
                    help="granted in place of those before, such as jobs:read; none: revoke all",
                ),
            ),
        ),
        Command(
            "whoami",
            "who you are to the scheduler, and what you may do",
            Operation("getCaller", views.CALLER),
        ),
    ),
)

_COMPLETION = Command(
    "completion",
    "print a script for a shell's completion",
    "output.print_completion",
    (argument("shell", choices=("bash", "zsh", "fish"), help="the shell"),),
    'Print a script. bash, zsh: eval "$(duetime completion bash)". fish: duetime completion fish | source.',
    calls=False,
)

COMMANDS = (
    *(_LOCAL, _OUTBOX, _PREVIEW, _APP_COMMANDS),
    *(_SCHEDULE, _ACTIONS, _DEAD_LETTERS, _JOBS),
    *(_UNDELIVERED, _NOTIFICATIONS, _DOCTOR, _TENANTS),
    *(_DEPLOYMENT, _ACCESS, _COMPLETION),
)
"""All commands by task: develop, use, look after, operate."""
