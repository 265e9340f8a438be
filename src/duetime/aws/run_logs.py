"""Log lines of runs in CloudWatch Logs: the structured lines of a worker's log group."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from duetime.aws import clients
from duetime.aws.faults import ignoring, translate_errors
from duetime.model.action import Action
from duetime.ports.run_logs import MOST_LINES, LogLine, LogPage

SERVICE = "CloudWatch Logs"
_MOST_CALLS = 6
"""The most calls for one attempt: each searches up to a megabyte, and may find no line in it."""
_GONE = "ResourceNotFoundException"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class CloudWatchRunLogs:
    """The log groups of the workers' functions.

    See `duetime.ports.run_logs.RunLogs`.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def lines(self, action: Action, worker: str, since: datetime, until: datetime) -> LogPage:
        fields = {"action": action.id, "tenant": action.tenant_id}
        request: dict[str, Any] = {
            "logGroupName": f"/aws/lambda/{self._prefix}work-{worker}",
            "startTime": (since - _EPOCH) // _MILLISECOND,
            "endTime": (until - _EPOCH) // _MILLISECOND + 1,
            "filterPattern": _pattern(fields),
            "limit": MOST_LINES + 1,
        }
        found: list[LogLine] = []
        for _ in range(_MOST_CALLS):
            page: Mapping[str, Any] = {}
            with translate_errors(SERVICE), ignoring(_GONE):
                page = clients.logs().filter_log_events(**request)
            found += [line for event in page.get("events", ()) if (line := _line(event, fields))]
            request["nextToken"] = page.get("nextToken")
            if request["nextToken"] is None or len(found) > MOST_LINES:
                break
        is_complete = request["nextToken"] is None and len(found) <= MOST_LINES
        return LogPage(sorted(found, key=lambda line: line.at)[:MOST_LINES], is_complete)


def _pattern(fields: Mapping[str, str]) -> str:
    """Return a filter pattern: the lines whose fields have these values."""
    terms = " && ".join(f"$.{name} = {json.dumps(value)}" for name, value in fields.items())
    return f"{{ {terms} }}"


def _line(event: Mapping[str, Any], fields: Mapping[str, str]) -> LogLine | None:
    """Return an event's line; None if it is not about the action, whatever the service has matched."""
    try:
        line = json.loads(event["message"])
        if any(line.get(name) != value for name, value in fields.items()):
            return None
    except (ValueError, AttributeError):
        return None
    message = str(line.get("message") or "")
    reason = line.get("reason")
    return LogLine(
        at=_EPOCH + event["timestamp"] * _MILLISECOND,
        level=str(line.get("level") or "INFO"),
        message=f"{message}: {reason}" if reason else message,
        exception=None if line.get("exception") is None else str(line["exception"]),
        trace_id=None if line.get("xray_trace_id") is None else str(line["xray_trace_id"]),
    )
