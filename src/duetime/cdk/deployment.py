"""The settings of the deployment only; the settings that functions read are in `duetime.settings`.

A field's metadata contains its meaning and its allowed values, as in `duetime.settings`: one page lists both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal

from duetime._setting_checks import out_of_range
from duetime._setting_fields import GivenFields, shown
from duetime.environment import USUAL_CONCURRENCY
from duetime.errors import SettingsError
from duetime.profiles import PROFILES, STANDARD

LOG_DAYS = (
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
)  # fmt: skip
"""The retentions that CloudWatch Logs allows."""

_MINUTE = timedelta(minutes=1)
_PLACE = re.compile(r"[^\s#]{1,400}")
_STREAM = re.compile(
    r"arn:[a-z-]+:dynamodb:[a-z0-9-]+:\d{12}:table/(?P<table>[A-Za-z0-9_.-]{3,255})/stream/\S+"
)
_KEY = re.compile(r"arn:[a-z-]+:kms:[a-z0-9-]+:\d{12}:key/[A-Za-z0-9-]+")
_WEB_ACL = re.compile(r"arn:[a-z-]+:wafv2:[a-z0-9-]+:\d{12}:regional/webacl/[A-Za-z0-9_-]+/[a-f0-9-]{36}")
MANAGED_WEB_ACL = "managed"
"""The value of `web_acl` for a web ACL that the stack creates."""
_MAIL = re.compile(r"[^@\s,]+@[^@\s,]+\.[^@\s,]+")


def _about(text: str, **limits: Any) -> dict[str, Any]:
    """Return the metadata of a field: its meaning, and its limits (``low`` and ``high``, or ``choices``)."""
    return {"about": text, **limits}


def _seconds(low: float, high: float) -> dict[str, timedelta]:
    return {"low": timedelta(seconds=low), "high": timedelta(seconds=high)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment(GivenFields):
    """The settings of the deployment only.

    Raises:
        SettingsError: a value is out of its range, or two contradict each other.
    """

    profile: str = field(
        default=STANDARD,
        metadata=_about(
            "The defaults of other settings. small: one tenant, three alarms, an API signed with IAM; no"
            " events, console or user pool. many: [many tenants](deploy.md#many-tenants).",
            choices=tuple(PROFILES),
        ),
    )
    architecture: Literal["arm64", "x86_64"] = field(
        default="arm64",
        metadata=_about(
            "The processor architecture of the functions; arm64 costs a fifth less.",
            choices=("arm64", "x86_64"),
        ),
    )
    python: str = field(
        default="3.13",
        metadata=_about("The Python version of the functions.", choices=("3.11", "3.12", "3.13", "3.14")),
    )
    handlers: str = field(
        default=".", metadata=_about("The directory of the app's module, relative to cdk.json.")
    )
    requirements: str = field(
        default="",
        metadata=_about(
            "The handlers' requirements file, relative to cdk.json; pin the versions. Empty: none."
        ),
    )
    worker_concurrency: int = field(
        default=USUAL_CONCURRENCY,
        metadata=_about(
            "The number of calls that a worker handles at once.",
            low=2,
            high=1_000,
        ),
    )
    worker_pollers: int = field(
        default=0,
        metadata=_about(
            "Provisioned pollers of each worker's queue, for bursts, instead of worker_concurrency: ten calls"
            " each. 0: Lambda's own; 1 is invalid.",
            low=0,
            high=200,
        ),
    )
    worker_timeout: timedelta = field(
        default=timedelta(seconds=330),
        metadata=_about("A worker's time-out; at least that of its slowest handler.", **_seconds(1, 900)),
    )
    worker_memory: int = field(
        default=256,
        metadata=_about("A worker's memory in MB; its CPU grows in proportion.", low=128, high=10_240),
    )
    function_memory: int = field(
        default=512,
        metadata=_about(
            "Memory of duetime's own functions in MB; their CPU grows in proportion.", low=128, high=10_240
        ),
    )
    max_receives: int = field(
        default=5,
        metadata=_about(
            "Receives after which a failing message goes to the failure queue.",
            low=1,
            high=1_000,
        ),
    )
    api: bool | Literal["people", "services"] = field(
        default=True,
        metadata=_about(
            "The admin API. true: for people, with a user pool and the console, and for services. people: the"
            " same without the console. services: only for services, as in regions without Cognito. false:"
            " none.",
            choices=(True, False, "people", "services"),
        ),
    )
    api_rate: int = field(
        default=50,
        metadata=_about(
            "Requests a second that each of the API's two URLs allows; twice as many at once.",
            low=1,
            high=2_500,
        ),
    )
    public_paths: bool = field(
        default=True,
        metadata=_about("The API's paths health and openapi.json need no credentials. Off: all paths do."),
    )
    open_hand_overs: bool = field(
        default=False,
        metadata=_about(
            "The paths `handovers/TOKEN/…` of the API need no credentials: the token of a"
            " [hand-over](guides/hand-over.md) is the right. Each allows ten requests a second."
        ),
    )
    api_log_role: bool | Literal["none"] = field(
        default=True,
        metadata=_about(
            "Sets the role of API Gateway's logs, one for the account and region. false: there is one."
            " none: no log.",
            choices=(True, False, "none"),
        ),
    )
    user_pool_id: str = field(
        default="",
        metadata=_about("An existing Cognito user pool. Empty: the stack creates one."),
    )
    sign_in: str = field(
        default="",
        metadata=_about(
            "The sign-in pages. Of the stack's own pool: their domain prefix, unique in the region; empty:"
            " derived from the stack's id. Of the pool that user_pool_id names: their URL, such as"
            " https://acme.auth.eu-west-1.amazoncognito.com."
        ),
    )
    alarms: bool | Literal["all", "few"] = field(
        default=True,
        metadata=_about(
            "CloudWatch alarms, on the topic <prefix>alarms. true: one for each symptom. all: also one for"
            " each cause. few: only actions that fail, are late or undelivered. false: none.",
            choices=(True, False, "all", "few"),
        ),
    )
    canary: timedelta = field(
        default=timedelta(minutes=5),
        metadata=_about(
            "How often the sweep schedules a canary, an action whose lateness the alarm canary watches."
            " Whole minutes; 0: never.",
            **_seconds(0, 3_600),
        ),
    )
    alarm_email: str = field(
        default="",
        metadata=_about(
            "An address that gets a mail for each alarm, once its owner has confirmed. Empty: none."
        ),
    )
    runbook: str = field(
        default="",
        metadata=_about(
            "The runbook's address in alarms and `duetime doctor`. Empty: `duetime deployment runbook`."
        ),
    )
    failed_alarm: int = field(
        default=1,
        metadata=_about(
            "The permanent failures in 15 minutes that raise an alarm.", low=1, high=1_000_000_000
        ),
    )
    lateness_alarm: timedelta = field(
        default=timedelta(seconds=5),
        metadata=_about(
            "The lateness that raises an alarm: of three canaries in a row and, with alarms=all, of the"
            " 99th percentile of runs over 15 minutes.",
            **_seconds(0.1, 86_400),
        ),
    )
    budget: int = field(
        default=0,
        metadata=_about(
            "The daily budget in US dollars; exceeding it is published like an alarm. 0: none.",
            low=0,
            high=1_000_000,
        ),
    )
    actions_stream: str = field(
        default="",
        metadata=_about(
            "The ARN of the stream of a restored actions table, which the functions then use: `duetime"
            " deployment restore adopt` prints it. Empty: the stack's own table."
        ),
    )
    jobs_stream: str = field(default="", metadata=_about("The same for a restored jobs table."))
    replica: bool = field(
        default=False,
        metadata=_about("The tables are [replicas](disaster.md): set their streams too, and regions_table."),
    )
    kms_key: str = field(
        default="",
        metadata=_about("The ARN of [a KMS key](security.md#a-key-of-your-own) for all data."),
    )
    second_factor: bool = field(
        default=False, metadata=_about("Users of the stack's pool must have a second factor.")
    )
    web_acl: str = field(
        default="",
        metadata=_about(
            "The API's web ACL, by its ARN. managed: one for 7 dollars a month, which blocks addresses with"
            " over 2,000 requests in five minutes."
        ),
    )
    reserved_concurrency: int = field(
        default=0,
        metadata=_about("Lambda's reserved executions of each worker. 0: none.", low=0, high=10_000),
    )
    log_days: int = field(default=30, metadata=_about("The retention of logs in days.", choices=LOG_DAYS))
    keep_data: bool = field(
        default=True,
        metadata=_about("Tables are protected, and remain when the stack is deleted. Off is for tests."),
    )

    @property
    def serves_people(self) -> bool:
        """Whether the API has a URL for people, who sign in at a user pool."""
        return self.api in {True, "people"}

    @property
    def serves_console(self) -> bool:
        """Whether the API serves a console."""
        return self.api is True

    def restored_table(self, kind: Literal["actions", "jobs"]) -> str:
        """Return the name of the restored table; empty if it was not restored."""
        found = _STREAM.fullmatch(self.actions_stream if kind == "actions" else self.jobs_stream)
        return found["table"] if found else ""

    def __post_init__(self) -> None:
        if problems := [*out_of_range(self), *self._contradictions(), *self._wrong_hardening()]:
            raise SettingsError(problems)

    def _contradictions(self) -> Iterator[str]:
        if self.worker_timeout % timedelta(seconds=1):
            yield f"worker_timeout is {shown(self.worker_timeout)}; allowed are whole multiples of 1 s"
        if self.canary % _MINUTE:
            yield f"canary is {shown(self.canary)}; allowed are whole minutes"
        if self.alarm_email and not _MAIL.fullmatch(self.alarm_email):
            yield f"alarm_email is {self.alarm_email!r}; allowed is one address, such as ops@example.com"
        if self.runbook and not _PLACE.fullmatch(self.runbook):
            yield (
                f"runbook is {self.runbook!r};"
                " allowed is an address of at most 400 characters without # and spaces"
            )
        if self.alarm_email and not (self.alarms or self.budget):
            yield (
                f"alarm_email is {self.alarm_email!r}, but alarms is False and budget is 0, so no mail would"
                " be sent; set one of them"
            )
        for name in ("actions_stream", "jobs_stream"):
            if (stream := getattr(self, name)) and not _STREAM.fullmatch(stream):
                yield (
                    f"{name} is {stream!r}; allowed is the ARN of a table's stream, as"
                    " `duetime deployment restore adopt` prints it"
                )
        if self.replica and not (self.actions_stream and self.jobs_stream):
            yield (
                "replica is True, but actions_stream or jobs_stream is empty; name the streams of the"
                " replicas, as `aws dynamodb describe-table` prints them"
            )

    def _wrong_hardening(self) -> Iterator[str]:
        if self.kms_key and not _KEY.fullmatch(self.kms_key):
            yield (
                f"kms_key is {self.kms_key!r}; allowed is the ARN of a KMS key (no alias), such as"
                " arn:aws:kms:eu-west-1:123456789012:key/1234abcd"
            )
        if self.web_acl not in {"", MANAGED_WEB_ACL} and not _WEB_ACL.fullmatch(self.web_acl):
            yield (f"web_acl is {self.web_acl!r}; allowed is managed, or the ARN of a regional web ACL")
        if self.web_acl and not self.api:
            yield f"web_acl is {self.web_acl!r}, but api is False; remove web_acl"
        if self.second_factor and not (self.serves_people and not self.user_pool_id):
            yield (
                "second_factor is True, but the stack creates no user pool; require it in your own pool, and"
                " remove second_factor"
            )
