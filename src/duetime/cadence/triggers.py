"""Triggers: jobs that no time makes due. An event on the bus starts one, or a person."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from duetime.cadence.cadence import Cadence, Precision
from duetime.cadence.errors import InvalidCadence
from duetime.cadence.options import digest
from duetime.cadence.walk import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from duetime.cadence.wakes import WakeExpression


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger(Cadence):
    """A cadence without times."""

    @property
    def precision(self) -> Precision:
        """See :attr:`Cadence.precision`; it has no occurrence to be imprecise."""
        return "minute"

    def wakes(self) -> tuple[WakeExpression, ...]:
        """None: it has no heartbeat."""
        return ()

    def _next(self, at: int) -> int:
        del at
        return NOTHING

    def describe(self) -> str:
        """See :meth:`Cadence.describe`."""
        return self._words()


@dataclass(frozen=True, slots=True, kw_only=True)
class OnEvent(Trigger):
    """An event on the bus.

    Attributes:
        source: the event's source.
        type: its detail-type.
        match: the pattern that its detail must match, as canonical JSON; empty for any.
    """

    source: str
    type: str
    match: str = ""

    def pattern(self) -> dict[str, Any]:
        """The event pattern of the rule that starts the job."""
        wanted: dict[str, Any] = {"source": [self.source], "detail-type": [self.type]}
        return {**wanted, "detail": json.loads(self.match)} if self.match else wanted

    def _head(self) -> str:
        return (
            f"on_event {_word(self.source)} {_word(self.type)}{f' match={self.match}' if self.match else ''}"
        )

    def _label(self) -> str:
        return f"OnEvent_{self.source}_{self.type}{f'_{digest(self.match)}' if self.match else ''}"

    def _words(self) -> str:
        matching = f" that match {self.match}" if self.match else ""
        return f"on each event {self.type} from {self.source}{matching}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manual(Trigger):
    """Nothing but a person's, or another job's, request."""

    def _head(self) -> str:
        return "manual"

    def _label(self) -> str:
        return "Manual"

    def _words(self) -> str:
        return "only when it is triggered"


def on_event(source: str, type: str, *, match: Mapping[str, Any] | None = None) -> OnEvent:  # noqa: A002 - the design's word
    """Each event of that source and type, as in ``on_event("knowledge-base", "DocumentUploaded")``.

    Args:
        source: the event's ``source``.
        type: its ``detail-type``.
        match: what its ``detail`` must match, as an EventBridge event pattern: ``{"kind": ["invoice"]}``.

    Raises:
        InvalidCadence: a name is empty, or ``match`` is not JSON.
    """
    for option, value in (("source", source), ("type", type)):
        if not value.strip():
            raise InvalidCadence(str(value), f"on_event: {option} is empty", "name it as the event does")
    return OnEvent(source=source, type=type, match=_canonical(match))


def manual() -> Manual:
    """No time at all: the job waits until it is triggered."""
    return Manual()


def _canonical(match: Mapping[str, Any] | None) -> str:
    if not match:
        return ""
    try:
        return _packed(match)
    except (TypeError, ValueError):
        raise InvalidCadence(str(match), "on_event: match is not JSON", "give an event pattern") from None


def _word(name: str) -> str:
    """A name as one word of a text: as it is, or as JSON if it has spaces or looks like something else."""
    plain = name.split() == [name] and name[0] != '"' and "=" not in name
    return name if plain else _packed(name)


def _packed(value: object) -> str:
    """JSON without spaces; one inside a string is escaped."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).replace(" ", "\\u0020")
