"""The operator's name in the audit entries of commands that use AWS credentials."""

from __future__ import annotations


def operator() -> str:
    """Return the caller's name in AWS, such as ``assumed-role/Admin/ada``."""
    from duetime.aws.account import Account  # noqa: PLC0415 - `duetime --help` must be quick
    from duetime.ids import ACTOR_LIMIT, SEPARATOR  # noqa: PLC0415 - as above

    name = Account().identity().arn.rpartition(":")[2]
    return name.replace(SEPARATOR, "-")[:ACTOR_LIMIT]
