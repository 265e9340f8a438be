"""Notifications: messages for people about failures. Facts only; `preferences` has the recipients.

=============================  ==========================  ===================================================
notification                   made of                     goes to
=============================  ==========================  ===================================================
scheduling.action_failed       action.failed               the addresses in the preferences, if enabled
scheduling.approval_requested  action.approval_requested,  the same
                               run.approval_requested
jobs.recurring_failing         job.failing, once a streak  the same
jobs.recurring_succeeding      job.succeeding              the same
jobs.chain_refused             run.skipped, too deep       the tenant's admins
jobs.deadline_missed           job.deadline_missed         the tenant's admins
jobs.deadline_at_risk          job.deadline_at_risk        the tenant's admins
jobs.silent                    job.silent                  the tenant's admins
scheduling.dead_lettered       action.failed, run.failed   the tenant's admins
scheduling.breaker_opened      breaker.opened              the tenant's admins
scheduling.undelivered         undelivered.kept            the admins of the tenant ``system``
=============================  ==========================  ===================================================
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
from duetime.errors import DuetimeError, UnreadableMessage
from duetime.ids import TenantId
from duetime.model.event_chain import EVENT_DEPTH

_ENTRY_ID = re.compile(r"n\.\d{8}T\d{12}Z\.[0-9a-f]{16}", re.ASCII)
_ENTRY_TIME = "n.%Y%m%dT%H%M%S%fZ"
_NAMES_SHOWN = 50
_REQUEST = "digest"


class DeliveryRejected(DuetimeError, RuntimeError):
    """A channel that permanently rejects a message: because of its address or its content."""

    code = "delivery-refused"

    def __init__(self, channel: str, reason: str) -> None:
        self.channel, self.reason = channel, reason
        super().__init__(f"{channel} rejects it: {reason}")


class NotificationKind(StrEnum):
    """The kinds of notifications; preferences opt in by these names."""

    ACTION_FAILED = "scheduling.action_failed"
    DEAD_LETTERED = "scheduling.dead_lettered"
    UNDELIVERED = "scheduling.undelivered"
    BREAKER_OPENED = "scheduling.breaker_opened"
    APPROVAL_REQUESTED = "scheduling.approval_requested"
    RECURRING_FAILING = "jobs.recurring_failing"
    RECURRING_SUCCEEDING = "jobs.recurring_succeeding"
    CHAIN_REFUSED = "jobs.chain_refused"
    DEADLINE_MISSED = "jobs.deadline_missed"
    DEADLINE_AT_RISK = "jobs.deadline_at_risk"
    SILENT = "jobs.silent"

    @property
    def severity(self) -> Severity:
        """The severity."""
        return _SEVERITIES[self]

    @property
    def is_for_admins(self) -> bool:
        """Whether it goes to the tenant's admins by default, without an opt-in."""
        return self in _FOR_ADMINS


class Severity(StrEnum):
    """The severity."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


_FOR_ADMINS = frozenset(
    {
        NotificationKind.DEAD_LETTERED,
        NotificationKind.UNDELIVERED,
        NotificationKind.CHAIN_REFUSED,
        NotificationKind.BREAKER_OPENED,
        NotificationKind.DEADLINE_MISSED,
        NotificationKind.DEADLINE_AT_RISK,
        NotificationKind.SILENT,
    }
)
_SEVERITIES: Mapping[NotificationKind, Severity] = {
    NotificationKind.ACTION_FAILED: Severity.WARNING,
    NotificationKind.DEAD_LETTERED: Severity.ERROR,
    NotificationKind.UNDELIVERED: Severity.ERROR,
    NotificationKind.BREAKER_OPENED: Severity.ERROR,
    NotificationKind.APPROVAL_REQUESTED: Severity.INFO,
    NotificationKind.RECURRING_FAILING: Severity.WARNING,
    NotificationKind.RECURRING_SUCCEEDING: Severity.INFO,
    NotificationKind.CHAIN_REFUSED: Severity.ERROR,
    NotificationKind.DEADLINE_MISSED: Severity.ERROR,
    NotificationKind.DEADLINE_AT_RISK: Severity.WARNING,
    NotificationKind.SILENT: Severity.ERROR,
}


class Channel(StrEnum):
    """A way to reach a recipient."""

    EMAIL = "email"
    SNS = "sns"
    """The deployment's topic; its subscribers choose by the attributes of a message."""
    IN_APP = "in_app"
    """The list that the API, the command line and the console show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """One notification."""

    id: str
    """Made of its lifecycle event's id and its kind: a duplicate event makes the same id."""
    kind: NotificationKind
    tenant_id: TenantId
    at: datetime
    facts: Mapping[str, Any] = field(default_factory=dict)
    """The fields of the event's subject; for a digest, see `Digest.facts`."""
    is_digest: bool = False
    """Whether it summarises many of its kind."""

    @property
    def about(self) -> str:
        """The subject: a job's name, an action's type, or the source of an undelivered input."""
        named = (self.facts.get(name) for name in ("job", "name", "type", "source"))
        return next((str(name) for name in named if name), "")

    @property
    def entry_id(self) -> str:
        """The key in its tenant's list: safe in a URL, and sorted by time."""
        return f"{self.at.astimezone(UTC).strftime(_ENTRY_TIME)}.{sha256(self.id.encode()).hexdigest()[:16]}"


def is_entry_id(text: str) -> bool:
    """Return whether `text` has the form of an entry's key."""
    return _ENTRY_ID.fullmatch(text) is not None


_EVENT_TYPES = (
    *("action.failed", "run.failed", "job.failing", "job.succeeding"),
    *("undelivered.kept", "breaker.opened"),
    *("job.deadline_missed", "job.deadline_at_risk", "job.silent"),
    *("action.approval_requested", "run.approval_requested"),
)
"""The types of events that always make notifications."""

_SKIPPED = "run.skipped"
"""Makes a notification if the run's depth exceeds `EVENT_DEPTH`."""


def event_detail(prefix: str) -> dict[str, Any]:
    """Return EventBridge's pattern of the details of a deployment's events that make notifications."""
    too_deep = {"depth": [{"numeric": [">", EVENT_DEPTH]}]}
    chosen = [{"type": list(_EVENT_TYPES)}, {"type": [_SKIPPED], "action": too_deep}]
    return {"deployment": [prefix], "$or": chosen}


_SUBJECTS = ("action", "job", "undelivered", "breaker")
_KINDS: Mapping[str, tuple[NotificationKind, ...]] = {
    "action.failed": (NotificationKind.ACTION_FAILED, NotificationKind.DEAD_LETTERED),
    "run.failed": (NotificationKind.DEAD_LETTERED,),
    "job.failing": (NotificationKind.RECURRING_FAILING,),
    "job.succeeding": (NotificationKind.RECURRING_SUCCEEDING,),
    "undelivered.kept": (NotificationKind.UNDELIVERED,),
    "breaker.opened": (NotificationKind.BREAKER_OPENED,),
    "action.approval_requested": (NotificationKind.APPROVAL_REQUESTED,),
    "run.approval_requested": (NotificationKind.APPROVAL_REQUESTED,),
    _SKIPPED: (NotificationKind.CHAIN_REFUSED,),
    "job.deadline_missed": (NotificationKind.DEADLINE_MISSED,),
    "job.deadline_at_risk": (NotificationKind.DEADLINE_AT_RISK,),
    "job.silent": (NotificationKind.SILENT,),
}


def of_event(detail: Mapping[str, Any]) -> Iterator[Notification]:
    """Return the notifications of a lifecycle event; most have none.

    Args:
        detail: the event's detail, as `duetime.model.lifecycle.LifecycleEvent.detail` writes it.

    Raises:
        UnreadableMessage: duetime did not publish it.
    """
    try:
        for kind in _KINDS.get(detail["type"], ()):
            subject = next(detail[name] for name in _SUBJECTS if name in detail)
            yield Notification(
                id=f"{detail['id']}:{kind}",
                kind=kind,
                tenant_id=_tenant(detail["tenant_id"]),
                at=instant.parse(detail["at"]),
                facts=dict(subject),
            )
    except (LookupError, TypeError, ValueError, AttributeError, StopIteration, RuntimeError) as error:
        raise UnreadableMessage(error) from error


@dataclass(frozen=True, slots=True)
class DigestWindow:
    """A time in which a tenant's notifications of a kind are counted.

    Its end and its burst are those of its first notification, whatever later settings are.
    """

    tenant_id: TenantId
    kind: NotificationKind
    since: datetime
    until: datetime
    burst: int = 0
    """How many are sent one by one; one more starts the digest's timer. Unknown in a request."""

    @property
    def request(self) -> Mapping[str, Any]:
        """The message that requests its digest."""
        return {
            _REQUEST: {
                "tenant_id": self.tenant_id,
                "kind": self.kind.value,
                "since": instant.text(self.since),
                "until": instant.text(self.until),
            }
        }


def requested_in(message: Mapping[str, Any]) -> DigestWindow | None:
    """Return the window of a requested digest; None if `message` is no such request.

    Raises:
        UnreadableMessage: the request is malformed.
    """
    if _REQUEST not in message:
        return None
    try:
        fields = message[_REQUEST]
        since, until = (instant.parse(fields[name]) for name in ("since", "until"))
        return DigestWindow(_tenant(fields["tenant_id"]), NotificationKind(fields["kind"]), since, until)
    except (LookupError, TypeError, ValueError) as error:
        raise UnreadableMessage(error) from error


def _tenant(value: object) -> TenantId:
    return ids.SYSTEM_TENANT if value == ids.SYSTEM_TENANT else ids.tenant(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """The notifications of a kind for a tenant in a window, beyond those sent one by one."""

    tenant_id: TenantId
    kind: NotificationKind
    since: datetime
    until: datetime
    total: int
    """All of them, including those sent one by one."""
    by_name: Mapping[str, int] = field(default_factory=dict)
    """How many of each action type or job."""

    def notification(self) -> Notification:
        """Return the notification that summarises all."""
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
        """The most frequent names, and the number of `others`."""
        ranked = sorted(self.by_name.items(), key=lambda named: (-named[1], named[0]))
        return {
            "total": self.total,
            "since": instant.text(self.since),
            "until": instant.text(self.until),
            "by_name": dict(ranked[:_NAMES_SHOWN]),
            "others": sum(count for _, count in ranked[_NAMES_SHOWN:]),
        }
