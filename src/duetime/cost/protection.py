"""What a security team may require: a KMS key and a web ACL, each only if its setting is set."""

from __future__ import annotations

from collections.abc import Iterator

from duetime.cost import units
from duetime.cost.functions import fixed_calls, growing_calls, start_count
from duetime.cost.prices import CostLine, Prices
from duetime.cost.units import DAYS
from duetime.cost.workload import Volume, Workload


def protection(work: Workload, volume: Volume, prices: Prices, *, in_phase: bool) -> Iterator[CostLine]:
    """Yield the lines of the key and of the web ACL."""
    keys, acls = work.kms_keys, work.web_acls
    yield CostLine("KMS: keys", prices["kms-keys"], 0, keys, "setting kms_key")
    grows = keys * sum(map(start_count, growing_calls(work, volume, in_phase=in_phase)))
    fixed = keys * (
        units.key_requests(work.workers, work.due_queues) + sum(map(start_count, fixed_calls(work)))
    )
    note = f"every {units.KEY_MINUTES} minutes for each role and table, and each queue in use; each start"
    yield CostLine("KMS: requests", prices["kms-requests"], grows, fixed, note)
    yield CostLine("web ACL", prices["web-acls"], 0, acls, "setting web_acl")
    yield CostLine(
        "web ACL: rules", prices["web-acl-rules"], 0, acls * work.web_acl_rules, "the managed one has two"
    )
    requests = acls * work.api_requests_per_day * DAYS
    yield CostLine("web ACL: requests", prices["web-acl-requests"], requests, 0, "those of the admin API")
