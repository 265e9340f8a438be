"""What only a deployment chooses; what the functions themselves read too is in `duetime.settings`.

A field's metadata says what it means and what is allowed: the same style, so that one page tells of both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import Any, Literal

from duetime.errors import SettingsError

LOG_DAYS = (
    1,
    3,
    5,
    7,
    14,
    30,
    60,
    90,
    120,
    150,
    180,
    365,
    400,
    545,
    731,
    1096,
    1827,
    2192,
    2557,
    2922,
    3288,
    3653,
)
"""The retentions that CloudWatch Logs admits."""

_MINUTE = timedelta(minutes=1)
_RUNBOOK = "docs/runbook.md"
_PLACE = re.compile(r"[^\s#]{1,400}")
_MAIL = re.compile(r"[^@\s,]+@[^@\s,]+\.[^@\s,]+")


def _about(text: str, **limits: Any) -> dict[str, Any]:
    """The metadata of a field: what it means, and what is allowed (``low`` and ``high``, or ``choices``)."""
    return {"about": text, **limits}


def _seconds(low: float, high: float) -> dict[str, timedelta]:
    return {"low": timedelta(seconds=low), "high": timedelta(seconds=high)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """What only a deployment chooses.

    Raises:
        SettingsError: a value is out of its range, or two contradict each other.
    """

    architecture: Literal["arm64", "x86_64"] = field(
        default="arm64",
        metadata=_about(
            "The machines that the functions run on; arm64 costs a fifth less.", choices=("arm64", "x86_64")
        ),
    )
    python: str = field(
        default="3.13",
        metadata=_about("The Python of the functions.", choices=("3.11", "3.12", "3.13", "3.14")),
    )
    handlers: str = field(
        default=".", metadata=_about("The directory that holds the app's module, as seen from cdk.json.")
    )
    requirements: str = field(
        default="",
        metadata=_about("The handlers' requirements file, as seen from cdk.json; pin them. Empty: none."),
    )
    worker_concurrency: int = field(
        default=10,
        metadata=_about(
            "How many messages a worker handles at once; the range is that of SQS event sources.",
            low=2,
            high=1_000,
        ),
    )
    worker_timeout: timedelta = field(
        default=timedelta(seconds=330),
        metadata=_about(
            "Lambda ends a worker after this; not below its longest handler's.", **_seconds(1, 900)
        ),
    )
    worker_memory: int = field(
        default=512, metadata=_about("MB of memory of a worker; its CPU grows along.", low=128, high=10_240)
    )
    function_memory: int = field(
        default=512,
        metadata=_about(
            "MB of memory of duetime's own functions; their CPU grows along.", low=128, high=10_240
        ),
    )
    max_receives: int = field(
        default=5,
        metadata=_about(
            "After how many receives a message that cannot be handled goes to the dead letters.",
            low=1,
            high=1_000,
        ),
    )
    sweep_rate: timedelta = field(
        default=timedelta(minutes=1),
        metadata=_about(
            "How often the sweep looks for what is overdue; whole minutes.", **_seconds(60, 3_600)
        ),
    )
    catch_up_rate: timedelta = field(
        default=timedelta(hours=6),
        metadata=_about(
            "How often the catch-up, the deep pass, looks through all that is overdue; whole minutes.",
            **_seconds(1_800, 86_400),
        ),
    )
    own_bus: bool = field(
        default=False,
        metadata=_about("The stack makes the event bus that event_bus names; off: it is there already."),
    )
    own_topic: bool = field(
        default=True,
        metadata=_about(
            "The stack makes the topic of notifications, unless topic_arn names one; off: there is none."
        ),
    )
    api: bool = field(default=True, metadata=_about("The admin API, for people and for services."))
    api_rate: int = field(
        default=50,
        metadata=_about("Requests a second that each of its two URLs lets through.", low=1, high=10_000),
    )
    api_burst: int = field(
        default=100,
        metadata=_about("How many may come at once, above that rate.", low=1, high=5_000),
    )
    api_log_role: bool = field(
        default=True,
        metadata=_about(
            "Sets the role in which API Gateway writes logs, one for all of the account's APIs in the region; off,"
            " where the account has one."
        ),
    )
    user_pool_id: str = field(
        default="",
        metadata=_about("A Cognito user pool that is there already; the stack makes one when empty."),
    )
    console: bool = field(
        default=True,
        metadata=_about(
            "The console, at the address of the API for people, which serves it; without the API there is none."
        ),
    )
    sign_in_domain: str = field(
        default="",
        metadata=_about(
            "The prefix of the domain of the pool's sign-in pages, unique in the region. Empty: one of the stack's own,"
            " made from its id; none with console=false."
        ),
    )
    sign_in_url: str = field(
        default="",
        metadata=_about(
            "The sign-in pages of the pool that user_pool_id names, such as"
            " https://acme.auth.eu-west-1.amazoncognito.com: the console leads there."
        ),
    )
    alarms: bool = field(
        default=True,
        metadata=_about("CloudWatch alarms of all that can go wrong, told at the topic <prefix>alarms."),
    )
    alarm_email: str = field(
        default="",
        metadata=_about(
            "Who gets a mail of each alarm, once the link in the first mail was followed; empty: nobody."
        ),
    )
    runbook: str = field(
        default=_RUNBOOK,
        metadata=_about(
            "Where alarms, the dashboard and `duetime doctor` say that the runbook is: an address that whoever is woken"
            " can open, as of the site that `make docs` makes, or of your copy."
        ),
    )
    failed_alarm: int = field(
        default=1,
        metadata=_about(
            "How many actions that fail for good in 15 minutes are worth an alarm.", low=1, high=1_000_000_000
        ),
    )
    lateness_alarm: timedelta = field(
        default=timedelta(seconds=5),
        metadata=_about(
            "How late one run in a hundred may begin, over 15 minutes, before it is worth an alarm.",
            **_seconds(0.1, 86_400),
        ),
    )
    dashboard: bool = field(
        default=True, metadata=_about("A CloudWatch dashboard for operators, named <prefix>scheduler.")
    )
    budget: int = field(
        default=0,
        metadata=_about(
            "US dollars a day; what exceeds them is told as alarms are. 0: no budget.", low=0, high=1_000_000
        ),
    )
    budget_by_tag: bool = field(
        default=False,
        metadata=_about(
            "The budget counts this stack alone, by the tag aws:cloudformation:stack-name, which must be activated as"
            " a cost allocation tag first: until then it counts nothing. Off: it counts the account."
        ),
    )
    log_days: int = field(default=30, metadata=_about("How many days logs are kept.", choices=LOG_DAYS))
    keep_data: bool = field(
        default=True,
        metadata=_about("Tables are protected from deletion and outlive the stack; off is for tests."),
    )

    @property
    def serves_console(self) -> bool:
        """Whether there is a console, and the API that serves it."""
        return self.api and self.console

    @property
    def chosen_runbook(self) -> str:
        """Where somebody has said that the runbook is; empty where nobody has."""
        return self.runbook if self.runbook != _RUNBOOK else ""

    def __post_init__(self) -> None:
        if problems := [*self._not_allowed(), *self._contradictions()]:
            raise SettingsError(problems)

    def _not_allowed(self) -> Iterator[str]:
        for each in fields(self):
            value, allowed = getattr(self, each.name), each.metadata
            if "low" in allowed and not allowed["low"] <= value <= allowed["high"]:
                limits = f"{shown(allowed['low'])} to {shown(allowed['high'])}"
                yield f"{each.name} is {shown(value)}; allowed is {limits}"
            if "choices" in allowed and value not in allowed["choices"]:
                yield f"{each.name} is {value!r}; allowed is " + ", ".join(map(repr, allowed["choices"]))

    def _contradictions(self) -> Iterator[str]:
        for name in ("worker_timeout", "sweep_rate", "catch_up_rate"):
            unit = timedelta(seconds=1) if name == "worker_timeout" else _MINUTE
            if getattr(self, name) % unit:
                yield f"{name} is {shown(getattr(self, name))}; allowed are whole multiples of {shown(unit)}"
        if self.sweep_rate > self.catch_up_rate:
            yield (
                f"sweep_rate ({shown(self.sweep_rate)}) must not exceed catch_up_rate"
                f" ({shown(self.catch_up_rate)}): the catch-up is the deeper and rarer pass"
            )
        if self.alarm_email and not _MAIL.fullmatch(self.alarm_email):
            yield f"alarm_email is {self.alarm_email!r}; allowed is one address, as ops@example.com"
        if not _PLACE.fullmatch(self.runbook):
            yield f"runbook is {self.runbook!r}; allowed is a path or an address without # and spaces, 400 characters at most"
        if self.alarm_email and not (self.alarms or self.budget):
            yield f"alarm_email is {self.alarm_email!r}, but alarms is False and budget 0: nothing would be told"
        if self.budget_by_tag and not self.budget:
            yield "budget_by_tag is True, but budget is 0: there is none to count by it"


def shown(value: object) -> str:
    """A value as messages and docs show it: durations in seconds."""
    return f"{value.total_seconds():.12g} s" if isinstance(value, timedelta) else str(value)
