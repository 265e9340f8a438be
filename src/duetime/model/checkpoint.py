"""The checkpoint: what a run stores for the next one, to go on where it stopped. Pure.

::

    run ── checkpoint({"done": 1000}) ── Continue ──> pending ──> run, with last_checkpoint {"done": 1000}
                                          │
                                          └─ the checkpoint is the one with which the run began: it fails

A run that continues made progress, so it uses up no attempt.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from duetime.errors import InvalidArgument
from duetime.model.json_value import JSON_LIMIT, json_text

CHECKPOINT_LIMIT = JSON_LIMIT
"""Bytes of a checkpoint, as JSON."""

MOST_CONTINUATIONS = 1_000
"""How often an action continues; a redrive allows as many again."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A stored checkpoint.

    Attributes:
        text: the value as JSON.
        fence: that of the run that stored it.
        number: counts the checkpoints of that run, from 1: an earlier one may arrive after a later one.
    """

    text: str
    fence: int
    number: int

    @property
    def value(self) -> Any:
        """The JSON value."""
        return json.loads(self.text)

    def replaces(self, stored: Checkpoint | None) -> bool:
        """Return whether it replaces the stored one: it is of a later run, or has a higher number."""
        return stored is None or (stored.fence, stored.number) < (self.fence, self.number)


def checkpoint_text(value: object) -> str:
    """Return a checkpoint as JSON.

    Raises:
        InvalidArgument: it is no JSON value, null, or too large.
    """
    if value is None:
        raise InvalidArgument(
            "cannot store this checkpoint: it is None, pass a dict, such as {'done': 1000}",
            field="checkpoint",
        )
    try:
        return json_text(value)
    except InvalidArgument as error:
        raise InvalidArgument(f"cannot store this checkpoint: it {error}", field="checkpoint") from None
