"""The AWS back ends: the only part of duetime that imports boto3."""

from __future__ import annotations

from duetime.aws.backends import (
    action_store,
    hosted_types,
    job_ports,
    job_store,
    undelivered_ports,
    usage_counts,
)

__all__ = [
    "action_store",
    "hosted_types",
    "job_ports",
    "job_store",
    "undelivered_ports",
    "usage_counts",
]
