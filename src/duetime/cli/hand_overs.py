"""``duetime actions complete``, ``fail`` and ``heartbeat``: what the holder of a token can do."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from datetime import datetime

from duetime.cli.arguments import Commands, Run, add_command, client_of
from duetime.cli.client import Json
from duetime.cli.output import print_content
from duetime.cli.times import both

_PATH = "handovers"


def add_commands(verbs: Commands) -> None:
    """Add the three commands."""
    parser = _add(verbs, "complete", complete, "end a handed-over action as executed, by its token")
    parser.add_argument("--result", type=_json, metavar="JSON", help="stored with it, at most 2 KB")
    parser = _add(verbs, "fail", fail, "end a handed-over action as failed, by its token")
    parser.add_argument("--reason", required=True, help="why, in at most 500 characters")
    parser.add_argument("--no-retry", action="store_true", help="never again, whatever the retry policy")
    parser = _add(verbs, "heartbeat", heartbeat, "keep a handed-over action alive, by its token")
    parser.add_argument("--progress", type=float, metavar="SHARE", help="from 0 to 1")
    parser.add_argument("--note", default="", help="stored with the progress, such as '12,000 of 30,000'")


def _add(verbs: Commands, name: str, run: Run, help_text: str) -> argparse.ArgumentParser:
    parser = add_command(verbs, name, run, help_text)
    parser.add_argument("token", metavar="TOKEN", help="what run.token returned to the handler")
    return parser


def _json(written: str) -> object:
    try:
        value: object = json.loads(written)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{written!r} is no JSON; quote texts: '\"done\"'") from None
    return value


def complete(arguments: argparse.Namespace) -> int:
    """Complete one handed-over action."""
    body = {} if arguments.result is None else {"result": arguments.result}
    return _post(arguments, "complete", body, _ended)


def fail(arguments: argparse.Namespace) -> int:
    """Fail one handed-over action."""
    body = {"reason": arguments.reason, "retry": not arguments.no_retry}
    return _post(arguments, "fail", body, _ended)


def heartbeat(arguments: argparse.Namespace) -> int:
    """Keep one handed-over action alive."""
    given = {"progress": arguments.progress, "note": arguments.note or None}
    body = {name: value for name, value in given.items() if value is not None}
    return _post(arguments, "heartbeat", body, _beat)


def _post(arguments: argparse.Namespace, verb: str, body: Json, text: Callable[[Json, datetime], str]) -> int:
    answer = client_of(arguments).ask("POST", _PATH, arguments.token, verb, body=body)
    return print_content(arguments, answer, text)


def _ended(action: Json, _now: datetime) -> str:
    return f"{action['id']} is {action['status']}"


def _beat(beat: Json, now: datetime) -> str:
    stop = "; a cancel was requested: stop, then run `duetime actions fail`"
    return f"waits until {both(beat['waits_until'], now)}{stop if beat['cancel_requested'] else ''}"
