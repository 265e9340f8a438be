"""A named log group with the deployment's retention, deleted with the stack."""

from __future__ import annotations

from typing import cast

from aws_cdk import RemovalPolicy
from aws_cdk import aws_logs as logs
from constructs import Construct


def log_group(scope: Construct, name: str, *, days: int) -> logs.LogGroup:
    """Create a log group; CDK's enumeration lacks some of the retentions of CloudWatch."""
    group = logs.LogGroup(scope, "Logs", log_group_name=name, removal_policy=RemovalPolicy.DESTROY)
    cast("logs.CfnLogGroup", group.node.default_child).retention_in_days = days
    return group
