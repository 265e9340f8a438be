"""The arguments of commands: how they are declared, those that several share, and what their values mean."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeAlias, cast

from duetime.cli.client import operations
from duetime.cli.failures import BadUsage, did_you_mean
from duetime.cli.tables import duration, positive_seconds
from duetime.clock import SystemClock
from duetime.errors import DuetimeError


class Argument(NamedTuple):
    """An argument or an option, as argparse takes it."""

    names: Sequence[str]
    settings: Mapping[str, Any]

    def add_to(self, parser: argparse._ActionsContainer) -> None:
        """Add it to a parser, or to a group of one."""
        parser.add_argument(*self.names, **self.settings)


def argument(*names: str, **settings: Any) -> Argument:
    """Return an argument with the settings of `argparse.ArgumentParser.add_argument`."""
    return Argument(names, settings)


def flag(name: str, help_text: str) -> Argument:
    """Return an option without a value."""
    return argument(name, action="store_true", help=help_text)


class OneOf(NamedTuple):
    """Arguments of which at most one may be given, or exactly one."""

    arguments: Sequence[Argument]
    is_required: bool = False

    def add_to(self, parser: argparse._ActionsContainer) -> None:
        """Add them to a parser."""
        group = parser.add_mutually_exclusive_group(required=self.is_required)
        for one in self.arguments:
            one.add_to(group)


class Section(NamedTuple):
    """Arguments under a title of their own in the help."""

    title: str
    arguments: Sequence[Argument]
    description: str | None = None

    def add_to(self, parser: argparse._ActionsContainer) -> None:
        """Add them to a parser."""
        group = parser.add_argument_group(self.title, self.description)
        for one in self.arguments:
            one.add_to(group)


class FieldOptions(NamedTuple):
    """An option for each field of an operation's body, as the API's document describes it.

    Attributes:
        operation: its id.
        but: the fields that other arguments give.
        rare: the fields that few callers give; ``--set NAME=VALUE`` takes them.
    """

    operation: str
    but: Sequence[str]
    rare: Sequence[str] = ()

    def add_to(self, parser: argparse._ActionsContainer) -> None:
        """Add them to a parser, in alphabetical order."""
        for name, schema in sorted(operations()[self.operation].fields.items()):
            if name not in (*self.but, *self.rare):
                option = name.replace("_", "-")
                parser.add_argument(f"--{option}", **_settings_of(schema, option.rpartition("-")[2].upper()))
        if self.rare:
            listed = ", ".join(f"{name} ({_about(schema)})" for name, schema in self._schemas.items())
            text = f"another field, may be repeated: {listed}"
            settings = {"dest": "given", "action": "append", "default": [], "metavar": "NAME=VALUE"}
            parser.add_argument("--set", type=self._named_value, help=text, **settings)  # type: ignore[arg-type]

    @property
    def _schemas(self) -> Mapping[str, Mapping[str, Any]]:
        """The schemas of the rare fields, those of a retry policy among them."""
        fields = operations()[self.operation].fields
        known = {**fields["retry"]["properties"], **fields}
        return {name: {"type": "number", **known[name]} for name in self.rare}

    def _named_value(self, written: str) -> tuple[str, Any]:
        """Parse a rare field, such as ``overlap=queue_one``."""
        name, _, value = written.partition("=")
        if name not in self.rare:
            meant = did_you_mean(name, self.rare)
            raise ValueError(f"{name!r} is no such field{meant}; use {', '.join(self.rare)}")
        try:
            return name, _PARSERS[self._schemas[name]["type"]](value)
        except ValueError as error:
            raise ValueError(f"{name} is {value!r}: {error}") from None


def _settings_of(schema: Mapping[str, Any], last_word: str) -> dict[str, Any]:
    """Return the settings of an option that has the value of a field: a number of seconds is a SPAN."""
    text = _about(schema)
    if "enum" in schema:
        return {"choices": schema["enum"], "help": text}
    match schema["type"]:
        case "boolean":
            return {"action": "store_const", "const": True, "help": text}
        case "array":
            return {"action": "append", "metavar": "ID", "help": f"{text}; may be repeated"}
        case kind:
            return {"type": _PARSERS[kind], "metavar": _METAVARS.get(kind, last_word), "help": text}


_UNIT = re.compile(r", in seconds|; null without one|`|\.$")


def _about(schema: Mapping[str, Any]) -> str:
    """Return what a field means, as the help of an option says it: a span has its own unit."""
    text = re.sub("; null: (.*)", r" (default: \1)", _UNIT.sub("", schema["description"]))
    return text[:1].lower() + text[1:]


Addition: TypeAlias = Argument | OneOf | Section | FieldOptions
"""What a command may add to its parser."""

Part: TypeAlias = str | Mapping[str, Any] | Callable[[argparse.Namespace], Mapping[str, Any]]
"""A part of a request: the name of an argument, which is left out without a value; or fields."""


def fields_of(arguments: argparse.Namespace, parts: Sequence[Part]) -> dict[str, Any]:
    """Return the fields of a request."""
    fields: dict[str, Any] = {}
    for part in parts:
        if not isinstance(part, str):
            fields |= part(arguments) if callable(part) else part
        elif (value := getattr(arguments, part)) is not None:
            fields[part] = value
    return fields


# Each parser of a value raises ValueError, or an error of duetime, whose message `CommandParser` prints.


def seconds(written: str) -> float:
    """Parse a duration to seconds."""
    return duration(written).total_seconds()


_PARSERS: Mapping[str, Callable[[str], Any]] = {"string": str, "integer": int, "number": seconds}
"""The parsers of a field's value, by its JSON type: each number of a request's body is one of seconds."""
_METAVARS = {"integer": "N", "number": "SPAN"}


def instant(written: str) -> str:
    """Parse a time to UTC; without an offset it is in this machine's zone."""
    try:
        return zulu(datetime.fromisoformat(written).astimezone(UTC))
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            f"{written[:40]!r} is not a time; write one such as 2027-06-01T09:00, or 2027-06-01T07:00Z"
        ) from None


def moment(written: str) -> str:
    """Parse a time, or a duration from now such as ``2h`` or ``-30m``, to UTC."""
    sign, length = (-1, written[1:]) if written.startswith("-") else (1, written)
    try:
        return zulu(SystemClock().now() + sign * duration(length))
    except ValueError:
        return instant(written)
    except OverflowError:
        raise ValueError(f"{written[:40]!r} lies outside the years 1970 to 2199") from None


def zulu(at: datetime) -> str:
    """Return an instant in UTC as the API writes it."""
    return at.isoformat().removesuffix("+00:00") + "Z"


def _after(written: str) -> str:
    """Parse a duration to the instant after it; to the last one of all if it is too long."""
    try:
        return zulu(SystemClock().now() + duration(written))
    except OverflowError:
        return zulu(datetime.max.replace(tzinfo=UTC))


def between(low: int, high: int, message: str) -> Callable[[str], int]:
    """Return a function that parses a whole number in bounds; the message follows any other text."""

    def parse(written: str) -> int:
        if not (written.isascii() and written.isdigit() and low <= int(written) <= high):
            raise ValueError(f"{written[:20]!r} {message}")
        return int(written)

    return parse


def statuses(written: str) -> str:
    """Check a status, or several with commas between them."""
    from duetime.model.action import Status  # noqa: PLC0415 - `duetime --help` reads no status

    known = ["retrying", *map(str, Status)]
    for status in written.split(","):
        if status not in known:
            raise ValueError(
                f"there is no status {status!r}; use {', '.join(known)}{did_you_mean(status, known)}"
            )
    return written


def _printable(written: str) -> str:
    if not re.fullmatch(r"[!-~]+", written):
        raise ValueError(f"{written!r} must be printable ASCII without spaces")
    return written


def _job_name(written: str) -> str:
    from duetime.ids import job_name  # noqa: PLC0415 - `duetime --help` reads no names

    try:
        return job_name(written)
    except DuetimeError as refused:
        raise ValueError(f"{refused}; `duetime jobs list` shows them") from None


def not_empty(remedy: str) -> Callable[[str], str]:
    """Return a function that rejects an empty text, and names the command that shows what there is."""

    def parse(written: str) -> str:
        if not written.strip():
            raise ValueError(f"it is empty; {remedy}")
        return written

    return parse


def spans(written: str) -> list[float]:
    """Parse durations with commas between them to seconds."""
    return [*map(seconds, written.split(","))]


def json_value(written: str) -> object:
    """Parse JSON."""
    try:
        return cast("object", json.loads(written))
    except ValueError:
        raise ValueError(f"{written!r} is no JSON; quote texts: '\"done\"'") from None


def texts_of(written: str) -> dict[str, str]:
    """Parse an object of texts from JSON, or from a file of that name."""
    try:
        is_json = written.lstrip().startswith("{")
        content = json.loads(written if is_json else Path(written).read_text(encoding="utf-8"))
    except OSError as error:
        reason = f"neither a JSON object nor a readable file: {error.strerror}"
    except (ValueError, RecursionError) as error:
        reason = f"not JSON: {error}"
    else:
        if isinstance(content, dict) and all(isinstance(value, str) for value in content.values()):
            return content
        reason = 'not a JSON object of texts, such as {"viewers": "actions:read"}'
    raise ValueError(f"{written[:60]!r} is {reason}")


def setting(written: str) -> tuple[str, Any]:
    """Parse a setting's name and value, such as ``lease=5m`` or ``roles=roles.json``."""
    from duetime._setting_fields import default_of, read, settings_in  # noqa: PLC0415 - only `duetime local` has settings
    from duetime.settings import Settings  # noqa: PLC0415 - as above

    known = {field.name: field for field in settings_in(Settings)}
    name, _, value = written.partition("=")
    if name not in known:
        meant = did_you_mean(name, known)
        raise ValueError(f"{name!r} is no setting of the local cloud{meant}; docs/settings.md lists them")
    default = default_of(known[name])
    if isinstance(default, timedelta):
        return name, timedelta(seconds=seconds(value))
    if isinstance(default, Mapping):
        return name, texts_of(value)
    try:
        return name, read(known[name], value)
    except (ValueError, KeyError):
        raise ValueError(f"{name} is {value!r}; write it as in {name}={str(default).lower()}") from None


def mail_address(written: str) -> str:
    """Check a mail address."""
    from duetime.ids import SYSTEM_TENANT  # noqa: PLC0415 - `duetime --help` reads no addresses
    from duetime.model.preferences import Preferences  # noqa: PLC0415 - as above

    try:
        Preferences(tenant_id=SYSTEM_TENANT, addresses=(written,))
    except DuetimeError:
        raise ValueError(f"{written[:60]!r} is no mail address; write it as in ada@example.com") from None
    return written


CHANNELS = ("email", "sns", "in_app")
"""Those of `duetime.model.notification.Channel`, which `duetime --help` need not load."""

NONE, DEFAULT = "none", "default"
"""Accepted instead of addresses or channels."""


def channels_of(kinds: Sequence[str]) -> Callable[[str], tuple[str, list[str] | None]]:
    """Return a function that parses a kind and its channels; None means the default."""

    def parse(written: str) -> tuple[str, list[str] | None]:
        kind, _, chosen = written.partition("=")
        if kind not in kinds:
            raise ValueError(f"{kind!r} is not a kind; use one of {', '.join(kinds)}, as in {kinds[3]}=email")
        if chosen == DEFAULT:
            return kind, None
        channels = [] if chosen == NONE else chosen.split(",")
        if unknown := ", ".join(repr(channel) for channel in channels if channel not in CHANNELS):
            allowed = f"{', '.join(CHANNELS)}, or {NONE}, or {DEFAULT}"
            raise ValueError(f"{unknown} is not a channel; use some of {allowed}")
        return kind, channels

    return parse


def payload_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return ``--payload`` as a field, if it was given; ``-`` reads it from standard input.

    Raises:
        BadUsage: it is not a JSON object.
    """
    if arguments.payload is None:
        return {}
    try:
        text = sys.stdin.read() if arguments.payload == "-" else arguments.payload
        payload = json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise BadUsage("--payload is not JSON: it is nested too deeply") from None
    except ValueError as error:
        raise BadUsage(f"--payload is not JSON: {error}") from None
    if not isinstance(payload, dict):
        raise BadUsage('--payload must be a JSON object, such as \'{"order": "o-1"}\'')
    return {"payload": payload}


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON value; use null or text")


JSON = flag("--json", "print JSON")
CONNECTION = (
    Section(
        "the scheduler",
        (
            argument(
                "--profile",
                metavar="NAME",
                help="a profile of the configuration file (default: DUETIME_PROFILE)",
            ),
            argument("--url", help="the API's address (default: DUETIME_URL, or the local cloud)"),
            argument(
                "--token",
                type=_printable,
                help="the ID token of a sign-in (safer in DUETIME_TOKEN: others see options)",
            ),
            flag("--sign", "sign with your AWS credentials (or DUETIME_SIGN=1)"),
            argument("--region", type=_printable, help="the AWS region to sign for, if the URL names none"),
            argument(
                "--timeout",
                type=positive_seconds,
                metavar="SECONDS",
                help="how long a response may take (default: DUETIME_TIMEOUT, or 35)",
            ),
            argument("--tenant", type=_printable, help="the caller's tenant on the local cloud"),
            argument("--user", type=_printable, help="the caller's user on the local cloud"),
        ),
    ),
    flag("--json", "print the API's JSON"),
)
"""The options that choose the scheduler and the caller."""

PAGE = (
    argument(
        "--limit",
        type=between(1, 100, "is not a whole number from 1 to 100"),
        default=20,
        metavar="N",
        help="how many, 1 to 100 (default: 20)",
    ),
    argument("--cursor", help="the end of the previous page"),
)
PREFIX = argument("--prefix", default="duetime-", help="the deployment's prefix (default: duetime-)")
ID = argument(
    "id", metavar="ID", type=not_empty("`duetime actions list` shows the ids"), help="the action's id"
)
IDS = argument(
    "ids",
    metavar="ID",
    nargs="*",
    type=not_empty("`duetime actions list` shows the ids"),
    help="an action's id",
)
JOB = argument("name", metavar="NAME", type=_job_name, help="the job, such as billing-nightly")
TENANT = argument("name", metavar="TENANT", help="the tenant, such as acme")
DRY_RUN = flag("--dry-run", "change nothing; print the number and the first of them")
YES = flag("--yes", "skip the confirmation")
WAIT = flag("--watch", "wait until the actions are done; exit with 0 if all were executed")


def due_time(*, is_required: bool) -> Sequence[Argument | OneOf]:
    """Return ``--at`` or ``--in``, ``--tz`` and ``--precision``."""
    at = argument("--at", metavar="TIME", help="ISO 8601: 2027-06-01T09:00:00Z, or a local time and --tz")
    after = argument("--in", metavar="SPAN", type=seconds, help="from now: 3s, 5m, 2h30m, 1d")
    return (
        OneOf((at, after), is_required),
        argument("--tz", metavar="ZONE", help="the zone of a local --at, such as Europe/Paris"),
        argument(
            "--precision",
            choices=("second", "millisecond"),
            help="second (default): --in is rounded up; or millisecond",
        ),
    )


EXPIRY = OneOf(
    (
        argument("--expires-at", metavar="TIME", help="skip it if no run has begun by this time"),
        argument(
            "--expires-after",
            metavar="SPAN",
            type=seconds,
            help="the same, from its due time: 30m, 2h, 1d",
        ),
    )
)
END = OneOf(
    (
        argument(
            "--until",
            metavar="TIME",
            type=instant,
            help="end the pause at this time: 2027-06-01T09:00 on this machine's clock",
        ),
        argument("--for", dest="until", metavar="SPAN", type=_after, help="end the pause after 30m, 2h, 1d"),
    )
)
"""The end of a pause."""

_FILTERS = (
    argument("--type", help="of this payload type"),
    argument("--correlation-id", metavar="ID", help="with this correlation id"),
    argument("--job", metavar="NAME", help="runs of this job"),
    argument("--due-after", metavar="TIME", type=moment, help="due after then"),
    argument("--due-until", metavar="TIME", type=moment, help="due then or before"),
    argument("--created-after", metavar="TIME", type=moment, help="scheduled after then"),
    argument("--created-until", metavar="TIME", type=moment, help="scheduled then or before"),
    argument("--error", metavar="TEXT", help="with this text in the last attempt's error"),
    argument(
        "--payload",
        metavar="FIELD=VALUE",
        action="append",
        help="with this value in their payload: customer=42; may be repeated",
    ),
)
_TITLE, _ABOUT = (
    "filters",
    "Actions that match all of them. A TIME is 2027-06-01T09:00, or a span from now: -2h.",
)
DEAD_LETTER_FILTERS = Section(_TITLE, _FILTERS, _ABOUT)
"""A list of dead letters has no ``--status``."""

ACTION_FILTERS = Section(
    _TITLE,
    (
        argument(
            "--status",
            metavar="STATUS[,STATUS…]",
            type=statuses,
            help="pending, retrying, processing, executed, failed, …",
        ),
        *_FILTERS,
    ),
    _ABOUT,
)

Filters: TypeAlias = Mapping[str, str | list[str]]
"""The given filters by the API's names."""

FILTERS = (
    *("status", "type", "correlation_id", "job"),
    *("due_after", "due_until", "created_after", "created_until", "error", "payload"),
)


def filters_of(arguments: argparse.Namespace) -> dict[str, str | list[str]]:
    """Return the given filters by the API's names."""
    return fields_of(arguments, [name for name in FILTERS if name in arguments])
