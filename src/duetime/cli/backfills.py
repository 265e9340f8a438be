"""``duetime jobs``: backfill, backfills, pause-backfill, resume-backfill and cancel-backfill."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import datetime

from duetime._english import counted
from duetime.cli.arguments import (
    JOBS,
    Commands,
    Run,
    add_command,
    add_job,
    client_of,
)
from duetime.cli.client import Client, Json
from duetime.cli.failures import BadUsage
from duetime.cli.filters import moment
from duetime.cli.output import print_content, print_json, print_next
from duetime.cli.screen import add_watch
from duetime.cli.tables import plain, table
from duetime.cli.times import both

_TIME = (
    "A TIME is 2027-06-01T09:00 on this machine's clock, or 2027-06-01T07:00Z,"
    " or a span from now, such as -2h."
)
_WIDTH = 30
_MOST_AT_ONCE = 100


def add_parsers(verbs: Commands) -> None:
    """Add the commands of backfills."""
    help_text = "run past nominal times beside the current runs; those that already ran are left out"
    parser = add_command(verbs, "backfill", begin, help_text, _TIME)
    add_job(parser)
    parser.add_argument(
        "--from", dest="start", metavar="TIME", type=moment, required=True, help="the first instant"
    )
    parser.add_argument(
        "--until", metavar="TIME", type=moment, help="the end, excluded (default: the present)"
    )
    help_text = f"the most open runs, 1 to {_MOST_AT_ONCE} (default: 4)"
    parser.add_argument("--at-once", type=_at_once, default=4, metavar="N", help=help_text)
    help_text = "the times that come first (default: oldest)"
    parser.add_argument("--order", choices=("oldest", "newest"), default="oldest", help=help_text)
    parser.add_argument("--again", action="store_true", help="run times that already ran, too")
    parser.add_argument("--dry-run", action="store_true", help="only print the times, and those left out")
    parser = add_command(verbs, "backfills", list_all, "list its backfills with their progress")
    add_job(parser)
    add_watch(parser)
    _add_one(verbs, "pause-backfill", pause, "begin no further runs of a backfill; open ones end")
    _add_one(verbs, "resume-backfill", resume, "begin runs of a paused backfill again")
    _add_one(verbs, "cancel-backfill", cancel, "end a backfill, and cancel its open runs")


def _add_one(verbs: Commands, name: str, run: Run, help_text: str) -> None:
    parser = add_command(verbs, name, run, help_text)
    add_job(parser)
    help_text = "the backfill's id; needed if the job has several unfinished ones"
    parser.add_argument("id", metavar="ID", nargs="?", help=help_text)


def _at_once(written: str) -> int:
    try:
        number = int(written)
    except ValueError:
        number = 0
    if not 1 <= number <= _MOST_AT_ONCE:
        raise argparse.ArgumentTypeError(f"{written!r} is out of range; use 1 to {_MOST_AT_ONCE}")
    return number


def begin(arguments: argparse.Namespace) -> int:
    """Begin a backfill, or with ``--dry-run`` print what it would run."""
    client, until = client_of(arguments), arguments.until or moment("0s")
    span = {"from": arguments.start, "until": until}
    if arguments.dry_run:
        query = {**span, "again": "true" if arguments.again else None}
        preview = client.ask("GET", JOBS, arguments.name, "backfills", "preview", query=query)
        return print_content(arguments, preview, _previewed)
    options = {name: getattr(arguments, name) for name in ("at_once", "order", "again")}
    backfill = client.ask("POST", JOBS, arguments.name, "backfills", body={**span, **options})
    if arguments.json:
        print_json(backfill)
        return 0
    print(
        f"began backfill {backfill['id']}: {counted(backfill['total'], 'nominal time', ',')}"
        f" of {arguments.name}"
    )
    print_next(arguments, "jobs", "backfills", arguments.name)
    return 0


def _previewed(preview: Json, now: datetime) -> str:
    lines = [both(at, now) for at in preview["items"]]
    lines += [f"{both(one['at'], now)}  left out: {one['status']}" for one in preview["left_out"]]
    times, left_out = counted(preview["total"], "nominal time", ","), len(preview["left_out"])
    return "\n".join([*lines, f"would run {len(preview['items']):,} of {times}, and leave out {left_out:,}"])


def list_all(arguments: argparse.Namespace) -> int:
    """List the backfills of one job."""
    found = client_of(arguments).ask("GET", JOBS, arguments.name, "backfills")
    return print_content(arguments, found, lambda page, now: _listed(page["items"], now))


def _listed(backfills: Sequence[Json], now: datetime) -> str:
    if not backfills:
        return "no backfills"
    names = ("executed", "failed", "left_out", "remaining")
    rows = [
        [
            backfill["id"],
            backfill["state"],
            _bar(backfill),
            *(f"{backfill[name]:,}" for name in names),
            str(len(backfill["open"])),
            both(backfill["start"], now),
            both(backfill["until"], now),
            plain(backfill["begun_by"]),
        ]
        for backfill in backfills
    ]
    heads = ["ID", "STATE", "PROGRESS", "EXECUTED", "FAILED", "LEFT OUT", "REMAINING", "OPEN"]
    return table([*heads, "FROM", "UNTIL", "BY"], rows)


def _bar(backfill: Json) -> str:
    done = backfill["total"] - backfill["remaining"] - len(backfill["open"])
    share = 100 * done // backfill["total"] if backfill["total"] else 100
    filled = _WIDTH * share // 100
    return f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {share} %"


def pause(arguments: argparse.Namespace) -> int:
    """Pause one backfill."""
    return _change(arguments, "pause", "paused")


def resume(arguments: argparse.Namespace) -> int:
    """Resume one backfill."""
    return _change(arguments, "resume", "resumed")


def cancel(arguments: argparse.Namespace) -> int:
    """Cancel one backfill."""
    return _change(arguments, "cancel", "cancelled")


def _change(arguments: argparse.Namespace, verb: str, done: str) -> int:
    client = client_of(arguments)
    backfill_id = arguments.id or _only(client, arguments.name)
    backfill = client.ask("POST", JOBS, arguments.name, "backfills", backfill_id, verb)
    still_open = len(backfill["open"])
    rest = f"; {still_open} of its runs have not ended" if still_open else ""
    return print_content(arguments, backfill, lambda *_: f"{done} backfill {backfill['id']}{rest}")


def _only(client: Client, name: str) -> str:
    """Return the id of the job's only unfinished backfill."""
    found = client.ask("GET", JOBS, name, "backfills")["items"]
    unfinished = [backfill["id"] for backfill in found if backfill["ended_at"] is None]
    if len(unfinished) != 1:
        there = (
            f"the unfinished backfills {', '.join(unfinished)}" if unfinished else "no unfinished backfill"
        )
        raise BadUsage(f"{name} has {there}: name one, as `duetime jobs backfills {name}` lists them")
    return str(unfinished[0])
