"""The role in which API Gateway writes logs. One role serves all APIs of an account in a region."""

from __future__ import annotations

from aws_cdk import RemovalPolicy
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_iam as iam
from constructs import Construct

from duetime.cdk.rules import accept

_POLICY = "service-role/AmazonAPIGatewayPushToCloudWatchLogs"


class GatewayLogs(Construct):
    """The role, and the account's setting. Both remain after the stack, since other APIs may use them.

    AWS requires these rights. Narrower ones would stop the logs of other APIs.
    """

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        role = iam.Role(
            self,
            "Role",
            description="duetime: API Gateway writes the logs of this region's APIs",
            assumed_by=iam.ServicePrincipal("apigateway.amazonaws.com"),
            managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name(_POLICY)],
        )
        role.apply_removal_policy(RemovalPolicy.RETAIN)
        accept(
            role,
            f"AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/{_POLICY}]",
            "All APIs of the account use the role; AWS maintains its rights.",
        )
        self.account = apigateway.CfnAccount(self, "Account", cloud_watch_role_arn=role.role_arn)
        self.account.apply_removal_policy(RemovalPolicy.RETAIN)
