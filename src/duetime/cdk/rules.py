"""Security rules that are not followed, each with its reason: cdk-nag shows them, and fails on any other."""

from __future__ import annotations

from aws_cdk import Acknowledgment, Stack, Token, Validations
from constructs import IConstruct


def accept(construct: IConstruct, finding: str, reason: str) -> None:
    """Accept one finding of cdk-nag's on one construct."""
    Validations.of(construct).acknowledge(Acknowledgment(id=finding, reason=reason))


def accept_wildcard(construct: IConstruct, arn: str, reason: str) -> None:
    """Accept that a role's resource ends in ``*``, because AWS makes up the rest of the name.

    cdk-nag writes what CloudFormation knows only at deployment as ``<AWS::Region>``.
    """
    stack = Stack.of(construct)
    for token, name in (
        (stack.partition, "<AWS::Partition>"),
        (stack.region, "<AWS::Region>"),
        (stack.account, "<AWS::AccountId>"),
    ):
        if Token.is_unresolved(token):
            arn = arn.replace(token, name)
    accept(construct, f"AwsSolutions-IAM5[Resource::{arn}]", reason)
