"""``duetime outbox``: the events, mails, topic messages and metrics that a local cloud has recorded."""

from __future__ import annotations

import argparse

from duetime.cli.client import Client, Json, client_of
from duetime.cli.failures import BadUsage, NoResponse, RequestRejected
from duetime.cli.output import print_content, print_either
from duetime.cli.tables import Table, plain
from duetime.errors import OperationFailed, truncate

CAPACITY = 1_000
"""The number of items of each kind that a local cloud stores."""

_USUAL, _REASON = 20, 60
_NOT_FOUND = 404


def run(arguments: argparse.Namespace) -> int:
    """List what was sent, or show one mail."""
    kind = arguments.kind
    if arguments.number is not None:
        if kind != "mails":
            raise BadUsage(f"only a mail has a number; leave out {arguments.number}, or use `outbox mails`")
        return _show(arguments)
    usual = CAPACITY if kind == "metrics" else _USUAL
    given = {"limit": usual if arguments.limit is None else arguments.limit, "type": arguments.type}
    return print_content(arguments, _ask(client_of(arguments), kind, given), _KINDS[kind])


def _show(arguments: argparse.Namespace) -> int:
    if arguments.limit is not None or arguments.type is not None:
        raise BadUsage("--limit and --type are for the list; leave out the number, or them")
    mails = _ask(client_of(arguments), "mails", {"limit": CAPACITY})["items"]
    mail = next((mail for mail in mails if mail["number"] == arguments.number), None)
    if mail is None:
        raise OperationFailed(f"no mail has the number {arguments.number}: `duetime outbox mails` lists them")
    headers = {"to": mail["address"], "subject": mail["subject"], "language": mail["language"]}
    lines = [f"{name + ':':10}{plain(value)}" for name, value in headers.items()]
    lines += ["", *map(plain, mail["text"].splitlines())]
    return print_either(arguments, mail, lambda: "\n".join(lines))


def _ask(client: Client, name: str, query: Json) -> Json:
    """Call the local cloud itself, beside its API and without a sign-in.

    Raises:
        OperationFailed: the URL is not a local cloud's.
    """
    from duetime.cli.exchange import is_loopback  # noqa: PLC0415 - `duetime --help` needs no HTTP

    base = client.url.rstrip("/").removesuffix(client.prefix)
    try:
        if is_loopback(client.url):
            return Client(base, prefix="").ask("GET", "outbox", name, query=query)
    except NoResponse:
        raise
    except RequestRejected as error:
        if error.status != _NOT_FOUND:
            raise
    except OperationFailed:  # the server is not duetime's API
        pass
    raise OperationFailed(
        f"{client.url} is no local cloud, and only a local cloud has an outbox: start one with"
        " `duetime local --app module:name`, or set its --url"
    )


def _about(sent: Json) -> Json:
    names = ("action", "job", "undelivered")
    return next((sent["detail"][name] for name in names if name in sent["detail"]), {})


_KINDS = {
    "events": Table(
        {
            "SENT": "{at:when}",
            "TYPE": "type",
            "TENANT": lambda sent, _: sent["detail"].get("tenant_id"),
            "ABOUT": lambda sent, _: _about(sent).get("id") or _about(sent).get("name"),
            "REASON": lambda sent, _: truncate(_about(sent).get("reason") or "", _REASON),
        },
        "no events",
    ),
    "mails": Table(
        {
            "N": "number",
            "SENT": "{at:when}",
            "TYPE": "type",
            "TO": "address",
            "LANGUAGE": "language",
            "SUBJECT": "subject",
        },
        "no mails",
    ),
    "messages": Table(
        {
            "SENT": "{at:when}",
            "TYPE": "type",
            "SEVERITY": lambda sent, _: sent["attributes"].get("severity"),
            "TENANT": lambda sent, _: sent["attributes"].get("tenant"),
            "SUBJECT": "subject",
        },
        "no messages",
    ),
    "metrics": Table(
        {
            "METRIC": "name",
            "VALUE": lambda metric, _: f"{metric['value']:g}",
            "UNIT": "unit",
            "COUNT": "count",
            "OF": lambda metric, _: " ".join(f"{key}={of}" for key, of in metric["dimensions"].items()),
        },
        "no metrics",
    ),
}
