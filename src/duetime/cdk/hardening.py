"""What a security team may require of the stack's resources: a customer's key, and signed code.

Each setting that is empty adds nothing. `Hardening` visits every resource of the construct, so none is
forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import jsii
from aws_cdk import Aspects, CfnResource, IAspect
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_iam as iam
from aws_cdk import aws_wafv2 as waf
from constructs import Construct, IConstruct

from duetime.cdk.deployment import MANAGED_WEB_ACL, Deployment
from duetime.cdk.rights import may

_KEY_ACTIONS = (
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
)
"""What DynamoDB, SQS, SNS and Lambda do with the key in the name of a role."""

_VIA = ("dynamodb", "lambda", "sns", "sqs")

_REQUESTS, _WINDOW = 2_000, 300
"""Requests that the managed web ACL allows an address in five minutes."""

_Properties = Mapping[str, object]


def use_key(key: str) -> list[iam.PolicyStatement]:
    """Allow to use the customer's key through the services of the stack; nothing without a key."""
    if not key:
        return []
    region = key.split(":")[3]
    return [
        may(*_KEY_ACTIONS, on=key, StringLike={"kms:ViaService": [f"{name}.{region}.*" for name in _VIA]})
    ]


def harden(scope: Construct, deployment: Deployment) -> None:
    """Apply the key to all resources within the scope."""
    if deployment.kms_key:
        Aspects.of(scope).add(_Hardening(deployment))


@jsii.implements(IAspect)
class _Hardening:
    """Sets properties of resources by their types."""

    def __init__(self, deployment: Deployment) -> None:
        self._by_type: dict[str, _Properties] = {}
        if key := deployment.kms_key:
            self._by_type |= {
                "AWS::DynamoDB::Table": {
                    "SSESpecification": {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": key}
                },
                "AWS::SQS::Queue": {"KmsMasterKeyId": key, "SqsManagedSseEnabled": False},
                "AWS::SNS::Topic": {"KmsMasterKeyId": key},
                "AWS::Logs::LogGroup": {"KmsKeyId": key},
                "AWS::Lambda::Function": {"KmsKeyArn": key},
            }

    def visit(self, node: IConstruct) -> None:
        """Set the properties of a resource."""
        if isinstance(node, CfnResource):
            for name, value in self._by_type.get(node.cfn_resource_type, {}).items():
                node.add_property_override(name, value)


class WebAcl(Construct):
    """Attaches a web ACL to stages: the one that the setting names, or one of the stack's own.

    Its own one blocks addresses that send more than 2,000 requests in five minutes, and those that AWS lists
    as sources of attacks.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        web_acl: str,
        stages: Sequence[apigateway.Stage],
    ) -> None:
        super().__init__(scope, construct_id)
        arn = self._make(name).attr_arn if web_acl == MANAGED_WEB_ACL else web_acl
        for stage in stages:
            waf.CfnWebACLAssociation(
                self,
                f"To-{stage.rest_api.node.path.split('/')[-2]}",
                resource_arn=stage.stage_arn,
                web_acl_arn=arn,
            )

    def _make(self, name: str) -> waf.CfnWebACL:
        rate = waf.CfnWebACL.RateBasedStatementProperty(
            aggregate_key_type="IP", limit=_REQUESTS, evaluation_window_sec=_WINDOW
        )
        listed = waf.CfnWebACL.ManagedRuleGroupStatementProperty(
            vendor_name="AWS", name="AWSManagedRulesAmazonIpReputationList"
        )
        rules = [
            waf.CfnWebACL.RuleProperty(
                name="rate",
                priority=0,
                action=waf.CfnWebACL.RuleActionProperty(block={}),
                statement=waf.CfnWebACL.StatementProperty(rate_based_statement=rate),
                visibility_config=_visible("rate"),
            ),
            waf.CfnWebACL.RuleProperty(
                name="reputation",
                priority=1,
                override_action=waf.CfnWebACL.OverrideActionProperty(none={}),
                statement=waf.CfnWebACL.StatementProperty(managed_rule_group_statement=listed),
                visibility_config=_visible("reputation"),
            ),
        ]
        return waf.CfnWebACL(
            self,
            "Acl",
            name=name,
            description="duetime: limits the requests of each address",
            scope="REGIONAL",
            default_action=waf.CfnWebACL.DefaultActionProperty(allow={}),
            rules=rules,
            visibility_config=_visible(name),
        )


def _visible(name: str) -> waf.CfnWebACL.VisibilityConfigProperty:
    return waf.CfnWebACL.VisibilityConfigProperty(
        cloud_watch_metrics_enabled=True, metric_name=name, sampled_requests_enabled=False
    )
