"""The settings of a deployment, each with its meaning and its allowed values.

`_setting_checks` rejects wrong values and contradictions, all together, before any code uses the settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from typing import Any, Literal, Self

from duetime import _setting_checks as checks
from duetime._setting_fields import (
    GivenFields,
    number,
    seconds,
    settings_in,
    text,
    unknown_variables,
    values_from,
    variables_of,
)
from duetime.environment import environment
from duetime.errors import SettingsError

DUE_SHARDS, MOST_DUE_SHARDS = 16, 256
"""The fewest and the most partitions of the due index."""


_DAY = 86_400
DEFAULT_TENANT = "default"
"""The tenant of a caller that names none, if `tenants` is empty."""

SHORTEST_KEY_TTL, LONGEST_KEY_TTL = timedelta(minutes=1), timedelta(days=30)
"""The limits of an idempotency key's time to live."""

Start = Literal["instant", "second"]
"""When runs start: at the due time, or within the second after it."""

ROLES = {
    "viewers": "actions:read jobs:read",
    "members": "actions:manage jobs:manage",
    "operators": "actions:manage jobs:manage audit:read system tenants:manage",
    "admins": "admin",
}
"""The default roles of a deployment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The names and addresses of what a stack has made, and what it derives from its other settings."""

    actions_table: str = text("", "The actions table; derived from the prefix if empty.")
    jobs_table: str = text("", "The jobs table; derived from the prefix if empty.")
    schedule_group: str = text(
        "", "EventBridge Scheduler's group of one-shots; derived from the prefix if empty."
    )
    job_group: str = text(
        "", "EventBridge Scheduler's group of the jobs' wakes; derived from the prefix if empty."
    )
    queues: Mapping[str, str] = field(
        default_factory=dict, metadata={"about": "The URL of each worker's due queue, by the worker's name."}
    )
    queue_visibility: timedelta = seconds(
        305, "The due queue's own visibility time-out; not below the worker's time-out.", low=0, high=43_200
    )
    failure_queue: str = text(
        "", "The failure queue's URL, which receives requests to redrive undelivered inputs."
    )
    notification_queue: str = text("", "The URL of the queue between the bus and the notifications.")
    dispatch_arn: str = text("", "The dispatch function that timers invoke.")
    timer_role_arn: str = text("", "The role in which EventBridge Scheduler invokes the dispatch function.")
    timer_dlq_arn: str = text("", "The queue of wakes that could not be delivered.")
    sleeps_from: int = number(
        1,
        "The fewest messages for which a function sleeps, so that their workers need not wait.",
        low=1,
        high=1_000,
    )
    run_counts: bool = field(
        default=True,
        metadata={"about": "Count each job's ended runs by minute, as the API reads them."},
    )
    canary: timedelta = seconds(0, "How often the sweep schedules a canary; 0: never.", low=0, high=3_600)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(GivenFields):
    """The settings of a deployment. Durations are ``timedelta``; in the environment they are seconds.

    `made` is no setting: the stack sets it. The environment has its values beside the settings'.

    Raises:
        SettingsError: a value is out of its range, or two contradict each other.
    """

    prefix: str = text(
        "duetime-",
        "The beginning of all names of tables, queues and groups.",
        like=r"([A-Za-z][A-Za-z0-9_-]{0,39})?",
        allowed="letters, digits, - and _, a letter first, 40 characters at most",
    )
    enabled: bool = field(
        default=True,
        metadata={"about": "The global switch. Off: nothing runs, messages wait, and lists still work."},
    )
    due_shards: int = number(
        DUE_SHARDS,
        "Partitions of the due index; each supports about 1,000 writes a second. Callers may have fewer.",
        low=DUE_SHARDS,
        high=MOST_DUE_SHARDS,
    )
    due_order: bool = field(
        default=False,
        metadata={
            "about": "An index by tenant and due time, for lists in due order. It costs one write unit"
            " per action, and two per reschedule, retry or redrive."
        },
    )
    near_limit: timedelta = seconds(
        900,
        "An action due within this time waits in SQS, as a digest does; a later one has a timer.",
        low=1,
        high=900,
    )
    wake_early: timedelta = seconds(
        90, "A timer wakes this long before the due time; EventBridge may be 60 s late.", low=0, high=840
    )
    start: Start = field(
        default="instant",
        metadata={
            "about": "When runs start. instant: at the due time. second: up to a second later, no waits.",
            "choices": ("instant", "second"),
        },
    )
    lease: timedelta = seconds(300, "How long a run's lease lasts without a heartbeat.", low=2, high=43_000)
    heartbeat: timedelta = seconds(60, "How often a run renews its lease.", low=0.2, high=3_600)
    cancel_poll: timedelta = seconds(
        3, "The interval at which a run checks for a cancel request.", low=0.1, high=3_600
    )
    clock_skew: timedelta = seconds(5, "How far two machines' clocks may differ.", low=0, high=60)
    max_recoveries: int = number(
        5, "How often a run may be taken over before its action fails.", low=0, high=100
    )
    grace: timedelta = seconds(
        300,
        "How late a pending action is when the sweep or the catch-up sends it again.",
        low=1,
        high=3_600,
    )
    sweep_rate: timedelta = seconds(
        60, "The interval of the sweep, which finds overdue rows; whole minutes.", low=60, high=3_600
    )
    catch_up_rate: timedelta = seconds(
        21_600,
        "The interval of the catch-up, the deep sweep through all overdue rows; whole minutes.",
        low=1_800,
        high=_DAY,
    )
    job_grace: timedelta = seconds(
        600,
        "How late an occurrence may be claimed or planned; later it is missed. At least grace plus"
        " sweep_rate, when the sweep finds a lost wake.",
        low=62,
        high=_DAY,
    )
    default_tz: str = text("", "The zone of cadences without a zone, such as Europe/Paris; UTC if empty.")
    retention: timedelta = seconds(
        30 * _DAY, "How long a settled action is stored.", low=_DAY, high=3_650 * _DAY
    )
    idempotency_ttl: timedelta = seconds(
        _DAY,
        "How long an idempotency key holds at least, unless the call sets a time.",
        low=SHORTEST_KEY_TTL.total_seconds(),
        high=LONGEST_KEY_TTL.total_seconds(),
    )
    timers: Literal["eventbridge", "wheel"] = field(
        default="eventbridge",
        metadata={"about": "The timers of far actions.", "choices": ("eventbridge", "wheel")},
    )
    worker_batch: int = number(
        1,
        "The most messages in [one call](guide.md#several-in-one-call) of a worker.",
        low=1,
        high=10,
    )
    high_priority: bool = field(
        default=False,
        metadata={
            "about": "Callers may give single actions a [high priority](guides/flow.md#priority). Each worker"
            " then has a second queue."
        },
    )
    app: str = text("", "The worker's app, with its handlers: module:name.")
    regions_table: str = text(
        "",
        "The table of the [active region](disaster.md), or its ARN in a third one. Empty: one region.",
        like=r"([A-Za-z0-9_.-]{3,255}|arn:[a-z-]+:dynamodb:[a-z0-9-]+:\d{12}:table/[A-Za-z0-9_.-]{3,255})?",
        allowed="a table's name or ARN",
    )
    event_bus: str = text(
        "default",
        "The event bus whose events start jobs, and on which lifecycle events are published. The stack"
        " creates the bus <prefix>events; any other exists already.",
    )
    events: Literal["off", "standard", "all"] = field(
        default="standard",
        metadata={
            "about": "The lifecycle events to publish. standard: all of jobs, and failures, cancels and"
            " changes of one-shots. all: also their schedule, start and end, three more events each,"
            " and the audit trail. off: none.",
            "choices": ("off", "standard", "all"),
        },
    )
    pause_needs_end: bool = field(
        default=False,
        metadata={"about": "Each pause needs an end: of a job, a tenant, a type, a key and a worker."},
    )
    topic_arn: str = text("", "The SNS topic of notifications; empty: none.")
    mail_from: str = text(
        "",
        "The sender of mails, which SES has verified. Empty: no mails.",
        like=r"([^@\s]+@[^@\s]+)?",
        allowed="a mail address such as duetime@example.com",
    )
    notification_burst: int = number(
        5,
        "Single notifications of a kind within near_limit; a digest has the rest.",
        low=1,
        high=1_000,
    )
    api_prefix: str = text(
        "/api/v1",
        "The beginning of every route of the admin API.",
        like=r"(/[A-Za-z0-9._~-]+){1,8}",
        allowed="segments such as /api/v1",
    )
    api_tag: str = text(
        "",
        "The tag of every operation in the API's OpenAPI document. Empty: a tag for each subject, such as"
        " actions and jobs.",
        like=r"(\S(.{0,58}\S)?)?",
        allowed="text of 1 to 60 characters in one line, or none",
    )
    authorization: Literal["roles", "allow-all"] = field(
        default="roles",
        metadata={
            "about": "Permissions in the API: by role, or (only for development) all for every caller.",
            "choices": ("roles", "allow-all"),
        },
    )
    roles: Mapping[str, str] = field(
        default_factory=lambda: dict(ROLES),
        metadata={"about": "The permissions of each role. A Cognito group is a role."},
    )
    required_role: str = text("", "The role that every caller of the admin API needs; empty: none.")
    identities: Mapping[str, str] = field(
        default_factory=dict,
        metadata={
            "about": "The tenant and roles of callers of signed requests, such as `acme operators`, by the"
            " ARN of their role or user. `*` is every other signer that IAM lets call the API."
        },
    )
    console_url: str = text(
        "",
        "The console's address, at your own domain or of a copy elsewhere. Mails link to it, sign-in returns"
        " to it, and pages of its origin may call the API. Empty: the stack's own API.",
        like=r"((https://[a-z0-9.-]+|http://(localhost|127\.0\.0\.1))(:\d+)?(/[A-Za-z0-9._~-]+)*)?",
        allowed="a URL without a slash at its end, such as https://console.example.com",
    )
    tenants: str = text(
        "",
        "The tenants, separated by spaces; `*`: many. With several, `Scheduler.from_env` needs a tenant; of"
        " one, it is that tenant's. Empty: a caller that names no tenant is `default`.",
        like=r"\*|([^\s#*]{1,64}( [^\s#*]{1,64})*)?",
        allowed="tenants' names with one space between them, or * alone",
    )
    quotas: Mapping[str, str] = field(
        default_factory=dict,
        metadata={
            "about": "The quotas by tenant, such as `jobs=500 event_rules=20 requests=50 events=600`; `*`:"
            " every other tenant. Empty: defaults with several tenants, else none."
        },
    )
    event_sources: Mapping[str, str] = field(
        default_factory=dict,
        metadata={
            "about": 'Where the events of each source name their tenant, such as `{"orders":'
            ' "detail.tenant_id"}`. With several tenants, registered jobs get no others.'
        },
    )
    check_types: bool = field(
        default=True,
        metadata={
            "about": "`Scheduler.from_env` rejects a payload type that no worker hosts. Without"
            " the right to read the workers' manifests, it checks nothing."
        },
    )
    metrics: Literal["few", "all"] = field(
        default="few",
        metadata={
            "about": "The metrics to write. few: not `scheduled`, `executed` and `run_time`, those of each"
            " action; they cost 0.90 dollars a month.",
            "choices": ("few", "all"),
        },
    )
    metric_types: str = text(
        "",
        "The payload types with their own metrics, separated by spaces; the others share `other`. `*`: all."
        " CloudWatch charges for each. Empty: metrics have no type.",
        like=r"\*|([^\s#*]{1,64}( [^\s#*]{1,64})*)?",
        allowed="types' names with one space between them, or * alone",
    )
    metric_tenants: str = text(
        "",
        "The tenants with their own metrics, separated by spaces; the others share `other`. `*`: all."
        " CloudWatch charges for each. Empty: metrics have no tenant.",
        like=r"\*|([^\s#*]{1,64}( [^\s#*]{1,64})*)?",
        allowed="tenants' names with one space between them, or * alone",
    )
    secret_patterns: Mapping[str, str] = field(
        default_factory=dict,
        metadata={
            "about": "Patterns, by name, that failures mask, such as `CUST-[0-9]{8}`; repeats have bounds."
        },
    )
    audit_retention: timedelta = seconds(
        400 * _DAY, "How long the audit trail is stored.", low=_DAY, high=3_650 * _DAY
    )
    made: Made = field(default_factory=Made)

    def __post_init__(self) -> None:
        if problems := [*checks.wrong_kinds(self), *checks.wrong_kinds(self.made)]:
            raise SettingsError(problems)
        object.__setattr__(
            self,
            "made",
            replace(
                self.made,
                actions_table=self.made.actions_table or f"{self.prefix}actions",
                jobs_table=self.made.jobs_table or f"{self.prefix}jobs",
                schedule_group=self.made.schedule_group or f"{self.prefix}actions",
                job_group=self.made.job_group or f"{self.prefix}jobs",
            ),
        )
        if problems := [
            *checks.out_of_range(self),
            *checks.out_of_range(self.made),
            *checks.unknown_zones(self),
            *checks.unsafe_patterns(self),
            *checks.wrong_quotas(self),
            *checks.wrong_event_sources(self),
            *checks.contradictions(self),
        ]:
            raise SettingsError(problems)

    @property
    def has_own_bus(self) -> bool:
        """Whether the stack creates the event bus, by its name."""
        return self.event_bus == f"{self.prefix}events"

    @property
    def only_tenant(self) -> str:
        """The tenant of a deployment with one; empty if `tenants` is empty or names several."""
        return "" if self.tenants == "*" or " " in self.tenants else self.tenants

    @property
    def sole_tenant(self) -> str:
        """As `only_tenant`; if `tenants` is empty, the tenant of a caller that names none."""
        return self.only_tenant if self.tenants else DEFAULT_TENANT

    @property
    def console_origin(self) -> str:
        """The origin of the console's pages in a browser; empty if `console_url` is."""
        return "/".join(self.console_url.split("/")[:3])

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Read ``DUETIME_<FIELD>`` for each field; a missing one has its default.

        Raises:
            SettingsError: a variable is unknown, a value cannot be read or is out of its range, or two values
                contradict each other.
        """
        values = values_from(VARIABLES, environment(environ))
        made = {field.name: values.pop(field.name) for field in fields(Made) if field.name in values}
        return cls(**values, made=Made(**made))

    def with_made(self, **made: Any) -> Self:
        """Return the settings with other values of some fields of `made`."""
        return replace(self, made=replace(self.made, **made))

    def to_env(self) -> dict[str, str]:
        """Return the environment from which `from_env` makes equal settings, without defaults."""
        return {**variables_of(self), **variables_of(self.made)}


VARIABLES = (*settings_in(Settings), *fields(Made))
"""The fields that the environment sets."""


def check_variables(environ: Mapping[str, str] | None = None) -> None:
    """Check that each variable with duetime's prefix is one that duetime reads.

    Raises:
        SettingsError: one is unknown; each message names the most similar one.
    """
    if problems := [*unknown_variables(VARIABLES, environment(environ))]:
        raise SettingsError(problems)
