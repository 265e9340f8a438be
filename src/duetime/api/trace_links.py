"""Links to traces in the console of AWS X-Ray."""

from __future__ import annotations

import re

from duetime.environment import lambda_region

_TRACE_ID = re.compile(r"1-[0-9a-f]{8}-[0-9a-f]{24}", re.ASCII)
_TRACEPARENT = re.compile(r"00-([0-9a-f]{8})([0-9a-f]{24})-[0-9a-f]{16}-[0-9a-f]{2}", re.ASCII)


def trace_url(trace_id: str | None) -> str | None:
    """Return where X-Ray shows a trace; None without one, or if this process is no Lambda function."""
    region = lambda_region()
    if trace_id is None or region is None or not _TRACE_ID.fullmatch(trace_id):
        return None
    domain = "amazonaws.cn" if region.startswith("cn-") else "aws.amazon.com"
    if region.startswith("us-gov-"):
        domain = "amazonaws-us-gov.com"
    return f"https://{region}.console.{domain}/cloudwatch/home?region={region}#xray:traces/{trace_id}"


def trace_id_of(traceparent: str | None) -> str | None:
    """Return the trace id of a W3C ``traceparent``; None if it is none."""
    found = _TRACEPARENT.fullmatch(traceparent or "")
    return None if found is None else f"{found[1]}{found[2]}"


def url_of_context(traceparent: str | None) -> str | None:
    """Return where X-Ray shows the trace of a W3C ``traceparent``, if its spans are sent there."""
    found = _TRACEPARENT.fullmatch(traceparent or "")
    return None if found is None else trace_url(f"1-{found[1]}-{found[2]}")
