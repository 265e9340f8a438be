"""Checks the resources that a stack names by ARN: a KMS key, a web ACL."""

from __future__ import annotations

from collections.abc import Iterator

from duetime.aws.account import Account
from duetime.aws.named_resources import problem_of_key, problem_of_web_acl
from duetime.cli.assembly import SynthesisedStack
from duetime.cli.diagnosis import Finding

_NAMED = {
    "kms_key": ("AWS::Lambda::Function", "KmsKeyArn", problem_of_key),
    "web_acl": ("AWS::WAFv2::WebACLAssociation", "WebACLArn", problem_of_web_acl),
}
"""The type and the property of a template that has the ARN of each setting, and its check."""


def named_resources(account: Account, stack: SynthesisedStack) -> Iterator[Finding]:
    """Yield a finding for each setting that names a resource; none of a stack that names none."""
    for setting, (kind, name, problem_of) in _NAMED.items():
        for arn in sorted({str(row[name]) for row in stack.of_type(kind) if isinstance(row.get(name), str)}):
            region = arn.split(":")[3]
            is_here = region == account.region
            problem = problem_of(arn) if is_here else f"is in {region}; the stack is in {account.region}"
            if problem is None:
                yield Finding("resources", "ok", f"{setting} {arn} can be used")
            else:
                yield Finding("resources", "ill", f"{setting} {arn} {problem}", f"set {setting} to another")
