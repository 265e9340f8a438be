"""``duetime outbox``: the events, mails, topic messages and metrics that a local cloud has recorded."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple

from duetime.cli.arguments import Commands, add_command, add_group, client_of
from duetime.cli.client import Client, Json
from duetime.cli.failures import BadUsage, CommandFailed, RequestRejected, StrangeAnswer
from duetime.cli.output import print_content, print_json
from duetime.cli.screen import add_watch
from duetime.cli.tables import plain, table
from duetime.cli.times import both
from duetime.clock import SystemClock
from duetime.errors import truncate

PATH = "outbox"
"""The path of the outbox on the local cloud, beside the API."""

CAPACITY = 1_000
"""The number of items of each kind that a local cloud stores."""

_USUAL, _REASON = 20, 60
_NOT_FOUND = 404

Row = tuple[str, ...]


class NoOutbox(CommandFailed):
    """The URL is not a local cloud's."""

    def __init__(self, url: str) -> None:
        self.url = url
        super().__init__(
            f"{url} is no local cloud, and only a local cloud has an outbox: start one with"
            " `duetime local --app module:name`, or set its --url"
        )


class _OutboxKind(NamedTuple):
    name: str
    help_text: str
    of_type: str
    heads: Row
    row: Callable[[Json], Row]


def add_parser(commands: Commands) -> None:
    """Add the command and its own commands."""
    verbs = add_group(commands, PATH, "show what a local cloud has sent")
    for kind in _KINDS:
        verb = add_command(verbs, kind.name, run, kind.help_text)
        if kind.name == "mails":
            verb.add_argument(
                "number", metavar="N", type=int, nargs="?", help="print the mail of this number as text"
            )
        usual = "all" if kind.name == "metrics" else f"the newest {_USUAL}"
        verb.add_argument("--limit", type=int, metavar="N", help=f"how many: 1 to 1,000 (default: {usual})")
        verb.add_argument("--type", metavar="TYPE", help=kind.of_type)
        verb.set_defaults(kind=kind)
        add_watch(verb)


def run(arguments: argparse.Namespace) -> int:
    """List what was sent, or show one mail."""
    if getattr(arguments, "number", None) is not None:
        return _show(arguments)
    kind, limit = arguments.kind, arguments.limit
    if limit is None:
        limit = CAPACITY if kind.name == "metrics" else _USUAL
    sent = _ask(client_of(arguments), kind.name, limit=str(limit), type=arguments.type)
    rows = [kind.row(item) for item in sent["items"]]
    return print_content(arguments, sent, lambda *_: table(kind.heads, rows) if rows else f"no {kind.name}")


def _show(arguments: argparse.Namespace) -> int:
    if arguments.limit is not None or arguments.type is not None:
        raise BadUsage("--limit and --type are for the list; leave out the number, or them")
    mails = _ask(client_of(arguments), "mails", limit=str(CAPACITY))["items"]
    mail = next((mail for mail in mails if mail["number"] == arguments.number), None)
    if mail is None:
        raise CommandFailed(f"no mail has the number {arguments.number}: `duetime outbox mails` lists them")
    if arguments.json:
        print_json(mail)
        return 0
    headers = {"to": mail["address"], "subject": mail["subject"], "language": mail["language"]}
    print("\n".join(f"{name + ':':10}{plain(value)}" for name, value in headers.items()), end="\n\n")
    print("\n".join(map(plain, mail["text"].splitlines())))
    return 0


def _ask(client: Client, name: str, **query: str | None) -> Json:
    """Call the local cloud itself, beside its API and without a sign-in.

    Raises:
        NoOutbox: the URL is not a local cloud's.
    """
    from duetime.cli.exchange import is_loopback  # noqa: PLC0415 - `duetime --help` needs no HTTP

    if not is_loopback(client.url):
        raise NoOutbox(client.url)
    base = client.url.rstrip("/").removesuffix(client.prefix)
    try:
        return Client(base, prefix="").ask("GET", PATH, name, query=query)
    except StrangeAnswer:
        raise NoOutbox(client.url) from None
    except RequestRejected as refused:
        if refused.status == _NOT_FOUND:
            raise NoOutbox(client.url) from None
        raise


def _at(sent: Json) -> str:
    return both(sent["at"], SystemClock().now())


def _event(sent: Json) -> Row:
    detail = sent["detail"]
    about: Json = next((detail[name] for name in ("action", "job", "undelivered") if name in detail), {})
    name = about.get("id") or about.get("name") or ""
    reason = truncate(about.get("reason") or "", _REASON)
    return (_at(sent), sent["type"], str(detail.get("tenant_id", "")), str(name), reason)


def _mail(sent: Json) -> Row:
    return (str(sent["number"]), _at(sent), sent["type"], sent["address"], sent["language"], sent["subject"])


def _message(sent: Json) -> Row:
    attributes = sent["attributes"]
    return (
        _at(sent),
        sent["type"],
        attributes.get("severity", ""),
        attributes.get("tenant", ""),
        sent["subject"],
    )


def _metric(metric: Json) -> Row:
    of = " ".join(f"{name}={value}" for name, value in metric["dimensions"].items())
    return (metric["name"], f"{metric['value']:g}", metric["unit"], str(metric["count"]), of)


_KINDS = (
    _OutboxKind(
        "events",
        "the lifecycle events that were put on the bus",
        "only these, such as action.failed",
        ("SENT", "TYPE", "TENANT", "ABOUT", "REASON"),
        _event,
    ),
    _OutboxKind(
        "mails",
        "the mails, or one of them as it arrives",
        "only of this notification, such as scheduling.action_failed",
        ("N", "SENT", "TYPE", "TO", "LANGUAGE", "SUBJECT"),
        _mail,
    ),
    _OutboxKind(
        "messages",
        "the messages of the topic",
        "only of this notification, such as scheduling.action_failed",
        ("SENT", "TYPE", "SEVERITY", "TENANT", "SUBJECT"),
        _message,
    ),
    _OutboxKind(
        "metrics",
        "the current value of each metric",
        "only the metric of this name, such as failed",
        ("METRIC", "VALUE", "UNIT", "COUNT", "OF"),
        _metric,
    ),
)
