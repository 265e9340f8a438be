"""Accepted findings of cdk-nag, each with a reason. cdk-nag fails on any other finding."""

from __future__ import annotations

from aws_cdk import Acknowledgment, Stack, Token, Validations
from constructs import IConstruct


def accept(construct: IConstruct, finding: str, reason: str) -> None:
    """Accept one finding on one construct."""
    Validations.of(construct).acknowledge(Acknowledgment(id=finding, reason=reason))


def accept_wildcard(construct: IConstruct, arn: str, reason: str) -> None:
    """Accept a role's resource that ends in ``*``, because the rest of the name is unknown at synthesis.

    cdk-nag writes values that CloudFormation knows only at deployment as ``<AWS::Region>``.
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
