"""Sample notifications, one of each kind, single and digest.

``python -m duetime.notifications.mail DIRECTORY`` writes their mails.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from duetime import instant
from duetime.ids import SYSTEM_TENANT, TenantId
from duetime.model.notification import Digest, Notification, NotificationKind
from duetime.notifications.mail.shape import every

_AT = datetime(2027, 6, 1, 7, 0, 4, tzinfo=UTC)
_ONE_SHOT: Mapping[str, Any] = {
    "id": "01980b2e-7c1a-7d3e-9a51-0c5b8e21f7a4",
    "type": "send-reminder",
    "status": "failed",
    "due_at": instant.text(_AT),
    "nominal_at": instant.text(_AT - timedelta(minutes=5)),
    "correlation_id": "order-1042",
    "created_by": "ada@acme.example",
    "trigger": "api",
    "job": None,
    "cadence": None,
    "attempt": 3,
    "recoveries": 0,
    "started_at": instant.text(_AT - timedelta(seconds=2)),
    "finished_at": instant.text(_AT),
    "reason": 'SMTPRecipientsRefused: 550 <ada@shop.example> is unknown & "stays" so',
}
_JOB: Mapping[str, Any] = {
    "name": "billing-nightly",
    "title": "Nightly invoices",
    "category": "billing",
    "cadences": ["main"],
    "origin": "code",
    "version": 3,
    "is_paused": False,
    "failure_threshold": 3,
    "consecutive_failures": 3,
    "failed": 4,
    "last_id": "billing-nightly.000003.20270601T011500Z",
    "last_error": "ConnectionError: the ledger did not answer",
}
_UNDELIVERED: Mapping[str, Any] = {
    "id": "u.20270601T070004Z.9c2e5b7710aa43de",
    "kind": "message",
    "source": "due-default",
    "reason": "received 5 times, and never handled",
    "count": 1,
    "action": _ONE_SHOT["id"],
    "action_tenant_id": "acme",
}
_RUN = {
    **_ONE_SHOT,
    "id": "billing-nightly.000003.20270601T011500Z",
    "type": "billing-nightly",
    "trigger": "cadence",
    "job": "billing-nightly",
    "cadence": "main",
    "correlation_id": None,
    "reason": None,
}
_LATE: Mapping[str, Any] = {
    "name": "billing-nightly",
    "nominal_at": instant.text(_AT - timedelta(hours=6)),
    "deadline_at": instant.text(_AT),
    "status": "processing",
    "run_id": "billing-nightly.000003.20270601T011500Z",
    "expected_at": None,
    "reason": "its run has not ended",
}
_FACTS: Mapping[NotificationKind, Mapping[str, Any]] = {
    NotificationKind.ACTION_FAILED: _ONE_SHOT,
    NotificationKind.DEAD_LETTERED: _RUN,
    NotificationKind.UNDELIVERED: _UNDELIVERED,
    NotificationKind.BREAKER_OPENED: {
        "name": "send-receipt",
        "scope": "type",
        "of": "acme",
        "reason": "the breaker opened after 20 failures within 60 s; the last: SES is down",
    },
    NotificationKind.APPROVAL_REQUESTED: {
        **_ONE_SHOT,
        "type": "ask-manager",
        "status": "processing",
        "attempt": 1,
        "finished_at": None,
        "reason": None,
        "question": "Refund 900 € to <Ann> & Bob?",
        "times_out_at": instant.text(_AT + timedelta(hours=8)),
    },
    NotificationKind.RECURRING_FAILING: _JOB,
    NotificationKind.RECURRING_SUCCEEDING: {**_JOB, "consecutive_failures": 0, "last_error": None},
    NotificationKind.CHAIN_REFUSED: {
        **_RUN,
        "id": "billing-nightly.event.20270601T070004Z.0a1b2c3d",
        "status": "skipped",
        "trigger": "event",
        "reason": "8 events in a row led to it; jobs that start each other must stop by then",
        "depth": 9,
    },
    NotificationKind.DEADLINE_MISSED: _LATE,
    NotificationKind.DEADLINE_AT_RISK: {
        **_LATE,
        "deadline_at": instant.text(_AT + timedelta(minutes=10)),
        "expected_at": instant.text(_AT + timedelta(minutes=40)),
    },
    NotificationKind.SILENT: {
        "name": "billing-nightly",
        "silent_since": instant.text(_AT - timedelta(hours=26)),
        "deadline_at": instant.text(_AT),
        "expected_at": None,
        "reason": None,
    },
}


def sample(kind: NotificationKind, *, is_digest: bool) -> Notification:
    """Return a notification of a kind."""
    tenant_id = SYSTEM_TENANT if kind is NotificationKind.UNDELIVERED else TenantId("acme")
    if is_digest:
        return _digest(kind, tenant_id).notification()
    return Notification(id=f"sample:{kind}", kind=kind, tenant_id=tenant_id, at=_AT, facts=_FACTS[kind])


def samples() -> list[Notification]:
    """Return one of each kind, single and digest."""
    return [sample(kind, is_digest=is_digest) for kind, is_digest in every()]


def _digest(kind: NotificationKind, tenant_id: TenantId) -> Digest:
    by_source = {"due-default": 40, "dispatch": 2, "arm": 1}
    by_type = {"billing-nightly": 40, "send-reminder": 2, "expire-cart": 1}
    return Digest(
        tenant_id=tenant_id,
        kind=kind,
        since=_AT - timedelta(minutes=15),
        until=_AT,
        total=43,
        by_name=by_source if kind is NotificationKind.UNDELIVERED else by_type,
    )
