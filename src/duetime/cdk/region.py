"""The region of a deployment, and what differs in AWS' other partitions."""

from __future__ import annotations

from aws_cdk import Aws, CfnCondition, Fn, Stack, Token
from constructs import Construct

from duetime.environment import cdk_region

GOVCLOUD = "us-gov-"
"""The beginning of the names of GovCloud's regions."""


def region_of(scope: Construct) -> str:
    """Return the region: of the stack, or else of CDK's command line; empty if neither is known."""
    region = Stack.of(scope).region
    return (cdk_region() or "") if Token.is_unresolved(region) else region


def in_govcloud(scope: Construct, value: str, *, otherwise: str) -> str:
    """Return `value` for a stack in GovCloud, and `otherwise` for one elsewhere.

    CloudFormation decides if the stack has no region.
    """
    region = Stack.of(scope).region
    if not Token.is_unresolved(region):
        return value if region.startswith(GOVCLOUD) else otherwise
    is_there = CfnCondition(scope, "InGovCloud", expression=Fn.condition_equals(Aws.PARTITION, "aws-us-gov"))
    return Fn.condition_if(is_there.logical_id, value, otherwise).to_string()
