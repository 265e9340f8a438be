"""``duetime notifications preferences``: the recipients, channels and language of notifications."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from datetime import datetime

from duetime.cli.arguments import Commands, add_command, add_group, client_of
from duetime.cli.client import Json
from duetime.cli.failures import BadUsage
from duetime.cli.output import print_content
from duetime.cli.tables import plain
from duetime.cli.times import both

_PATH = ("notifications", "preferences")
CHANNELS = ("email", "sns", "in_app")
"""Those of `duetime.model.notification.Channel`, which `duetime --help` need not load."""

NONE, DEFAULT = "none", "default"
"""Accepted instead of addresses or channels."""


def add_parser(commands: Commands, kinds: Sequence[str]) -> None:
    """Add the command and its own commands; `kinds` are those whose channels may be chosen."""
    verbs = add_group(commands, "preferences", "show and set recipients and channels")
    add_system(add_command(verbs, "show", show, "show what was chosen, and where each kind goes"))
    parser = add_command(verbs, "set", choose, "change some; the others stay as they are")
    add_system(parser)
    add_language(parser, "the language of notifications")
    for name, recipients in (
        ("email", "the recipients of mails"),
        ("admin-email", "the recipients of mails for admins"),
    ):
        help_text = f"{recipients}, replacing the previous ones; may be repeated; `none` removes all"
        parser.add_argument(f"--{name}", metavar="ADDRESS", action="append", help=help_text)
    parser.add_argument(
        "--channel",
        metavar="KIND=CHANNEL[,CHANNEL…]",
        action="append",
        type=lambda written: _channel(written, kinds),
        help="the channels of a kind: email, sns, in_app; or `none`, or `default`; may be repeated",
    )


def add_language(parser: argparse.ArgumentParser, help_text: str) -> None:
    """Add ``--language``."""
    parser.add_argument("--language", metavar="TAG", help=f"{help_text}: en, fr, …")


def add_system(parser: argparse.ArgumentParser) -> None:
    """Add ``--system``."""
    parser.add_argument("--system", action="store_true", help="those of the deployment, for operators")


def scope_of(arguments: argparse.Namespace) -> Mapping[str, str | None]:
    """Return the scope as a parameter of the API."""
    return {"scope": "system" if arguments.system else None}


def _channel(written: str, kinds: Sequence[str]) -> tuple[str, list[str] | None]:
    """Parse a kind and its channels; None means the default. For argparse."""
    kind, _, chosen = written.partition("=")
    if kind not in kinds:
        raise argparse.ArgumentTypeError(
            f"{kind!r} is not a kind; use one of {', '.join(kinds)}, as in {kinds[3]}=email"
        )
    if chosen in {NONE, DEFAULT}:
        return kind, [] if chosen == NONE else None
    channels = chosen.split(",")
    if unknown := [channel for channel in channels if channel not in CHANNELS]:
        allowed = f"{', '.join(CHANNELS)}, or {NONE}, or {DEFAULT}"
        raise argparse.ArgumentTypeError(
            f"{', '.join(map(repr, unknown))} is not a channel; use some of {allowed}"
        )
    return kind, channels


def show(arguments: argparse.Namespace) -> int:
    """Show what was chosen."""
    chosen = client_of(arguments).ask("GET", *_PATH, query=scope_of(arguments))
    return print_content(arguments, chosen, _describe)


def choose(arguments: argparse.Namespace) -> int:
    """Change what was chosen."""
    values = {
        "language": arguments.language,
        "addresses": _addresses(arguments.email),
        "admin_addresses": _addresses(arguments.admin_email),
        "channels": dict(arguments.channel) if arguments.channel else None,
    }
    body = {name: value for name, value in values.items() if value is not None}
    if not body:
        raise BadUsage("nothing to set; give --language, --email, --admin-email or --channel")
    chosen = client_of(arguments).ask("PUT", *_PATH, query=scope_of(arguments), body=body)
    return print_content(arguments, chosen, _describe)


def _addresses(values: list[str] | None) -> list[str] | None:
    if values is None or NONE not in values:
        return values
    if len(values) > 1:
        raise BadUsage(f"{NONE!r} removes all; leave it out, or the addresses beside it")
    return []


def _describe(chosen: Json, now: datetime) -> str:
    language, admins = chosen["mails_in"], chosen["admin_addresses"]
    has_texts = chosen["language"].partition("-")[0] == language
    changed = f"{chosen['changed_by']}, {both(chosen['changed_at'], now)}"
    values = {
        "language": chosen["language"]
        + ("" if has_texts else f", which has no texts; mails are in {language}"),
        "mails to": _named(chosen["addresses"]),
        "admins' to": "only admins see that" if admins is None else _named(admins),
        "changed by": changed if chosen["revision"] else "no user",
    }
    lines = [f"{name:<10}  {plain(value)}" for name, value in values.items()]
    for kind, channels in chosen["channels_in_force"].items():
        lines.append(f"{kind:<25}  {_channels(kind, channels, chosen)}")
    return "\n".join(lines)


def _named(addresses: Sequence[str]) -> str:
    return ", ".join(addresses) or "none"


def _channels(kind: str, channels: Sequence[str], chosen: Json) -> str:
    lacking = [channel for channel in channels if channel not in chosen["channels_available"]]
    default = "" if kind in chosen["channels"] else "  (default)"
    without = f"  (this deployment has no {', no '.join(lacking)})" if lacking else ""
    return (", ".join(channels) or "nowhere") + default + without
