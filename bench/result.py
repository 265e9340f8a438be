"""A result: one figure, its reference from the same run, and its budget."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum


class Of(StrEnum):
    """The bounded value of a budget."""

    RATIO = "ratio"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class Budget:
    """A bound on the ratio to the reference, or on the value itself."""

    limit: float
    of: Of
    at_least: bool = False

    def met(self, result: Result) -> bool | None:
        """Return whether the result meets it; None without a reference to compare with."""
        actual = result.ratio if self.of is Of.RATIO else result.measured
        if actual is None:
            return None
        return actual >= self.limit if self.at_least else actual <= self.limit

    def __str__(self) -> str:
        """Return the budget as text, such as ``<= 1.25x``."""
        return f"{'>=' if self.at_least else '<='} {self.limit:g}{'x' if self.of is Of.RATIO else ''}"


def ratio_at_most(limit: float) -> Budget:
    return Budget(limit, Of.RATIO)


def ratio_at_least(limit: float) -> Budget:
    return Budget(limit, Of.RATIO, at_least=True)


def at_most(limit: float) -> Budget:
    return Budget(limit, Of.VALUE)


def at_least(limit: float) -> Budget:
    return Budget(limit, Of.VALUE, at_least=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One line of the table.

    Attributes:
        bench: the measurement that it belongs to.
        name: what was measured.
        measured: None where there are only words.
        unit: of `measured` and of `reference`.
        of: whose it is, where several do the same work; the table then has a column for each.
        words: what the table shows instead of the figure.
        against: what the reference is.
        note: what else a reader should know; shown below the table.
    """

    bench: str
    name: str
    measured: float | None
    unit: str
    of: str = ""
    words: str = ""
    reference: float | None = None
    against: str = ""
    budget: Budget | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """The measured figure over its reference."""
        return self.measured / self.reference if self.reference and self.measured is not None else None

    @property
    def met(self) -> bool | None:
        """Whether the budget is met; None without one."""
        return None if self.budget is None else self.budget.met(self)

    def to_json(self) -> str:
        """Return one line of JSON."""
        return json.dumps(
            {
                "bench": self.bench,
                "name": self.name,
                **({"of": self.of, "words": self.words} if self.of else {}),
                "measured": rounded(self.measured),
                "unit": self.unit,
                "reference": rounded(self.reference),
                "against": self.against,
                "ratio": rounded(self.ratio),
                "budget": str(self.budget) if self.budget else None,
                "met": self.met,
                "note": self.note,
            }
        )


def rounded(figure: float | None) -> float | None:
    """Return four significant digits."""
    return None if figure is None else float(f"{figure:.4g}")
