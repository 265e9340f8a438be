"""Settings: the one typed place for what a deployment may choose.

Each field's metadata says what it means and which values AWS or the protocol admit; contradictions between
fields are refused together, before anything is built on them. It is long because it is the one place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from datetime import timedelta
from typing import Any, Literal, Self

from duetime.environment import PREFIX, SWITCH, environment
from duetime.errors import SettingsError

DUE_SHARDS = 16
"""What every writer may assume.

A deployment may raise it, never lower it, so no row is out of a sweep's sight.
"""


def _seconds(default: float, about: str, *, low: float, high: float) -> Any:
    return field(
        default=timedelta(seconds=default),
        metadata={"about": about, "low": timedelta(seconds=low), "high": timedelta(seconds=high)},
    )


def _number(default: int, about: str, *, low: int, high: int) -> Any:
    return field(default=default, metadata={"about": about, "low": low, "high": high})


def _text(default: str, about: str, *, like: str = r".*", allowed: str = "text") -> Any:
    return field(default=default, metadata={"about": about, "like": like, "allowed": allowed})


_DAY = 86_400
SHORTEST_KEY_TTL, LONGEST_KEY_TTL = timedelta(minutes=1), timedelta(days=30)
"""What an idempotency key's time to live may be."""

ROLES = {
    "viewers": "actions:read jobs:read",
    "members": "actions:manage jobs:manage",
    "operators": "actions:manage jobs:manage audit:read system",
    "admins": "admin",
}
"""The roles of a deployment that says nothing else."""

_MINUTE = timedelta(minutes=1)
_LEAST_WITH_WHEEL = timedelta(minutes=3)
_KINDS = {timedelta: "a timedelta", int: "a whole number", bool: "True or False", str: "text"}
_WRITTEN = {timedelta: "a number of seconds", int: "a whole number", bool: "true or false", str: "text"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a deployment may choose. Durations are ``timedelta``; in the environment they are seconds.

    Raises:
        SettingsError: a value is out of its range, or two contradict each other.
    """

    prefix: str = _text(
        "duetime-",
        "Begins the name of every table, queue and group.",
        like=r"([A-Za-z][A-Za-z0-9_-]{0,39})?",
        allowed="letters, digits, - and _, a letter first, 40 characters at most",
    )
    enabled: bool = field(
        default=True,
        metadata={"about": "The global switch: off, nothing fires; what is queued waits and lists go on."},
    )
    due_shards: int = _number(
        DUE_SHARDS,
        "Partitions of the due index: each takes about 1,000 writes a second.",
        low=DUE_SHARDS,
        high=256,
    )
    due_order: bool = field(
        default=False,
        metadata={
            "about": "An index by tenant and due time, for lists in due order. It costs one write unit more"
            " an action, and two more for each reschedule, retry or redrive."
        },
    )
    near_limit: timedelta = _seconds(
        900, "Due within this: an SQS delay carries it. Later: a timer does.", low=1, high=900
    )
    wake_early: timedelta = _seconds(
        90, "A timer wakes this long before the due time; EventBridge may be 60 s late.", low=0, high=840
    )
    lease: timedelta = _seconds(
        300, "How long a claim holds without a heartbeat: the orphan time-out.", low=2, high=43_000
    )
    heartbeat: timedelta = _seconds(
        60, "How often a run renews its lease and its message's visibility.", low=0.2, high=3_600
    )
    cancel_poll: timedelta = _seconds(
        3, "How often a run looks whether its cancel was asked for.", low=0.1, high=3_600
    )
    clock_skew: timedelta = _seconds(
        5, "How far two machines' clocks may differ before a lease is taken over.", low=0, high=60
    )
    max_recoveries: int = _number(
        5, "How often a run may be taken over from a dead worker before its action fails.", low=0, high=100
    )
    grace: timedelta = _seconds(
        300,
        "How late a pending action must be before the sweep or the catch-up sends it again.",
        low=1,
        high=3_600,
    )
    sweep_rate: timedelta = _seconds(
        60, "The interval of the sweep, which finds overdue rows; whole minutes.", low=60, high=3_600
    )
    catch_up_rate: timedelta = _seconds(
        21_600,
        "The interval of the catch-up, the deep sweep through all overdue rows; whole minutes.",
        low=1_800,
        high=_DAY,
    )
    job_grace: timedelta = _seconds(
        600,
        "How late an occurrence may be claimed or planned; later, its job has missed it. At least grace and"
        " sweep_rate together: the sweep finds a lost wake only then.",
        low=62,
        high=_DAY,
    )
    catch_up_spread: timedelta = _seconds(
        5, "Between the occurrences of one job that are made up for.", low=0, high=3_600
    )
    default_tz: str = _text("", "The zone of cadences that say none, as Europe/Paris; UTC when empty.")
    retention: timedelta = _seconds(
        30 * _DAY, "How long a settled action is kept.", low=_DAY, high=3_650 * _DAY
    )
    idempotency_ttl: timedelta = _seconds(
        _DAY,
        "How long an idempotency key holds at least, unless the call says a time to live of its own.",
        low=SHORTEST_KEY_TTL.total_seconds(),
        high=LONGEST_KEY_TTL.total_seconds(),
    )
    queue_visibility: timedelta = _seconds(
        305, "The due queue's own visibility time-out; not below the worker's time-out.", low=0, high=43_200
    )
    timers: Literal["eventbridge", "wheel"] = field(
        default="eventbridge",
        metadata={"about": "What wakes a far action.", "choices": ("eventbridge", "wheel")},
    )
    app: str = _text("", "Where the worker finds its handlers: module:name.")
    actions_table: str = _text("", "The actions table; made from the prefix when empty.")
    jobs_table: str = _text("", "The jobs table; made from the prefix when empty.")
    schedule_group: str = _text(
        "", "EventBridge Scheduler's group of one-shots; made from the prefix when empty."
    )
    job_group: str = _text(
        "", "EventBridge Scheduler's group of the jobs' wakes; made from the prefix when empty."
    )
    event_bus: str = _text(
        "default", "The event bus whose events start jobs, and on which lifecycle events are published."
    )
    events: Literal["off", "standard", "all"] = field(
        default="standard",
        metadata={
            "about": "Which lifecycle events are published: all of jobs, with failures, cancels and changes"
            " of one-shots; or also schedule, start and end of one-shots, three events more each; or none.",
            "choices": ("off", "standard", "all"),
        },
    )
    audit_events: bool = field(
        default=False,
        metadata={"about": "Publish the audit trail on the event bus, with caller and address."},
    )
    notification_queue: str = _text("", "The URL of the queue between the bus and the notifications.")
    topic_arn: str = _text("", "The SNS topic that notifications are published to; empty: none.")
    mail_from: str = _text(
        "",
        "Who mails come from: an address that SES has verified. Empty: no mails are sent.",
        like=r"([^@\s]+@[^@\s]+)?",
        allowed="a mail address such as duetime@example.com",
    )
    notification_burst: int = _number(
        5,
        "How many notifications of a kind come singly in notification_window; more come as a digest.",
        low=1,
        high=1_000,
    )
    notification_window: timedelta = _seconds(
        900, "Within how long that many; the digest comes at its end.", low=1, high=900
    )
    queues: Mapping[str, str] = field(
        default_factory=dict, metadata={"about": "Each worker's due queue: name to URL."}
    )
    failure_queue: str = _text(
        "", "The failure queue's URL: where redrives of what is undelivered are asked for."
    )
    dispatch_arn: str = _text("", "The dispatch function that a timer wakes.")
    timer_role_arn: str = _text("", "The role in which EventBridge Scheduler wakes it.")
    timer_dlq_arn: str = _text("", "Where a wake goes that could not be delivered.")
    api_prefix: str = _text(
        "/api/v1",
        "Begins every route of the admin API, its version included.",
        like=r"(/[A-Za-z0-9._~-]+){1,8}",
        allowed="segments such as /api/v1",
    )
    api_tag: str = _text(
        "",
        "The tag of every operation in the API's OpenAPI document, to group them in a larger document."
        " Empty: a tag for each subject, such as actions and jobs.",
        like=r"(\S(.{0,58}\S)?)?",
        allowed="text of 1 to 60 characters in one line, or none",
    )
    authorization: Literal["roles", "allow-all"] = field(
        default="roles",
        metadata={
            "about": "Permissions in the admin API: by roles; for development only, all for every caller.",
            "choices": ("roles", "allow-all"),
        },
    )
    roles: Mapping[str, str] = field(
        default_factory=lambda: dict(ROLES),
        metadata={"about": "What each role may do: role to permissions. A Cognito group is a role."},
    )
    required_role: str = _text("", "The role that every caller of the admin API needs; empty: none.")
    identities: Mapping[str, str] = field(
        default_factory=dict,
        metadata={
            "about": "Who signed requests come from: a role's or user's ARN to its tenant and roles, as"
            " `acme operators`."
        },
    )
    console_url: str = _text(
        "",
        "The console's address, such as https://console.example.com (a custom domain of the API, or a copy"
        " elsewhere). Mails link to it, sign-in returns to it, and pages of its origin may call the API."
        " Empty: the address of the stack's own API, which serves the console.",
        like=r"((https://[a-z0-9.-]+|http://(localhost|127\.0\.0\.1))(:\d+)?(/[A-Za-z0-9._~-]+)*)?",
        allowed="a URL without a slash at its end, such as https://console.example.com",
    )
    metric_tenants: str = _text(
        "",
        "The tenants with metrics of their own: names with spaces between; all others are `other`; `*`: each"
        " tenant's own. CloudWatch charges for every one of them. Empty: no metric has a tenant.",
        like=r"\*|([^\s#*]{1,64}( [^\s#*]{1,64})*)?",
        allowed="tenants' names with one space between them, or * alone",
    )
    audit_retention: timedelta = _seconds(
        400 * _DAY, "How long the audit trail is kept.", low=_DAY, high=3_650 * _DAY
    )

    def __post_init__(self) -> None:
        if problems := [*self._of_another_kind()]:
            raise SettingsError(problems)
        for name, made in (
            ("actions_table", "actions"),
            ("jobs_table", "jobs"),
            ("schedule_group", "actions"),
            ("job_group", "jobs"),
        ):
            if not getattr(self, name):
                object.__setattr__(self, name, self.prefix + made)
        if problems := [*self._out_of_range(), *self._contradictions()]:
            raise SettingsError(problems)

    @property
    def console_origin(self) -> str:
        """What a browser calls the origin of the console's pages; empty where `console_url` is."""
        return "/".join(self.console_url.split("/")[:3])

    def _of_another_kind(self) -> Iterator[str]:
        for setting in fields(self):
            value, kind = getattr(self, setting.name), type(_default(setting))
            is_other = not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)
            if is_other and kind in _KINDS:
                yield f"{setting.name} is {value!r}; say {_KINDS[kind]}"

    def _out_of_range(self) -> Iterator[str]:
        for setting in fields(self):
            value, allowed = getattr(self, setting.name), setting.metadata
            if "low" in allowed and not allowed["low"] <= value <= allowed["high"]:
                limits = f"{_shown(allowed['low'])} to {_shown(allowed['high'])}"
                yield f"{setting.name} is {_shown(value)}; allowed is {limits}"
            if "choices" in allowed and value not in allowed["choices"]:
                yield f"{setting.name} is {value!r}; allowed is " + " or ".join(map(repr, allowed["choices"]))
            if "like" in allowed and not re.fullmatch(allowed["like"], value):
                yield f"{setting.name} is {value!r}; allowed are {allowed['allowed']}"

    def _contradictions(self) -> Iterator[str]:
        """Return the problems of settings that contradict each other."""
        has_wheel = self.timers == "wheel"
        rules = (
            (
                self.heartbeat * 2 > self.lease,
                "heartbeat ({heartbeat}) must be at most half the lease ({lease}), or one late beat loses it",
            ),
            (
                self.cancel_poll > self.heartbeat,
                "cancel_poll ({cancel_poll}) must not exceed heartbeat ({heartbeat})",
            ),
            (
                self.wake_early >= self.near_limit,
                (
                    "wake_early ({wake_early}) must be below near_limit ({near_limit}): after a wake, the"
                    " queue carries the rest"
                ),
            ),
            (
                has_wheel and self.near_limit < _LEAST_WITH_WHEEL,
                (
                    "near_limit ({near_limit}) must be at least {least} with timers='wheel': it turns once a"
                    " minute, and looks a minute less than that ahead"
                ),
            ),
            (
                self.idempotency_ttl > self.retention,
                (
                    "idempotency_ttl ({idempotency_ttl}) must not exceed retention ({retention}): a key is"
                    " removed with its action's row"
                ),
            ),
            (
                self.clock_skew >= self.lease,
                "clock_skew ({clock_skew}) must be below the lease ({lease})",
            ),
            (
                bool(self.sweep_rate % _MINUTE),
                "sweep_rate is {sweep_rate}; allowed are whole multiples of 60 s",
            ),
            (
                bool(self.catch_up_rate % _MINUTE),
                "catch_up_rate is {catch_up_rate}; allowed are whole multiples of 60 s",
            ),
            (
                self.sweep_rate > self.catch_up_rate,
                (
                    "sweep_rate ({sweep_rate}) must not exceed catch_up_rate ({catch_up_rate}): the catch-up"
                    " is the rarer pass"
                ),
            ),
            (
                has_wheel and self.sweep_rate * 2 > self.near_limit,
                (
                    "sweep_rate ({sweep_rate}) must be at most half of near_limit ({near_limit}) with"
                    " timers='wheel', where the sweep wakes actions"
                ),
            ),
            (
                self.job_grace < self.grace + self.sweep_rate,
                (
                    "job_grace ({job_grace}) must be at least grace ({grace}) and sweep_rate ({sweep_rate})"
                    " together: the sweep resends a lost wake only then, and its occurrence would be missed"
                ),
            ),
        )
        shown = {setting.name: _shown(getattr(self, setting.name)) for setting in fields(self)}
        shown["least"] = _shown(_LEAST_WITH_WHEEL)
        return (problem.format_map(shown) for is_broken, problem in rules if is_broken)

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Read ``DUETIME_<FIELD>`` for each field; what is absent keeps its default.

        Raises:
            SettingsError: a value cannot be read, is out of its range, or two contradict each other.
        """
        source = environment(environ)
        given: dict[str, Any] = {}
        problems: list[str] = []
        for setting in fields(cls):
            written = source.get(PREFIX + setting.name.upper())
            if written is None:
                continue
            try:
                given[setting.name] = _read(setting, written)
            except (ValueError, OverflowError, KeyError):
                problems.append(
                    f"{PREFIX}{setting.name.upper()} is {written!r}, which cannot be read;"
                    f" say {_allowed_form(setting)}"
                )
        if problems:
            raise SettingsError(problems)
        return cls(**given)

    def to_env(self) -> dict[str, str]:
        """The environment from which `from_env` makes these settings again; defaults are left out."""
        return {
            PREFIX + setting.name.upper(): _written(getattr(self, setting.name))
            for setting in fields(self)
            if getattr(self, setting.name) != _default(setting)
        }


def _read(setting: Field[Any], written: str) -> Any:
    match setting.default:
        case bool():
            return SWITCH[written.lower()]
        case timedelta():
            return timedelta(seconds=float(written))
        case int():
            return int(written)
        case str():
            return written
        case _:
            return dict(json.loads(written))


def _written(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case timedelta():
            return f"{value.total_seconds():.12g}"
        case Mapping():
            return json.dumps(dict(value), sort_keys=True)
        case _:
            return str(value)


def _default(setting: Field[Any]) -> Any:
    return setting.default if setting.default_factory is MISSING else setting.default_factory()


def _allowed_form(setting: Field[Any]) -> str:
    return _WRITTEN.get(type(_default(setting)), "a JSON object")


def _shown(value: object) -> str:
    return f"{value.total_seconds():.12g} s" if isinstance(value, timedelta) else str(value)
