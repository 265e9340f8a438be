"""Resources of the account that settings name by ARN: whether they exist and can be used. It only reads."""

from __future__ import annotations

from duetime.aws.find import find

_MISSING = "does not exist"


def problem_of_key(arn: str) -> str | None:
    """Return why a KMS key cannot encrypt the stack's data; None if it can, as far as a read shows.

    Raises:
        BackendMisconfigured: the read is denied.
    """
    found = find("kms", "describe_key", KeyId=arn)
    if found is None:
        return _MISSING
    about = found["KeyMetadata"]
    if about["KeyState"] != "Enabled":
        return f"is in the state {about['KeyState']}"
    spec = about.get("KeySpec", "SYMMETRIC_DEFAULT")
    return None if spec == "SYMMETRIC_DEFAULT" else f"is of the kind {spec}, and must be symmetric"


def problem_of_web_acl(arn: str) -> str | None:
    """Return why a web ACL cannot be attached; None if it can.

    Raises:
        BackendMisconfigured: the read is denied.
    """
    name, acl_id = arn.split("/")[-2:]
    return None if find("wafv2", "get_web_acl", Name=name, Id=acl_id, Scope="REGIONAL") else _MISSING
