"""The report: results as a table and as JSON lines."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from bench.result import Result

_HEAD = ("", "measured", "reference", "ratio", "budget", "")
_VERDICTS = {True: "met", False: "MISSED", None: ""}


def machine() -> str:
    """Return the description of the machine."""
    load = ", ".join(f"{average:.1f}" for average in os.getloadavg())
    return f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores, load {load}"


def show(title: str, results: Sequence[Result]) -> None:
    """Print one measurement's table, and its notes below it."""
    rows = (
        _matrix(results)
        if any(result.of for result in results)
        else [_HEAD, *(_row(result) for result in results)]
    )
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    print(f"\n{title}")
    for row in rows:
        print("  " + "  ".join(_placed(row, widths)).rstrip())
    for line in notes(results):
        print(f"    {line}")


def notes(results: Iterable[Result]) -> Iterator[str]:
    """Print each reference once, and the notes."""
    for against in dict.fromkeys(result.against for result in results if result.against):
        yield f"reference: {against}"
    for result in results:
        if result.note:
            yield f"{result.of or result.name}: {result.note}"


def summary(results: Sequence[Result]) -> None:
    """Print how many budgets are met, and by how much the others are missed."""
    bounded, lines = [result for result in results if result.met is not None], [*missed(results)]
    print(f"\n{len(bounded) - len(lines)} of {len(bounded)} budgets met")
    for line in lines:
        print(f"  MISSED {line}")


def missed(results: Iterable[Result]) -> Iterator[str]:
    """Yield a line for each missed budget."""
    for result in results:
        if result.met is False:
            actual = f"{result.measured or 0:.4g} {result.unit}"
            ratio = f", {result.ratio:.2f}x its reference" if result.ratio is not None else ""
            yield f"{result.bench}: {result.name}: {actual}{ratio}; the budget is {result.budget}"


def write_json_lines(results: Iterable[Result], stream: TextIO) -> None:
    """Write one JSON object a line."""
    for result in results:
        print(result.to_json(), file=stream)


def _matrix(results: Sequence[Result]) -> list[tuple[str, ...]]:
    """Print a row for each work and a column for each contender; unmeasured cells are empty."""
    columns = [*dict.fromkeys(result.of for result in results)]
    cells = {(result.name, result.of): _cell(result) for result in results}
    works = dict.fromkeys(result.name for result in results if result.name)
    return [("", *columns), *((work, *(cells.get((work, of), "") for of in columns)) for work in works)]


def _cell(result: Result) -> str:
    return result.words or (f"{result.measured:,.4g}" if result.measured is not None else "")


def _row(result: Result) -> tuple[str, ...]:
    return (
        result.name,
        f"{_cell(result)} {result.unit}",
        f"{result.reference:,.4g}" if result.reference is not None else "",
        f"{result.ratio:.2f}x" if result.ratio is not None else "",
        str(result.budget) if result.budget else "",
        _VERDICTS[result.met],
    )


def _placed(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
        yield cell.rjust(width) if 0 < place < len(row) - 1 else cell.ljust(width)
