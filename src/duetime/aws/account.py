"""Read what an account and region have before a deploy: names, quotas, settings. No call changes anything.

Each method raises `BackendMisconfigured` or `BackendUnavailable` if its call fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import boto3
from botocore.exceptions import ClientError

from duetime.aws import clients
from duetime.aws.faults import translate_errors
from duetime.aws.find import find

STACK = "CloudFormation"
_DELETED = {"DELETE_COMPLETE", "REVIEW_IN_PROGRESS", "ROLLBACK_COMPLETE", "ROLLBACK_FAILED"}
"""A stack in one of these states has no resources in use: CDK deletes it before it deploys again."""


class Identity(NamedTuple):
    """The account, and the caller's ARN."""

    account: str
    arn: str


class Pool(NamedTuple):
    """A Cognito user pool: its id, the prefix of its sign-in pages, its groups and its number of users."""

    id: str
    domain: str
    groups: tuple[str, ...]
    users: int


class Account:
    """The account and region of the process's credentials."""

    def __init__(self) -> None:
        self._session = boto3.DEFAULT_SESSION or boto3.Session()

    @property
    def region(self) -> str:
        """The region."""
        with translate_errors("AWS"):
            return str(clients.of("sts").meta.region_name)

    @property
    def partition(self) -> str:
        """The partition, such as ``aws`` or ``aws-cn``."""
        return str(clients.of("sts").meta.partition)

    def identity(self) -> Identity:
        """Return who calls."""
        found = self._call("sts", "get_caller_identity")
        return Identity(found["Account"], found["Arn"])

    def regions_with(self, service: str) -> Sequence[str]:
        """Return the partition's regions with a service, by the installed SDK."""
        return self._session.get_available_regions(service, self.partition)

    def bootstrap_version(self, parameter: str) -> int | None:
        """Return the version of CDK's bootstrap stack, from its SSM parameter; None without one."""
        found = find("ssm", "get_parameter", Name=parameter)
        return None if found is None else int(found["Parameter"]["Value"])

    def assume(self, role: str) -> None:
        """Assume a role, and forget its credentials."""
        self._call("sts", "assume_role", RoleArn=role, RoleSessionName="duetime-preflight")

    def denied_actions(self, role: str, actions: Sequence[str]) -> Sequence[str]:
        """Return the actions that a role's policies do not allow on all resources."""
        found = self._call("iam", "simulate_principal_policy", PolicySourceArn=role, ActionNames=actions)
        return [
            row["EvalActionName"] for row in found["EvaluationResults"] if row["EvalDecision"] != "allowed"
        ]

    def stack_status(self, stack: str) -> str:
        """Return a stack's status, such as ``ROLLBACK_COMPLETE``; empty if it does not exist."""
        try:
            with translate_errors(STACK):
                described = clients.of("cloudformation").describe_stacks(StackName=stack)["Stacks"]
        except Exception as error:
            if _is_absent_stack(error):
                return ""
            raise
        return str(described[0]["StackStatus"])

    def stack_resources(self, stack: str) -> Mapping[str, str] | None:
        """Return a stack's resources, logical to physical id; None if it is missing or rolled back."""
        try:
            with translate_errors(STACK):
                client = clients.of("cloudformation")
                described = client.describe_stacks(StackName=stack)["Stacks"]
                if all(found["StackStatus"] in _DELETED for found in described):
                    return None
                pages = client.get_paginator("list_stack_resources").paginate(StackName=stack)
                rows = [row for page in pages for row in page["StackResourceSummaries"]]
        except Exception as error:
            if _is_absent_stack(error):
                return None
            raise
        return {row["LogicalResourceId"]: row.get("PhysicalResourceId", "") for row in rows}

    def exists(self, kind: str, name: str) -> bool:
        """Return whether a resource of a CloudFormation type exists; False for other types."""
        if kind in _BY_NAME:
            service, operation, parameter = _BY_NAME[kind]
            return find(service, operation, **{parameter: name}) is not None
        lists = {
            "AWS::Logs::LogGroup": self._log_groups,
            "AWS::CloudWatch::Alarm": self._alarms,
            "AWS::SNS::Topic": self._topics,
            "AWS::Cognito::UserPoolDomain": self._domains,
        }
        return kind in lists and name in lists[kind](name)

    def concurrency(self) -> int:
        """Return how many executions of Lambda may run at once in the account and region."""
        return int(self._call("lambda", "get_account_settings")["AccountLimit"]["ConcurrentExecutions"])

    def log_role(self) -> str:
        """Return the ARN of the role in which API Gateway writes logs; empty without one."""
        return str(self._call("apigateway", "get_account").get("cloudwatchRoleArn") or "")

    def rules(self, bus: str) -> int:
        """Return the number of rules on an event bus; 0 if the bus does not exist."""
        found = find("events", "list_rules", EventBusName=bus, Limit=100)
        count = 0
        while found is not None:
            count += len(found["Rules"])
            token = found.get("NextToken")
            found = token and self._call("events", "list_rules", EventBusName=bus, Limit=100, NextToken=token)
            found = found or None
        return count

    def quota(self, service: str, code: str) -> int | None:
        """Return a quota from Service Quotas; None if it is not listed."""
        found = find("service-quotas", "get_service_quota", ServiceCode=service, QuotaCode=code)
        return None if found is None else int(found["Quota"]["Value"])

    def pools(self, name: str) -> Iterator[Pool]:
        """Yield the user pools of a name: several may have it."""
        with translate_errors("Cognito"):
            client = clients.of("cognito-idp")
            pages = client.get_paginator("list_user_pools").paginate(MaxResults=60)
            ids = [pool["Id"] for page in pages for pool in page["UserPools"] if pool["Name"] == name]
            for pool_id in ids:
                pool = client.describe_user_pool(UserPoolId=pool_id)["UserPool"]
                groups = client.list_groups(UserPoolId=pool_id, Limit=60)["Groups"]
                names = tuple(sorted(group["GroupName"] for group in groups))
                users = pool.get("EstimatedNumberOfUsers", 0)
                yield Pool(pool_id, pool.get("Domain") or "", names, users)

    def _call(self, service: str, operation: str, **parameters: Any) -> Any:
        with translate_errors(service):
            return getattr(clients.of(service), operation)(**parameters)

    def _log_groups(self, name: str) -> Sequence[str]:
        found = self._call("logs", "describe_log_groups", logGroupNamePrefix=name)
        return [group["logGroupName"] for group in found["logGroups"]]

    def _alarms(self, name: str) -> Sequence[str]:
        found = self._call("cloudwatch", "describe_alarms", AlarmNames=[name])
        return [alarm["AlarmName"] for alarm in found["MetricAlarms"]]

    def _topics(self, name: str) -> Sequence[str]:
        arn = f"arn:{self.partition}:sns:{self.region}:{self.identity().account}:{name}"
        return [name] if find("sns", "get_topic_attributes", TopicArn=arn) else []

    def _domains(self, name: str) -> Sequence[str]:
        found = find("cognito-idp", "describe_user_pool_domain", Domain=name)
        return [name] if found and found["DomainDescription"] else []


def _is_absent_stack(error: BaseException) -> bool:
    cause = error.__cause__
    return isinstance(cause, ClientError) and "does not exist" in str(cause)


_BY_NAME = {
    "AWS::DynamoDB::Table": ("dynamodb", "describe_table", "TableName"),
    "AWS::SQS::Queue": ("sqs", "get_queue_url", "QueueName"),
    "AWS::Lambda::Function": ("lambda", "get_function_configuration", "FunctionName"),
    "AWS::Scheduler::ScheduleGroup": ("scheduler", "get_schedule_group", "Name"),
    "AWS::Events::EventBus": ("events", "describe_event_bus", "Name"),
    "AWS::SES::Template": ("ses", "get_template", "TemplateName"),
}
"""The service, the operation and the parameter that find a resource of a type."""
