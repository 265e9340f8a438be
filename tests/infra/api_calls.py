"""Every route of the API, called as an admin, to record the calls of AWS."""

import json
from datetime import timedelta

import boto3

from duetime.aws.keyed_items import DynamoItems
from duetime.model.notification import NotificationKind
from duetime.notifications.mail.samples import sample
from duetime.ports.notifications import Inbox
from duetime.settings import Settings
from tests.api.conftest import ADA, Client, sample_event

ADMIN = {**ADA, "cognito:groups": "admins"}
LARGE = {"type": "send-receipt", "payload": {"order": "x" * 50_000}, "in": 3_600}
REPORT = {"type": "send-receipt", "payload": {"order": "o-1"}, "cadences": ["every 1h"]}


class Admin:
    """Call an API handler."""

    def __init__(self, handler):
        self._client = Client(handler)

    def __call__(self, method, path, body=None, **query):
        request = {"claims": ADMIN, "httpMethod": method, "path": f"/api/v1{path}", "query": query}
        event = sample_event("schedule", body=body, **request)
        event["requestContext"]["path"] = f"/prod{event['path']}"
        answer = self._client.send(event)
        assert answer.status < 300, (method, path, answer.text)
        return json.loads(answer.text) if answer.text else None


def ask_all(handler, *, codes_job):
    """Ask for all that the API does; of one job that code declares, too."""
    ask = Admin(handler)
    ask("GET", "/health")
    assert ask("GET", "/openapi.json")["paths"]
    ask("GET", "/me")
    _ask_about_actions(ask)
    ask("POST", "/jobs", REPORT | {"name": "acme-receipts", "trigger": True})
    ask("PUT", "/jobs/acme-receipts", REPORT | {"cadences": ["every 2h"]})
    ask("GET", "/jobs")
    for name in ("acme-receipts", codes_job):
        _ask_about_job(ask, f"/jobs/{name}")
    ask("DELETE", "/jobs/acme-receipts")
    for thing in ask("GET", "/undelivered")["items"]:
        ask("GET", f"/undelivered/{thing['id']}")
        ask("POST", f"/undelivered/{thing['id']}/redrive")
    _ask_about_notifications(ask)
    ask("PUT", "/grants/helpers", {"permissions": ["actions:read"]})
    ask("GET", "/grants")
    ask("DELETE", "/grants/helpers")
    ask("GET", "/audit", job="acme-receipts")
    assert {entry["operation"] for entry in ask("GET", "/audit")["items"]} >= {"grant", "revoke", "cancel"}


def _ask_about_actions(ask):
    keyed = LARGE | {"idempotency_key": "order-18", "correlation_id": "order:18"}
    made = ask("POST", "/actions", keyed)["id"]
    assert ask("POST", "/actions", keyed)["id"] == made
    ask("GET", f"/actions/{made}")
    for row in (made, *(row["id"] for row in ask("GET", "/dead-letters")["items"])):
        ask("GET", f"/actions/{row}/tracebacks")
        ask("GET", f"/actions/{row}/log")
    ask("GET", "/quotas")
    ask("GET", "/actions/query")
    ask("GET", "/actions/query", correlation_id="order:18")
    for text in (made, made[:8], "order:", "payload.order=o-18", "timeout"):
        ask("GET", "/search", q=text)
    ask("PUT", f"/actions/{made}/reschedule", {"in": 60})
    ask("GET", "/dead-letters")
    ask("POST", "/actions/redrive", {"type": "send-receipt", "dry_run": True})
    ask("POST", "/actions/cancel", {"correlation_id": "order:18"})


def _ask_about_notifications(ask):
    notification = sample(NotificationKind.DEAD_LETTERED, is_digest=False)
    inbox = Inbox(DynamoItems(boto3.client("dynamodb"), Settings.from_env().made.jobs_table))
    inbox.add(notification, expires_at=notification.at + timedelta(days=10_000))
    for scope in ("tenant", "system"):
        ask("GET", "/notifications", scope=scope)
        ask("GET", "/notifications/preferences", scope=scope)
    ask("GET", f"/notifications/{notification.entry_id}")
    ask("POST", "/notifications/read", {"ids": [notification.entry_id]})
    ask("POST", "/notifications/read")
    ask("PUT", "/notifications/preferences", {"language": "fr"})


def _ask_about_job(ask, job):
    ask("POST", f"{job}/pause", {"reason": "audit"})
    ask("POST", f"{job}/resume")
    ask("PUT", f"{job}/settings", {"attempts": 2})
    ask("POST", f"{job}/skip-next")
    span = {"from": "2026-01-01T00:00:00Z", "until": "2026-01-03T00:00:00Z"}
    ask("GET", f"{job}/backfills/preview", **span)
    backfill = f"{job}/backfills/{ask('POST', f'{job}/backfills', span)['id']}"
    for state in ("paused", "running", "cancelled"):
        ask("PATCH", backfill, {"state": state})
    ask("GET", f"{job}/backfills")
    ask("GET", backfill)
    ask("POST", f"{job}/trigger")
    for path in ("", "/runs", "/occurrences"):
        ask("GET", f"{job}{path}")
