"""The AWS back ends: the only part of duetime that imports boto3."""

from __future__ import annotations

from duetime.aws.backends import AwsBackends, action_store, hosted_types

__all__ = ["AwsBackends", "action_store", "hosted_types"]
