"""Guards of the protocol that the lane must miss: each is made true for every row that exists."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

from duetime.aws import conditions
from duetime.model.action import Status
from tests.chaos.proxy import WRITES

MODULES = ("conditions", "jobs", "slots", "store")


@dataclass(frozen=True)
class Guard:
    """Conditions, and the faults that need them.

    Attributes:
        conditions: their names in `duetime.aws`.
        status: that of the rows whose guards hold always; None for none.
        rates: the chances of the proxy's faults; None: they change in the run.
        late: the operations that may be late.
        kills: the share of processes that are killed, and not frozen.
    """

    conditions: tuple[str, ...] = ()
    status: Status | None = None
    rates: Mapping[str, float] | None = None
    kills: float = 0.5
    late: frozenset[str] = WRITES


GUARDS = {
    "claim": Guard(status=Status.PENDING, rates={"slow": 0.3}, kills=0.2),
    "fence": Guard(status=Status.PROCESSING, rates={}, kills=0.1),
    "put": Guard(("ROW_IS_ABSENT",), {"late": 0.4}, kills=0.8, late=frozenset({"PutItem"})),
}


def remove(guard: str) -> None:
    """Remove a guard from this process."""
    modules = [importlib.import_module(f"duetime.aws.{name}") for name in MODULES]
    for condition in GUARDS[guard].conditions:
        for module in modules:
            _replace(module, condition)
    render = conditions._guarded

    def lax(stated, read, after):
        condition, values = render(stated, read, after)
        return always(condition) if stated.status is GUARDS[guard].status else condition, values

    conditions._guarded = lax


def always(condition: str) -> str:
    """Return a condition that each row satisfies.

    It stays in the expression, since DynamoDB rejects values that no expression uses.
    """
    return f"({condition} OR attribute_exists(pk))"


def _replace(module: ModuleType, condition: str) -> None:
    if hasattr(module, condition):
        setattr(module, condition, always(getattr(module, condition)))
