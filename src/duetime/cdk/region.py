"""The region of a deployment, and what differs in AWS' other partitions."""

from __future__ import annotations

from aws_cdk import Aws, CfnCondition, Fn, Stack, Token
from constructs import Construct

from duetime.environment import cdk_region

GOVCLOUD = "us-gov-"
"""The beginning of the names of GovCloud's regions."""

FIPS_REGIONS = ("us-east-1", "us-east-2", "us-west-1", "us-west-2", "us-gov-east-1", "us-gov-west-1")
"""The regions in which every service that the functions call has a FIPS endpoint."""

FIPS_ENVIRONMENT = {"AWS_USE_FIPS_ENDPOINT": "true"}
"""With this variable, boto3 calls only FIPS endpoints."""


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
