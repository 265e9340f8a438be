"""Triggers: cadences without times. An event on the bus or a caller starts the job."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from duetime.cadence.cadence import Cadence, Precision
from duetime.cadence.errors import InvalidCadence
from duetime.cadence.options import digest, stated
from duetime.cadence.walk import NOTHING

if TYPE_CHECKING:
    from duetime.cadence.eventbridge import WakeExpression

NoTenant = Literal["system", "refuse"]
"""The rule for events without a tenant: the run is the system's, or the event is rejected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerCadence(Cadence):
    """A cadence without times."""

    @property
    def precision(self) -> Precision:
        return "minute"

    def wakes(self) -> tuple[WakeExpression, ...]:
        return ()

    def _longest_spread(self) -> int:
        return 0

    def _next_of_all(self, *_: int) -> int:
        return NOTHING

    def describe(self) -> str:
        return self._words()


@dataclass(frozen=True, slots=True, kw_only=True)
class OnEvent(TriggerCadence):
    """An event on the bus.

    Attributes:
        source: the event's source.
        type: its detail-type.
        match: the pattern that its detail must match, as canonical JSON; empty for any.
        tenant: the path of the tenant in the event; empty if all runs are the system's.
        no_tenant: the rule for events without a tenant.
    """

    source: str
    type: str
    match: str = ""
    tenant: str = ""
    no_tenant: NoTenant = "system"

    def pattern(self) -> dict[str, Any]:
        """Return the event pattern of the rule that starts the job."""
        pattern: dict[str, Any] = {"source": [self.source], "detail-type": [self.type]}
        return {**pattern, "detail": json.loads(self.match)} if self.match else pattern

    def tenant_of(self, event: Mapping[str, Any]) -> str | None:
        """Return the text at the tenant's path in the event; None if there is none."""
        found: Any = event
        for key in self.tenant.split("."):
            found = found.get(key) if hasattr(found, "get") else None
        return found if isinstance(found, str) and found else None

    def _options(self) -> str:
        written = dict.fromkeys(("match", "tenant", "no_tenant"), str)
        return "".join(f" {key}={value}" for key, value in stated(self, written))

    def _head(self) -> str:
        return f"on_event {_word(self.source)} {_word(self.type)}{self._options()}"

    def _label(self) -> str:
        is_plain = all(re.fullmatch(r"[A-Za-z0-9.-]+", name) for name in (self.source, self.type))
        hashed = (self._options() if self.tenant else self.match) if is_plain else self._head()
        return f"OnEvent_{self.source}_{self.type}{f'_{digest(hashed)}' if hashed else ''}"

    def _words(self) -> str:
        matching = f" that match {self.match}" if self.match else ""
        whose = f", for the tenant in {self.tenant}" if self.tenant else ""
        refused = ", refused without one" if self.no_tenant == "refuse" else ""
        return f"on each event {self.type} from {self.source}{matching}{whose}{refused}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manual(TriggerCadence):
    """No times: the job runs when it is triggered."""

    def _head(self) -> str:
        return "manual"

    def _label(self) -> str:
        return "Manual"

    def _words(self) -> str:
        return "only when it is triggered"


def on_event(
    source: str,
    type: str,  # noqa: A002 - the design's word
    *,
    match: Mapping[str, Any] | None = None,
    tenant: str | None = None,
    no_tenant: NoTenant = "system",
) -> OnEvent:
    """Return the trigger of events of a source and type, as in ``on_event("shop", "OrderPlaced")``.

    Args:
        source: the event's ``source``.
        type: its ``detail-type``.
        match: the event pattern of its ``detail``, as in ``{"kind": ["invoice"]}``.
        tenant: the path of the run's tenant in the event, as in ``"detail.tenant_id"``.
        no_tenant: for events without a tenant: ``system`` runs them for the system, ``refuse`` drops them.

    Raises:
        InvalidCadence: a name is empty, ``match`` is not JSON, or ``tenant`` is no path.
    """
    for option, value in (("source", source), ("type", type)):
        if (
            not isinstance(value, str)  # type: ignore[redundant-expr]  # any value
            or not value.strip()
            or re.search("[\ud800-\udfff]", value)
        ):
            raise InvalidCadence(
                str(value).encode(errors="backslashreplace").decode(),
                f"on_event: {option} is empty, or no text",
                "name it as the event does",
            )
    path = tenant if isinstance(tenant, str) else ""
    if tenant is not None and (not all(path.split(".")) or not path.isprintable() or " " in path):
        raise InvalidCadence(str(tenant), "on_event: tenant is no path", "write it as in detail.tenant_id")
    if no_tenant not in get_args(NoTenant):
        raise InvalidCadence(str(no_tenant), "on_event: no such rule for no_tenant", "use system or refuse")
    if no_tenant != "system" and tenant is None:
        raise InvalidCadence(
            no_tenant,
            "on_event: no_tenant is given without tenant",
            "give tenant=detail.tenant_id or another path",
        )
    return OnEvent(
        source=source, type=type, match=_canonical(match), tenant=tenant or "", no_tenant=no_tenant
    )


def manual() -> Manual:
    """Return a cadence without times: the job runs when it is triggered."""
    return Manual()


def _canonical(match: Mapping[str, Any] | None) -> str:
    try:
        return _packed({**match}) if match else ""
    except (TypeError, ValueError):
        raise InvalidCadence(str(match), "on_event: match is not JSON", "give an event pattern") from None


def _word(name: str) -> str:
    """Return a name as one word of a text: unchanged, or as JSON if it could be misread."""
    return name if name.split() == [name] and name[0] != '"' and "=" not in name else _packed(name)


def _packed(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).replace(" ", "\\u0020")
