"""A cell of the matrix: one work, as one contender does it."""

from __future__ import annotations

from dataclasses import dataclass

from bench.result import Result
from rivals.contender import Contender


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure, or words without one.

    Attributes:
        work: heads its row, with the unit.
    """

    work: str
    figure: float | None = None
    words: str = ""
    note: str = ""

    def result(self, contender: Contender) -> Result:
        """Return the line of the report."""
        return Result(
            bench="rivals", name=self.work, of=contender.name, measured=self.figure, unit="",
            words=self.words, note=self.note,
        )  # fmt: skip
