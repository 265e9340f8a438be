"""Notifications: what people are told when something needs them. Facts only; who asked for what is in `preferences`.

=============================  ============================  ===================================================
notification                   made of                       goes to
=============================  ============================  ===================================================
scheduling.action_failed       action.failed                 whom the tenant's preferences name, if they ask for it
jobs.recurring_failing         job.failing, once a streak    the same
jobs.recurring_succeeding      job.succeeding                the same
scheduling.dead_lettered       action.failed, run.failed     the tenant's admins
scheduling.undelivered         undelivered.kept              the admins of the tenant ``system``
=============================  ============================  ===================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any

from duetime import ids, instant
from duetime.errors import DuetimeError, truncate
from duetime.ids import TenantId

_ENTRY_ID = re.compile(r"n\.\d{8}T\d{12}Z\.[0-9a-f]{16}", re.ASCII)
_ENTRY_TIME = "n.%Y%m%dT%H%M%S%fZ"
_NAMES_SHOWN = 50
_ASKED = "digest"


class UnreadableEvent(DuetimeError, ValueError):
    """An event under duetime's name that duetime did not write."""

    code = "unreadable-event"

    def __init__(self, problem: BaseException) -> None:
        super().__init__(
            f"cannot be read as a lifecycle event: {type(problem).__name__}: {truncate(problem, 200)}"
        )


class DeliveryRejected(DuetimeError, RuntimeError):
    """A channel will never take this message: its address is not accepted, or what it says."""

    code = "delivery-refused"

    def __init__(self, channel: str, reason: str) -> None:
        self.channel, self.reason = channel, reason
        super().__init__(f"{channel} refuses it: {reason}")


class NotificationKind(StrEnum):
    """What a notification says; the names that preferences opt in to."""

    ACTION_FAILED = "scheduling.action_failed"
    DEAD_LETTERED = "scheduling.dead_lettered"
    UNDELIVERED = "scheduling.undelivered"
    RECURRING_FAILING = "jobs.recurring_failing"
    RECURRING_SUCCEEDING = "jobs.recurring_succeeding"

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return _SEVERITIES[self]

    @property
    def is_for_admins(self) -> bool:
        """Whether it goes to the tenant's admins, unless they say otherwise, instead of to who asked for it."""
        return self in {NotificationKind.DEAD_LETTERED, NotificationKind.UNDELIVERED}


class Severity(StrEnum):
    """How bad it is."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


_SEVERITIES: Mapping[NotificationKind, Severity] = {
    NotificationKind.ACTION_FAILED: Severity.WARNING,
    NotificationKind.DEAD_LETTERED: Severity.ERROR,
    NotificationKind.UNDELIVERED: Severity.ERROR,
    NotificationKind.RECURRING_FAILING: Severity.WARNING,
    NotificationKind.RECURRING_SUCCEEDING: Severity.INFO,
}


class Channel(StrEnum):
    """How it reaches somebody."""

    EMAIL = "email"
    SNS = "sns"
    """The deployment's topic; its subscribers choose by the attributes of a message."""
    IN_APP = "in_app"
    """The list that the API, the command line and the console show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """One thing that somebody should know."""

    id: str
    """Of the lifecycle event that it was made of, and its kind: a doubled event makes the same."""
    kind: NotificationKind
    tenant_id: TenantId
    at: datetime
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What it tells: the fields of the event's subject; of a digest, see `Digest.facts`."""
    is_digest: bool = False
    """It stands for many of its kind."""

    @property
    def about(self) -> str:
        """What it is about, in a word or two: a job's name, an action's type, where something undelivered comes from."""
        named = (self.facts.get(name) for name in ("job", "name", "type", "source"))
        return next((str(each) for each in named if each), "")

    @property
    def entry_id(self) -> str:
        """What names it in its tenant's list: safe in a URL, and sorts by its time."""
        written = self.at.astimezone(UTC).strftime(_ENTRY_TIME)
        return f"{written}.{sha256(self.id.encode()).hexdigest()[:16]}"


def is_entry_id(text: str) -> bool:
    """Whether `text` could name an entry of a list; what could not is simply not found."""
    return _ENTRY_ID.fullmatch(text) is not None


TOLD = ("action.failed", "run.failed", "job.failing", "job.succeeding", "undelivered.kept")
"""The detail-types that notifications are made of."""

_KINDS: Mapping[str, tuple[NotificationKind, ...]] = {
    "action.failed": (NotificationKind.ACTION_FAILED, NotificationKind.DEAD_LETTERED),
    "run.failed": (NotificationKind.DEAD_LETTERED,),
    "job.failing": (NotificationKind.RECURRING_FAILING,),
    "job.succeeding": (NotificationKind.RECURRING_SUCCEEDING,),
    "undelivered.kept": (NotificationKind.UNDELIVERED,),
}


def of_event(detail: Mapping[str, Any]) -> Iterator[Notification]:
    """The notifications that a lifecycle event makes; none, for most.

    Args:
        detail: the event's detail, as `duetime.model.lifecycle.LifecycleEvent.detail` writes it.

    Raises:
        UnreadableEvent: it is none that duetime wrote.
    """
    try:
        for kind in _KINDS.get(detail["type"], ()):
            subject = next(detail[name] for name in ("action", "job", "undelivered") if name in detail)
            yield Notification(
                id=f"{detail['id']}:{kind}",
                kind=kind,
                tenant_id=_tenant(detail["tenant_id"]),
                at=instant.parse(detail["at"]),
                facts=dict(subject),
            )
    except (LookupError, TypeError, ValueError, AttributeError, StopIteration, RuntimeError) as error:
        raise UnreadableEvent(error) from error


@dataclass(frozen=True, slots=True)
class DigestWindow:
    """A while within which a tenant's notifications of a kind are counted."""

    tenant_id: TenantId
    kind: NotificationKind
    since: datetime
    until: datetime

    @property
    def request(self) -> Mapping[str, Any]:
        """The message that asks for its digest."""
        return {
            _ASKED: {
                "tenant_id": self.tenant_id,
                "kind": self.kind.value,
                "since": instant.text(self.since),
                "until": instant.text(self.until),
            }
        }


def requested_in(told: Mapping[str, Any]) -> DigestWindow | None:
    """The window whose digest is asked for; None if `told` is no such message.

    Raises:
        UnreadableEvent: it asks for a digest that there cannot be.
    """
    if _ASKED not in told:
        return None
    try:
        asked = told[_ASKED]
        since, until = (instant.parse(asked[name]) for name in ("since", "until"))
        return DigestWindow(_tenant(asked["tenant_id"]), NotificationKind(asked["kind"]), since, until)
    except (LookupError, TypeError, ValueError) as error:
        raise UnreadableEvent(error) from error


def _tenant(value: object) -> TenantId:
    return ids.SYSTEM_TENANT if value == ids.SYSTEM_TENANT else ids.tenant(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """What came of a kind for a tenant within a while, beyond what was told one by one."""

    tenant_id: TenantId
    kind: NotificationKind
    since: datetime
    until: datetime
    total: int
    """All of them, those told one by one included."""
    by_name: Mapping[str, int] = field(default_factory=dict)
    """How many of each action type or job."""

    def notification(self) -> Notification:
        """The one notification that stands for all."""
        return Notification(
            id=f"{self.tenant_id}/{self.kind}/{instant.text(self.since)}",
            kind=self.kind,
            tenant_id=self.tenant_id,
            at=self.until,
            facts=self.facts,
            is_digest=True,
        )

    @property
    def facts(self) -> Mapping[str, Any]:
        """What a digest tells: the names that came most often, and how many there were of `others`."""
        ranked = sorted(self.by_name.items(), key=lambda named: (-named[1], named[0]))
        return {
            "total": self.total,
            "since": instant.text(self.since),
            "until": instant.text(self.until),
            "by_name": dict(ranked[:_NAMES_SHOWN]),
            "others": sum(count for _, count in ranked[_NAMES_SHOWN:]),
        }
