"""Guards of the protocol that the lane must miss: each is made true for every row that exists."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

from tests.chaos.proxy import WRITES

MODULES = ("commits", "conditions", "job_conditions", "optimistic", "slots", "store", "jobs")


@dataclass(frozen=True)
class Guard:
    """Conditions, by their names in `duetime.aws`, and the faults that need them.

    Attributes:
        rates: the chances of the proxy's faults; None: they change in the run.
        late: the operations that may be late.
        kills: the share of processes that are killed, and not frozen.
    """

    conditions: tuple[str, ...] = ()
    rates: Mapping[str, float] | None = None
    kills: float = 0.5
    late: frozenset[str] = WRITES


GUARDS = {
    "claim": Guard(("IS_PENDING",), {"slow": 0.3}, kills=0.2),
    "fence": Guard(("FENCE_IS_MINE", "IS_PROCESSING"), rates={}, kills=0.1),
    "put": Guard(("ROW_IS_ABSENT",), {"late": 0.4}, kills=0.8, late=frozenset({"PutItem"})),
}


def remove(guard: str) -> None:
    """Remove a guard from this process."""
    modules = [importlib.import_module(f"duetime.aws.{name}") for name in MODULES]
    for condition in GUARDS[guard].conditions:
        for module in modules:
            _replace(module, condition)


def _replace(module: ModuleType, condition: str) -> None:
    """The condition stays in the expression, since DynamoDB rejects values that no expression uses."""
    if hasattr(module, condition):
        setattr(module, condition, f"({getattr(module, condition)} OR attribute_exists(pk))")
