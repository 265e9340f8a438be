"""The AWS back ends: the only part of duetime that imports boto3."""

from __future__ import annotations

from duetime.aws.backends import AwsBackends, action_store, hosted_types
from duetime.aws.clients import BRIEF

__all__ = ["BRIEF", "AwsBackends", "action_store", "hosted_types"]
